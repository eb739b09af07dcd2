"""The viewer's model of a trace: processes, tracks of slices, counters, steps and arrows.

Captured runs and traces in Chrome's format become the same model, so that one viewer shows both.
Times are whole picoseconds. The model reads the columns of a capture in place, without copies.
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
from tfprof.captures.trace.stretches import Stretches, stretches_of
from tfprof.core.columns.arrow import Coded
from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.errors import UsageError


class Step(NamedTuple):
    """A step: its name, start and end in ps, and whether the capture holds all of it."""

    name: str
    start_ps: int
    end_ps: int
    is_whole: bool = True


class Flows(NamedTuple):
    """Arrows from one slice to another, columns of shape (n,).

    Attributes:
        from_track: The track where each arrow begins.
        from_place: The slice on that track.
        to_track: The track where each arrow ends.
        to_place: The slice on that track.
    """

    from_track: IntArray
    from_place: IntArray
    to_track: IntArray
    to_place: IntArray


class Series(NamedTuple):
    """Values of a counter.

    Attributes:
        name: Name of the series.
        unit: Unit of the values.
        times_ps: Time of each value, ascending, shape (n,).
        values: Values, shape (n,); NaN if unknown.
    """

    name: str
    unit: str
    times_ps: Int64Array
    values: np.ndarray[Any, np.dtype[np.float64]]


class Counter(NamedTuple):
    """A counter.

    Attributes:
        process: Place of its process.
        name: Its name.
        series: Its values, computed at first use.
    """

    process: int
    name: str
    series: Callable[[], Sequence[Series]]


@dataclass(eq=False)
class TraceTrack:
    """A thread, a stream, or a track derived from one.

    Attributes:
        process: Place of its process.
        name: Its name.
        thread_id: Its number from the recorder.
        starts: Start of each slice, less ``shift_ps``: ascending; of equal ones, longer slices
            first; shape (n,).
        durations: Duration of each slice, shape (n,).
        kinds: Kind of each slice: a place in ``name_ids``, shape (n,).
        name_ids: Places in the names of the model.
        long_name_ids: Places in the long names of the model, by kind as ``name_ids``; empty if
            there are none.
        texts: Returns the arguments of some slices by their places, each as a JSON object.
        shift_ps: Time to add to starts: when the host begins in the time of the trace.
        renamed: Number of the name of slices with another name, by place.
        is_derived: Whether it is derived, not recorded.
        steps: Returns the steps of some slices by their places.
        events: Number of each slice in the events of its host, ascending; empty if it is derived.
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
    events: range | Int64Array = range(0)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._renamed = np.array(sorted(self.renamed), np.int64)
        self._new_names = np.array([self.renamed[at] for at in sorted(self.renamed)], np.int64)

    def __len__(self) -> int:
        return len(self.starts)

    def spans_ps(self) -> tuple[Int64Array, Int64Array]:
        """Starts and ends of the slices in the time of the trace, shape (n,) each."""
        starts = self.starts + self.shift_ps
        return starts, starts + self.durations

    @cached_property
    def _lanes(self) -> Lanes:
        return Lanes.of(self.starts, self.durations)

    @property
    def lanes(self) -> Lanes:
        """Lane of each slice, computed once."""
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
        """Pyramid of each lane, computed at first use."""
        with self._lock:
            return self._pyramids

    def names_of(self, places: IntArray) -> Int64Array:
        """Return the number of the name of some slices, in the shape of ``places``."""
        numbers: Int64Array = self.name_ids[self.kinds[places]]
        if len(self._renamed):
            at = np.minimum(np.searchsorted(self._renamed, places), len(self._renamed) - 1)
            numbers = np.where(self._renamed[at] == places, self._new_names[at], numbers)
        return numbers

    def named(self, wanted: Wanted) -> Int64Array:
        """Return places of slices with a wanted name, ascending."""
        none = np.zeros(len(self.name_ids), np.bool_)
        is_short = wanted.names[self.name_ids] if len(self.name_ids) else none
        is_long = wanted.long_names[self.long_name_ids] if len(self.long_name_ids) else none
        if not (is_short | is_long).any() and not len(self._renamed):
            return no_rows()
        mask = is_short[self.kinds]
        mask[self._renamed] = wanted.names[self._new_names]
        return np.flatnonzero(mask | is_long[self.kinds])

    def arguments(self, place: int) -> Mapping[str, Any]:
        """Return the arguments of a slice."""
        made: Mapping[str, Any] = json.loads(self.texts(np.array([place]))[0])
        return made

    def step_of(self, place: int) -> str:
        """Return the name of a slice's step; empty without one."""
        found = self.steps(np.array([place]))
        number = int(found.places[0])
        return found.texts[number] if number >= 0 else ""

    def places_of(self, events: Int64Array) -> Int64Array:
        """Return places of the slices of some events of the host, in the shape of ``events``.

        Of an event of another track, it is -1.
        """
        if isinstance(self.events, range):
            places = events - self.events.start
            return np.where((places >= 0) & (places < len(self.events)), places, -1)
        at = np.searchsorted(self.events, events).clip(max=len(self.events) - 1)
        return np.where(self.events[at] == events, at, -1)

    def start_ps(self, place: int) -> int:
        """Return the start of a slice, in the time of the trace."""
        return int(self.starts[place]) + self.shift_ps

    def duration_ps(self, place: int) -> int:
        """Return the duration of a slice."""
        return int(self.durations[place])

    def within(self, start_ps: int, end_ps: int) -> Int64Array:
        """Return places of slices that overlap the range between two times, ascending."""
        first, last = start_ps - self.shift_ps, end_ps - self.shift_ps
        parts = [pyramid.within(first, last) for pyramid in self.pyramids]
        if len(parts) == 1:
            return parts[0]
        return np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


