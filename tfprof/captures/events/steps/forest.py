"""Events with their parents: those that enclose them, and those that lead to them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tfprof.captures.events.timeline.links import Links, find_links
from tfprof.captures.events.timeline.nesting import Nesting, nest
from tfprof.captures.events.timeline.threadpool import Regions, cut_regions
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array


@dataclass(frozen=True, eq=False)
class Forest:
    """Events with their enclosing events and links.

    Attributes:
        timeline: The events.
        nesting: The enclosing event of each.
        links: Links to other threads and devices.
    """

    timeline: Timeline
    nesting: Nesting
    links: Links

    def parents(self, event: int) -> Iterator[int]:
        """The event around an event, then those that lead to it."""
        around = int(self.nesting.parents[event])
        if around >= 0:
            yield around
        yield from self.links.sources_of(event)

    def nearest(self, event: int, wanted: Callable[[int], bool], *, itself: bool) -> int:
        """The nearest wanted event above an event; -1 without one."""
        if itself and wanted(event):
            return event
        seen = {event}
        waiting = deque([event])
        while waiting:
            for parent in self.parents(waiting.popleft()):
                if parent in seen:
                    continue
                if wanted(parent):
                    return parent
                seen.add(parent)
                waiting.append(parent)
        return -1

    def nearest_of_each(
        self, events: Int64Array, wanted: Callable[[Int64Array, Int64Array], BoolArray]
    ) -> Int64Array:
        """The nearest wanted event above each of some events; -1 without one.

        The search goes up level by level, for all events at once.

        Args:
            events: Where to begin, shape (n,); the search leaves out these events themselves.
            wanted: Takes places in ``events`` and an event above each; returns which to accept.
        """
        n_events = len(self.timeline)
        nearest = np.full(len(events), -1, np.int64)
        rows, at = np.arange(len(events)), events
        seen = rows * n_events + at  # only links can form circles
        while len(rows):
            around = self.nesting.parents[at].astype(np.int64)
            inner = np.flatnonzero(around >= 0)
            below, sources = self.links.sources_of_each(at)
            first = np.zeros(0, np.int64)
            if len(below):
                keys, first = np.unique(rows[below] * n_events + sources, return_index=True)
                is_new = ~np.isin(keys, seen, assume_unique=True)
                seen, first = np.concatenate([seen, keys[is_new]]), np.sort(first[is_new])
            below = np.concatenate([inner, below[first]])
            above = np.concatenate([around[inner], sources[first]])
            order = np.argsort(below, kind="stable")
            rows, at = rows[below[order]], above[order]
            others = at != events[rows]
            rows, at = rows[others], at[others]
            hits = np.flatnonzero(wanted(rows, at))
            row, first = np.unique(rows[hits], return_index=True)
            nearest[row] = at[hits[first]]
            is_open = nearest[rows] < 0
            rows, at = rows[is_open], at[is_open]
        return nearest


def build_forest(timeline: Timeline, regions: Regions | None = None) -> Forest:
    """Nest events, and link threads. Asynchronous events have neither parent nor children.

    Args:
        timeline: The events.
        regions: Regions of thread pools, to link; one that the end of the capture cuts encloses
            all later events of its thread. The reference has neither.
    """
    ends_ps = timeline.ends_ps
    if regions is not None:
        starts, ends = cut_regions(timeline)
        ends_ps[starts] = ends
    nesting = nest(
        timeline.first, timeline.starts_ps, ends_ps, timeline.is_asynchronous, timeline.space.room
    )
    return Forest(timeline, nesting, find_links(timeline, regions))
