"""A trace as the viewer knows it: processes, tracks of slices, counters, steps and arrows.

Captured runs and traces in Chrome's format become the same model, so that one viewer shows both.
Times are whole picoseconds. The columns of a capture are looked at where they are, not copied.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tfprof.captures.model.xspace_stats import IntArray
from tfprof.captures.trace.lanes import Lanes
from tfprof.captures.trace.pyramid import Pyramid
from tfprof.core.columns.arrow import Coded
from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.errors import UsageError


class Step(NamedTuple):
    """A step: what it is called, and from when to when it was, in ps."""

    name: str
    start_ps: int
    end_ps: int


class Flows(NamedTuple):
    """Arrows from one slice to another, columns of shape (n,).

    Attributes:
        from_track: The track where each begins.
        from_place: The slice there.
        to_track: The track where it ends.
        to_place: The slice there.
    """

    from_track: IntArray
    from_place: IntArray
    to_track: IntArray
    to_place: IntArray


class Series(NamedTuple):
    """Values of a counter.

    Attributes:
        name: What is counted.
        unit: Of the values.
        times_ps: When each was set, ascending, shape (n,).
        values: Shape (n,); NaN for what is unknown.
    """

    name: str
    unit: str
    times_ps: Int64Array
    values: np.ndarray[Any, np.dtype[np.float64]]


class Counter(NamedTuple):
    """A counter.

    Attributes:
        process: Place of its process.
        name: What it is called.
        series: What it counts; worked out when it is first asked.
    """

    process: int
    name: str
    series: Callable[[], Sequence[Series]]


@dataclass(eq=False)
class TraceTrack:
    """A thread, a stream, or what was derived of one.

    Attributes:
        process: Place of its process.
        name: What it is called.
        thread_id: The number that the recorder gave it.
        starts: Start of each slice, less ``shift_ps``: ascending, those that take longer first,
            shape (n,).
        durations: How long each took, shape (n,).
        kinds: What each is: a place in ``name_ids``, shape (n,).
        name_ids: Places in the names of the model.
        long_name_ids: Places in its long names, by kind as ``name_ids``; empty without any.
        texts: All that is known of some slices, by their places: a JSON object of each.
        shift_ps: To be added to starts: when the host begins in the time of the trace.
        renamed: Slices that are called otherwise, by place: a name's number.
        is_derived: No recorder wrote it.
        steps: The steps of some slices, by their places.
    """

    process: int
    name: str
    thread_id: int
    starts: Int64Array
    durations: Int64Array
    kinds: IntArray
    name_ids: Int64Array
    texts: Callable[[Int64Array], Sequence[str]] = lambda places: ["{}"] * len(places)
    shift_ps: int = 0
    renamed: Mapping[int, int] = field(default_factory=dict)
    is_derived: bool = False
    steps: Callable[[Int64Array], Coded] = lambda places: Coded(np.full(len(places), -1), [])
    long_name_ids: Int64Array = field(default_factory=no_rows)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._renamed = np.array(sorted(self.renamed), np.int64)
        self._new_names = np.array([self.renamed[at] for at in sorted(self.renamed)], np.int64)

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def _lanes(self) -> Lanes:
        return Lanes.of(self.starts, self.durations)

    @property
    def lanes(self) -> Lanes:
        """On which lane each slice is drawn; worked out once."""
        with self._lock:
            return self._lanes

    @cached_property
    def _pyramids(self) -> list[Pyramid]:
        lanes = self.lanes
        return [
            Pyramid(self.starts, self.durations, lanes.slices(lane), self.shift_ps)
            for lane in range(len(lanes))
        ]

    @property
    def pyramids(self) -> list[Pyramid]:
        """For each lane what is merged at which zoom; worked out when it is asked."""
        with self._lock:
            return self._pyramids

    def names_of(self, places: IntArray) -> Int64Array:
        """The number of the name of some slices, shape of ``places``."""
        numbers: Int64Array = self.name_ids[self.kinds[places]]
        if len(self._renamed):
            at = np.searchsorted(self._renamed, places).clip(max=len(self._renamed) - 1)
            numbers = np.where(self._renamed[at] == places, self._new_names[at], numbers)
        return numbers

    def named(self, wanted: Wanted) -> Int64Array:
        """Places of slices one of whose names is wanted, ascending."""
        none = np.zeros(len(self.name_ids), np.bool_)
        is_short = wanted.names[self.name_ids] if len(self.name_ids) else none
        is_long = wanted.long_names[self.long_name_ids] if len(self.long_name_ids) else none
        if not (is_short | is_long).any() and not len(self._renamed):
            return no_rows()
        mask = is_short[self.kinds]
        mask[self._renamed] = wanted.names[self._new_names]
        return np.flatnonzero(mask | is_long[self.kinds])

    def arguments(self, place: int) -> Mapping[str, Any]:
        """All that is known of a slice."""
        made: Mapping[str, Any] = json.loads(self.texts(np.array([place]))[0])
        return made

    def step_of(self, place: int) -> str:
        """The name of a slice's step; empty without one."""
        found = self.steps(np.array([place]))
        number = int(found.places[0])
        return found.texts[number] if number >= 0 else ""

    def start_ps(self, place: int) -> int:
        """When a slice begins, in the time of the trace."""
        return int(self.starts[place]) + self.shift_ps

    def duration_ps(self, place: int) -> int:
        """How long a slice takes."""
        return int(self.durations[place])

    def within(self, start_ps: int, end_ps: int) -> Int64Array:
        """Places of slices that are between two times at least in part, ascending."""
        first, last = start_ps - self.shift_ps, end_ps - self.shift_ps
        parts = [pyramid.within(first, last) for pyramid in self.pyramids]
        if len(parts) == 1:
            return parts[0]
        return np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


