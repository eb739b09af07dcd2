"""Step markers for any active profiler, and the events at the ends of steps.

A profiler records a mark when it ends, if it recorded when the mark began. A flight recorder's
snapshot ends one session and begins the next, and a mark over both is in none. An event at the end
of the step has its number and its time.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tfprof.captures.events.timeline.names import END_OF_STEP
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.capture.launched.live_steps import LiveSteps
    from tfprof.capture.windows import Windows

NOTED_NS = 2_000_000
"""Shorter steps leave no event, which would take a noticeable share of their time."""

_BETWEEN_NS = 5_000_000_000
"""Longest time from the end of one session to the begin of the next."""
_MOST_LATE = 16

EndMark = Callable[..., Any]
"""A profiler's kind of event, with a name and values: a context."""


class StepEnds(threading.local):
    """Ends of the steps of a thread.

    Attributes:
        late: Time, end, number and name of the longest steps whose end was not recorded; the next
            step writes their events.
    """

    def __init__(self) -> None:
        self.late: list[tuple[int, int, int, str]] = []
        self._recorded_ns = -_BETWEEN_NS

    def leave(
        self, number: int, name: str, took_ns: int, recording: Sequence[EndMark], *, was_on: bool
    ) -> None:
        """Write the event of a step's end.

        Args:
            number: Number of the step.
            name: Name of its mark.
            took_ns: How long it took; after a short one, only late events are written.
            recording: The events of active profilers.
            was_on: Whether one recorded when the step began.
        """
        now_ns = time.perf_counter_ns()
        if recording or was_on:
            self._recorded_ns = now_ns
        elif now_ns - self._recorded_ns > _BETWEEN_NS:  # no profiler has come back
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


_windows: Windows | LiveSteps | None = None
"""The windows of this process; profilers record the whole process, so there is one set."""

_ends = StepEnds()


def begin_windows(windows: Windows | LiveSteps) -> None:
    """Let steps begin and end windows from now on.

    Raises:
        UsageError: There are others.
    """
    global _windows  # noqa: PLW0603
    if _windows is not None and not _windows.gives_way:
        raise UsageError("capture: this process has windows already; stop them first")
    _windows = windows


def end_windows(windows: Windows | LiveSteps) -> None:
    """Detach these windows from steps, if they are attached."""
    global _windows  # noqa: PLW0603
    if _windows is windows:
        _windows = None


class step:  # noqa: N801  # reads as a function
    """Marks a step: ``with tfprof.capture.step(number):``.

    For tools, all work in the block, and all that it starts on other threads and devices, is one
    step. Fetch the step's data inside the block: otherwise its time is in no step.

    Every profiler of TensorFlow or JAX that records this process records markers, even one that is
    controlled from outside. Without one, a marker costs about a microsecond. At the end of a step
    of 2 ms and more, an event ``tfprof.end_of_step`` has its number and time: so a flight recorder
    has the time of steps whose markers its snapshots cut.

    Args:
        number: Number of the step, which tools show.
        name: Name of the kind of steps.
    """

    __slots__ = ("_begin_ns", "_marks", "_name", "_number")

    def __init__(self, number: int, name: str = "train") -> None:
        self._number = number
        self._name = name
        self._marks: list[Any] | None = None

    def __enter__(self) -> None:
        if _windows is not None:
            _windows.begin_step()
        self.begin()

    def begin(self) -> None:
        """Begin a step that windows do not count."""
        recording = _recording()
        if recording:
            self._marks = [
                kind(self._name, step_num=self._number, **more) for _, kind, more in recording
            ]
            for mark in self._marks:
                mark.__enter__()
        self._begin_ns = time.perf_counter_ns()

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        took_ns = time.perf_counter_ns() - self._begin_ns
        if took_ns >= NOTED_NS or _ends.late:
            ends = [end for end, *_ in _recording() if end is not None]
            was_on = self._marks is not None
            _ends.leave(self._number, self._name, took_ns, ends, was_on=was_on)
        if self._marks is not None:
            marks, self._marks = self._marks, None
            for mark in reversed(marks):
                mark.__exit__(None, None, None)
            if _windows is not None:
                _windows.end_step()

    @property
    def is_recorded(self) -> bool:
        """Whether a profiler records this step; only inside the block."""
        return self._marks is not None


def _recording() -> list[tuple[EndMark | None, Any, dict[str, int]]]:
    """For each active profiler: its event, its mark of a step, and the arguments of that."""
    modules, found = sys.modules, []
    # The modules of the markers, not tensorflow or jax: these may be half imported.
    if "tensorflow.python.profiler.trace" in modules:
        module = modules["tensorflow.python.profiler.trace"]
        enabled, mark = getattr(module, "enabled", None), getattr(module, "Trace", None)
        if mark is not None and (enabled is None or enabled()):
            found.append((mark, mark, {"_r": 1}))
    if "jax.profiler" in modules:
        module = modules["jax.profiler"]
        mark = getattr(module, "StepTraceAnnotation", None)
        if mark is not None and mark.is_enabled():
            found.append((getattr(module, "TraceAnnotation", None), mark, {}))
    if "tfprof.capture.program" in modules:
        module = modules["tfprof.capture.program"]
        if module.is_recording():
            found.append((None, module.Mark, {}))
    return found
