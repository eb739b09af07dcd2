"""Step markers, for whatever profiler is recording."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tfprof.capture.step_ends import NOTED_NS, EndMark, StepEnds
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.capture.windows import Windows


_windows: Windows | None = None
"""What captures some of the steps of this process; profilers record all of it, so there is one."""

_ends = StepEnds()


def begin_windows(windows: Windows) -> None:
    """Let steps begin and end windows from now on.

    Raises:
        UsageError: There are others.
    """
    global _windows  # noqa: PLW0603
    if _windows is not None:
        raise UsageError("capture: this process has windows already; stop them first")
    _windows = windows


def end_windows(windows: Windows) -> None:
    """Let steps be steps, if these are the windows that they begin."""
    global _windows  # noqa: PLW0603
    if _windows is windows:
        _windows = None


class step:  # noqa: N801  # reads as a function
    """Marks a step: ``with tfprof.capture.step(number):``.

    Tools take what runs in the block, and what it starts on other threads and devices, as one
    step. Fetch the step's data inside the block: else the time for them is in no step.

    Markers are recorded by every profiler of TensorFlow or JAX that records this process, also
    one that is controlled from outside. If none does, a marker costs about a microsecond. At the
    end of a step of 2 ms and more lies an event ``tfprof.end_of_step`` with its number and time: so
    a flight recorder has the time of steps whose markers its snapshots cut.

    Args:
        number: Number of the step, which tools show.
        name: What kind of step this is.
    """

    __slots__ = ("_begin_ns", "_marks", "_name", "_number")

    def __init__(self, number: int, name: str = "train") -> None:
        self._number = number
        self._name = name
        self._marks: list[Any] | None = None

    def __enter__(self) -> None:
        if _windows is not None:
            _windows.begin_step()
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
    """Of each profiler that records: its event, its mark of a step, and what that needs."""
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
