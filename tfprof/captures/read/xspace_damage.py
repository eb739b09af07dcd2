"""Unreadable parts of an XSpace."""

from __future__ import annotations


class Damage:
    """Unreadable bytes.

    Attributes:
        lost: Number of bytes.
        count: Number of places.
        first: The offset of the first place, and the path to it; None without damage.
    """

    def __init__(self) -> None:
        self.lost = 0
        self.count = 0
        self.first: tuple[int, str] | None = None

    def add(self, offset: int, where: str, lost: int, count: int = 1) -> None:
        """Add unreadable bytes from an offset on."""
        self.lost += lost
        self.count += count
        # Of two paths to one place, the first is the inner one, which is more exact.
        if self.first is None or offset < self.first[0]:
            self.first = offset, where

    def extend(self, other: Damage) -> None:
        """Add the damage of another part."""
        if other.first is not None:
            self.add(*other.first, other.lost, other.count)
