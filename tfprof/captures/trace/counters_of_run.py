"""Counters of a captured run: recorded ones, and the memory of allocators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tfprof.captures.events.ops.memory import ALLOCATION, DEALLOCATION, with_most_events
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.model.xspace_stats import StatKind
from tfprof.captures.trace.model import Counter, Series
from tfprof.captures.trace.text import HostTrace
from tfprof.captures.trace.tracks import Track, events_of
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.once import Once


def line_counter(trace: HostTrace, track: Track, process: int) -> Counter:
    """Make a counter of a line: all numbers in its events, by the names of event and stat."""

    def make() -> Sequence[Series]:
        timeline = trace.tracks.timeline
        events = events_of(trace.tracks, track)
        series: dict[tuple[int, int], Series] = {}
        plane = timeline.space.planes[timeline.lines[track.line].plane]
        for number, stat in enumerate(plane.stat_names):
            found = timeline.stat(stat, keep=False).among(events)
            found = found.only(~found.is_text())
            kinds = timeline.kinds[found.events]
            for kind in np.unique(kinds).tolist():
                own = found.only(kinds == kind)
                times = timeline.starts_ps[own.events] + trace.since_ps
                name = f"{timeline.names[kind]}: {stat}"
                series[kind, number] = Series(name, "", times, _numbers(own))
        return [series[key] for key in sorted(series)]

    return Counter(process, track.name, Once(make))


def memory_counters(trace: HostTrace, processes: Mapping[int, int]) -> tuple[list[Counter], int]:
    """Make counters of the memory that each allocator holds, at each change.

    Returns:
        The counters, and the number of events of hidden allocators.
    """
    timeline = trace.tracks.timeline
    allocator = timeline.stat("allocator_name")
    pids = np.full(len(timeline.lines), -1, np.int64)
    for track in trace.tracks.tracks:
        if track.line >= 0:
            pids[track.line] = track.pid
    events = np.flatnonzero(timeline.named((ALLOCATION, DEALLOCATION).__contains__))
    found = allocator.among(events[pids[timeline.lines_of(events)] >= 0])
    found = found.only(found.is_text())
    kept = found.only(np.isin(found.values, with_most_events(found.values)))
    of_pid = pids[timeline.lines_of(kept.events)]
    names = sorted(allocator.texts)
    rank_of = {name: rank for rank, name in enumerate(names)}
    ranks = np.array([rank_of[name] for name in allocator.texts] or [0], np.int64)[kept.values]
    order = np.lexsort((timeline.starts_ps[kept.events], ranks, of_pid))
    owners = np.stack([of_pid, ranks])[:, order]
    firsts = np.flatnonzero((np.diff(owners, prepend=-1) != 0).any(axis=0))
    counters = []
    for first, own in zip(firsts.tolist(), np.split(kept.events[order], firsts[1:]), strict=False):
        pid, number = owners[:, first].tolist()
        name = f"memory of {names[number]}"
        counters.append(Counter(processes[pid], name, Once(_memory(trace, own))))
    return counters, len(found) - len(kept)


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
