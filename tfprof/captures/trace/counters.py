"""The parts of a trace beside events: arrows between them, and counters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from tfprof.captures.events.ops.memory import ALLOCATION, DEALLOCATION
from tfprof.captures.events.timeline.links import Links
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.trace.blocks import micros, quoted, value_text
from tfprof.captures.trace.rows import Row, Rows
from tfprof.captures.trace.tracks import Track, Tracks, events_of
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.text.trace_json import EVENTS_PER_CHUNK, blocks, lines_of

_ARROW_BITS: Final = 40
"""Bits of an arrow's id below the number of the first process of its host."""

_WAYS: Final = ("leads to", "comes from")
_PS_PER_NS: Final = 1000

Window = tuple[int, int]
"""Start and end of the shown time, in ps since the host's first line begins."""


class Shown(NamedTuple):
    """The shown part of a host.

    Attributes:
        tracks: Its threads.
        since_ps: When its first line begins, in the time of the trace.
        window: Only events that overlap this window; None for all.
    """

    tracks: Tracks
    since_ps: int
    window: Window | None

    def within(self, starts_ps: Int64Array, ends_ps: Int64Array) -> BoolArray | None:
        """Whether each time is in the window, shape (n,); None if all are."""
        if self.window is None:
            return None
        first, last = self.window
        is_instant = (starts_ps == ends_ps) & (starts_ps >= first) & (starts_ps <= last)
        is_within: BoolArray = (starts_ps < last) & (ends_ps > first) | is_instant
        return is_within

    def only(self, events: Int64Array) -> Int64Array:
        """Select the events of the timeline that are in the window."""
        if self.window is None:
            return events
        timeline = self.tracks.timeline
        within = self.within(timeline.starts_ps[events], timeline.ends_of(events))
        return events if within is None else events[within]


def blocks_of(events: Int64Array) -> Iterator[Int64Array]:
    """Split events into pieces to write at once."""
    return (events[each] for each in blocks(len(events)))


def packed(rows: Iterable[Row], shown: Shown) -> Iterator[list[Row]]:
    """Pack rows with their shown events into lists to write at once, long rows in pieces."""
    waiting: list[Row] = []
    n_waiting = 0
    for row in rows:
        for events in blocks_of(shown.only(row.events)):
            if n_waiting + len(events) > EVENTS_PER_CHUNK:
                yield waiting
                waiting, n_waiting = [], 0
            waiting.append(Row(row.track, events))
            n_waiting += len(events)
    if waiting:
        yield waiting


def line_counters(shown: Shown, track: Track) -> Iterator[bytes]:
    """Write the values of a line of counters: all numbers in the stats of an event."""
    timeline = shown.tracks.timeline
    place = f'"pid":{track.pid},"tid":{track.tid}'
    for block in blocks_of(shown.only(events_of(shown.tracks, track))):
        since = timeline.starts_ps[block] + shown.since_ps
        starts = (since - since % _PS_PER_NS).tolist()
        yield lines_of(
            f'{{"ph":"C",{place},"ts":{micros(start)},"name":{quoted(timeline.name(event))},'
            f'"args":{{{_numbers(timeline, event)}}}}}'
            for event, start in zip(block.tolist(), starts, strict=True)
        )


def _numbers(timeline: Timeline, event: int) -> str:
    return ",".join(
        f"{quoted(name)}:{value_text(value, as_texts=False)}"
        for name, value in timeline.stats_of(event).items()
        if isinstance(value, (int, float))
    )


def arrows(shown: Shown, links: Links, rows: Rows) -> Iterator[bytes]:
    """Write arrows from each event to those that it leads to on other threads.

    Their ids are hexadecimal texts, which all viewers accept. No viewer draws an arrow back in
    time. If clocks differ so much that an event begins before its cause, the arrow leads from this
    event to its cause, under the name "comes from".
    """
    tracks, timeline = shown.tracks, shown.tracks.timeline
    at = np.full((len(timeline.lines), 2), -1, np.int64)
    for track in tracks.tracks:
        if track.line >= 0 and track.is_shown and not track.is_counters:
            at[track.line] = track.pid, track.tid
    kept = np.ones(len(links.sources), np.bool_)
    for events in (links.sources, links.targets):
        kept &= (at[timeline.line_of[events], 0] >= 0) & ~tracks.is_hidden[events]
        within = shown.within(timeline.starts_ps[events], timeline.ends_of(events))
        kept &= True if within is None else within
    base = min(tracks.processes, default=0) << _ARROW_BITS
    for block in blocks_of(np.flatnonzero(kept)):
        ends = []
        for events in (links.sources[block], links.targets[block]):
            place, starts = at[timeline.line_of[events]], timeline.starts_ps[events]
            tids = rows.tids(events, place[:, 1])
            since = starts + shown.since_ps
            ends.append(np.stack([place[:, 0], tids, since - since % _PS_PER_NS]))
        is_late = ends[1][2] < ends[0][2]
        sides = np.where(is_late, ends[1], ends[0]), np.where(is_late, ends[0], ends[1])
        columns = [block.tolist(), is_late.tolist(), *(c.tolist() for c in np.concatenate(sides))]
        yield lines_of(
            f'{{"ph":"s","id":"{base + number:#x}","cat":"flow","name":"{_WAYS[is_late]}",'
            f'"pid":{pid},"tid":{tid},"ts":{micros(ts)}}},\n'
            f'{{"ph":"f","bp":"e","id":"{base + number:#x}","cat":"flow",'
            f'"name":"{_WAYS[is_late]}","pid":{to_pid},"tid":{to_tid},"ts":{micros(to_ts)}}}'
            for number, is_late, pid, tid, ts, to_pid, to_tid, to_ts in zip(*columns, strict=True)
        )


def memory_counters(shown: Shown) -> Iterator[bytes]:
    """Write the memory that each allocator holds, at each change."""
    timeline = shown.tracks.timeline
    is_change = timeline.named((ALLOCATION, DEALLOCATION).__contains__)
    if not is_change.any():
        return
    pids = np.full(len(timeline.lines), -1, np.int64)
    for track in shown.tracks.tracks:
        if track.line >= 0:
            pids[track.line] = track.pid
    allocator = timeline.stat("allocator_name")
    names = allocator.text_ids(len(timeline))
    labels = [quoted(f"memory of {text}") for text in allocator.texts]
    held, reserved = (
        timeline.stat(name).dense(len(timeline)) for name in ("bytes_allocated", "bytes_reserved")
    )
    events = np.flatnonzero(is_change & (names >= 0) & (pids[timeline.line_of] >= 0))
    events = shown.only(events[np.argsort(timeline.starts_ps[events], kind="stable")])
    for block in blocks_of(events):
        starts = timeline.starts_ps[block] + shown.since_ps
        starts -= starts % _PS_PER_NS
        columns = (pids[timeline.line_of[block]], starts, names[block], held[block])
        rows = zip(*(c.tolist() for c in (*columns, reserved[block])), strict=True)
        yield lines_of(
            f'{{"ph":"C","pid":{pid},"ts":{micros(start)},"name":{labels[name]},'
            f'"args":{{"allocated bytes":{used},"reserved bytes":{more}}}}}'
            for pid, start, name, used, more in rows
        )