class Wanted(NamedTuple):
    """Which names of a trace are looked for.

    Attributes:
        names: Of each name of the model, shape (n names,).
        long_names: Of each long name, shape (n long names,).
    """

    names: BoolArray
    long_names: BoolArray


class Shown(NamedTuple):
    """What became of the events of a capture.

    Attributes:
        in_capture: How many events the files hold.
        as_slices: How many are slices.
        as_counters: How many are values of counters.
        derived: Slices beside these, made of them.
        left_out: Why others are not there: a reason and how many, each.
    """

    in_capture: int
    as_slices: int
    as_counters: int
    derived: int
    left_out: Sequence[tuple[str, int]] = ()

    @property
    def dropped(self) -> int:
        """How many are nowhere."""
        return self.in_capture - self.as_slices - self.as_counters


@dataclass(eq=False)
class TraceModel:
    """A trace.

    Attributes:
        processes: Names.
        tracks: Tracks that hold slices, in the order in which they are shown.
        counters: Counters.
        names: Distinct names of slices.
        steps: Steps, in order of time.
        shown: What became of the events.
        make_flows: Makes the arrows.
        remarks: What else there is to know.
        hosts: The host of each process, as far as it is known.
        long_names: Distinct names in full of slices that are shown by a shorter one.
    """

    processes: Sequence[str]
    tracks: Sequence[TraceTrack]
    counters: Sequence[Counter]
    names: Sequence[str]
    steps: Sequence[Step]
    shown: Shown
    make_flows: Callable[[], Flows]
    remarks: Sequence[str] = ()
    hosts: Sequence[str] = ()
    long_names: Sequence[str] = ()

    def __post_init__(self) -> None:
        self._lock = threading.RLock()

    @cached_property
    def _flows(self) -> Flows:
        return self.make_flows()

    @property
    def flows(self) -> Flows:
        """The arrows; worked out once."""
        with self._lock:
            return self._flows

    @cached_property
    def range_ps(self) -> tuple[int, int]:
        """From the first slice or value to the end of the last."""
        firsts = [track.start_ps(0) for track in self.tracks if len(track)]
        lasts = [
            int((track.starts + track.durations).max()) + track.shift_ps
            for track in self.tracks
            if len(track)
        ]
        for counter in self.counters:
            for series in counter.series():
                if len(series.times_ps):
                    firsts.append(int(series.times_ps[0]))
                    lasts.append(int(series.times_ps[-1]))
        first, last = min(firsts, default=0), max(lasts, default=0)
        return first, max(last, first + 1)

    def slice_of(self, text: str) -> tuple[int, int]:
        """Track and place of a slice by its id, ``3.1024``.

        Raises:
            UsageError: There is none.
        """
        track, _, place = text.partition(".")
        if track.isdecimal() and place.isdecimal():
            at, number = int(track), int(place)
            if at < len(self.tracks) and number < len(self.tracks[at]):
                return at, number
        raise UsageError(f"there is no event {text!r} in this trace")


def id_of(track: int, place: int) -> str:
    """The id of a slice."""
    return f"{track}.{place}"
