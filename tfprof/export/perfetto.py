"""Traces in Perfetto's own format: packets of protobuf, names once, begins and ends of slices.

Perfetto counts nanoseconds, so shorter events take no time there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from tfprof.captures.events.timeline.layers import layers_of, rows_of
from tfprof.captures.trace.model import Counter, Flows, TraceModel, TraceTrack
from tfprof.core.columns.columns import Int64Array
from tfprof.core.wire.varints import length_delimited, length_delimited_tag
from tfprof.export.nested import marks_of
from tfprof.export.perfetto_packets import (
    ANNOTATION_NAMES,
    ANNOTATION_TEXTS,
    DOUBLE_VALUE,
    EVENT_NAMES,
    EventType,
    event_packets,
    first_packet,
    interned,
    number_field,
    packet,
    text_field,
)

Float64Array = np.ndarray[Any, np.dtype[np.float64]]

_AT_ONCE: Final = 1 << 16
"""Slices, names or values that are encoded together."""

_DESCRIPTOR: Final = 60
_UNITS: Final = {"bytes": 3}
_EXPLICIT_ORDER: Final = 3
_MERGED_BY_KEY: Final = 3


class Written(NamedTuple):
    """Counts of the written parts of a trace.

    Attributes:
        slices: How many slices there are, instants among them.
        values: How many values of counters.
        flows: How many arrows.
        split: Tracks that were added, because slices overlapped in part.
    """

    slices: int
    values: int
    flows: int
    split: int


def perfetto_chunks(
    model: TraceModel, counted: list[Written] | None = None, since_ns: int | None = None
) -> Iterator[bytes]:
    """A trace as the content of a ``.pftrace`` file.

    Args:
        model: The trace.
        counted: Receives the counts at the end.
        since_ns: Subtracted from all times, which are unsigned in packets; by default 0, or the
            begin of a trace that begins before.
    """
    yield first_packet()
    yield interned(ANNOTATION_NAMES, ["step"])
    for first in range(0, len(model.names), _AT_ONCE):
        yield interned(EVENT_NAMES, model.names[first : first + _AT_ONCE], first)
    yield from _processes(model.processes)
    since_ns = first_ns(model) if since_ns is None else since_ns
    flows, steps = _FlowEnds(model.flows), _Steps()
    uuid, n_slices, n_split = len(model.processes), 0, 0
    for number, track in enumerate(model.tracks):
        layer = layers_of(track.starts, track.starts + track.durations)
        for part, places in enumerate(rows_of(layer, len(track))):
            uuid += 1
            n_split += part > 0
            n_slices += len(places)
            yield _track(uuid, track, number) + steps.told(track)
            yield from _slices(uuid, track, places, since_ns, flows.of_track(number), steps)
    n_values = 0
    for counter in model.counters:
        for series in counter.series():
            uuid += 1
            yield _counter(uuid, counter, series.name, series.unit)
            known = np.isfinite(series.values)
            n_values += int(known.sum())
            times = series.times_ps[known] // 1000 - since_ns
            yield from _values(uuid, times, series.values[known])
    if counted is not None:
        counted.append(Written(n_slices, n_values, len(flows), n_split))


def first_ns(model: TraceModel) -> int:
    """0, or the begin of a trace that begins before."""
    return min(model.range_ps[0] // 1000, 0)


class _Steps:
    """Numbers of the names of steps, which are written when a track first uses them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def told(self, track: TraceTrack) -> bytes:
        """The packet with names that are new."""
        names = track.steps(np.zeros(0, np.int64)).texts
        new = [name for name in dict.fromkeys(names) if name not in self._numbers]
        first = len(self._numbers)
        self._numbers.update((name, number) for number, name in enumerate(new, first + 1))
        return interned(ANNOTATION_TEXTS, new, first) if new else b""

    def of(self, track: TraceTrack, places: Int64Array) -> Int64Array:
        """The number of the step of each slice, 0 for none."""
        found = track.steps(places)
        numbers = np.array([*(self._numbers[name] for name in found.texts), 0], np.int64)
        of_slice: Int64Array = numbers[found.places]  # -1 is the last one
        return of_slice


