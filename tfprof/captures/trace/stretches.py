"""Stretches of time in which at least one of some events runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tfprof.core.columns.columns import Int64Array, no_rows


class Stretches(NamedTuple):
    """Stretches in order of time, which do not overlap, columns of shape (n,), ps."""

    starts: Int64Array
    ends: Int64Array


def stretches_of(events: Iterable[tuple[Int64Array, Int64Array]]) -> Stretches:
    """Join the stretches of events.

    Args:
        events: Starts, ascending, and ends, group by group.
    """
    parts = [_merged(starts, ends) for starts, ends in events]
    starts = np.concatenate([no_rows(), *(part.starts for part in parts)])
    ends = np.concatenate([no_rows(), *(part.ends for part in parts)])
    order = np.argsort(starts, kind="stable")
    return _merged(starts[order], ends[order])


def _merged(starts: Int64Array, ends: Int64Array) -> Stretches:
    if not len(starts):
        return Stretches(starts, ends)
    until = np.maximum.accumulate(ends)
    heads = np.flatnonzero(np.concatenate([[True], starts[1:] > until[:-1]]))
    return Stretches(starts[heads], until[np.append(heads[1:], len(starts)) - 1])
