"""A value that is made when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """A value that is made when it is first asked for, also when several threads ask.

    Args:
        make: Makes it; what it raises is raised each time, and it is tried again.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.RLock()
        self._made: tuple[T] | None = None

    def __call__(self) -> T:
        """The value."""
        with self._lock:
            if self._made is None:
                self._made = (self._make(),)
            return self._made[0]

    def forget(self) -> None:
        """Let go of the value; it is made anew when it is next asked for."""
        with self._lock:
            self._made = None