def _processes(names: Sequence[str]) -> Iterator[bytes]:
    tag = length_delimited_tag(3)
    for uuid, name in enumerate(names, 1):
        process = length_delimited(tag, number_field(1, uuid) + text_field(6, name))
        order = number_field(11, _EXPLICIT_ORDER) + number_field(12, uuid)
        yield packet(_DESCRIPTOR, number_field(1, uuid) + text_field(2, name) + process + order)


def _track(uuid: int, track: TraceTrack, rank: int) -> bytes:
    """Description of a track; its parts are drawn as one, other tracks of equal names are not."""
    place = number_field(5, track.process + 1) + number_field(12, rank)
    merged = number_field(15, _MERGED_BY_KEY) + number_field(17, rank + 1)
    return packet(_DESCRIPTOR, number_field(1, uuid) + text_field(2, track.name) + place + merged)


def _counter(uuid: int, counter: Counter, name: str, unit: str) -> bytes:
    known = _UNITS.get(unit)
    told = number_field(3, known) if known else text_field(6, unit) if unit else b""
    shown = f"{counter.name}: {name}" if name else counter.name
    described = text_field(2, shown) + number_field(5, counter.process + 1)
    return packet(
        _DESCRIPTOR,
        number_field(1, uuid) + described + length_delimited(length_delimited_tag(8), told),
    )


class _FlowEnds:
    """Arrows by the slices at their ends: both share a number."""

    def __init__(self, flows: Flows) -> None:
        n_flows = len(flows.from_track)
        numbers = np.arange(1, n_flows + 1)
        tracks = np.concatenate([flows.from_track, flows.to_track]).astype(np.int64)
        places = np.concatenate([flows.from_place, flows.to_place]).astype(np.int64)
        order = np.lexsort((places, tracks))
        self._tracks, self._places = tracks[order], places[order]
        self._numbers = np.concatenate([numbers, numbers])[order]
        self._n_flows = n_flows

    def __len__(self) -> int:
        return self._n_flows

    def of_track(self, track: int) -> tuple[Int64Array, Int64Array]:
        """Slices at which an arrow begins or ends, ascending, and its number."""
        first, last = np.searchsorted(self._tracks, [track, track + 1])
        return self._places[first:last], self._numbers[first:last]


def _slices(
    uuid: int,
    track: TraceTrack,
    places: Int64Array,
    since_ns: int,
    flows: tuple[Int64Array, Int64Array],
    steps: _Steps,
) -> Iterator[bytes]:
    starts, durations = track.starts[places], track.durations[places]
    marks = marks_of(starts + track.shift_ps, durations)
    for first in range(0, len(marks.slices), _AT_ONCE):
        chunk = slice(first, first + _AT_ONCE)
        own, is_end = marks.slices[chunk], marks.is_end[chunk]
        at = places[own]
        kinds = np.where(
            is_end, EventType.END, np.where(durations[own] > 0, EventType.BEGIN, EventType.INSTANT)
        )
        names = track.names_of(at).astype(np.int64) + 1
        low = np.searchsorted(flows[0], at)
        n_flows = np.where(is_end, 0, np.searchsorted(flows[0], at, side="right") - low)
        rows = np.repeat(low - np.cumsum(n_flows) + n_flows, n_flows) + np.arange(n_flows.sum())
        times = marks.times_ns[chunk] - since_ns
        of_step = np.where(is_end, 0, steps.of(track, at))
        yield event_packets(
            uuid, times, kinds, np.where(is_end, 0, names), of_step, n_flows, flows[1][rows]
        )


def _values(uuid: int, times_ns: Int64Array, values: Float64Array) -> Iterator[bytes]:
    for first in range(0, len(values), _AT_ONCE):
        own = values[first : first + _AT_ONCE]
        once, none = np.ones(len(own), np.int64), np.zeros(len(own), np.int64)
        bits = np.ascontiguousarray(own, np.float64).view(np.int64)
        times = times_ns[first : first + _AT_ONCE]
        kinds = once * EventType.COUNTER
        yield event_packets(uuid, times, kinds, none, none, once, bits, DOUBLE_VALUE)
