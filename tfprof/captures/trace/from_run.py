"""The trace of a captured run, as the viewer's model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.derived.lines import STEPS
from tfprof.captures.events.ops.memory import MOST_ALLOCATORS
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.timeline.links import Links
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.run.run import Run
from tfprof.captures.trace.counters_of_run import line_counter, memory_counters
from tfprof.captures.trace.events import RunTraces
from tfprof.captures.trace.model import Counter, Flows, Shown, Step, TraceModel, TraceTrack
from tfprof.captures.trace.shown_hosts import shown_hosts
from tfprof.captures.trace.text import HostTrace
from tfprof.captures.trace.tracks import Track, events_of
from tfprof.core.columns.arrow import Coded
from tfprof.core.columns.columns import Int64Array, no_rows

_MOST_TRACKS = 2000
"""At most so many threads are shown; each costs more than its events."""


def model_of_run(run: Run) -> TraceModel:
    """Make the trace of a run, once."""
    return run.memo.once("trace model", lambda: _Builder(run).model())


def _about_others(n_shown: int, n_hosts: int) -> tuple[str, ...]:
    if n_shown == n_hosts:
        return ()
    return (
        f"of {n_hosts:,} hosts {n_shown} are shown, the first and those with the longest steps: "
        "open the file of another one for its trace",
    )


class _Names:
    """Distinct names by number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def numbers(self, names: Sequence[str]) -> Int64Array:
        return np.array([self.number(name) for name in names], np.int64)

    @property
    def all(self) -> list[str]:
        return list(self._numbers)


class _Steps(NamedTuple):
    """The steps of a host, in tables that all of its threads share.

    Attributes:
        numbers: Groups with a name, ascending, shape (n,).
        names: Their names.
        begins: Events with the name of a step, ascending.
    """

    numbers: Int64Array
    names: Sequence[str]
    begins: Int64Array

    @classmethod
    def of(cls, groups: Groups) -> _Steps:
        numbers, begins = (np.array(sorted(one), np.int64)
                           for one in (groups.names, groups.step_names))  # fmt: skip
        return cls(numbers, [groups.names[number] for number in numbers.tolist()], begins)

    def coded(self, numbers: Int64Array) -> Coded:
        """Names of steps; a number without a name stands for no step."""
        if not len(self.numbers):
            return Coded(np.full(len(numbers), -1), [])
        at = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return Coded(np.where(self.numbers[at] == numbers, at, -1), self.names)

    def begins_in(self, events: slice) -> Int64Array:
        """Those of a line."""
        first, last = np.searchsorted(self.begins, (events.start, events.stop)).tolist()
        return self.begins[first:last]


