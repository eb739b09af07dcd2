"""Counters of a captured run: those that were recorded, and the memory of allocators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from tfprof.captures.events.ops.memory import ALLOCATION, DEALLOCATION
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.model.xspace_stats import StatKind
from tfprof.captures.trace.text import HostTrace
from tfprof.captures.trace.tracks import Track, events_of
from tfprof.columns.columns import Int64Array
from tfprof.columns.once import Once
from tfprof.pages.trace.model import Counter, Series


def line_counter(trace: HostTrace, track: Track, process: int) -> Counter:
    """A line of counters: all numbers that its events tell, by their name and what they tell."""

    def make() -> Sequence[Series]:
        timeline = trace.tracks.timeline
        events = events_of(trace.tracks, track)
        kinds = timeline.kinds[events]
        stats = timeline.space.planes[timeline.lines[track.line].plane].stat_metadata.names
        series = []
        for kind in np.unique(kinds).tolist():
            of_kind = events[kinds == kind]
            for stat in dict.fromkeys(stats):
                found = timeline.stat(stat, keep=False).among(of_kind)
                found = found.only(~found.is_text())
                if len(found):
                    times = timeline.starts_ps[found.events] + trace.since_ps
                    name = f"{timeline.names[kind]}: {stat}"
                    series.append(Series(name, "", times, _numbers(found)))
        return series

    return Counter(process, track.name, Once(make))


def memory_counters(trace: HostTrace, processes: Mapping[int, int]) -> Iterator[Counter]:
    """What each allocator holds, whenever it changes."""
    timeline = trace.tracks.timeline
    is_change = timeline.named((ALLOCATION, DEALLOCATION).__contains__)
    allocator = timeline.stat("allocator_name")
    pids = np.full(len(timeline.lines), -1, np.int64)
    for track in trace.tracks.tracks:
        if track.line >= 0:
            pids[track.line] = track.pid
    events = np.flatnonzero(is_change)
    events = events[allocator.has(events) & (pids[timeline.lines_of(events)] >= 0)]
    found = allocator.among(events)
    for pid in np.unique(pids[timeline.lines_of(events)]).tolist():
        is_of_pid = pids[timeline.lines_of(found.events)] == pid
        for number in np.unique(found.values[is_of_pid]).tolist():
            own = found.events[is_of_pid & (found.values == number)]
            own = own[np.argsort(timeline.starts_ps[own], kind="stable")]
            yield Counter(
                processes[pid], f"memory of {allocator.texts[number]}", Once(_memory(trace, own))
            )


def _memory(trace: HostTrace, events: Int64Array) -> Callable[[], Sequence[Series]]:
    def make() -> Sequence[Series]:
        timeline = trace.tracks.timeline
        times = timeline.starts_ps[events] + trace.since_ps
        return [
            Series(name, "bytes", times, timeline.stat(stat).at(events).astype(np.float64))
            for name, stat in (("allocated", "bytes_allocated"), ("reserved", "bytes_reserved"))
        ]

    return make


def _numbers(found: SparseStat) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = found.values.astype(np.float64)
    is_double = found.kinds == StatKind.DOUBLE
    values[is_double] = found.values[is_double].view(np.float64)
    is_unsigned = found.kinds == StatKind.UINT64
    values[is_unsigned] = found.values[is_unsigned].view(np.uint64).astype(np.float64)
    return values
