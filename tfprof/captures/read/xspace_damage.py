"""What could not be read of an XSpace, and where."""

from __future__ import annotations


class Damage:
    """What could not be read, and where."""

    def __init__(self) -> None:
        self.lost = 0
        self.count = 0
        self._first: tuple[int, str] | None = None

    def add(self, offset: int, where: str, lost: int, count: int = 1) -> None:
        """So many bytes from an offset on."""
        self.lost += lost
        self.count += count
        # Of two accounts of one place the inner one tells more.
        if self._first is None or offset < self._first[0]:
            self._first = offset, where

    def extend(self, other: Damage) -> None:
        """Take over what another part has seen."""
        first = other.first()
        if first is not None:
            self.add(*first, other.lost, other.count)

    def first(self) -> tuple[int, str] | None:
        """The first place, and the path to it."""
        return self._first
