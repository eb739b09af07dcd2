"""Spans over consecutive items of the same name: steps, scopes, modules, source lines.

Each item, in order of time, has a path: the scopes around an op, from the outside in. Consecutive
items become one span at each level on which they have the same name.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array

_LEVEL_PS = 1000
"""A span with the same times as the one around it ends this much earlier: viewers that derive
nesting from times only would otherwise draw the two in any order (``derived_timeline.cc``)."""

_MOST_GAP = 2
"""Longest gap inside a span without a step, as a multiple of its length so far."""


class Items(NamedTuple):
    """Items to cover.

    Attributes:
        starts_ps: Ascending, shape (n,).
        ends_ps: Shape (n,).
        groups: The step of each, -1 without one, shape (n,).
    """

    starts_ps: Int64Array
    ends_ps: Int64Array
    groups: Int64Array


class Spans(NamedTuple):
    """Spans in order of their starts, outer ones first.

    Attributes:
        starts_ps: Shape (n,).
        ends_ps: Shape (n,).
        names: Number of the name of each.
        groups: The step of each, -1 without one.
        first_item: The first item of each.
        levels: Number of spans around each.
    """

    starts_ps: Int64Array
    ends_ps: Int64Array
    names: Int64Array
    groups: Int64Array
    first_item: Int64Array
    levels: Int64Array

    def begun(self, n_items: int) -> Int64Array:
        """Number of outermost spans that have begun up to each item, shape (n_items,)."""
        is_first = np.zeros(n_items, np.int64)
        is_first[self.first_item[self.levels == 0]] = 1
        return np.cumsum(is_first)


def covering_spans(
    items: Items,
    paths: Int64Array,
    breaks: Int64Array | None = None,
    *,
    bridges_gaps: bool = True,
    cuts_last: bool = True,
) -> Spans:
    """Spans that cover items.

    An item without a path has no effect. An item with a shorter path than the one before it ends
    the spans of the levels that it lacks.

    Args:
        items: Items to cover.
        paths: A name for each level of each item, -1 where its path has ended,
            shape (n items, n levels).
        breaks: A span never covers items in which this differs, shape (n items,).
        bridges_gaps: Spans also cover items without a step that are far apart; otherwise a gap
            must not be longer than twice the span so far.
        cuts_last: Spans that end with the last item get the times of an inner span, too.
    """
    n_items = len(items.starts_ps)
    lengths = (paths >= 0).sum(axis=1)
    around = np.zeros(n_items, np.int64) if breaks is None else breaks
    outer_starts = outer_ends = np.zeros(0, np.int64)
    spans_of_levels: list[tuple[Int64Array, ...]] = []
    for level in range(paths.shape[1]):
        rows = np.flatnonzero(lengths > level)
        if not len(rows):
            break
        ended = np.cumsum((lengths > 0) & (lengths <= level))
        names, groups = paths[rows, level], items.groups[rows]
        is_new = np.logical_or.reduce(
            [_differs(column) for column in (names, groups, around[rows], ended[rows])]
        )
        starts, ends = items.starts_ps[rows], items.ends_ps[rows]
        if not bridges_gaps:
            is_new = _split_at_gaps(is_new, starts, ends, groups)
        begin = np.flatnonzero(is_new)
        starts = np.minimum.reduceat(starts, begin)
        ends = np.maximum.reduceat(ends, begin)
        if level:
            outer = around[rows[begin]]
            shown = np.minimum(ends, outer_ends[outer])
            is_same = (starts == outer_starts[outer]) & (shown == outer_ends[outer])
            shown = np.maximum(shown - _LEVEL_PS * is_same, starts)
            if not cuts_last and len(open_rows := np.flatnonzero(lengths)):
                is_open = rows[-1] == open_rows[-1]
                shown[len(shown) - is_open :] = ends[len(ends) - is_open :]
            ends = shown
        levels = np.full(len(begin), level, np.int64)
        spans_of_levels.append((starts, ends, names[begin], groups[begin], rows[begin], levels))
        outer_starts, outer_ends = starts, ends
        around = np.full(n_items, -1, np.int64)
        around[rows] = np.cumsum(is_new) - 1
    if not spans_of_levels:
        nothing = np.zeros(0, np.int64)
        return Spans(*[nothing] * 6)
    columns = [np.concatenate(parts) for parts in zip(*spans_of_levels, strict=True)]
    order = np.lexsort((columns[5], columns[4]))
    return Spans(*(column[order] for column in columns))


def _differs(values: Int64Array) -> BoolArray:
    """Whether each value differs from the one before it."""
    differs = np.ones(len(values), np.bool_)
    differs[1:] = values[1:] != values[:-1]
    return differs


def _split_at_gaps(
    is_new: BoolArray, starts_ps: Int64Array, ends_ps: Int64Array, groups: Int64Array
) -> BoolArray:
    """Begin a new span after gaps that are too long for the span so far.

    Items are processed one by one, because the length of a span depends on the splits before it.
    """
    asked = np.flatnonzero(~is_new & (groups < 0))
    if not len(asked) or not (starts_ps[asked] > ends_ps[asked - 1]).any():
        return is_new
    begins = is_new.copy()
    start = end = 0
    rows = zip(starts_ps.tolist(), ends_ps.tolist(), groups.tolist(), strict=True)
    for row, (own_start, own_end, group) in enumerate(rows):
        if not begins[row] and group < 0 and own_start - end > _MOST_GAP * (end - start):
            begins[row] = True
        if begins[row]:
            start, end = own_start, own_end
        else:
            end = max(end, own_end)
    return begins
