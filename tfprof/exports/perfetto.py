"""Traces in Perfetto's own format: packets of protobuf, names once, begins and ends of slices.

Field numbers are those of ``protos/perfetto/trace/perfetto_trace.proto``. Whole columns become
bytes at once. Perfetto counts nanoseconds, so what lasted less takes no time there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from tfprof.columns.columns import Int64Array
from tfprof.exports.nested import layers, marks_of
from tfprof.pages.trace.model import Counter, Flows, TraceModel, TraceTrack
from tfprof.wire.varints import (
    encode_varint,
    length_delimited,
    length_delimited_tag,
    put_varints,
    varint_sizes,
)

Float64Array = np.ndarray[Any, np.dtype[np.float64]]

_AT_ONCE: Final = 1 << 16
"""Slices, names or values that are encoded together."""

_PACKET: Final = length_delimited_tag(1)
_TIME: Final = encode_varint(8 << 3)
_SEQUENCE: Final = encode_varint(10 << 3) + b"\x01"
_CLEARED: Final = encode_varint(13 << 3) + b"\x03"
_NEEDED: Final = encode_varint(13 << 3) + b"\x02"
_INTERNED: Final = length_delimited_tag(12)
_EVENT: Final = length_delimited_tag(11)
_DESCRIPTOR: Final = length_delimited_tag(60)
_TYPE, _NAME, _TRACK = (encode_varint(number << 3) for number in (9, 10, 11))
_FLOW: Final = encode_varint(47 << 3 | 1)
_DOUBLE_VALUE: Final = encode_varint(44 << 3 | 1)
_ANNOTATION: Final = length_delimited_tag(4)
_STEP: Final = b"\x08\x01" + encode_varint(17 << 3)
"""Of an annotation: the first name, and the tag of the number of its text."""

_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4
_UNITS: Final = {"bytes": 3}
_EXPLICIT_ORDER: Final = 3
_MERGED_BY_KEY: Final = 3


class Written(NamedTuple):
    """What became of a trace, for whoever counts.

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


def perfetto_chunks(model: TraceModel, counted: list[Written] | None = None) -> Iterator[bytes]:
    """A trace as the content of a ``.pftrace`` file.

    Args:
        model: The trace.
        counted: Takes what was written, at the end.
    """
    yield _packet(_CLEARED)
    yield _interned(3, ["step"])
    for first in range(0, len(model.names), _AT_ONCE):
        yield _interned(2, model.names[first : first + _AT_ONCE], first)
    yield from _processes(model.processes)
    since_ns = _since_ns(model)
    flows, steps = _FlowEnds(model.flows), _Steps()
    uuid, n_slices, n_split = len(model.processes), 0, 0
    for number, track in enumerate(model.tracks):
        for part, places in enumerate(layers(track.starts, track.durations, track.lanes)):
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


