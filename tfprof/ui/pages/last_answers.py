"""A cache of the latest results of tools, which several pages share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tfprof.captures.run.result import ToolResult

KEPT_ROWS: Final = 300_000
"""Most rows of the tables of all cached results."""

KEPT_ANSWERS: Final = 64


class LastAnswers:
    """The latest results, as many as fit.

    Args:
        kept_rows: Rows of all their tables together.
    """

    def __init__(self, kept_rows: int = KEPT_ROWS) -> None:
        self._kept_rows = kept_rows
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, ToolResult] = OrderedDict()

    def once(self, key: Hashable, make: Callable[[], ToolResult]) -> ToolResult:
        """The result for a key; ``make`` is called if it is not cached."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
        answer = make()  # without the lock: two requests at once get equal answers
        with self._lock:
            self._answers[key] = answer
            while self._answers and (self._n_rows() > self._kept_rows or self._are_too_many()):
                self._answers.popitem(last=False)
        return answer

    def _n_rows(self) -> int:
        return sum(len(table) for one in self._answers.values() for table in one.tables.values())

    def _are_too_many(self) -> bool:
        return len(self._answers) > KEPT_ANSWERS
