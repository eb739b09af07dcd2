"""Timelines of the graph, scope and code views, for Chrome's and Perfetto's trace viewers."""

from tfprof.exporters.view_timeline.outputs import (
    TimelineFile,
    banner,
    options_of_step,
    view_to_timelines,
)
from tfprof.exporters.view_timeline.trace_json import compressed

__all__ = ["TimelineFile", "banner", "compressed", "options_of_step", "view_to_timelines"]
