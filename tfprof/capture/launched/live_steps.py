"""Counts the steps of a running program: marks where it has any, otherwise calls of a function.

The recorded trace is left to the analysis, which decides with more at hand (``captures/events/
steps/step_roots.py``); this count only decides when a window begins and ends.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from time import perf_counter

NEVER = float("inf")
WARM_CALLS = 2
"""So many first calls of a function trace and compile it, so their time does not count."""


def is_own_mark() -> bool:
    """Whether ``tfprof.capture.step`` makes the mark whose constructor calls this; it counts it."""
    return sys._getframe(2).f_globals.get("__name__") == "tfprof.capture.steps"


_SAMPLE = 16
"""After as many calls of a function, the time of one in so many is taken, and stands for all."""


class Calls:
    """The calls of one function.

    Attributes:
        name: Its name.
        framework: ``tensorflow`` or ``jax``.
        n: Calls from the main program, not from within other functions.
        seconds: Time from a call to the next one of any function, without the first calls.
    """

    __slots__ = ("framework", "n", "name", "seconds")

    def __init__(self, name: str, framework: str) -> None:
        self.name, self.framework = name, framework
        self.n, self.seconds = 0, 0.0


inside: set[int] = set()
"""Threads that are in a call; what they call then is part of it."""


class LiveSteps:
    """The number of the step that has begun, and a function for when it is due.

    Marks count as soon as there is one. Before, the calls of one function count: of that which took
    most time, as measured from each call to the next one of any function, so that waiting for
    results and for input counts.

    Args:
        on_due: Runs in the thread of a step, before the step, when ``due`` is reached.

    Attributes:
        n: Steps that have begun.
        due: Number of the step before which ``on_due`` runs.
        counts_calls: Whether calls need to be counted.
        leader: The function whose calls are the steps.
        holds_leader: Whether it stays so, as within a window, whose end is a number of its calls.
        first_at: When the first step began, by ``time.monotonic``.
    """

    gives_way = True
    """Windows that the program itself makes of its steps take this one's place."""

    def __init__(self, on_due: Callable[[], None]) -> None:
        self.n, self.due = 0, NEVER
        self.counts_calls = True
        self.leader: Calls | None = None
        self.first_at: float | None = None
        self._on_due = on_due
        self._last: Calls | None = None
        self._since = 0.0
        self._marks: dict[str, int] = {}
        self.holds_leader = False

    @property
    def what(self) -> str:
        """What the steps are, in words."""
        if self._marks:
            return "marked steps"
        return "" if self.leader is None else f"calls of {self.leader.name}"

    @property
    def n_marked(self) -> int:
        """Marked steps that have begun."""
        return self.n if self._marks else 0

    def begin_step(self) -> None:
        """As ``Windows``: a step of ``tfprof.capture.step`` begins."""
        self.marked("tfprof.capture.step")

    def end_step(self) -> None:
        """As ``Windows``: a recorded step of ``tfprof.capture.step`` ends."""

    def marked(self, kind: str) -> None:
        """A step begins that the program marks; of nested kinds of marks, one counts."""
        if not self._marks:
            self.n, self.counts_calls = 0, False
        count = self._marks[kind] = self._marks.get(kind, 0) + 1
        if count > self.n:
            self._begin(count)

    def begin_call(self, calls: Calls) -> None:
        """The main program calls a function."""
        last = self._last
        if last is not None:
            last.seconds += (perf_counter() - self._since) * (_SAMPLE if last.n > _SAMPLE else 1)
            self._last = None
        number = calls.n = calls.n + 1
        if number > WARM_CALLS and (number < _SAMPLE or number % _SAMPLE == 0):
            self._last, self._since = calls, perf_counter()
        if calls is not self.leader:
            if self.holds_leader or not self._is_ahead(calls):
                return
            self.leader = calls
        self.n = number
        if number >= self.due or self.first_at is None:
            self._begin(number)

    def _is_ahead(self, calls: Calls) -> bool:
        leader = self.leader
        return leader is None or (
            calls.n > WARM_CALLS and (leader.n <= WARM_CALLS or calls.seconds > leader.seconds)
        )

    def _begin(self, number: int) -> None:
        self.n = number
        if self.first_at is None:
            self.first_at = time.monotonic()
        if number >= self.due:
            self._on_due()
