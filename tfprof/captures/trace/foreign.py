"""A trace of another program as the viewer's model."""

from __future__ import annotations

import json
import math
from collections import Counter as Tally
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfprof.captures.trace.model import Counter, Flows, Series, Shown, Step, TraceModel, TraceTrack
from tfprof.core.columns.columns import Int64Array, no_rows
from tfprof.core.columns.once import Once
from tfprof.files.chrome_json import RawArrow, RawSlice, Read, arrow_pairs

_PS_PER_US = 1e6
_MOST_US = 1e12
"""Times are at most so far from the first: eleven days."""

_EXACT = 1 << 53

_STEPS = "Steps"


def model_of_json(read: Read) -> TraceModel:
    """Make the model of a trace from its parsed file."""
    return _Foreign(read).model()


class _Foreign:
    def __init__(self, read: Read) -> None:
        self._read = read
        times = [each.start_us for slices in read.slices.values() for each in slices]
        times += [time for values in read.counters.values() for time, _ in values]
        # The median: a damaged time is far from it, and must not move all others.
        middle = sorted(times)[len(times) // 2] if times else 0.0
        near = [time for time in times if abs(time - middle) < _MOST_US]
        self._base = min(near, default=0.0)
        if self._base < _MOST_US and self._base >= 0:  # times already count from the begin
            self._base = 0.0
        ends = [
            each.start_us + (0.0 if math.isinf(each.duration_us) else each.duration_us)
            for slices in read.slices.values()
            for each in slices
            if self._is_near(each)
        ]
        self._last = max(ends, default=0.0)
        self._names: dict[str, int] = {}
        self._place_of: dict[tuple[Any, Any], int] = {}
        self._twins = Tally(
            name for key, name in read.names.items() if not isinstance(key, tuple)
        )  # how many processes have each name

    def model(self) -> TraceModel:
        read = self._read
        left_out = list(read.not_understood.items())
        pids = {pid for pid, _ in read.slices} | {pid for pid, _, _ in read.counters}
        order = sorted(pids, key=lambda pid: (self._order(pid, pid), _sortable(pid)))
        places: dict[Any, list[tuple[Any, Any]]] = {}
        for place in read.slices:
            places.setdefault(place[0], []).append(place)
        tracks: list[TraceTrack] = []
        n_far = 0
        for process, pid in enumerate(order):
            own = places.get(pid, [])
            own.sort(key=lambda place: (self._order(place, place[1]), _sortable(place[1])))
            for place in own:
                slices = [each for each in read.slices[place] if self._is_near(each)]
                n_far += len(read.slices[place]) - len(slices)
                if slices:
                    self._place_of[place] = len(tracks)
                    tracks.append(self._track(process, place, slices))
        counters, n_values = self._counters(order)
        if n_far:
            left_out.append(("is at a time far from all others", n_far))
        n_slices = sum(len(track) for track in tracks)
        n_lost = sum(count for _, count in left_out)
        return TraceModel(
            [self._process_name(pid) for pid in order],
            tracks,
            counters,
            list(self._names),
            _steps(tracks, list(self._names)),
            Shown(n_slices + n_values + n_lost, n_slices, n_values, 0, left_out),
            lambda: self._flows(tracks),
            read.remarks,
        )

    def _order(self, key: Any, otherwise: Any) -> float:
        given = self._read.order.get(key)
        if given is not None:
            return given
        return (
            float(otherwise) if isinstance(otherwise, int) and abs(otherwise) < _EXACT else math.inf
        )

    def _process_name(self, pid: Any) -> str:
        name = self._read.names.get(pid)
        return f"{name} ({pid})" if name and self._twins[name] > 1 else name or f"process {pid}"

    def _is_near(self, each: RawSlice) -> bool:
        is_short = each.duration_us < _MOST_US or math.isinf(each.duration_us)
        return abs(each.start_us - self._base) < _MOST_US and is_short

    def _end(self, each: RawSlice) -> float:
        return self._last if math.isinf(each.duration_us) else each.start_us + each.duration_us

    def _ps(self, times_us: Sequence[float]) -> Int64Array:
        since: Int64Array = np.rint((np.array(times_us) - self._base) * _PS_PER_US).astype(np.int64)
        return since

    def _track(self, process: int, place: tuple[Any, Any], slices: list[RawSlice]) -> TraceTrack:
        starts = self._ps([each.start_us for each in slices])
        # Ends are rounded like starts: slices that touch in the file touch here.
        ends = self._ps([self._end(each) for each in slices])
        durations = np.maximum(ends - starts, 0)
        order = np.lexsort((-durations, starts))
        chosen = [slices[row] for row in order.tolist()]
        kinds = [self._names.setdefault(each.name, len(self._names)) for each in chosen]
        distinct, at = np.unique(np.array(kinds, np.int64), return_inverse=True)

        def texts(places: Int64Array) -> list[str]:
            return [json.dumps(chosen[row].args, default=str) for row in places.tolist()]

        thread = place[1] if isinstance(place[1], int) else 0
        unnamed = f"thread {thread}" if thread == place[1] else str(place[1])
        return TraceTrack(
            process, self._read.names.get(place) or unnamed, thread,
            starts[order], durations[order], at.astype(np.int32), distinct, texts,
        )  # fmt: skip

    def _counters(self, order: Sequence[Any]) -> tuple[list[Counter], int]:
        made: dict[tuple[Any, str], list[Series]] = {}
        n_values = 0
        for (pid, name, series), given in self._read.counters.items():
            values = sorted(each for each in given if abs(each[0] - self._base) < _MOST_US)
            n_values += len(values)
            times = self._ps([time for time, _ in values])
            numbers = np.array([value for _, value in values], np.float64)
            unit = "bytes" if "byte" in f"{name} {series}".lower() else ""
            made.setdefault((pid, name), []).append(Series(series, unit, times, numbers))
        places = {pid: place for place, pid in enumerate(order)}
        counters = [
            Counter(places[pid], name, Once(lambda series=series: series))  # type: ignore[misc]
            for (pid, name), series in made.items()
        ]
        return counters, n_values

    def _flows(self, tracks: Sequence[TraceTrack]) -> Flows:
        rows: list[tuple[int, int, int, int]] = []
        for begin, end in arrow_pairs(self._read):
            ends = [self._slice_at(tracks, each) for each in (begin, end)]
            if ends[0] is not None and ends[1] is not None and ends[0] != ends[1]:
                rows.append((*ends[0], *ends[1]))
        if not rows:
            return Flows(no_rows(), no_rows(), no_rows(), no_rows())
        return Flows(*np.array(rows, np.int64).T)

    def _slice_at(self, tracks: Sequence[TraceTrack], end: RawArrow) -> tuple[int, int] | None:
        """The slice at an end of an arrow: the one around it, or the next one."""
        number = self._place_of.get(end.track)
        if number is None or abs(end.time_us - self._base) >= _MOST_US:
            return None
        time = round((end.time_us - self._base) * _PS_PER_US)
        track = tracks[number]
        place = int(np.searchsorted(track.starts, time))
        is_there = place < len(track) and int(track.starts[place]) == time
        if is_there or not end.is_around:  # a slice that begins there wins over one around it
            return (number, place) if place < len(track) else None
        found = track.within(time, time + 1)
        return (number, int(found[-1])) if len(found) else None


def _sortable(key: Any) -> tuple[int, int, str]:
    return (0, key, "") if isinstance(key, int) else (1, 0, str(key))


def _steps(tracks: Sequence[TraceTrack], names: Sequence[str]) -> list[Step]:
    """Steps from the track with this name, as xprof writes it; empty without one."""
    for track in tracks:
        if track.name == _STEPS:
            texts = [names[number] for number in track.names_of(np.arange(len(track))).tolist()]
            rows = zip(texts, track.starts.tolist(), track.durations.tolist(), strict=True)
            return [Step(name, start, start + lasting) for name, start, lasting in rows]
    return []
