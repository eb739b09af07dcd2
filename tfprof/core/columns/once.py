"""A value that is made when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """A value that is made once, on first use by any thread.

    Args:
        make: Makes it; if it raises, the next use tries again.
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
        """Drop the value; the next use makes it again."""
        with self._lock:
            self._made = None
