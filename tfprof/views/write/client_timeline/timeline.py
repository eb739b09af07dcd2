"""``Timeline``: from StepStats to a trace and to the peaks of each allocator.

Event for event as ``tensorflow/python/client/timeline.py`` of TensorFlow 2.21, without its
side effects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfprof.views.write.client_timeline.chrome_trace import ChromeTrace
from tfprof.views.write.client_timeline.memory import AllocationMaximum, memory_of
from tfprof.views.write.client_timeline.step import make_step
from tfprof.views.write.client_timeline.step_stats import (
    find_step_stats,
    read_devices,
    stretch_to_kernels,
)

if TYPE_CHECKING:
    from tfprof.files.open import Source


class StepStatsAnalysis(NamedTuple):
    """What ``Timeline.analyze_step_stats`` finds.

    Attributes:
        chrome_trace: The trace; ``chrome_trace.format_to_string(pretty=False)`` is its text.
        allocator_maximums: By allocator name; empty without ``show_memory``.
    """

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class Timeline:
    """The execution of one step, for Chrome's and Perfetto's trace viewers.

    The same text as from ``tensorflow.python.client.timeline.Timeline``. TensorFlow's writes
    lane numbers into the given message and adds all events again at each call; here the message
    stays as it is, and the answer depends on it and the arguments alone.

    Args:
        step_stats: ``StepStats`` or ``RunMetadata`` as a message of any class, or
            ``RunMetadata`` as bytes or file (binary or text, also compressed). A message
            is read at each call, not here.
        graph: Not used, as in TensorFlow.

    Raises:
        UsageError: ``step_stats`` is of no type that could be opened.
        InputError: The file cannot be read, is of another format or broken.

    Example:
        >>> import json, tfprof
        >>> timeline = Timeline(tfprof.demo_files().run_meta)
        >>> trace = json.loads(timeline.generate_chrome_trace_format())
        >>> trace["traceEvents"][0]["args"]
        {'name': 'Allocators'}
    """

    def __init__(self, step_stats: Source, graph: object = None) -> None:
        self._step_stats = find_step_stats(step_stats)

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False, op_time: str = "schedule"
    ) -> str:
        """The trace as JSON text, indented by 4; for the arguments see ``analyze_step_stats``."""
        analysis = self.analyze_step_stats(show_dataflow, show_memory, op_time)
        return analysis.chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(
        self, show_dataflow: bool = True, show_memory: bool = True, op_time: str = "schedule"
    ) -> StepStatsAnalysis:
        """The trace and, with ``show_memory``, the most that each allocator held.

        Args:
            show_dataflow: Whether arrows lead from the producers of tensors to their consumers,
                where these are not in the same row.
            show_memory: Whether to show the life of each tensor and the bytes in use by each
                allocator.
            op_time: ``schedule`` shows ops as the executor saw them, which may be before their
                kernels run; ``gpu`` from the start of the first kernel to the end of the last;
                ``all`` from the op's start to the end of its last kernel. Any other text means
                ``all``, as in TensorFlow.
        """
        devices = read_devices(self._step_stats, with_outputs=show_memory)
        if op_time != "schedule":
            stretch_to_kernels(devices, move_starts=op_time == "gpu")
        step = make_step(devices)
        memory = memory_of(step) if show_memory else None
        trace = ChromeTrace(step, memory, show_dataflow=show_dataflow)
        return StepStatsAnalysis(trace, memory.maximums if memory else {})
