"""TensorFlow's ``client.timeline``: the trace of one step in Chrome's format."""

from tfprof.views.write.client_timeline.step import AllocationMaximum
from tfprof.views.write.client_timeline.timeline import StepStatsAnalysis, Timeline

__all__ = ["AllocationMaximum", "StepStatsAnalysis", "Timeline"]
