import csv
import io
import json
import sys

import numpy as np
import pytest

import tfprof
from tfprof.core.columns.arrow import Coded, Field, Numbers
from tfprof.demo import demo_capture
from tfprof.errors import MissingDependencyError
from tfprof.export import tables
from tfprof.inputs.opened import opened_run
from tfprof.sql.catalog import Catalog, SqlTable

pytestmark = pytest.mark.one_engine

HOSTILE = 'a,"b"\r\n;%s\t\u202e'


@pytest.fixture(params=[1 << 14, 2])
def table(request, monkeypatch):
    """Two hosts with dictionaries of their own; every kind of column, every kind of unknown."""
    monkeypatch.setattr(tables, "_ROWS", request.param)
    monkeypatch.setattr(tables, "_ROWS_OF_A_GROUP", request.param)
    same = np.array([0, 1, 0], np.int8)
    fields = [
        Field("name", "int8", is_coded=True),
        Field("also", "int8", is_coded=True),
        Field("op%s", "int8", is_coded=True),
        Field("n", "int64", {"unit": "ps"}),
        Field("x", "float64"),
        Field("is", "bool"),
        Field("text", "string"),
    ]

    def chunk(names):
        return [
            Coded(same, names),
            Coded(same, ["u", "v"]),
            Coded(np.array([-1, 0, 0], np.int8), ["MatMul"]),
            Numbers(np.array([1, -(2**62), 3]), np.array([True, True, False])),
            Numbers(np.array([0.5, np.nan, 1e300])),
            Numbers(np.array([True, False, True])),
            ["p", None, '"'],
        ]

    chunks = [chunk([HOSTILE, ""]), chunk(["third", HOSTILE])]
    return SqlTable("t", "", (), tuple(fields), chunks)


def rows_of(*names):
    first, second = names
    return [
        [first, "u", None, 1, 0.5, True, "p"],
        [second, "v", "MatMul", -(2**62), None, False, None],
        [first, "u", "MatMul", None, 1e300, True, '"'],
    ]


ROWS = [*rows_of(HOSTILE, ""), *rows_of("third", HOSTILE)]


def test_csv(table):
    text = b"".join(tables.csv_chunks(table)).decode()
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == ["name", "also", "op%s", "n", "x", "is", "text"]
    texts = {None: "", True: "true", False: "false"}
    assert rows == [
        [texts[cell] if cell is None or isinstance(cell, bool) else str(cell) for cell in row]
        for row in ROWS
    ]


def test_jsonl(table):
    lines = b"".join(tables.jsonl_chunks(table)).decode("ascii").splitlines()
    assert [list(json.loads(row).values()) for row in lines] == ROWS


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_parquet_and_arrow(table, form):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    if form == "parquet":
        from pyarrow import parquet

        read = parquet.read_table(io.BytesIO(b"".join(tables.parquet_chunks(table))))
    else:
        import pyarrow.ipc

        read = pyarrow.ipc.open_file(b"".join(tables.arrow_chunks(table))).read_all()
    found = [list(row.values()) for row in read.to_pylist()]
    assert [[None if cell != cell else cell for cell in row] for row in found] == ROWS
    assert read.schema.field("n").metadata[b"unit"] == b"ps"


def test_duckdb_reads_them_all_alike(tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    run = tfprof.open_run(demo_capture("gpu"))
    events = Catalog([opened_run(run)]).table("events")
    answers = set()
    for form in ("csv", "parquet", "jsonl"):
        path = tmp_path / f"events.{form}"
        path.write_bytes(b"".join(getattr(tables, f"{form}_chunks")(events)))
        reader = f"read_json('{path}')" if form == "jsonl" else f"'{path}'"
        [row] = duckdb.sql(
            "select count(*), sum(self_ps)::bigint, count(distinct name), count(step), "
            f"count(*) filter (is_derived) from {reader}"
        ).fetchall()
        answers.add(row)
    [(n_rows, *_)] = answers
    assert n_rows == sum(len(chunk[0]) for chunk in events.chunks)


def test_without_pyarrow_the_extra_is_named(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for chunks in (tables.parquet_chunks, tables.arrow_chunks):
        with pytest.raises(MissingDependencyError, match=r"pip install 'tfprof\[arrow\]'"):
            list(chunks(table))


def test_in_python(tmp_path):
    from tfprof.errors import UsageError
    from tfprof.export import export

    run = tfprof.open_run(demo_capture("gpu"))
    export(run, tmp_path / "steps.csv", table="steps")
    export([run, run], tmp_path / "events.csv.gz")
    assert (tmp_path / "steps.csv").read_text().startswith("run,host,step,")
    with pytest.raises(UsageError, match=r"x\.what: no format has names that end so; there are"):
        export(run, tmp_path / "x.what")
    with pytest.raises(UsageError, match="no format 'what'; there are"):
        export(run, tmp_path / "x", form="what")
    with pytest.raises(UsageError, match="exists already"):
        export(run, tmp_path / "steps.csv", overwrite=False)
