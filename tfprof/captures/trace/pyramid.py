"""Merges slices of one lane that are side by side and too small to be visible at a zoom level.

At level ``k`` a pixel is ``2**k`` ps. A shorter slice is small. Small slices that begin in the same
pixel, with no large one between them, form one mark with their number. A mark is a run of slices in
the order of the lane, so a level is the list of places where its marks begin. Marks of a level are
runs of marks of any finer level: a pyramid keeps few levels, and makes the others from them on
request.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import BoolArray, Int64Array, narrowest

LEVELS = 63
"""Number of levels, with pixels from 1 ps to 106 days."""

_WORTH = 0.5
"""A pyramid keeps a level if it has at most this share of the marks of the previous one."""

_FEW = 4096
"""A lane with fewer slices needs no levels."""

FloatArray = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks of a lane, in order of time, columns of shape (n,).

    Attributes:
        starts: Start of each mark, in the time of the lane.
        lengths: Length of each mark, to the end of its last slice.
        counts: Number of slices in each mark.
        places: Place of its first slice in the track.
        longest: Place of its longest slice.
        busy: Total duration of its slices, ps.
    """

    starts: Int64Array
    lengths: Int64Array
    counts: Int64Array
    places: IntArray
    longest: IntArray
    busy: Int64Array

    def __len__(self) -> int:
        return len(self.starts)

    def only(self, chosen: slice | BoolArray) -> Marks:
        """Select some of the marks."""
        return Marks(*(getattr(self, each.name)[chosen] for each in fields(self)))


class _Level(NamedTuple):
    """The marks of a level that the pyramid keeps.

    Attributes:
        k: A pixel is 2**k ps.
        first: Where each mark begins in the lane, and the number of slices, shape (n marks + 1,).
        longest: Place of the longest slice of each mark in the lane.
        busy: Total duration of its slices, ps.
    """

    k: int
    first: IntArray
    longest: IntArray
    busy: FloatArray


