"""Timelines of the graph, scope and code views, for Chrome's and Perfetto's trace viewers."""

from tfprof.views.write.view_timeline.outputs import (
    TimelineFile,
    banner,
    options_of_step,
    view_to_timelines,
)

__all__ = ["TimelineFile", "banner", "options_of_step", "view_to_timelines"]
