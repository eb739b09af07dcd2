"""Step markers, for whatever profiler is recording."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.capture.windows import Windows

_windows: Windows | None = None
"""What captures some of the steps of this process; profilers record all of it, so there is one."""


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
    one that is controlled from outside. If none does, a marker costs less than a microsecond.

    Args:
        number: Number of the step, which tools show.
        name: What kind of step this is.
    """

    __slots__ = ("_marks", "_name", "_number")

    def __init__(self, number: int, name: str = "train") -> None:
        self._number = number
        self._name = name
        self._marks: list[Any] | None = None

    def __enter__(self) -> None:
        if _windows is not None:
            _windows.begin_step()
        modules = sys.modules
        # The modules of the markers, not tensorflow or jax: these may be half imported.
        module = modules.get("tensorflow.python.profiler.trace")
        if module is not None:
            enabled = getattr(module, "enabled", None)
            if enabled is None or enabled():
                self._begin(getattr(module, "Trace", None), {"_r": 1})
        module = modules.get("jax.profiler")
        if module is not None:
            mark = getattr(module, "StepTraceAnnotation", None)
            if mark is not None and mark.is_enabled():
                self._begin(mark, {})
        module = modules.get("tfprof.capture.program")
        if module is not None and module.is_recording():
            self._begin(module.Mark, {})

    def _begin(self, kind: Any, changes: dict[str, int]) -> None:
        if kind is None:
            return
        mark = kind(self._name, step_num=self._number, **changes)
        mark.__enter__()
        if self._marks is None:
            self._marks = []
        self._marks.append(mark)

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
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