class Pyramid:
    """The marks of a lane at any zoom.

    Args:
        starts: Starts of the slices of the track, shape (n track,).
        durations: Durations of the slices of the track, shape (n track,).
        places: Places of the slices of the lane, in order of time; None for all.
        shift_ps: Time to add, so that pixels of all hosts begin at the same time.
    """

    def __init__(
        self, starts: Int64Array, durations: Int64Array, places: IntArray | None, shift_ps: int
    ) -> None:
        self._starts, self._durations, self._places = starts, durations, places
        self._shift = shift_ps
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._starts if self._places is None else self._places)

    @property
    def n_bytes(self) -> int:
        """Memory that it takes beside the columns of the track and the lanes of its slices."""
        return sum(level.first.nbytes + level.longest.nbytes + level.busy.nbytes
                   for level in self.levels)  # fmt: skip

    @property
    def levels(self) -> list[_Level]:
        """The levels that the pyramid keeps, finer ones first; made once."""
        with self._lock:
            return self._levels

    @cached_property
    def _levels(self) -> list[_Level]:
        levels: list[_Level] = []
        if len(self) < _FEW:
            return levels
        marks = self._all()
        firsts = np.arange(len(self) + 1)
        while len(marks) >= _FEW:
            k = _first_worth(marks, levels[-1].k if levels else -1)
            begins = self._begins(marks, min(k, LEVELS))
            while k < LEVELS and len(begins) > _WORTH * len(marks):  # fewer merged than estimated
                k += 2
                begins = self._begins(marks, min(k, LEVELS))
            if k >= LEVELS:
                break
            marks = self._merged(marks, begins)
            firsts = np.append(firsts[:-1][begins], len(self))
            place = narrowest(len(self) + 1)
            levels.append(
                _Level(k, firsts.astype(place), marks.longest.astype(place),
                       marks.busy.astype(np.float32))
            )  # fmt: skip
        return levels

    def _all(self) -> Marks:
        """Every slice as a mark, with places in the lane."""
        starts, durations = self._starts, self._durations
        if self._places is not None:
            starts, durations = starts[self._places], durations[self._places]
        at: IntArray = np.arange(len(starts)).astype(narrowest(len(starts)))
        return Marks(starts, durations, np.ones(len(starts), np.int64), at, at, durations)

    def _begins(self, marks: Marks, k: int) -> Int64Array:
        return np.flatnonzero(_is_begin(marks, k, self._shift))

    def _merged(self, marks: Marks, begins: Int64Array) -> Marks:
        """Marks of a coarser level, from the finer marks with which they begin."""
        if len(begins) == len(marks):
            return marks
        ends = np.append(begins[1:], len(marks)) - 1
        starts = marks.starts[begins]
        return Marks(
            starts,
            marks.starts[ends] + marks.lengths[ends] - starts,
            np.add.reduceat(marks.counts, begins),
            marks.places[begins],
            self._longest(marks, begins),
            np.add.reduceat(marks.busy, begins),
        )

    def _longest(self, marks: Marks, begins: Int64Array) -> IntArray:
        """Place in the lane of the first of the longest slices of each run of marks."""
        rows = marks.longest if self._places is None else self._places[marks.longest]
        durations = self._durations[rows]
        sizes = np.diff(np.append(begins, len(marks)))
        at = np.flatnonzero(durations == np.repeat(np.maximum.reduceat(durations, begins), sizes))
        runs = np.repeat(np.arange(len(begins)), sizes)[at]
        is_first = np.ones(len(at), np.bool_)
        np.not_equal(runs[1:], runs[:-1], out=is_first[1:])
        longest: IntArray = marks.longest[at[is_first]]
        return longest

    def _time(self, at: int) -> int:
        return int(self._starts[at if self._places is None else self._places[at]])

    def _end(self, at: int) -> int:
        place = at if self._places is None else int(self._places[at])
        return int(self._starts[place]) + int(self._durations[place])

    def _span(self, first_ps: int, last_ps: int, firsts: IntArray | None) -> tuple[int, int]:
        """Range of the marks of a level that overlap the range between two times."""
        n_marks = len(self) if firsts is None else len(firsts) - 1

        def begins(mark: int) -> int:
            return self._time(mark if firsts is None else int(firsts[mark]))

        def ends(mark: int) -> int:
            return self._end(mark if firsts is None else int(firsts[mark + 1]) - 1)

        low = bisect_left(
            range(n_marks), True, key=lambda mark: ends(mark) > first_ps or begins(mark) >= first_ps
        )
        high = bisect_left(range(n_marks), True, lo=low, key=lambda mark: begins(mark) >= last_ps)
        return low, high

    def within(self, first_ps: int, last_ps: int) -> Int64Array:
        """Return places in the track of slices between two times of the lane, in order of time."""
        low, high = self._span(first_ps, last_ps, None)
        if self._places is None:
            return np.arange(low, high)
        return self._places[low:high].astype(np.int64)

    def slices(self) -> Marks:
        """Return every slice of the lane as a mark of its own."""
        marks = self._all()
        if self._places is None:
            return marks
        return replace(marks, places=self._places, longest=self._places)

    def marks(self, k: int, first_ps: int, last_ps: int) -> Marks:
        """Return the marks of a level that overlap the range between two times of the lane.

        Args:
            k: The level: a pixel is 2**k ps.
            first_ps: Start of the range.
            last_ps: End of the range.
        """
        level = next((each for each in reversed(self.levels) if each.k <= k), None)
        firsts = None if level is None else level.first
        low, high = self._span(first_ps, last_ps, firsts)
        if low >= high:
            return self._of_level(level, 0, 0)
        # Marks at the ends of the range stay whole: the range grows to whole pixels.
        pixel = 1 << k
        begin = (self._begin_of(level, low) + self._shift) // pixel * pixel - self._shift
        end = -((-last_ps - self._shift) // pixel) * pixel - self._shift
        if begin < first_ps:
            low = min(low, self._span(begin, begin, firsts)[0])
        high = max(high, self._span(end, end, firsts)[1])
        found = self._of_level(level, low, high)
        found = self._merged(found, self._begins(found, k))
        kept = (found.starts < last_ps) & (
            (found.starts + found.lengths > first_ps) | (found.starts >= first_ps)
        )
        found = found if kept.all() else found.only(kept)
        if self._places is None:
            return found
        places, longest = self._places[found.places], self._places[found.longest]
        return replace(found, places=places, longest=longest)

    def _begin_of(self, level: _Level | None, mark: int) -> int:
        return self._time(mark if level is None else int(level.first[mark]))

    def _of_level(self, level: _Level | None, low: int, high: int) -> Marks:
        """Marks of a level, with places in the lane."""
        if level is None:
            at = np.arange(low, high)
            rows = at if self._places is None else self._places[low:high]
            starts, durations = self._starts[rows], self._durations[rows]
            return Marks(starts, durations, np.ones(len(at), np.int64), at, at, durations)
        bounds = level.first[low : high + 1].astype(np.int64)
        begins, lasts = bounds[:-1], bounds[1:] - 1
        if self._places is None:
            first_rows, last_rows = begins, lasts
        else:
            first_rows, last_rows = (self._places[each] for each in (begins, lasts))
        starts = self._starts[first_rows]
        lengths = self._starts[last_rows] + self._durations[last_rows] - starts
        busy = level.busy[low:high].astype(np.int64)
        longest = level.longest[low:high].astype(np.int64)
        return Marks(starts, lengths, np.diff(bounds), begins, longest, busy)


def _is_begin(marks: Marks, k: int, shift_ps: int) -> BoolArray:
    """Whether each mark begins a mark of a coarser level; the first always does."""
    is_begin = np.ones(len(marks), np.bool_)
    if len(marks) < 2:
        return is_begin
    pixels = (marks.starts + shift_ps) >> k
    # Merged slices begin in one pixel of a finer level: only a single slice can be large.
    is_large = (marks.lengths >= 1 << k) & (marks.counts == 1)
    np.not_equal(pixels[1:], pixels[:-1], out=is_begin[1:])
    is_begin[1:] |= is_large[1:] | is_large[:-1]
    return is_begin


def _first_worth(marks: Marks, above: int) -> int:
    """First level above another one at which enough marks may merge; ``LEVELS`` if none.

    Two neighbours can merge only if both are small and begin less than a pixel apart.
    """
    apart = np.diff(marks.starts)
    lengths = np.where(marks.counts == 1, marks.lengths, 0)
    size = np.maximum(np.maximum(apart, lengths[1:]), lengths[:-1])
    # 2**k > size: the exponent from frexp.
    levels = np.maximum(np.frexp(size.astype(np.float64))[1], above + 1).clip(0, LEVELS)
    merges = np.cumsum(np.bincount(levels, minlength=LEVELS + 1))
    wanted = (1 - _WORTH) * len(marks)
    return int(np.searchsorted(merges, wanted))
