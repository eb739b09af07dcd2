"""Interned values: each distinct string (or shape, or tuple) is held once and has an id."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class InternTable(Generic[T]):
    """Distinct values in order of first appearance; ids are 0, 1, 2, …

    Example:
        >>> names = InternTable[str]()
        >>> names.intern("a"), names.intern("b"), names.intern("a")
        (0, 1, 0)
        >>> names.values
        ['a', 'b']
    """

    __slots__ = ("ids", "values")

    def __init__(self, values: Iterable[T] = ()) -> None:
        self.values: list[T] = []
        self.ids: dict[T, int] = {}
        for value in values:
            self.intern(value)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> T:
        return self.values[index]

    def intern(self, value: T) -> int:
        """Id of ``value``, which is added if new."""
        number = self.ids.get(value)
        if number is None:
            number = self.ids[value] = len(self.values)
            self.values.append(value)
        return number


StringTable = InternTable[str]