class _Builder:
    """Makes the model of a run, host by host."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._names = _Names()
        self._processes: dict[int, int] = {}
        self._process_names: list[str] = []
        self._hosts: list[str] = []
        self._tracks: list[TraceTrack] = []
        self._counters: list[Counter] = []
        self._sources: list[tuple[HostTrace, list[tuple[Track, int, Int64Array | None]]]] = []
        self._long_names = _Names()
        self._kinds_of: dict[str, tuple[Int64Array, Int64Array]] = {}
        self._n_beyond = self._n_more_allocators = 0
        self._n = {"in_capture": 0, "as_slices": 0, "as_counters": 0, "derived": 0}

    def model(self) -> TraceModel:
        makers = RunTraces.of(self._run).makers
        places = shown_hosts(self._run)
        traces = [makers[place]() for place in places]
        left_out = 0
        for trace in traces:
            self._add(trace)
            n_events = sum(len(plane.events) for plane in trace.tracks.timeline.space.planes)
            n_timed = len(trace.tracks.timeline) - len(trace.tracks.timeline.sources.added)
            self._n["in_capture"] += n_events
            left_out += n_events - n_timed
        why = [
            ("took less than no time, or weeks: the file is damaged", left_out),
            (f"is on a thread beyond the first {_MOST_TRACKS:,}: tfprof trace has all",
             self._n_beyond),
            (f"is of an allocator beyond the {MOST_ALLOCATORS} of a host with the most events: "
             "tfprof trace has all", self._n_more_allocators),
        ]  # fmt: skip
        return TraceModel(
            self._process_names,
            self._tracks,
            self._counters,
            self._names.all,
            list(_steps(self._run, traces)),
            Shown(**self._n, left_out=[one for one in why if one[1]]),
            self._flows,
            remarks=_about_others(len(places), len(makers)),
            hosts=self._hosts,
            long_names=self._long_names.all,
        )

    def _add(self, trace: HostTrace) -> None:
        tracks = trace.tracks
        by_pid: dict[int, list[Track]] = {pid: [] for pid in tracks.processes}
        for track in tracks.tracks:
            by_pid[track.pid].append(track)
        places: list[tuple[Track, int, Int64Array | None]] = []
        steps = _Steps.of(trace.groups)
        for pid in tracks.processes:
            self._processes[pid] = len(self._process_names)
            self._process_names.append(tracks.processes[pid])
            self._hosts.append(trace.host.name)
            for track in sorted(by_pid[pid], key=lambda each: each.order):
                if track.derived is not None:
                    self._add_derived(trace, track, steps)
                elif track.is_counters:
                    counter = line_counter(trace, track, self._processes[pid])
                    self._counters.append(counter)
                    self._n["as_counters"] += len(events_of(tracks, track))
                elif (n_events := len(events_of(tracks, track))) == 0:
                    continue
                elif len(self._tracks) >= _MOST_TRACKS:
                    self._n_beyond += n_events
                else:
                    number = len(self._tracks)
                    places.append((track, number, self._add_recorded(trace, track, steps)))
        hidden = tracks.is_hidden
        if hidden.any():
            counters, n_left_out = memory_counters(trace, self._processes)
            self._counters += counters
            self._n_more_allocators += n_left_out
            shown = {track.line for track in tracks.tracks}
            of_shown = np.isin(tracks.timeline.lines_of(np.flatnonzero(hidden)), list(shown))
            self._n["as_counters"] += int(of_shown.sum()) - n_left_out
        self._sources.append((trace, places))

    def _add_recorded(self, trace: HostTrace, track: Track, steps: _Steps) -> Int64Array | None:
        """Add a recorded line; returns its events in the timeline, or None if it keeps all."""
        timeline, since = trace.tracks.timeline, trace.since_ps
        whole = timeline.events_of(track.line)
        own = None
        if trace.tracks.is_hidden[whole].any():
            own = events_of(trace.tracks, track)
        chosen = whole if own is None else own
        groups = trace.groups
        first = whole.start

        def events_at(places: Int64Array) -> Int64Array:
            return first + places if own is None else own[places]

        renamed = {}
        for event in steps.begins_in(whole).tolist():
            if not trace.tracks.is_hidden[event]:
                place = event - first if own is None else int(np.searchsorted(own, event))
                renamed[place] = self._names.number(groups.step_names[event])

        names, long_names = self._kinds(trace)
        made = TraceTrack(
            self._processes[track.pid], _name_of(track), track.thread_id,
            timeline.starts_ps[chosen], timeline.durations_ps[chosen], timeline.kinds[chosen],
            names,
            lambda places: trace.arguments(track, events_at(places)),
            since, renamed, long_name_ids=long_names,
            steps=lambda places: steps.coded(groups.of_event[events_at(places)]),
            events=range(whole.start, whole.stop) if own is None else own,
        )  # fmt: skip
        self._tracks.append(made)
        added = timeline.sources.added
        n_added = int(np.diff(np.searchsorted(added, (whole.start, whole.stop)))[0])
        self._n["as_slices"] += len(made) - n_added
        self._n["derived"] += n_added
        return own

    def _kinds(self, trace: HostTrace) -> tuple[Int64Array, Int64Array]:
        """Places of the short and the long name of each kind of event of a host."""
        timeline = trace.tracks.timeline
        if trace.host.name not in self._kinds_of:
            self._kinds_of[trace.host.name] = self._numbers(timeline.names, timeline.display_names)
        return self._kinds_of[trace.host.name]

    def _numbers(
        self, names: Sequence[str], display_names: Sequence[str]
    ) -> tuple[Int64Array, Int64Array]:
        shown = [short or name for name, short in zip(names, display_names, strict=True)]
        return self._names.numbers(shown), self._long_names.numbers(names)

    def _add_derived(self, trace: HostTrace, track: Track, steps: _Steps) -> None:
        line, groups = track.derived, trace.groups
        assert line is not None
        if not len(line):
            return
        names, long_names = self._numbers(line.names, line.display_names)
        if line.name == STEPS:
            names = self._names.numbers([groups.names[int(name)] for name in line.names])
            long_names = no_rows()
        starts, durations, kinds = line.starts_ps, line.durations_ps, line.kinds
        order = np.lexsort((-durations, starts))
        is_sorted = bool((np.diff(order) > 0).all())
        if not is_sorted:
            starts, durations, kinds = starts[order], durations[order], kinds[order]
        self._tracks.append(
            TraceTrack(
                self._processes[track.pid], _name_of(track), track.thread_id,
                starts, durations, kinds, names,
                lambda places: trace.arguments(track, order[places]),
                trace.since_ps, is_derived=True, long_name_ids=long_names,
                steps=lambda places: steps.coded(line.groups[order[places]]),
            )
        )  # fmt: skip
        self._n["derived"] += len(line)

    def _flows(self) -> Flows:
        """Arrows from each event to those that it leads to on other threads."""
        parts = [_flows_of(trace.links, trace, places)
                 for trace, places in self._sources]  # fmt: skip
        columns = zip(*parts, strict=True) if parts else [[no_rows()] for _ in range(4)]
        return Flows(*(np.concatenate(column) for column in columns))


def _name_of(track: Track) -> str:
    return track.name or f"thread {track.thread_id}"


def _flows_of(
    links: Links, trace: HostTrace, places: Sequence[tuple[Track, int, Int64Array | None]]
) -> Flows:
    timeline = trace.tracks.timeline
    track_of = np.full(len(timeline.lines), -1, np.int32)
    chosen: dict[int, Int64Array] = {}
    for track, number, events in places:
        track_of[track.line] = number
        if events is not None:
            chosen[track.line] = events
    lines = [timeline.lines_of(events) for events in (links.sources, links.targets)]
    kept = np.ones(len(links.sources), np.bool_)
    for events, of_line in zip((links.sources, links.targets), lines, strict=True):
        kept &= (track_of[of_line] >= 0) & ~trace.tracks.is_hidden[events]
    columns = []
    for all_events, all_lines in zip((links.sources, links.targets), lines, strict=True):
        events, of_line = all_events[kept], all_lines[kept]
        at = events - timeline.first[of_line]
        for line, own in chosen.items():
            is_of_line = of_line == line
            at[is_of_line] = np.searchsorted(own, events[is_of_line])
        columns += [track_of[of_line], at.astype(np.int32)]
    return Flows(*columns)


def _steps(run: Run, traces: Sequence[HostTrace]) -> Iterator[Step]:
    """The steps of the first host, in the time of the trace."""
    steps = run_steps(run)
    if not steps.hosts:
        return
    own = steps.hosts[0]
    since = next((trace.since_ps for trace in traces if trace.host is own.host), 0)
    order = np.argsort(own.times.start_ps, kind="stable").tolist()
    names, is_cut = list(own.names), own.is_cut.tolist()
    for at in order:
        start = int(own.times.start_ps[at]) + since
        end = start + int(own.times.duration_ps[at])
        yield Step(names[at], start, end, not is_cut[at])
