"""Command buffers in a capture: whether XLA ran without them, and the time without an op in them.

While a profiler records, XLA runs the commands of a command buffer one by one, unless a flag keeps
the buffers. It then writes an event, which ``remarks`` reports.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.graph_kernels import WHOLE_GRAPH
from tfprof.captures.events.timeline.graph_ops import BY_LAUNCH, FOUND_BY, NOT_FOUND
from tfprof.captures.facts.hlo_programs import programs_of
from tfprof.captures.run.fact import fact
from tfprof.captures.run.remarks import is_without_graphs
from tfprof.captures.run.run import Host

_LOST = (NOT_FOUND, BY_LAUNCH)


class GraphTimes(NamedTuple):
    """Time of kernels in graphs whose op is unknown.

    Attributes:
        total_ps: Time of all kernels and of records of whole graphs.
        whole_ps: Time of records of whole graphs, which stand in place of their kernels.
        lost_ps: Time of kernels in graphs for which no op was found but that of the launch.
        has_programs: Whether the capture has compiled programs.
    """

    total_ps: int = 0
    whole_ps: int = 0
    lost_ps: int = 0
    has_programs: bool = False


@fact
def graph_times(host: Host) -> GraphTimes:
    """The times of a host's graphs."""
    timeline = host.timeline
    found_by = timeline.stat(FOUND_BY)
    on_stream = timeline.of_lines(lambda line: line.is_device and not line.is_derived)
    is_whole = timeline.having(WHOLE_GRAPH) & on_stream
    is_kernel = timeline.having("kernel_details") & on_stream
    lost = [number for number, text in enumerate(found_by.texts) if text in _LOST]
    is_lost = np.zeros(len(timeline), np.bool_)
    is_lost[found_by.events[found_by.is_text() & np.isin(found_by.values, lost)]] = True
    total, whole, lost_ps = (
        int(timeline.durations_ps[chosen].sum())
        for chosen in (is_kernel | is_whole | is_lost, is_whole, is_lost)
    )
    return GraphTimes(total, whole, lost_ps, bool(programs_of(host)))


@fact
def ran_without_graphs(host: Host) -> bool:
    """Whether XLA ran without command buffers because of the capture."""
    return is_without_graphs(host.space)
