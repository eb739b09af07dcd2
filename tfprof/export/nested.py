"""Slices as begins and ends, in the order that viewers with a stack for each track need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.nesting import nest
from tfprof.core.columns.columns import BoolArray, Int64Array

_PS_PER_NS = 1000


class Marks(NamedTuple):
    """Begins and ends of slices, columns of shape (n marks,).

    Attributes:
        slices: Place of the slice of each.
        is_end: Whether it ends there.
        times_ns: When, in the time of the track.
    """

    slices: Int64Array
    is_end: BoolArray
    times_ns: Int64Array


def marks_of(starts_ps: Int64Array, durations_ps: Int64Array) -> Marks:
    """Begins and ends in order: inner slices end first, and instants have no end.

    Args:
        starts_ps: Ascending; of equal ones, longer slices first, shape (n,). None overlaps another
            one only in part.
        durations_ps: Shape (n,).
    """
    n_slices = len(starts_ps)
    ends_ps = starts_ps + durations_ps
    behind = nest(np.array([0, n_slices]), starts_ps, ends_ps).ends.astype(np.int64)
    # Each begin stands behind the ends of all that was over before it.
    closed = np.cumsum(np.bincount(behind, minlength=n_slices + 1))
    slices = np.empty(2 * n_slices, np.int64)
    is_end = np.ones(2 * n_slices, np.bool_)
    begins = np.arange(n_slices) + closed[:n_slices]
    slices[begins] = np.arange(n_slices)
    is_end[begins] = False
    slices[is_end] = n_slices - 1 - np.argsort(behind[::-1], kind="stable")
    times = starts_ps[slices]
    times[is_end] = ends_ps[slices[is_end]]
    kept = ~(is_end & (durations_ps[slices] == 0))
    return Marks(slices[kept], is_end[kept], times[kept] // _PS_PER_NS)
