"""Assigns each slice of a track to a lane, so that no two slices of a lane overlap.

A slice inside another slice is drawn below it. Slices that overlap only in part, as recorders of
asynchronous work write them, get lanes of their own, so that none hides another.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfprof.captures.events.timeline.nesting import Nesting, nest
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import BoolArray, Int64Array

_LaneArray = np.ndarray[Any, np.dtype[np.unsignedinteger[Any]]]

_MOST = 1000
"""At most so many concurrent slices have lanes of their own; all others share one below."""


@dataclass(frozen=True, eq=False)
class Lanes:
    """The lanes of a track.

    Attributes:
        of_slice: The lane of each slice, shape (n,); None if there is only one lane.
        order: Places of slices, lane by lane; None if there is only one lane.
        first: Where each lane begins in ``order``, and the end, shape (n lanes + 1,).
        depth: Maximum depth of nested slices.
        n_tangled: Number of slices that overlap another one only in part, with those around them.
    """

    of_slice: _LaneArray | None
    order: IntArray | None
    first: Int64Array
    depth: int
    n_tangled: int

    def __len__(self) -> int:
        return len(self.first) - 1

    def slices(self, lane: int) -> IntArray | None:
        """Return places of the slices of a lane, in order of time; None for all of the track."""
        if self.order is None:
            return None
        return self.order[self.first[lane] : self.first[lane + 1]]

    def lanes_of(self, places: IntArray) -> Int64Array:
        """Return the lane of each of some slices, in the shape of ``places``."""
        if self.of_slice is None:
            return np.zeros(len(places), np.int64)
        return self.of_slice[places].astype(np.int64)

    def lane_of(self, place: int) -> int:
        """Return the lane of a slice."""
        return 0 if self.of_slice is None else int(self.of_slice[place])

    @classmethod
    def of(cls, starts_ps: Int64Array, durations_ps: Int64Array) -> Lanes:
        """Find the lanes of slices.

        Args:
            starts_ps: Starts, ascending; of equal ones, longer slices first, shape (n,).
            durations_ps: Durations, shape (n,).
        """
        n_slices = len(starts_ps)
        ends_ps = starts_ps + durations_ps
        if not n_slices or not (starts_ps[1:] < ends_ps[:-1]).any():
            return cls(None, None, np.array([0, n_slices]), min(n_slices, 1), 0)
        nesting = nest(np.array([0, n_slices]), starts_ps, ends_ps)
        lanes = depths(nesting)
        is_instant = durations_ps == 0
        if is_instant.any():  # many may share one time: none is inside another
            around = nesting.nearest(np.where(is_instant, -1, lanes).astype(lanes.dtype))
            lanes[is_instant] = around[is_instant] + 1
        np.minimum(lanes, _MOST, out=lanes)
        depth = int(lanes.max()) + 1
        n_tangled = 0
        narrow = _narrow(lanes)
        order = np.argsort(narrow, kind="stable")
        is_late = _overlaps_before(lanes, order, starts_ps, ends_ps)
        if is_late.any():
            n_tangled = _untangle(lanes, order[is_late], starts_ps, ends_ps, nesting)
            narrow = _narrow(lanes)
            order = np.argsort(narrow, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(narrow))])
        return cls(narrow, order.astype(nesting.parents.dtype), first, depth, n_tangled)


def _narrow(lanes: IntArray) -> _LaneArray:
    """The same numbers in few bytes: NumPy sorts those of one byte in a time that only grows with
    their number.
    """
    return lanes.astype(np.uint8 if int(lanes.max()) < 1 << 8 else np.uint32)


def depths(nesting: Nesting) -> IntArray:
    """Count the slices around each slice, shape (n,)."""
    n_slices = len(nesting.ends)
    closed = np.cumsum(np.bincount(nesting.ends, minlength=n_slices + 1)[:n_slices])
    return (np.arange(n_slices) - closed).astype(nesting.parents.dtype)


def _overlaps_before(
    lanes: IntArray, order: IntArray, starts_ps: Int64Array, ends_ps: Int64Array
) -> BoolArray:
    """Whether each slice, in this order, begins before the previous one on its lane ends."""
    is_late = np.zeros(len(order), np.bool_)
    is_late[1:] = starts_ps[order[1:]] < ends_ps[order[:-1]]
    is_late[1:] &= lanes[order[1:]] == lanes[order[:-1]]
    return is_late


def _untangle(
    lanes: IntArray,
    late: IntArray,
    starts_ps: Int64Array,
    ends_ps: Int64Array,
    nesting: Nesting,
) -> int:
    """Give slices lanes of their own wherever some overlap; returns the number of visited slices.

    This visits only stretches with overlaps, slice by slice.
    """
    until = np.maximum.accumulate(ends_ps)
    begins = np.flatnonzero(np.concatenate([[True], starts_ps[1:] >= until[:-1]]))
    stretches = np.unique(np.searchsorted(begins, late, side="right") - 1)
    bounds = np.append(begins, len(starts_ps))
    n_seen = 0
    for stretch in stretches.tolist():
        first, last = int(bounds[stretch]), int(bounds[stretch + 1])
        lanes[first:last] = _lanes_of_stretch(
            starts_ps[first:last].tolist(),
            ends_ps[first:last].tolist(),
            (nesting.parents[first:last].astype(np.int64) - first).tolist(),
        )
        n_seen += last - first
    return n_seen


def _lanes_of_stretch(starts: list[int], ends: list[int], parents: list[int]) -> list[int]:
    """The lowest free lane below all slices that are around it, for each slice in turn."""
    lanes: list[int] = []
    busy: list[tuple[int, int]] = []  # end and lane
    taken: set[int] = set()
    for start, end, parent in zip(starts, ends, parents, strict=True):
        while busy and busy[0][0] <= start:
            taken.discard(heapq.heappop(busy)[1])
        if len(busy) >= _MOST:
            lanes.append(_MOST)
            continue
        lane = 0 if parent < 0 else lanes[parent] + (ends[parent] > starts[parent])
        lane = max(lane, 1 + max((own for until, own in busy if until > end), default=-1))
        while lane in taken:
            lane += 1
        lanes.append(lane)
        if end > start:
            taken.add(lane)
            heapq.heappush(busy, (end, lane))
    return lanes
