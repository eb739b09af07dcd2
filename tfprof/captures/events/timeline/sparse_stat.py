"""A stat of those events that have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfprof.captures.model.xspace_stats import IntArray, StatKind
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.lookup import places_in


class SparseStat(NamedTuple):
    """A stat of those events that have it.

    Attributes:
        events: Their places in the timeline, ascending, shape (n,).
        kinds: ``StatKind`` of each value.
        held: ``values`` in a narrow type.
        texts: The texts.
    """

    events: IntArray
    kinds: np.ndarray[tuple[int], np.dtype[np.uint8]]
    held: IntArray
    texts: list[str]

    @property
    def values(self) -> Int64Array:
        """Integers, bits of doubles, or places in ``texts``, shape (n,)."""
        return self.held.astype(np.int64, copy=False)

    def __len__(self) -> int:
        return len(self.events)

    def only(self, chosen: BoolArray) -> SparseStat:
        """The rows of some events."""
        if chosen.all():
            return self
        rows = np.flatnonzero(chosen)  # faster than reading a mask for each column
        return self.map_columns(lambda column: column[rows])

    def map_columns(self, of: Callable[[Any], Any]) -> SparseStat:
        """This stat, with each column replaced by the result of a function."""
        return SparseStat(of(self.events), of(self.kinds), of(self.held), self.texts)

    def is_integer(self) -> BoolArray:
        """Whether each value is an integer, signed or not."""
        is_integer: BoolArray = (self.kinds == StatKind.INT64) | (self.kinds == StatKind.UINT64)
        return is_integer

    def is_text(self) -> BoolArray:
        """Whether each value is a text."""
        is_text: BoolArray = self.kinds >= StatKind.STR
        return is_text

    def mask(self, n_events: int) -> BoolArray:
        """Whether each event has this stat, shape (n_events,)."""
        mask = np.zeros(n_events, np.bool_)
        mask[self.events] = True
        return mask

    def dense(self, n_events: int, missing: int = 0) -> Int64Array:
        """The integers of all events, shape (n_events,)."""
        column = np.full(n_events, missing, np.int64)
        whole = self.only(self.is_integer())
        column[whole.events] = whole.values
        return column

    def at(self, events: IntArray, missing: int = 0) -> Int64Array:
        """The integers of some events, shape of ``events``: cheaper than ``dense``."""
        return self._at(events, self.is_integer(), missing)

    def texts_at(self, events: IntArray) -> Int64Array:
        """The number of the text of some events, -1 without one, shape of ``events``."""
        return self._at(events, self.is_text(), -1)

    def _at(self, events: IntArray, is_wanted: BoolArray, missing: int) -> Int64Array:
        values_at = np.full(len(events), missing, np.int64)
        if len(self):
            rows = self.rows_of(events)
            np.copyto(values_at, self.held[rows], where=(rows >= 0) & is_wanted[rows])
        return values_at

    def has(self, events: IntArray) -> BoolArray:
        """Whether each of some events has this stat, shape of ``events``."""
        return self.rows_of(events) >= 0

    def among(self, events: IntArray) -> SparseStat:
        """The stat of some events, in their order; events without it are left out."""
        rows = self.rows_of(events)
        rows = rows[rows >= 0]
        return SparseStat(self.events[rows], self.kinds[rows], self.held[rows], self.texts)

    def rows_of(self, events: IntArray) -> Int64Array:
        """The rows of some events, -1 for those without, shape of ``events``."""
        if not len(self):
            return np.full(len(events), -1)
        if np.array_equal(self.events, events):  # stats written together
            return np.arange(len(self))
        row = np.minimum(places_in(self.events, events), len(self) - 1)
        return np.where(self.events[row] == events, row, -1)

    def text_ids(self, n_events: int) -> IntArray:
        """The number of each event's text, -1 without one, shape (n_events,)."""
        ids = np.full(n_events, -1, np.int32)
        chosen = self.is_text()
        ids[self.events[chosen]] = self.held[chosen]
        return ids

    def floats(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The numbers as doubles, shape (n,); NaN for texts."""
        numbers = np.full(len(self), np.nan)
        is_double = self.kinds == StatKind.DOUBLE
        numbers[is_double] = self.values[is_double].view(np.float64)
        is_signed, is_unsigned = self.kinds == StatKind.INT64, self.kinds == StatKind.UINT64
        numbers[is_signed] = self.held[is_signed]
        numbers[is_unsigned] = self.values[is_unsigned].view(np.uint64)
        return numbers
