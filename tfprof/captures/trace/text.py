"""Writes a trace in Chrome's format as text, some thousand events at a time.

This module never holds a whole trace: neither an object per event, nor its text.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby

import numpy as np

from tfprof.captures.events.derived.lines import STEPS, DerivedLine
from tfprof.captures.events.timeline.links import Links
from tfprof.captures.rules import OURS, Rules
from tfprof.captures.run.run import Host
from tfprof.captures.trace.args import EventArgs, long_name
from tfprof.captures.trace.blocks import Block, Texts, in_whole_ns, one, quoted, value_text
from tfprof.captures.trace.counters import (
    Shown,
    Window,
    arrows,
    blocks_of,
    line_counters,
    memory_counters,
    packed,
)
from tfprof.captures.trace.rows import Row, Rows
from tfprof.captures.trace.tracks import Track, Tracks, events_of, find_tracks
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.trace_json import HEAD, lines_of, metadata_event, whole_trace


class HostTrace:
    """The trace of a host.

    Args:
        host: The host.
        place: Its place among several hosts in one trace; None if it is alone.
        window: Only events that overlap this window.
        since_ps: When the host's first line begins, in the time of the trace.

    Attributes:
        host: The host.
        tracks: Its threads.
        since_ps: When the host's first line begins, in the time of the trace.
        groups: Its steps.
    """

    def __init__(
        self,
        host: Host,
        place: int | None = None,
        *,
        window: Window | None = None,
        since_ps: int = 0,
    ) -> None:
        self.host = host
        self.tracks: Tracks = find_tracks(host, place)
        self.since_ps = since_ps
        self._shown = Shown(self.tracks, since_ps, window)
        self._is_viewers = host.rules.shows_viewer_events
        self._forest, self.groups = host.forest(), host.groups()
        self._args = EventArgs(self._forest, self.groups, is_viewers=self._is_viewers)
        step_names, n_kinds = self.groups.step_names, len(self.tracks.timeline.names)
        self._begins = np.array(sorted(step_names), np.int64)
        self._names = [""] * n_kinds + [quoted(step_names[e]) for e in self._begins.tolist()]
        self._is_named = np.zeros(n_kinds, np.bool_)

    @property
    def links(self) -> Links:
        """Links from events to those that they lead to."""
        return self._forest.links

    def blocks(self) -> Iterator[bytes]:
        """Write events as JSON, one per line, after the names of processes and threads."""
        rows = Rows(self.tracks, split=not self._is_viewers)
        yield lines_of(self._metadata(rows))
        shown = ((place, track) for place, track in enumerate(self.tracks.tracks) if track.is_shown)
        for kind, some in groupby(shown, lambda each: _kind(each[1])):
            if kind is _Kind.COUNTERS:
                for _, track in some:
                    yield from line_counters(self._shown, track)
            elif kind is _Kind.RECORDED:
                recorded = (row for place, _ in some for row in rows.of(place))
                for waiting in packed(recorded, self._shown):
                    yield self._block(waiting).to_json()
            else:
                for row in (row for place, _ in some for row in rows.of(place)):
                    yield from self._derived(row)
        if not self._is_viewers:
            yield from arrows(self._shown, self._forest.links, rows)
            yield from memory_counters(self._shown)

    def times(self, track: Track) -> tuple[Int64Array, Int64Array]:
        """Return start and end of each shown event of a thread, in ps, in the trace's time."""
        if not track.is_shown:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing
        if track.derived is not None:
            starts = track.derived.starts_ps
            ends = starts + track.derived.durations_ps
        else:
            events = events_of(self.tracks, track)
            timeline = self.tracks.timeline
            starts, ends = timeline.starts_ps[events], timeline.ends_of(events)
        within = self._shown.within(starts, ends)
        if within is not None:
            starts, ends = starts[within], ends[within]
        return starts + self._shown.since_ps, ends + self._shown.since_ps

    def _metadata(self, rows: Rows) -> Iterator[str]:
        tracks = self.tracks
        by_pid: dict[int, list[Track]] = {pid: [] for pid in tracks.processes}
        for place, whole in enumerate(tracks.tracks):
            by_pid[whole.pid] += rows.tracks_of(place)
        for pid, name in tracks.processes.items():
            yield metadata_event("process_name", f'"pid":{pid}', f'"name":{quoted(name)}')
            yield metadata_event("process_sort_index", f'"pid":{pid}', f'"sort_index":{pid}')
            threads = {track.tid: track for track in by_pid[pid]}
            for tid in sorted(threads):
                track, at = threads[tid], f'"pid":{pid},"tid":{tid}'
                args = f'"name":{quoted(track.name)}'
                if not self._is_viewers and track.thread_id != tid:
                    args += f',"thread_id":"{track.thread_id}"'
                yield metadata_event("thread_name", at, args)
                yield metadata_event("thread_sort_index", at, f'"sort_index":{track.order}')

    def _block(self, rows: Sequence[Row]) -> Block:
        timeline = self.tracks.timeline
        events = np.concatenate([row.events for row in rows])
        places = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row.events) for row in rows])
        args, stats = self._args.of(events)
        return Block(
            Texts(places, [_at(row.track) for row in rows]),
            *self._times(timeline.starts_ps[events], timeline.durations_ps[events]),
            self._names_of(events),
            args,
            stats,
            self._is_viewers,
        )

    def _times(
        self, starts_ps: Int64Array, durations_ps: Int64Array
    ) -> tuple[Int64Array, Int64Array]:
        """Starts in the time of the trace, and durations."""
        starts = starts_ps + self._shown.since_ps
        return (starts, durations_ps) if self._is_viewers else in_whole_ns(starts, durations_ps)

    def arguments(self, track: Track, events: Int64Array) -> list[str]:
        """Return the arguments of events of a thread, each as a JSON object.

        Args:
            track: The thread; not one of counters.
            events: Events of the timeline; for a derived line, their places in it.
        """
        if track.derived is None:
            return self._block([Row(track, events)]).arguments()
        return [
            text
            for block in self._derived_blocks(track, track.derived, events)
            for text in block.arguments()
        ]

    def _names_of(self, events: Int64Array) -> Texts:
        """Names of events; an event that begins a step has the name of the step."""
        timeline, names = self.tracks.timeline, self._names
        numbers = timeline.kinds[events].astype(np.int32)
        for kind in np.unique(numbers[~self._is_named[numbers]]).tolist():
            names[kind] = quoted(timeline.display_names[kind] or timeline.names[kind])
        self._is_named[numbers] = True
        begins = self._begins
        if len(begins):
            at = np.minimum(np.searchsorted(begins, events), len(begins) - 1)
            numbers = np.where(begins[at] == events, at + len(timeline.names), numbers)
        return Texts(numbers.astype(np.int32), names)

    def _derived(self, row: Row) -> Iterator[bytes]:
        line = row.track.derived
        assert line is not None
        starts = line.starts_ps[row.events]
        within = self._shown.within(starts, starts + line.durations_ps[row.events])
        events = row.events if within is None else row.events[within]
        for block in self._derived_blocks(row.track, line, events):
            yield block.to_json()

    def _derived_blocks(
        self, track: Track, line: DerivedLine, events: Int64Array
    ) -> Iterator[Block]:
        shown = list(zip(line.names, line.display_names, strict=True))
        names = [quoted(short or name) for name, short in shown]
        longs = [long_name(name, short, is_cut=self._is_viewers) for name, short in shown]
        groups = sorted(set(line.groups.tolist()))
        steps = [self._args.step(group) for group in groups]
        if line.name == STEPS:
            titles = [quoted(self.groups.names[group]) for group in groups]
            names = [quoted(self.groups.names[int(name)]) for name in line.names]
            pairs = zip(steps, titles, strict=True)
            steps = [f'{step},"step_name":{title}' for step, title in pairs]
        more = self._more(line)
        for block in blocks_of(events):
            kinds = line.kinds[block].astype(np.int32)
            numbers = np.searchsorted(groups, line.groups[block]).astype(np.int32)
            args = [Texts(kinds, longs), Texts(numbers, steps)]
            if more:
                args.append(Texts(block.astype(np.int32), more))
            yield Block(
                one(_at(track), len(block)),
                *self._times(line.starts_ps[block], line.durations_ps[block]),
                Texts(kinds, names),
                args,
                None,
                self._is_viewers,
            )

    def _more(self, line: DerivedLine) -> list[str]:
        """Stats of the events of a derived line; empty if none has any."""
        texts = ["" for _ in range(len(line))] if line.stats else []
        for row, stats in line.stats.items():
            texts[row] = ",".join(
                f"{quoted(name)}:{value_text(value, as_texts=self._is_viewers)}"
                for name, value in stats.items()
            )
        return texts


class _Kind(enum.Enum):
    COUNTERS = enum.auto()
    RECORDED = enum.auto()
    DERIVED = enum.auto()


def _kind(track: Track) -> _Kind:
    if track.is_counters:
        return _Kind.COUNTERS
    return _Kind.RECORDED if track.derived is None else _Kind.DERIVED


def _at(track: Track) -> str:
    return f'"pid":{track.pid},"tid":{track.tid}'


def trace_chunks(traces: Iterable[HostTrace], rules: Rules = OURS) -> Iterator[bytes]:
    """Write the traces of hosts as the content of one file, one event per line.

    Args:
        traces: The traces.
        rules: They decide whether an empty event stands at the end.
    """
    blocks = (block for trace in traces for block in trace.blocks())
    last = [b"{}"] if rules.shows_viewer_events else []
    return whole_trace(chain(blocks, last), HEAD, first=b"\n")
