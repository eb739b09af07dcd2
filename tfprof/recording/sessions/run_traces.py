"""Traces of ``Session.run``, one full trace at a time, as TensorFlow allows no more.

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
    """One traced run, from before its begin until ``end`` or until this object is deleted.

    Args:
        options: The caller's ``RunOptions`` or None; they are not changed.

    Attributes:
        options: The options for the run.
        is_full: Whether the trace has the times of GPU kernels.
    """

    _holder: weakref.ref[RunTrace] | None = None  # the full trace that runs in this process

    def __init__(self, options: Any = None) -> None:
        from tensorflow.core.protobuf.config_pb2 import RunOptions

        self.options = RunOptions()
        if options is not None:
            self.options.CopyFrom(options)
        self._thread = threading.get_ident()
        is_requested = is_full_trace(options)
        with _LOCK:
            holder = self._current()
            if holder is None:
                self.is_full = is_requested or not _is_profiler_active()
            else:  # options of the same thread may be those of a hook's trace
                self.is_full = is_requested and holder._thread == self._thread
            if self.is_full and holder is None:
                RunTrace._holder = weakref.ref(self)
        level = RunOptions.FULL_TRACE if self.is_full else RunOptions.SOFTWARE_TRACE
        self.options.trace_level = level

    def end(self) -> None:
        """Allow other traces; may be called again."""
        with _LOCK:
            if self._current() is self:
                RunTrace._holder = None

    @staticmethod
    def _current() -> RunTrace | None:
        return None if RunTrace._holder is None else RunTrace._holder()


def is_full_trace(options: Any) -> bool:
    """Whether these ``RunOptions`` (or None) request a full trace."""
    return getattr(options, "trace_level", 0) >= _HARDWARE_TRACE


def _is_profiler_active() -> bool:
    """Whether the program is within ``tf.profiler.experimental``."""
    profiler = sys.modules.get("tensorflow.python.profiler.profiler_v2")
    return getattr(profiler, "_profiler", None) is not None
