"""The reference's view of a step's events if some of them have no duration.

The reference goes through the starts and ends of a step's events in order of time, ends first, and
counts the kinds that are open (``event_span.cc``). The end of an event without duration comes
before its start, so its kind counts as open, although no such event is open, until the next event
of that kind ends or a larger kind hides it.
"""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.steps.step_events import Spent, StepEvents
from tfprof.core.columns.columns import Int64Array, concatenate_tables


def as_the_reference_sweeps(events: StepEvents) -> StepEvents:
    """The events; groups with events without duration become pieces that do not overlap."""
    is_odd = np.isin(events.group, np.unique(events.group[events.end_ps == events.start_ps]))
    if not is_odd.any():
        return events
    kept, odd = events.only(~is_odd), events.only(is_odd)
    order = np.argsort(odd.group, kind="stable")
    groups, first = np.unique(odd.group[order], return_index=True)
    parts = [kept]
    for group, rows in zip(groups.tolist(), np.split(order, first[1:]), strict=True):
        kinds, starts, ends = _pieces(odd.spent[rows], odd.start_ps[rows], odd.end_ps[rows])
        parts.append(StepEvents(np.full(len(kinds), group), kinds, starts, ends))
    return concatenate_tables(parts)


def _pieces(
    spent: Int64Array, start_ps: Int64Array, end_ps: Int64Array
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Kind, start and end of each piece; pieces without a kind are left out."""
    times = np.concatenate([end_ps, start_ps])
    is_start = np.arange(len(times)) >= len(end_ps)
    kinds = np.concatenate([spent, spent])
    order = np.lexsort((-kinds, is_start, times))
    is_open = dict.fromkeys(np.unique(spent).tolist(), 0)
    current = int(Spent.UNKNOWN)
    pieces = []
    for begins, kind in zip(is_start[order].tolist(), kinds[order].tolist(), strict=True):
        is_open[kind] += 1 if begins else -1
        if begins:
            current = max(current, kind)
        elif kind == current and not is_open[kind]:
            below = (k for k, count in is_open.items() if k < kind and count > 0)
            current = max(below, default=int(Spent.UNKNOWN))
        pieces.append(current)
    at = times[order]
    values = np.array(pieces[:-1], np.int64)
    rows = np.flatnonzero((values != int(Spent.UNKNOWN)) & (at[1:] > at[:-1]))
    return values[rows], at[:-1][rows], at[1:][rows]
