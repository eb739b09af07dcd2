"""Why pages of views have nothing to show, told without making them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.captures.run.fact import fact
from tfprof.pages.opened import Opened
from tfprof.text import how_to_capture

if TYPE_CHECKING:
    from tfprof.captures.run.run import Host
    from tfprof.views.result import ViewKind

_NO_PYTHON: Final = f"the Python tracer was off; {how_to_capture.PYTHON}"
_NO_STACKS: Final = (
    "there are no call stacks; an op log written with add_trace=True has them, or a live graph"
)
NO_MEMORY: Final = "no step was recorded with the memory of its outputs"


def missing_view(kind: ViewKind, opened: Opened) -> str:
    """Why a view has nothing to show; empty if it has."""
    if kind != "code" or opened.profiler is None:
        return ""
    if opened.run is not None:
        return "" if any(map(_has_frames, opened.run().hosts)) else _NO_PYTHON
    from tfprof.profiler import session_of

    return "" if session_of(opened.profiler()).may_have_stacks else _NO_STACKS


@fact
def _has_frames(host: Host) -> bool:
    from tfprof.captures.events.steps.host_code import is_frame

    return any(is_frame(name) for plane in host.space.planes for name in plane.event_metadata.names)


def missing_memory(opened: Opened) -> str:
    """Why there is nothing on the page of memory over time; empty if there is something."""
    from tfprof.profiler import session_of

    assert opened.profiler is not None, "site.py lists it only where there is a profiler"
    details = session_of(opened.profiler()).profile.steps.details
    return "" if any(len(detail.outputs.sizes) for detail in details.values()) else NO_MEMORY
