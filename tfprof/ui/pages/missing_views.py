"""Finds out why pages of views are empty, without making them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.captures.run.fact import fact
from tfprof.core.text import how_to_capture
from tfprof.inputs.opened import Opened

if TYPE_CHECKING:
    from tfprof.captures.run.run import Host
    from tfprof.views.result import ViewKind

_NO_PYTHON: Final = f"the Python tracer was off; {how_to_capture.PYTHON}"
_NO_STACKS: Final = (
    "there are no call stacks; an op log written with add_trace=True has them, or a live graph"
)
_NO_STACKS_OF_JAX: Final = (
    "the calls of Python led to no op: programs of JAX run on threads that the Python tracer does "
    "not see; HLO stats and the trace have the lines of their instructions"
)
NO_LINES: Final = (
    "there are no inputs of ops, so there is no graph to draw; name scopes have the same ops with "
    "their time, and the graph viewer has compiled programs"
)
NO_SOURCE: Final = (
    "no op has a source line: programs of XLA record them for their instructions, and the Python "
    "tracer or an op log for others"
)
NO_MEMORY: Final = "no step was recorded with the memory of its outputs"


def missing_view(kind: ViewKind, opened: Opened) -> str:
    """Why a view is empty; empty text if it is not."""
    if kind != "code" or opened.profiler is None:
        return ""
    if opened.run is not None and any(map(_has_lines, opened.run().hosts)):
        return ""  # the lines of instructions
    return missing_stacks(opened)


def missing_stacks(opened: Opened) -> str:
    """Why there are no call stacks of ops; empty text if there are some."""
    if opened.run is not None:
        hosts = opened.run().hosts
        if not any(map(_has_frames, hosts)):
            return _NO_PYTHON
        from tfprof.captures.facts.framework import JAX, words_for

        is_jax = words_for(hosts) == JAX
        return _NO_STACKS_OF_JAX if is_jax and not any(map(_has_stacks, hosts)) else ""
    from tfprof.inputs.profiler import session_of

    return "" if session_of(opened.views()).may_have_stacks else _NO_STACKS


@fact
def _has_frames(host: Host) -> bool:
    from tfprof.captures.events.steps.host_code import is_frame

    return any(is_frame(name) for plane in host.space.planes for name in plane.event_metadata.names)


@fact
def _has_stacks(host: Host) -> bool:
    """Whether the Python tracer saw the calls that led to an op."""
    from tfprof.captures.events.ops.op_runs import first_runs
    from tfprof.captures.events.steps.python_stacks import python_stacks
    from tfprof.captures.facts.op_sums import op_runs

    runs = op_runs(host)
    return bool(python_stacks(host.forest(), first_runs(runs.parts, host.timeline.starts_ps))[1])


def missing_lines(opened: Opened) -> str:
    """Why the page of the drawn graph is empty; empty text if it is not."""
    if opened.run is not None:  # captures do not record inputs of ops
        return NO_LINES
    from tfprof.inputs.profiler import session_of

    ops = session_of(opened.views()).profile.ops
    return "" if len(ops.input_rows()) else NO_LINES


def missing_source(opened: Opened) -> str:
    """Why the page of source lines is empty; empty text if it is not."""
    if opened.run is not None and any(map(_has_lines, opened.run().hosts)):
        return ""
    if opened.profiler is not None and not missing_stacks(opened):
        return ""
    return NO_SOURCE


@fact
def _has_lines(host: Host) -> bool:
    """Whether an instruction that ran has a source line."""
    from tfprof.captures.facts.hlo_programs import programs_of
    from tfprof.captures.tools.op_profile_tree import run_device_ops

    return bool(programs_of(host)) and any(op.source[0] for op in run_device_ops([host]).ops)


def missing_memory(opened: Opened) -> str:
    """Why the page of memory over time is empty; empty text if it is not."""
    from tfprof.inputs.profiler import session_of

    details = session_of(opened.views()).profile.steps.details
    return "" if any(len(detail.outputs.sizes) for detail in details.values()) else NO_MEMORY
