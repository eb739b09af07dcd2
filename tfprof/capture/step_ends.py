"""What a step leaves at its end, for recordings that begin in the middle of it.

A profiler records a mark when it ends, if it recorded when the mark began. A flight recorder's
snapshot ends one session and begins the next, and a mark over both is in none. An event at the end
of the step has its number and its time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from tfprof.captures.events.timeline.names import END_OF_STEP

NOTED_NS = 2_000_000
"""Shorter steps leave nothing: it would be a noticeable share of their time."""

_BETWEEN_NS = 5_000_000_000
"""At most so long is it from the end of one session to the begin of the next."""
_MOST_LATE = 16

EndMark = Callable[..., Any]
"""A profiler's kind of event, with a name and values: a context."""


class StepEnds(threading.local):
    """Ends of the steps of a thread.

    Attributes:
        late: Time, end, number and name of steps whose end nobody has recorded, the longest ones;
            the next step leaves them.
    """

    def __init__(self) -> None:
        self.late: list[tuple[int, int, int, str]] = []
        self._recorded_ns = -_BETWEEN_NS

    def leave(
        self, number: int, name: str, took_ns: int, recording: Sequence[EndMark], *, was_on: bool
    ) -> None:
        """Leave the end of a step now.

        Args:
            number: Of the step.
            name: Of its mark.
            took_ns: How long it took; if it is short, only ends that are late are left.
            recording: The events of profilers that record.
            was_on: Whether one recorded when the step began.
        """
        now_ns = time.perf_counter_ns()
        if recording or was_on:
            self._recorded_ns = now_ns
        elif now_ns - self._recorded_ns > _BETWEEN_NS:  # nobody has come back
            self.late.clear()
            return
        if took_ns >= NOTED_NS:
            self.late.append((took_ns, now_ns, number, name))
            if len(self.late) > _MOST_LATE:
                self.late.remove(min(self.late))  # the shortest
        if not recording:
            return
        for nanoseconds, end_ns, late, of in self.late:
            ago = now_ns - end_ns
            if ago <= _BETWEEN_NS:
                for mark in recording:
                    with mark(END_OF_STEP, number=late, nanoseconds=nanoseconds, ago=ago, of=of):
                        pass
        self.late.clear()
