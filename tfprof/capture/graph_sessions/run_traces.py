"""Traces of ``Session.run``: one full trace at a time, which is TensorFlow's limit.

With two at once, or within ``tf.profiler.experimental``, TensorFlow executes the run and then
raises ``AlreadyExistsError`` instead of returning the result. A trace of the level
``SOFTWARE_TRACE`` is always possible; it lacks the times of GPU kernels.
"""

from __future__ import annotations

import sys
import threading
import weakref
from typing import Any

_HARDWARE_TRACE = 2  # RunOptions.TraceLevel
_LOCK = threading.Lock()


class RunTrace:
    """One traced run, from before it begins until ``end`` or until no reference to it is left.

    Args:
        options: The caller's ``RunOptions`` or None; they are left as they are.

    Attributes:
        options: What to run with.
        is_full: Whether the run holds the times of GPU kernels.
    """

    _holder: weakref.ref[RunTrace] | None = None  # of the process

    def __init__(self, options: Any = None) -> None:
        from tensorflow.core.protobuf.config_pb2 import RunOptions

        self.options = RunOptions()
        if options is not None:
            self.options.CopyFrom(options)
        self._thread = threading.get_ident()
        asked_for = is_full_trace(options)
        with _LOCK:
            holder = self._current()
            if holder is None:
                self.is_full = asked_for or not _is_profiler_active()
            else:  # options of this thread may hold its own trace: that of a hook
                self.is_full = asked_for and holder._thread == self._thread
            if self.is_full and holder is None:
                RunTrace._holder = weakref.ref(self)
        level = RunOptions.FULL_TRACE if self.is_full else RunOptions.SOFTWARE_TRACE
        self.options.trace_level = level

    def end(self) -> None:
        """Let others trace; may be called again."""
        with _LOCK:
            if self._current() is self:
                RunTrace._holder = None

    @staticmethod
    def _current() -> RunTrace | None:
        return None if RunTrace._holder is None else RunTrace._holder()


def is_full_trace(options: Any) -> bool:
    """Whether these ``RunOptions`` (or None) ask for a full trace."""
    return getattr(options, "trace_level", 0) >= _HARDWARE_TRACE


def _is_profiler_active() -> bool:
    """Whether the program is within ``tf.profiler.experimental``."""
    profiler = sys.modules.get("tensorflow.python.profiler.profiler_v2")
    return getattr(profiler, "_profiler", None) is not None
