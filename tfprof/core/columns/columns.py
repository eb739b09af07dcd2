"""NumPy columns: growable ones, and tables whose fields are columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.signedinteger[Any]]

TableT = TypeVar("TableT", bound=Any)

_BLOCK_ROWS = 1 << 16


def no_rows() -> Int64Array:
    """An empty column."""
    return np.zeros(0, np.int64)


def sums_by(place: IntArray, values: Int64Array | BoolArray, size: int) -> Int64Array:
    """Sums of values, each added at its place, shape (size,)."""
    sums = np.zeros(size, np.int64)
    np.add.at(sums, place, values)
    return sums


def blocks(first: int, end: int) -> Iterator[slice]:
    """Rows ``[first, end)`` in pieces whose temporary columns stay in the cache.

    Temporary columns as long as a capture cost more than the computation: the process has to get
    new memory for all of them.
    """
    for start in range(first, end, _BLOCK_ROWS):
        yield slice(start, min(start + _BLOCK_ROWS, end))


def narrowest(end: int) -> type[np.signedinteger[Any]]:
    """The smallest type for numbers below ``end`` and -1, for columns as long as a capture."""
    return np.int16 if end <= 1 << 15 else np.int32 if end <= 1 << 31 else np.int64


def narrowed(values: Int64Array) -> IntArray:
    """The same numbers in half of the memory, if all fit."""
    bounds = np.iinfo(np.int32)
    if len(values) and (values.min() < bounds.min or values.max() > bounds.max):
        return values
    return values.astype(np.int32)


def concatenate_tables(tables: Sequence[TableT]) -> TableT:
    """One table after the other.

    Args:
        tables: Dataclasses of one type, one or more, whose fields are columns; the last axis of
            a column counts the rows.
    """
    first = tables[0]
    columns = [
        np.concatenate([getattr(table, column.name) for table in tables], axis=-1)
        for column in fields(first)
    ]
    joined: TableT = type(first)(*columns)
    return joined


def taken_rows(table: TableT, wanted: npt.NDArray[Any]) -> TableT:
    """Some rows of a table.

    Args:
        table: As for ``concatenate_tables``.
        wanted: Places of the rows, or a mask.
    """
    if wanted.dtype == np.bool_:
        wanted = np.flatnonzero(wanted)  # as a mask it would be read anew for each column
    columns = [getattr(table, column.name).take(wanted, axis=-1) for column in fields(table)]
    taken: TableT = type(table)(*columns)
    return taken


def row_ranges(table: TableT, bounds: Int64Array) -> Iterator[TableT]:
    """The rows between each two neighbouring bounds, as views.

    Args:
        table: As for ``concatenate_tables``.
        bounds: Ascending places of rows.
    """
    kind = type(table)
    columns = [getattr(table, column.name) for column in fields(table)]
    for first, end in pairwise(bounds.tolist()):
        yield kind(*(column[..., first:end] for column in columns))


class Int64Column:
    """One int64 column that grows.

    Args:
        fill: Value of rows that ``resize`` adds.

    Example:
        >>> column = Int64Column(fill=-1)
        >>> column.extend([3, 4])
        >>> column.resize(3)
        >>> column.array.tolist()
        [3, 4, -1]
    """

    __slots__ = ("_data", "_fill", "_size")

    def __init__(self, fill: int = 0) -> None:
        self._data: Int64Array = np.empty(16, np.int64)
        self._fill = fill
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def array(self) -> Int64Array:
        """The rows, shape (n,); writes go through. Stale after the column has grown."""
        return self._data[: self._size]

    def resize(self, size: int) -> None:
        """Grow to ``size`` rows; the new ones hold the fill value. Never shrinks."""
        start = self._size
        if size <= start:
            return
        if size > len(self._data):
            # Unused room is not written: it costs neither memory nor time.
            grown = np.empty(size + size // 2, np.int64)
            grown[:start] = self._data[:start]
            self._data = grown
        self._data[start:size] = self._fill
        self._size = size

    def extend(self, values: Sequence[int] | Int64Array) -> None:
        """Append rows."""
        start = self._size
        self.resize(start + len(values))
        self._data[start : self._size] = values