class Wanted(NamedTuple):
    """The names of a trace that a search looks for.

    Attributes:
        names: Whether each name of the model matches, shape (n names,).
        long_names: Whether each long name matches, shape (n long names,).
    """

    names: BoolArray
    long_names: BoolArray


class Shown(NamedTuple):
    """Counts of the events of a capture, by how the viewer shows them.

    Attributes:
        in_capture: Events in the files.
        as_slices: Events shown as slices.
        as_counters: Events shown as values of counters.
        derived: Further slices, derived from these events.
        left_out: Reasons why others are missing, each with the number of events.
    """

    in_capture: int
    as_slices: int
    as_counters: int
    derived: int
    left_out: Sequence[tuple[str, int]] = ()

    @property
    def dropped(self) -> int:
        """Number of events that are not shown."""
        return self.in_capture - self.as_slices - self.as_counters


@dataclass(eq=False)
class TraceModel:
    """A trace.

    Attributes:
        processes: Names of the processes.
        tracks: Tracks with slices, in the order of display.
        counters: Counters.
        names: Distinct names of slices.
        steps: Steps, in order of time.
        shown: Counts of the events.
        make_flows: Makes the arrows.
        remarks: Further remarks.
        hosts: The host of each process, where known.
        long_names: Distinct full names of slices that are shown by a shorter name.
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
        self._busy: dict[int, Stretches] = {}
        self._busy_tracks: dict[int, Stretches] = {}

    @cached_property
    def _flows(self) -> Flows:
        return self.make_flows()

    @property
    def flows(self) -> Flows:
        """The arrows, computed once."""
        with self._lock:
            return self._flows

    def busy_of(self, process: int) -> Stretches:
        """When a process is busy, computed once; derived events count only where nothing else is.

        Args:
            process: Its place.
        """
        with self._lock:
            if process not in self._busy:
                own = [track for track in self.tracks if track.process == process]
                chosen = [track for track in own if not track.is_derived] or own
                self._busy[process] = stretches_of(track.spans_ps() for track in chosen)
            return self._busy[process]

    def busy_of_track(self, number: int) -> Stretches:
        """When a track is busy, computed once.

        Args:
            number: Its place.
        """
        with self._lock:
            if number not in self._busy_tracks:
                self._busy_tracks[number] = stretches_of([self.tracks[number].spans_ps()])
            return self._busy_tracks[number]

    @cached_property
    def range_ps(self) -> tuple[int, int]:
        """Start of the first slice or value, and end of the last."""
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

    def times_of(self, tracks: IntArray, places: IntArray) -> tuple[Int64Array, Int64Array]:
        """Look up starts, in the time of the trace, and durations of slices, shape (n,) each.

        Args:
            tracks: The track of each slice, shape (n,).
            places: Its place there, shape (n,).
        """
        starts, durations = (np.zeros(len(tracks), np.int64) for _ in range(2))
        for number in np.unique(tracks).tolist():
            at, track = np.flatnonzero(tracks == number), self.tracks[number]
            starts[at] = track.starts[places[at]] + track.shift_ps
            durations[at] = track.durations[places[at]]
        return starts, durations

    def slice_of(self, text: str) -> tuple[int, int]:
        """Look up track and place of a slice by its id, such as ``3.1024``.

        Raises:
            UsageError: There is no such slice.
        """
        track, _, place = text.partition(".")
        if track.isdecimal() and place.isdecimal():
            at, number = int(track), int(place)
            if at < len(self.tracks) and number < len(self.tracks[at]):
                return at, number
        raise UsageError(f"there is no event {text!r} in this trace")


def id_of(track: int, place: int) -> str:
    """Make the id of a slice."""
    return f"{track}.{place}"
