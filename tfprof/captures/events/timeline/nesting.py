"""Nesting of the events on lines that are in order of time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tfprof.captures.events.timeline.sources import place_type
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import BoolArray, Int64Array, sums_by
from tfprof.core.wire.compiled import is_native, native_module
from tfprof.files.spill import Room

_native: Any = native_module("nesting")

_FILLED = {1: np.int8, 4: np.int32, 8: np.int64}
"""Types of values that the compiled part fills, by bytes."""


_FEW_LEVELS = 64
"""Levels that a search upward visits one by one."""


@dataclass(frozen=True, slots=True)
class Nesting:
    """Enclosing events.

    Attributes:
        parents: The innermost event of the same line that encloses each, -1 without one,
            shape (n,).
        ends: The place after the last event inside each; an event and all inside it are
            ``[event, ends[event])``, shape (n,).
    """

    parents: IntArray
    ends: IntArray

    def sums_of_children(self, values: Int64Array) -> Int64Array:
        """Sum over the direct children of each event, shape (n,)."""
        inner = np.flatnonzero(self.parents >= 0)
        return sums_by(self.parents[inner], values[inner], len(self.parents))

    def nearest(self, values: IntArray) -> IntArray:
        """The value of each event, or if negative, that of the nearest enclosing event.

        Negative if no enclosing event has one.
        """
        return filled(self.parents, values)

    def nearest_of(self, events: IntArray, values: IntArray) -> IntArray:
        """``nearest`` for some events, negative for an event -1: cheaper if they are few."""
        found = np.full(len(events), -1, values.dtype)
        rows, at = np.arange(len(events)), events
        for _ in range(_FEW_LEVELS):
            rows, at = rows[at >= 0], at[at >= 0]
            found[rows] = values[at]
            is_open = found[rows] < 0
            rows, at = rows[is_open], self.parents[at[is_open]]
            if not len(rows):
                return found
        rows, at = rows[at >= 0], at[at >= 0]
        if len(rows):  # deep: all at once, otherwise the time grows quadratically
            found[rows] = self.nearest(values)[at]
        return found

    def nearest_among(self, events: IntArray, marks: IntArray) -> IntArray:
        """The event itself if it is a mark, else the nearest mark around it; -1 without one."""
        values = np.full(len(self.parents), -1, self.parents.dtype)
        values[marks] = marks
        return self.nearest_of(events, values)


def filled(parents: IntArray, values: IntArray) -> IntArray:
    """Values, with each negative one replaced by the nearest other one above it, shape (n,).

    Args:
        parents: The row above each, which precedes it; -1 without one, shape (n,).
        values: Shape (n,).
    """
    values = np.array(values, _FILLED.get(values.dtype.itemsize, np.int32))
    if is_native() and _native is not None:
        _native.fill_from_parents(parents, values)
        return values
    around = np.where(values < 0, parents, -1)
    while True:
        open_ = np.flatnonzero(around >= 0)
        if not len(open_):
            return values
        above = around[open_]
        values[open_] = values[above]
        still = values[open_] < 0
        around[open_] = np.where(still, around[above], -1)


def nest(
    first: Int64Array,
    starts_ps: Int64Array,
    ends_ps: Int64Array,
    is_alone: BoolArray | None = None,
    room: Room | None = None,
) -> Nesting:
    """Find the event that encloses each.

    An event encloses a later one of its line if the later one starts and ends within it, and no
    event in between has closed it: an event that overlaps others only in part closes all those
    that end before it (``group_events.cc``, ``ConnectIntraThread``).

    Args:
        first: The first event of each line, and the number of events, shape (n lines + 1,).
        starts_ps: Starts, ascending on each line; of equal ones, longer events first, shape (n,).
        ends_ps: Ends, not before the starts, shape (n,).
        is_alone: Events that neither have a parent nor are one, shape (n,); by default none.
        room: Storage of the result; by default in memory.
    """
    if is_alone is None:
        is_alone = np.zeros(len(starts_ps), np.bool_)
    if is_native() and _native is not None:
        room = room or Room()
        parents, ends = (room.empty(len(starts_ps), place_type(len(starts_ps))) for _ in range(2))
        _native.nest(
            np.ascontiguousarray(first, np.int64),
            np.ascontiguousarray(starts_ps, np.int64),
            np.ascontiguousarray(ends_ps, np.int64),
            is_alone.view(np.uint8),
            parents,
            ends,
        )
        return Nesting(parents, ends)
    return nest_pure(first, starts_ps, ends_ps, is_alone)


def nest_pure(
    first: Int64Array, starts_ps: Int64Array, ends_ps: Int64Array, is_alone: BoolArray
) -> Nesting:
    """``nest`` in NumPy: each round compares all events with a candidate, then its parent."""
    if is_alone.any():
        return _without(is_alone, first, starts_ps, ends_ps)
    n_events = len(starts_ps)
    parents = np.full(n_events, -1, np.int64)
    candidates = np.arange(-1, n_events - 1)
    candidates[first[:-1][np.diff(first) > 0]] = -1
    is_settled = candidates < 0
    waiting = np.flatnonzero(~is_settled)
    for _ in range(_MOST_ROUNDS):
        if not len(waiting):
            break
        above = candidates[waiting]
        encloses = ends_ps[waiting] <= ends_ps[above]  # starts are in order
        parents[waiting[encloses]] = above[encloses]
        is_settled[waiting[encloses]] = True
        waiting, above = waiting[~encloses], above[~encloses]
        # The parent of the candidate is known once the candidate itself is settled.
        known = is_settled[above]
        candidates[waiting[known]] = parents[above[known]]
        is_settled[waiting[known]] = candidates[waiting[known]] < 0
        waiting = waiting[~is_settled[waiting]]
    if len(waiting):
        parents = _one_by_one(first, ends_ps)
    narrow = place_type(n_events)
    return Nesting(parents.astype(narrow), _subtree_ends(parents).astype(narrow))


_MOST_ROUNDS = 500
"""More are necessary only if very many events overlap in part: then one by one is faster."""


def _one_by_one(first: Int64Array, ends_ps: Int64Array) -> Int64Array:
    """The parent of each event; starts are ascending."""
    ends, parents = ends_ps.tolist(), [-1] * len(ends_ps)
    for begin, end in pairwise(first.tolist()):
        top = -1
        for event in range(begin, end):
            while top >= 0 and ends[event] > ends[top]:
                top = parents[top]
            parents[event], top = top, event
    return np.array(parents, np.int64)


def _without(
    is_alone: BoolArray, first: Int64Array, starts_ps: Int64Array, ends_ps: Int64Array
) -> Nesting:
    """Nest the others, then insert those that are alone at their places."""
    rest = np.flatnonzero(~is_alone)
    inner = nest_pure(np.searchsorted(rest, first), starts_ps[rest], ends_ps[rest], is_alone[rest])
    parents = np.full(len(starts_ps), -1, np.int64)
    parents[rest] = np.where(inner.parents < 0, -1, rest[inner.parents])
    ends = np.arange(1, len(starts_ps) + 1)
    # The events inside end at the next that is not alone, or at the end of the line.
    behind = np.append(rest, len(starts_ps))[inner.ends]
    line_ends = first[np.searchsorted(first, rest, side="right")]
    ends[rest] = np.minimum(behind, line_ends)
    narrow = place_type(len(starts_ps))
    return Nesting(parents.astype(narrow), ends.astype(narrow))


def _subtree_ends(parents: Int64Array) -> Int64Array:
    """The place after all events inside each.

    Events are in preorder, so one pass from the last to the first is enough at any depth.
    """
    above, sizes = parents.tolist(), [1] * len(parents)
    for place in range(len(sizes) - 1, -1, -1):
        if above[place] >= 0:
            sizes[above[place]] += sizes[place]
    return np.arange(len(sizes)) + np.array(sizes, np.int64)
