"""Tables as CSV, JSON, Parquet and Arrow, some thousand rows at a time."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.core.columns.arrow import ArrowColumn, Coded, Numbers
from tfprof.core.text.csv_text import no_formula
from tfprof.errors import MissingDependencyError

if TYPE_CHECKING:
    from tfprof.sql.catalog import SqlTable

_ROWS: Final = 1 << 14
"""Number of rows to hold as texts at once."""

_ROWS_OF_A_GROUP: Final = 1 << 18
"""Rows of a row group of Parquet, and of a batch of Arrow."""

Cells = Callable[[Sequence[str | None]], list[str]]


def csv_chunks(table: SqlTable) -> Iterator[bytes]:
    """A header and a line for each row; an empty cell is unknown.

    Texts have quotes, so that readers that guess the dialect from the first lines guess right.
    """
    yield (",".join(field.name for field in table.fields) + "\n").encode()
    for chunk in table.chunks:
        for cells in _blocks(_merged(chunk, _csv_texts, ","), _csv_texts, ""):
            yield ("\n".join(map(",".join, zip(*cells, strict=True))) + "\n").encode(
                "utf-8", "replace"
            )


def jsonl_chunks(table: SqlTable) -> Iterator[bytes]:
    """An object for each row, in ASCII; ``null`` is unknown."""
    heads = [f"{json.dumps(field.name)}: " for field in table.fields]
    line = "{" + ", ".join(head.replace("%", "%%") + "%s" for head in heads) + "}"
    for chunk in table.chunks:
        for cells in _blocks([*chunk], _json_texts, "null"):
            rows = zip(*cells, strict=True)
            yield ("\n".join([line % row for row in rows]) + "\n").encode("ascii")


def parquet_chunks(table: SqlTable) -> Iterator[bytes]:
    """Parquet, a row group for each 262,144 rows.

    Raises:
        MissingDependencyError: pyarrow is not installed.
    """
    arrow = _pyarrow()
    from pyarrow import parquet

    reader = arrow.RecordBatchReader.from_stream(table)
    sink = _Sink()
    with parquet.ParquetWriter(
        arrow.PythonFile(sink, "w"), reader.schema, compression="zstd", compression_level=1
    ) as writer:
        for batch in reader:
            for first in range(0, batch.num_rows, _ROWS_OF_A_GROUP):
                writer.write_batch(batch.slice(first, _ROWS_OF_A_GROUP))
                yield from sink.taken()
    yield from sink.taken()


def arrow_chunks(table: SqlTable) -> Iterator[bytes]:
    """Arrow's file format (Feather), in which all batches share one dictionary.

    Raises:
        MissingDependencyError: pyarrow is not installed.
    """
    arrow = _pyarrow()
    whole = arrow.table(table).unify_dictionaries()
    sink = _Sink()
    with arrow.ipc.new_file(arrow.PythonFile(sink, "w"), whole.schema) as writer:
        for batch in whole.to_batches(max_chunksize=_ROWS_OF_A_GROUP):
            writer.write_batch(batch)
            yield from sink.taken()
    yield from sink.taken()


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise MissingDependencyError(
            "Parquet and Arrow files need pyarrow: pip install 'tfprof[arrow]'"
        ) from error
    return pyarrow


class _Sink(io.RawIOBase):
    """Holds the output of a writer until it is fetched."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        octets = bytes(data)
        self._chunks.append(octets)
        self._at += len(octets)
        return len(octets)

    def tell(self) -> int:
        return self._at

    def taken(self) -> Iterator[bytes]:
        chunks, self._chunks = self._chunks, []
        yield from chunks


def _blocks(
    columns: Sequence[ArrowColumn], texts: Cells, unknown: str
) -> Iterator[list[list[str]]]:
    """Columns as texts, some thousand rows at a time."""
    known = {id(column): _known(column, texts, unknown) for column in columns}
    n_rows = len(columns[0]) if columns else 0
    for first in range(0, n_rows, _ROWS):
        rows = slice(first, first + _ROWS)
        yield [_cells(column, known[id(column)], rows, texts, unknown) for column in columns]


def _known(column: ArrowColumn, texts: Cells, unknown: str) -> Any:
    """The texts of a coded column, written once; the last one is the unknown one."""
    if not isinstance(column, Coded):
        return None
    written = column.texts if isinstance(column, _Written) else texts(list(column.texts))
    return np.array([*written, unknown], object)


def _cells(column: ArrowColumn, known: Any, rows: slice, texts: Cells, unknown: str) -> list[str]:
    if isinstance(column, Coded):
        cells: list[str] = known[column.places[rows]].tolist()
        return cells
    if not isinstance(column, Numbers):
        return texts(column[rows])
    values = column.values[rows]
    if values.dtype == np.bool_:
        cells = np.array(["false", "true"], object)[values.astype(np.int8)].tolist()
    elif values.dtype.kind == "f":
        cells = [repr(value) if value - value == 0 else unknown for value in values.tolist()]
    else:
        cells = list(map(str, values.tolist()))
    if column.is_known is not None:
        is_known = column.is_known[rows].tolist()
        cells = [
            cell if is_there else unknown for cell, is_there in zip(cells, is_known, strict=True)
        ]
    return cells


def _merged(columns: Sequence[ArrowColumn], texts: Cells, between: str) -> list[ArrowColumn]:
    """Joins neighbouring columns with the same places into one, which halves the work."""
    merged: list[ArrowColumn] = []
    for column in columns:
        last = merged[-1] if merged else None
        if (
            isinstance(column, Coded)
            and isinstance(last, Coded)
            and column.places is last.places
            and len(column.texts) == len(last.texts)
            and (not len(column.places) or int(column.places.min()) >= 0)
        ):
            before = last.texts if isinstance(last, _Written) else texts(list(last.texts))
            pairs = zip(before, texts(list(column.texts)), strict=True)
            merged[-1] = _Written(last.places, [f"{a}{between}{b}" for a, b in pairs])
        else:
            merged.append(column)
    return merged


class _Written(Coded):
    """A coded column whose texts are written already."""


def _csv_texts(texts: Sequence[str | None]) -> list[str]:
    return [
        "" if text is None else '"' + no_formula(text).replace('"', '""') + '"' for text in texts
    ]


def _json_texts(texts: Iterable[str | None]) -> list[str]:
    return [json.dumps(text) for text in texts]
