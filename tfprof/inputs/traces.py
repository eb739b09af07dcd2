"""The trace of what was opened: of a captured run, or a trace of another program."""

from __future__ import annotations

from tfprof.captures.trace.from_run import model_of_run
from tfprof.captures.trace.model import TraceModel
from tfprof.errors import UsageError
from tfprof.inputs.opened import Opened


def has_trace(opened: Opened) -> bool:
    """Whether there is a trace."""
    return opened.run is not None or opened.trace is not None


def trace_of(opened: Opened) -> TraceModel:
    """The trace; made when it is first asked for.

    Raises:
        UsageError: There is none.
        InputError: It cannot be read.
    """
    if opened.run is not None:
        return model_of_run(opened.run())
    if opened.trace is None:
        raise UsageError(f"{opened.name} has no trace")
    return opened.trace()
