"""Captures of a running program by TensorFlow's or JAX's own profiler, with notes on missing data.

    with tfprof.capture("logs") as captured:
        for number, batch in enumerate(batches):
            with tfprof.capture.step(number):
                train(batch)
    ops = tfprof.tools.op_stats(captured.run).to_rows()

``tfprof.capture`` is a module that can be called: ``tfprof.capture(logdir, options)`` is a
``Capture``, which is a context manager and a decorator. It uses the profiler of the framework that
the program has imported; TensorFlow and JAX are imported only where an option names them.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfprof.capture.jax_log import jax_log
    from tfprof.capture.keras_callback import KerasCallback
    from tfprof.capture.program import scope
    from tfprof.capture.recorder import Recorder
    from tfprof.capture.serving import ProfilerServer, serve
    from tfprof.capture.session import Capture, start, stop
    from tfprof.capture.steps import step
    from tfprof.capture.windows import Windows, every
    from tfprof.options.captures import CaptureOptions

    _typed: _CaptureModule

_HOME = {
    "Capture": "tfprof.capture.session",
    "CaptureOptions": "tfprof.options.captures",
    "KerasCallback": "tfprof.capture.keras_callback",
    "ProfilerServer": "tfprof.capture.serving",
    "Recorder": "tfprof.capture.recorder",
    "Windows": "tfprof.capture.windows",
    "jax_log": "tfprof.capture.jax_log",
    "scope": "tfprof.capture.program",
    "every": "tfprof.capture.windows",
    "serve": "tfprof.capture.serving",
    "start": "tfprof.capture.session",
    "step": "tfprof.capture.steps",
    "stop": "tfprof.capture.session",
}

__all__ = [
    "Capture", "CaptureOptions", "KerasCallback", "ProfilerServer", "Recorder", "Windows", "every",
    "jax_log", "scope", "serve", "start", "step", "stop",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'tfprof.capture' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _CaptureModule(types.ModuleType):
    """A module that makes a ``Capture`` when it is called."""

    def __call__(
        self,
        logdir: str | os.PathLike[str] | None = None,
        options: CaptureOptions | None = None,
    ) -> Capture:
        """A capture that has not started. Arguments and errors as for ``Capture``."""
        from tfprof.capture.session import Capture

        return Capture(logdir, options)


sys.modules[__name__].__class__ = _CaptureModule
