"""How much of a time some intervals cover together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tfprof.core.columns.columns import Int64Array, IntArray
from tfprof.core.columns.lookup import places_in


def covered_until(starts: Int64Array, ends: Int64Array) -> Callable[[Int64Array], Int64Array]:
    """A function from moments to the time covered up to each.

    Between two moments that is the difference.

    Args:
        starts: Of intervals in any order, which may overlap, shape (n,).
        ends: Not before their starts, shape (n,).
    """
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    begins = np.ones(len(starts), np.bool_)
    begins[1:] = starts[1:] > ends[:-1]
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(starts))[: len(first)] - 1
    starts, ends = starts[first], ends[last]
    before = np.concatenate([[0], np.cumsum(ends - starts)])

    def covered(moments: Int64Array) -> Int64Array:
        if not len(starts):
            return np.zeros(len(moments), np.int64)
        place = places_in(starts, moments, "right") - 1
        inside = np.minimum(moments, ends[np.maximum(place, 0)]) - starts[np.maximum(place, 0)]
        covered: Int64Array = np.where(place >= 0, before[np.maximum(place, 0)] + inside, 0)
        return covered

    return covered


def extents(row: IntArray, start_ps: Int64Array, end_ps: Int64Array, n_rows: int) -> Int64Array:
    """The first start and the last end of each row, shape (n_rows, 2); 0 and 0 without any."""
    low, high = np.full(n_rows, np.iinfo(np.int64).max), np.zeros(n_rows, np.int64)
    np.minimum.at(low, row, start_ps)
    np.maximum.at(high, row, end_ps)
    return np.stack([np.minimum(low, high), high], axis=1)
