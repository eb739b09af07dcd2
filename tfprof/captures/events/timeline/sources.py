"""Maps the events of a timeline to those of its space, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import Int64Array, blocks, no_rows


@dataclass(frozen=True, eq=False)
class Sources:
    """Numbers of a timeline's events in the space, counted over all planes in order.

    Most captures are in order. A number is then the place minus the events added before it, and
    needs no column.

    Attributes:
        n_sources: Number of events in the space.
        n_events: Number of events in the timeline.
        order: Number of each event of the timeline that is in the space; None if it equals its
            place among these.
        added: Places of events that are not in the space, ascending.
    """

    n_sources: int
    n_events: int
    order: IntArray | None
    added: Int64Array

    @classmethod
    def in_order(cls, n_sources: int, numbers: IntArray | None) -> Sources:
        """The sources of a timeline without added events."""
        n_events = n_sources if numbers is None else len(numbers)
        return cls(n_sources, n_events, numbers, no_rows())

    def with_added(self, added: Int64Array) -> Sources:
        """These sources, with added events that are not in the space; none may be there before.

        Args:
            added: Their places in the result, ascending.
        """
        return Sources(self.n_sources, self.n_events + len(added), self.order, added)

    def only(self, events: Int64Array) -> Sources:
        """The sources of some events of the timeline, ascending."""
        numbers = self.of(events)
        return Sources(
            self.n_sources, len(events), numbers[numbers >= 0], np.flatnonzero(numbers < 0)
        )

    def of(self, events: IntArray) -> Int64Array:
        """The numbers of some events of the timeline, -1 for those not in the space."""
        before = np.searchsorted(self.added, events)
        source = events - before
        if self.order is not None and len(self.order):
            source = self.order[np.minimum(source, len(self.order) - 1)].astype(np.int64)
        if len(self.added):
            is_added = self.added[np.minimum(before, len(self.added) - 1)] == events
            source = np.where(is_added, -1, source)
        return source

    @cached_property
    def places(self) -> IntArray | None:
        """Place of each event of the space, -1 if missing; None if all equal their numbers."""
        if self.order is None and not len(self.added):
            return None
        is_added = np.zeros(self.n_events, np.bool_)
        is_added[self.added] = True
        places: IntArray = np.full(self.n_sources, -1, place_type(self.n_events))
        end = 0
        for block in blocks(0, self.n_events):
            own = np.flatnonzero(~is_added[block]) + block.start
            begin, end = end, end + len(own)
            places[slice(begin, end) if self.order is None else self.order[begin:end]] = own
        return places


def place_type(n_events: int) -> type[np.signedinteger[Any]]:
    """The narrowest type for places of this many events: such columns are long."""
    return np.int32 if n_events < 1 << 31 else np.int64
