"""Rows of a table that are made on reading, so that a table of all hosts takes no memory.

>>> from tfprof.captures.run.made_rows import MadeRows
>>> squares = MadeRows(1_000_000_000, lambda begin, end: [(n, n * n) for n in range(begin, end)])
>>> len(squares), squares[3], squares[-1], squares[2:4]
(1000000000, (3, 9), (999999999, 999999998000000001), [(2, 4), (3, 9)])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from tfprof.captures.run.table import Cell

_BLOCK_ROWS = 4096


class MadeRows(Sequence[tuple[Cell, ...]]):
    """Rows in blocks of neighbours; equal to a list of the same rows.

    Args:
        n_rows: Number of rows.
        make: Makes the rows ``[begin, end)``.
        block_rows: Number of rows to make together when all are read.
    """

    __slots__ = ("_block_rows", "_make", "_n_rows")
    __hash__ = None  # type: ignore[assignment]  # as in lists

    def __init__(
        self,
        n_rows: int,
        make: Callable[[int, int], list[tuple[Cell, ...]]],
        block_rows: int = _BLOCK_ROWS,
    ) -> None:
        self._n_rows, self._make = n_rows, make
        self._block_rows = max(block_rows, _BLOCK_ROWS)

    def __len__(self) -> int:
        return self._n_rows

    @overload
    def __getitem__(self, place: int) -> tuple[Cell, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> list[tuple[Cell, ...]]: ...
    def __getitem__(self, place: int | slice) -> tuple[Cell, ...] | list[tuple[Cell, ...]]:
        places = range(self._n_rows)[place]
        if isinstance(places, int):
            return self._make(places, places + 1)[0]
        if not places:
            return []
        first, last = min(places[0], places[-1]), max(places[0], places[-1])
        rows = self._make(first, last + 1)
        return [rows[one - first] for one in places]

    def __iter__(self) -> Iterator[tuple[Cell, ...]]:
        for begin in range(0, self._n_rows, self._block_rows):
            yield from self._make(begin, min(begin + self._block_rows, self._n_rows))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, tuple, MadeRows)):
            return NotImplemented
        return len(self) == len(other) and all(map(tuple.__eq__, self, other))

    def __repr__(self) -> str:
        return repr(list(self))

    def __reduce__(self) -> tuple[type[list[tuple[Cell, ...]]], tuple[list[tuple[Cell, ...]]]]:
        return list, (list(self),)
