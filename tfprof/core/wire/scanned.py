"""The result of a scan: the columns of each table, and texts as places in the buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tfprof.core.wire.lockstep import Int64Array

Data = bytes | memoryview


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as places in a buffer.

    Attributes:
        data: The buffer.
        start: First byte of each, shape (n,).
        length: In bytes, shape (n,).
    """

    data: Data
    start: Int64Array
    length: Int64Array

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, place: int) -> bytes:
        start = int(self.start[place])
        return bytes(self.data[start : start + int(self.length[place])])

    def take(self, places: Int64Array) -> Texts:
        """The texts at some places, in that order."""
        return Texts(self.data, self.start[places], self.length[places])

    def __iter__(self) -> Iterator[bytes]:
        data = self.data
        ends = (self.start + self.length).tolist()
        bounds = zip(self.start.tolist(), ends, strict=True)
        if isinstance(data, bytes):
            return (data[start:end] for start, end in bounds)
        return (bytes(data[start:end]) for start, end in bounds)


class Columns:
    """The columns of one table.

    Args:
        data: The buffer of the texts.
        columns: First slot and form by path.
        parts: The slots of each part of the rows, in order. The first slot is ``parent``: the
            row of the table above that contains the row.
    """

    __slots__ = ("_columns", "_data", "_parts")

    def __init__(
        self, data: Data, columns: dict[str, tuple[int, str]], *parts: Sequence[Int64Array]
    ) -> None:
        self._data, self._columns, self._parts = data, columns, parts

    def __len__(self) -> int:
        return sum([len(slots[0]) for slots in self._parts])

    def _slot(self, slot: int) -> Int64Array:
        """A column of integers; several parts are joined at each call."""
        if len(self._parts) == 1:
            return self._parts[0][slot]
        return np.concatenate([slots[slot] for slots in self._parts])

    @property
    def parent(self) -> Int64Array:
        """The row of the table above that contains each row, shape (n,)."""
        return self._slot(0)

    def take(self, places: Int64Array, parent: Int64Array) -> Columns:
        """The rows at some places, in that order, with new parents."""
        rest = [self._slot(slot)[places] for slot in range(1, len(self._parts[0]))]
        return Columns(self._data, self._columns, [parent, *rest])

    def number(self, path: str) -> Int64Array:
        """A column of numbers, bits, presence or members of oneofs, shape (n,)."""
        return self._slot(self._columns[path][0])

    def floats(self, path: str) -> Any:
        """A column of doubles, shape (n,)."""
        return self.number(path).view(np.float64)

    def text(self, path: str) -> Texts:
        """A column of texts."""
        slot, _ = self._columns[path]
        return Texts(self._data, self._slot(slot), self._slot(slot + 1))

    def oneof(self, path: str) -> tuple[Int64Array, Int64Array, Texts]:
        """Field number of the present member (0: none), its number or bits, and its text."""
        slot, _ = self._columns[path]
        which, value, length = [self._slot(slot + i) for i in range(3)]
        return which, value, Texts(self._data, value, length)
