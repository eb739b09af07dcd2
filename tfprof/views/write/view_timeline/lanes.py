"""Lanes: the rows of a timeline in which no two slices overlap."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.views.write.trace_json import blocks

_MOST = 1000
"""Every lane costs a name, which is more than a slice."""


def first_fit_lanes(starts: Int64Array, ends: Int64Array) -> Int64Array:
    """The lowest lane that is free, for each slice.

    That is also what ``Timeline::AllocateLanes`` of ``tfprof_timeline.cc`` comes to, though it
    looks at more than the last slice of a lane.

    Args:
        starts: Starts, ascending, shape (n,).
        ends: Ends, shape (n,). A lane is free again at the end, which may be before the start
            (negative durations in classic mode).

    Returns:
        Lanes from 0, shape (n,): what overlaps with ``_MOST`` others shares the last. O(n log n).
    """
    lanes = np.empty(len(starts), np.int64)
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    for block in blocks(len(starts)):  # lists of all slices would take more than the columns
        chosen = []
        for start, end in zip(starts[block].tolist(), ends[block].tolist(), strict=True):
            while busy and busy[0][0] <= start:
                heappush(free, heappop(busy)[1])
            new = len(busy) if len(busy) < _MOST else _MOST - 1
            lane = heappop(free) if free else new
            heappush(busy, (end, lane))
            chosen.append(lane)
        lanes[block] = chosen
    return lanes