def _since_ns(model: TraceModel) -> int:
    """Times of packets have no sign: what begins before 0 moves all."""
    return min(model.range_ps[0] // 1000, 0)


def _packet(content: bytes) -> bytes:
    return length_delimited(_PACKET, _SEQUENCE + content)


def _text(field: int, text: str) -> bytes:
    return length_delimited(length_delimited_tag(field), text.encode("utf-8", "replace"))


def _number(field: int, value: int) -> bytes:
    return encode_varint(field << 3) + encode_varint(value)


def _interned(field: int, texts: Sequence[str], first: int = 0) -> bytes:
    """Texts that are told once, and by number from then on.

    Args:
        field: What they are: 2 names of events, 3 of annotations, 29 texts of annotations.
        texts: The texts.
        first: How many were told before; numbers count from 1.
    """
    tag = length_delimited_tag(field)
    told = b"".join(
        length_delimited(tag, _number(1, number) + _text(2, text))
        for number, text in enumerate(texts, first + 1)
    )
    return _packet(_NEEDED + length_delimited(_INTERNED, told))


class _Steps:
    """Numbers of the names of steps, which are told when a track first has them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def told(self, track: TraceTrack) -> bytes:
        """The packet with names that are new."""
        names = track.steps(np.zeros(0, np.int64)).texts
        new = [name for name in dict.fromkeys(names) if name not in self._numbers]
        first = len(self._numbers)
        self._numbers.update((name, number) for number, name in enumerate(new, first + 1))
        return _interned(29, new, first) if new else b""

    def of(self, track: TraceTrack, places: Int64Array) -> Int64Array:
        """The number of the step of each slice, 0 for none."""
        found = track.steps(places)
        numbers = np.array([*(self._numbers[name] for name in found.texts), 0], np.int64)
        return numbers[found.places]  # -1 is the last one


def _described(content: bytes) -> bytes:
    return _packet(length_delimited(_DESCRIPTOR, content))


def _processes(names: Sequence[str]) -> Iterator[bytes]:
    tag = length_delimited_tag(3)
    for uuid, name in enumerate(names, 1):
        process = length_delimited(tag, _number(1, uuid) + _text(6, name))
        order = _number(11, _EXPLICIT_ORDER) + _number(12, uuid)
        yield _described(_number(1, uuid) + _text(2, name) + process + order)


def _track(uuid: int, track: TraceTrack, rank: int) -> bytes:
    """What a track is called; parts of one track are drawn as one, equal names are not."""
    place = _number(5, track.process + 1) + _number(12, rank)
    merged = _number(15, _MERGED_BY_KEY) + _number(17, rank + 1)
    return _described(_number(1, uuid) + _text(2, track.name) + place + merged)


def _counter(uuid: int, counter: Counter, name: str, unit: str) -> bytes:
    known = _UNITS.get(unit)
    told = _number(3, known) if known else _text(6, unit) if unit else b""
    shown = f"{counter.name}: {name}" if name else counter.name
    described = _text(2, shown) + _number(5, counter.process + 1)
    return _described(
        _number(1, uuid) + described + length_delimited(length_delimited_tag(8), told)
    )


class _FlowEnds:
    """Arrows by the slices at their ends: each has a number that both know."""

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
        kinds = np.where(is_end, _END, np.where(durations[own] > 0, _BEGIN, _INSTANT))
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
        once = np.ones(len(own), np.int64)
        yield event_packets(
            uuid, times_ns[first : first + _AT_ONCE], once * _COUNTER, once * 0, once * 0, once,
            np.ascontiguousarray(own, np.float64).view(np.int64), _DOUBLE_VALUE,
        )  # fmt: skip


def event_packets(
    uuid: int,
    times_ns: Int64Array,
    kinds: Int64Array,
    names: Int64Array,
    steps: Int64Array,
    n_fixed: Int64Array,
    fixed: Int64Array,
    fixed_tag: bytes = _FLOW,
) -> bytes:
    """Packets of a track, one for each event.

    Args:
        uuid: The track.
        times_ns: Not below 0, shape (n,).
        kinds: Types of the events, below 128, shape (n,).
        names: Numbers of interned names, 0 for none, shape (n,).
        steps: Numbers of interned steps, 0 for none, shape (n,).
        n_fixed: How many fields of 64 bits each has, shape (n,).
        fixed: Their values, those of one event after those of another.
        fixed_tag: The tag of these fields.
    """
    n_events = len(times_ns)
    track = _TRACK + encode_varint(uuid)
    numbers, stamps = names.view(np.uint64), times_ns.view(np.uint64)
    name_sizes, time_sizes = varint_sizes(numbers), varint_sizes(stamps)
    width = len(fixed_tag) + 8
    name_bytes = np.where(names > 0, name_sizes + 1, 0)
    step_numbers = steps.view(np.uint64)
    step_sizes = varint_sizes(step_numbers)
    step_bytes = np.where(steps > 0, 2 + len(_STEP) + step_sizes, 0)
    inner = 2 + len(track) + name_bytes + step_bytes + width * n_fixed
    inner_sizes = varint_sizes(inner.view(np.uint64))
    outer = len(_SEQUENCE) + len(_NEEDED) + 1 + time_sizes + 1 + inner_sizes + inner
    outer_sizes = varint_sizes(outer.view(np.uint64))
    ends = np.cumsum(1 + outer_sizes + outer)
    data = np.empty(int(ends[-1]) if n_events else 0, np.uint8)
    at = ends - outer - outer_sizes - 1

    def put(content: bytes) -> None:
        nonlocal at
        for octet in content:
            data[at] = octet
            at = at + 1

    put(_PACKET)
    put_varints(data, at, outer.view(np.uint64), outer_sizes)
    at = at + outer_sizes
    put(_SEQUENCE + _NEEDED + _TIME)
    put_varints(data, at, stamps, time_sizes)
    at = at + time_sizes
    put(_EVENT)
    put_varints(data, at, inner.view(np.uint64), inner_sizes)
    at = at + inner_sizes
    put(_TYPE)
    data[at] = kinds
    at = at + 1
    put(track)
    named = np.flatnonzero(names > 0)
    data[at[named]] = _NAME[0]
    put_varints(data, at[named] + 1, numbers[named], name_sizes[named])
    at = at + name_bytes
    within = np.flatnonzero(steps > 0)
    if len(within):
        heads = at[within]
        data[heads] = _ANNOTATION[0]
        data[heads + 1] = len(_STEP) + step_sizes[within]
        for place, octet in enumerate(_STEP, 2):
            data[heads + place] = octet
        put_varints(data, heads + 2 + len(_STEP), step_numbers[within], step_sizes[within])
    at = at + step_bytes
    if len(fixed):
        rank = np.arange(len(fixed)) - np.repeat(np.cumsum(n_fixed) - n_fixed, n_fixed)
        heads = np.repeat(at, n_fixed) + rank * width
        for place, octet in enumerate(fixed_tag):
            data[heads + place] = octet
        columns = heads[:, None] + len(fixed_tag) + np.arange(8)
        data[columns] = np.ascontiguousarray(fixed, "<i8").view(np.uint8).reshape(-1, 8)
    return data.tobytes()
