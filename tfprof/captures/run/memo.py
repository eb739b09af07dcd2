"""A cache of results beside the object from which they are computed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Memo:
    """A cache that computes each answer once, even if several threads request it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._answers: dict[Hashable, Any] = {}
        self._parts: dict[str, Memo] = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the answer of a key; the first time, ``make`` computes it."""
        return self.own(key, make)

    def own(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return an answer from this cache, even where ``once`` takes answers from elsewhere."""
        with self._lock:
            if key not in self._answers:
                self._answers[key] = make()
            answer: T = self._answers[key]
            return answer

    def part(self, name: str) -> Memo:
        """Return the cache of the same object for other rules; ``forget`` clears both."""
        with self._lock:
            return self._parts.setdefault(name, self._part(name))

    def _part(self, name: str) -> Memo:
        return Memo()

    def forget(self) -> None:
        """Drop all answers.

        They refer to their host. Without this call, its events would stay in memory until Python
        collects such reference cycles, which happens late if there are few objects.
        """
        with self._lock:
            self._answers.clear()
            for part in self._parts.values():
                part.forget()
