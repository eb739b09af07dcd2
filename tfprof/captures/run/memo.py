"""What was worked out of something, kept beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Memo:
    """Answers that are worked out once, even if several threads ask."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._answers: dict[Hashable, Any] = {}
        self._parts: dict[str, Memo] = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The answer of a key; ``make`` is called the first time."""
        return self.own(key, make)

    def own(self, key: Hashable, make: Callable[[], T]) -> T:
        """An answer that is kept here, also where ``once`` takes answers from elsewhere."""
        with self._lock:
            if key not in self._answers:
                self._answers[key] = make()
            answer: T = self._answers[key]
            return answer

    def part(self, name: str) -> Memo:
        """Answers about the same thing by other rules; both are given up together."""
        with self._lock:
            return self._parts.setdefault(name, self._part(name))

    def _part(self, name: str) -> Memo:
        return Memo()

    def forget(self) -> None:
        """Give up all answers.

        They refer to the host that they are of. Without this, its events would stay in memory
        until Python looks for such circles, which with few objects it does late.
        """
        with self._lock:
            self._answers.clear()
            for part in self._parts.values():
                part.forget()
