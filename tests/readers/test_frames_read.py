"""pandas, polars, DuckDB and pyarrow read all rows of tables, with their types and sums."""

import importlib
import json
from collections import Counter

import numpy as np
import pytest

from tests.readers.conftest import opened
from tfprof.core.columns.arrow import Coded, Numbers
from tfprof.inputs.profiler import session_of
from tfprof.profiles.write.tables import BY_NAME, table_chunks
from tfprof.sql.catalog import Catalog

pytestmark = pytest.mark.readers

TABLES = [
    ("cpu-jax-steps", "events"), ("cpu-keras-fit", "steps"), ("gpu-synthetic", "events"),
    ("gpu-synthetic", "kernel_stats_kernels"), ("tpu-v6e-jax", "op_stats_ops"),
    ("profile", "profile_ops"), ("profile", "profile_executions"),
]  # fmt: skip


def needs(name):
    return pytest.importorskip(name, reason=f"needs {name}")


def pandas_reads(path, form):
    pandas = needs("pandas")
    kinds = {"dtype_backend": "pyarrow"}
    if form == "stream":
        return pandas.DataFrame.from_arrow(path)
    readers = {
        "csv": lambda: pandas.read_csv(path, **kinds),
        "jsonl": lambda: pandas.read_json(path, lines=True, **kinds),
        "parquet": lambda: pandas.read_parquet(path),
        "arrow": lambda: pandas.read_feather(path),
    }
    return readers[form]()


def pandas_table(path, form):
    import pyarrow

    return pyarrow.Table.from_pandas(pandas_reads(path, form), preserve_index=False)


def polars_table(path, form):
    polars = needs("polars")
    readers = {
        "csv": lambda: polars.read_csv(path, infer_schema_length=None),
        "jsonl": lambda: polars.read_ndjson(path, infer_schema_length=None),
        "parquet": lambda: polars.read_parquet(path),
        "arrow": lambda: polars.read_ipc(path),
        "stream": lambda: polars.DataFrame(path),
    }
    return readers[form]().to_arrow()


def duckdb_table(path, form):
    duckdb = needs("duckdb")
    if form == "stream":
        return duckdb.sql("select * from path").to_arrow_table()
    if form == "arrow":
        pytest.skip("DuckDB reads no Arrow files")
    readers = {
        "csv": "read_csv(?, sample_size = -1)",
        "jsonl": "read_json(?, sample_size = -1, format = 'newline_delimited')",
        "parquet": "read_parquet(?)",
    }
    return duckdb.sql(f"select * from {readers[form]}", params=[str(path)]).to_arrow_table()


def pyarrow_table(path, form):
    pyarrow = needs("pyarrow")
    if form == "stream":
        return pyarrow.table(path)
    module = {"csv": "csv", "jsonl": "json", "parquet": "parquet", "arrow": "feather"}[form]
    reader = importlib.import_module(f"pyarrow.{module}")
    read = {"csv": "read_csv", "jsonl": "read_json"}.get(form, "read_table")
    return getattr(reader, read)(str(path))


READERS = {
    "pandas": pandas_table, "polars": polars_table, "duckdb": duckdb_table,
    "pyarrow": pyarrow_table,
}  # fmt: skip


def cells(column):
    """The cells of one of our columns; None is unknown."""
    if isinstance(column, Coded):
        return [column.texts[at] if at >= 0 else None for at in column.places.tolist()]
    if not isinstance(column, Numbers):
        return list(column)
    found = column.values.tolist()
    if column.is_known is not None:
        known = column.is_known.tolist()
        found = [cell if is_known else None for cell, is_known in zip(found, known, strict=True)]
    return [None if cell != cell else cell for cell in found]


def summed(values):
    """Kind, number and sum of the cells that are known and no empty text."""
    known = [value for value in values if value is not None and value == value and value != ""]
    if not known:
        return "unknown", 0, 0
    if isinstance(known[0], bool):
        return "bool", len(known), sum(known)
    if isinstance(known[0], str):
        return "text", len(known), Counter(known)
    if isinstance(known[0], int):
        return "int", len(known), sum(known)
    return "float", len(known), pytest.approx(float(np.sum(known)), rel=1e-12)


def may_differ(reader, form, own, found, has_unknown):
    """Types that a reader has its own rules for, whatever the file says."""
    if own[0] == "int" and found == "float":
        # NumPy has no unknown integer; DuckDB takes large numbers of both signs in JSON as doubles.
        if reader == "pandas":
            return has_unknown and form not in ("csv", "jsonl")
        return reader == "duckdb" and form == "jsonl" and abs(own[2]) > 1 << 53
    # pandas makes whole floats of JSON integers.
    return own[0] == "float" and found == "int" and (reader, form) == ("pandas", "jsonl")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow", "stream"])
@pytest.mark.parametrize("reader", READERS)
def test_tables(converted, reader, form):
    needs("pyarrow")
    for name, table in TABLES:
        ours = Catalog([opened(name)]).table(table)
        path = ours if form == "stream" else converted(name, form, table)
        read = READERS[reader](path, form)
        assert read.column_names == [field.name for field in ours.fields]
        assert read.num_rows == sum(len(chunk[0]) for chunk in ours.chunks) > 0
        for place, field in enumerate(ours.fields):
            own = summed([cell for chunk in ours.chunks for cell in cells(chunk[place])])
            found = summed(read.column(place).to_pylist())
            if found[0] != own[0]:
                has_unknown = own[1] < read.num_rows
                assert may_differ(reader, form, own, found[0], has_unknown), (name, field.name)
                own = (found[0], *own[1:])
            assert found == own, (name, table, field.name)


def test_json_of_export():
    """One object: columns with their meaning, and rows."""
    profile = session_of(opened("profile").profiler()).complete()
    told = json.loads(b"".join(table_chunks(BY_NAME["executions"], profile, "json")))
    frame = needs("pandas").DataFrame(told["rows"])
    assert list(frame.columns) == [column["name"] for column in told["columns"]]
    assert len(frame) == 5238
