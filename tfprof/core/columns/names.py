"""Millions of names by number: kept as bytes, and made texts on request."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.core.columns.columns import Int64Array
from tfprof.core.wire.scanned import Texts
from tfprof.core.wire.text_index import TextIndex


class NameTable:
    """Distinct names in order of first appearance; numbers are 0, 1, 2, …

    Example:
        >>> names = NameTable()
        >>> names.intern(["a", "b", "a"]).tolist(), names.find("b"), names.find("c")
        ([0, 1, 0], 1, -1)
        >>> names[1], names.values
        ('b', ['a', 'b'])
    """

    __slots__ = ("_index", "_values")

    def __init__(self) -> None:
        self._index = TextIndex()
        self._values: list[str] = []

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, number: int) -> str:
        if number < len(self._values):
            return self._values[number]
        return self._index[number].decode("utf-8", "surrogatepass")

    @property
    def values(self) -> list[str]:
        """All names; made at the first use, and when there are more."""
        if len(self._values) < len(self):
            self._values += self._index.strings(len(self._values))
        return self._values

    def find(self, name: str) -> int:
        """Number of a name, -1 if it is unknown."""
        return int(self._index.numbers([name])[0])

    def add(self, name: str) -> int:
        """Number of a name, which is added if new."""
        return int(self._index.numbers([name], adds=True)[0])

    def find_all(self, names: Sequence[str]) -> Int64Array:
        """Number of each name, -1 for an unknown one, shape (n,)."""
        return self._index.numbers(names)

    def find_texts(self, texts: Texts) -> Int64Array:
        """As ``find_all``, for texts in a buffer."""
        return self._index.find(texts)

    def intern(self, names: Sequence[str]) -> Int64Array:
        """Number of each name, shape (n,); new names get the next numbers."""
        return self._index.numbers(names, adds=True)

    def intern_texts(self, texts: Texts) -> Int64Array:
        """As ``intern``, for UTF-8 texts in a buffer."""
        return self._index.intern(texts)
