"""Begins and ends of the events of a host as one array of marks, thread by thread.

Between two marks of a thread lies the own time of the innermost event that is open there, or a gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import BoolArray, Int64Array

IDLE = -1


@dataclass(frozen=True, eq=False)
class Marks:
    """Marks of n events, in their order on each thread or stream.

    Attributes:
        begin_at: The mark at which each event begins, shape (n,).
        end_at: The mark at which it ends.
        inside: The event after the last one inside each, shape (n,).
        times_ps: Recorded time of each mark, shape (2 n,).
        owners: The innermost event that is open before each mark, -1 for a gap.
        lines: The thread or stream of each mark, ascending.
        first: The first mark of each thread, and the number of marks, shape (n threads + 1,).
        parents: The event around each, -1 without one, shape (n,).
        ranks: The rank of each thread: which of two marks at the same time comes first, shape
            (n threads,).
    """

    begin_at: Int64Array
    end_at: Int64Array
    inside: IntArray
    times_ps: Int64Array
    owners: Int64Array
    lines: Int64Array
    first: Int64Array
    parents: IntArray
    ranks: Int64Array

    def __len__(self) -> int:
        return len(self.times_ps)

    @property
    def is_first(self) -> BoolArray:
        """Which marks are the first of their threads, shape (2 n,)."""
        found = np.zeros(len(self), np.bool_)
        found[self.first[:-1][np.diff(self.first) > 0]] = True
        return found

    @cached_property
    def events(self) -> Int64Array:
        """The event that begins or ends at each mark, shape (2 n,)."""
        found = np.zeros(len(self), np.int64)
        found[self.begin_at] = found[self.end_at] = np.arange(len(self.begin_at))
        return found

    @cached_property
    def reached_ps(self) -> Int64Array:
        """The latest time up to each mark of its thread, which overlapping events can lower."""
        reached = self.times_ps.copy()
        for begin, end in zip(self.first[:-1].tolist(), self.first[1:].tolist(), strict=True):
            np.maximum.accumulate(reached[begin:end], out=reached[begin:end])
        return reached

    def before(self, lines: Int64Array, times_ps: Int64Array, *, strictly: bool) -> Int64Array:
        """First mark at or after given times on given threads, shape (m,).

        Args:
            lines: The threads, shape (m,).
            times_ps: The times.
            strictly: Whether marks at exactly that time do not count as before it.
        """
        reached = self.reached_ps
        found = np.zeros(len(lines), np.int64)
        for line in np.unique(lines).tolist():
            rows = np.flatnonzero(lines == line)
            begin, end = int(self.first[line]), int(self.first[line + 1])
            side: Literal["left", "right"] = "left" if strictly else "right"
            found[rows] = begin + np.searchsorted(reached[begin:end], times_ps[rows], side)
        return found

    def last_inside(self, events: Int64Array, times_ps: Int64Array) -> Int64Array:
        """The last mark of each event or of events inside it up to a time; else its first."""
        lines = self.lines[self.begin_at[events]]
        last = self.before(lines, times_ps, strictly=False) - 1
        return np.clip(last, self.begin_at[events], self.end_at[events])


def marks_of(
    first: Int64Array, starts_ps: Int64Array, ends_ps: Int64Array, ranks: Int64Array | None = None
) -> Marks:
    """The marks of events that are sorted by time on their threads, longer ones first.

    Args:
        first: The first event of each thread, and the number of events, shape (n threads + 1,).
        starts_ps: Starts, shape (n,).
        ends_ps: Ends.
        ranks: The ranks of the threads; by default their order.
    """
    n_events = len(starts_ps)
    nesting = nest(first, starts_ps, ends_ps)
    inside = nesting.ends.astype(np.int64)
    # Before an event begins, all events before it have begun, and all but those around it ended.
    opened = np.ones(n_events + 1, np.int64)
    opened[0] = 0
    np.subtract.at(opened, inside, 1)
    depth = np.cumsum(opened)[:n_events]
    events = np.arange(n_events)
    begin_at = 2 * events - depth
    end_at = begin_at + 2 * (inside - events) - 1
    times_ps, owners = (np.zeros(2 * n_events, np.int64) for _ in range(2))
    times_ps[begin_at], times_ps[end_at] = starts_ps, ends_ps
    owners[begin_at], owners[end_at] = nesting.parents, events
    lines = np.repeat(np.arange(len(first) - 1), 2 * np.diff(first))
    if ranks is None:
        ranks = np.arange(len(first) - 1)
    return Marks(
        begin_at, end_at, inside, times_ps, owners, lines, 2 * first, nesting.parents, ranks
    )


def from_around(parents: IntArray, values: Int64Array) -> Int64Array:
    """The value of each event, or of the nearest around it that has one; -1 for none."""
    found = values.copy()
    around = np.where(found < 0, parents, -1).astype(np.int64)
    while (open_ := np.flatnonzero(around >= 0)).size:
        above = around[open_]
        found[open_] = values[above]
        around[open_] = np.where(values[above] < 0, parents[above], -1)
    return found
