"""Marks of steps that a snapshot has cut, made anew from what such steps leave at their end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tfprof.captures.events.timeline.names import END_OF_STEP, END_STATS
from tfprof.core.wire import messages as pb

_STEP, _IS_ROOT = "step_num", "_r"


def add_cut_marks(plane: pb.XPlane, before_ns: int) -> None:
    """Add the marks that are missing to a plane of a snapshot.

    Args:
        plane: Is changed: a mark is the last event of its line, with an offset below 0.
        before_ns: How much time before the snapshot is known; older marks are left out.
    """
    ends = {key for key, entry in plane.event_metadata.items() if entry.name == END_OF_STEP}
    for line in plane.lines if ends else ():
        cut = [
            mark
            for event in line.events
            if event.metadata_id in ends
            and (mark := _mark_of(plane, line, event)) is not None
            and -before_ns <= mark.start_ns < line.timestamp_ns
        ]
        whole = set(_numbers(plane, line)) if cut else set[int]()
        for mark in cut:
            if mark.number not in whole:
                line.events.append(_event_of(mark, plane, line.timestamp_ns))


class _Mark(NamedTuple):
    name: str
    number: int
    start_ns: int  # since the start of the snapshot: below 0
    duration_ns: int


def _event_of(mark: _Mark, plane: pb.XPlane, line_start_ns: int) -> pb.XEvent:
    """The event of a mark; the plane gets the names that it lacks."""
    stats = [
        pb.XStat(metadata_id=_key(plane.stat_metadata, _STEP), int64_value=mark.number),
        pb.XStat(metadata_id=_key(plane.stat_metadata, _IS_ROOT), int64_value=1),
    ]
    return pb.XEvent(
        metadata_id=_key(plane.event_metadata, mark.name), stats=stats,
        offset_ps=(mark.start_ns - line_start_ns) * 1000, duration_ps=mark.duration_ns * 1000,
    )  # fmt: skip


def _mark_of(plane: pb.XPlane, line: pb.XLine, event: pb.XEvent) -> _Mark | None:
    values = {plane.stat_metadata[stat.metadata_id].name: stat for stat in event.stats}
    if not values.keys() >= set(END_STATS):
        return None
    number, took, ago, kind = (values[name] for name in END_STATS)
    name = kind.str_value or plane.stat_metadata[kind.ref_value].name
    if ago.int64_value > event.offset_ps // 1000:  # it ended before, when nothing was recorded
        return None
    end_ns = line.timestamp_ns + event.offset_ps // 1000 - ago.int64_value
    took_ns = took.int64_value
    return _Mark(name, number.int64_value, end_ns - took_ns, took_ns)


def _numbers(plane: pb.XPlane, line: pb.XLine) -> Iterator[int]:
    keys = {key for key, entry in plane.stat_metadata.items() if entry.name == _STEP}
    for event in line.events:
        yield from (stat.int64_value for stat in event.stats if stat.metadata_id in keys)


def _key(entries: Any, name: str) -> int:
    """The number of an entry of this name, which is added if there is none."""
    for key, entry in entries.items():
        if entry.name == name:
            return int(key)
    key = max(entries, default=0) + 1
    entries[key].id, entries[key].name = key, name
    return key
