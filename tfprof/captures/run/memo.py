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

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The answer of a key; ``make`` is called the first time."""
        with self._lock:
            if key not in self._answers:
                self._answers[key] = make()
            answer: T = self._answers[key]
            return answer

    def forget(self) -> None:
        """Give up all answers.

        They refer to the host that they are of. Without this, its events would stay in memory
        until Python looks for such circles, which with few objects it does late.
        """
        with self._lock:
            self._answers.clear()
