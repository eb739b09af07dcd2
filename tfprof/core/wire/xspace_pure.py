"""``native.xspace`` in Python; ordinary events are read with NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.core.wire.lockstep import PADDING, IrregularError, Messages, Occurrences, read_fields
from tfprof.core.wire.message_fields import (
    BrokenError,
    Field,
    message_fields,
    read_number,
    read_tag,
    read_value,
)
from tfprof.core.wire.plan import Wire
from tfprof.core.wire.walk import MAX_HEAD_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tfprof.core.wire.lockstep import BoolArray, Int64Array

HEADER = 8
_UNKNOWN = -1
ALL_OFFSETS, MISFIT, CHANGED = 1, 2, 4

_OFFSET = 2
_EVENT = _STAT = 4 << 3 | Wire.LENGTH
_TEXTS = {2 << 3 | Wire.LENGTH: 4, 11 << 3 | Wire.LENGTH: 6}
"""Place in a line's header of each of its texts."""

_STAT_VALUES = (3 << 3, 4 << 3, 7 << 3, 5 << 3 | Wire.LENGTH, 6 << 3 | Wire.LENGTH)
_NUMBERS = {1 << 3: 0, 3 << 3: 1, 9 << 3: 2, 10 << 3: 3}


class _Member(NamedTuple):
    """Members of a oneof in the order of their messages' bytes: owner, number and value."""

    owner: Int64Array
    number: Int64Array
    value: Int64Array
    is_text: BoolArray


def elements(data: memoryview, start: int, stop: int) -> tuple[bytes, int]:
    """The fields of a message, of any length; one that is cut off is the last."""
    bounds: list[int] = []
    at = start
    try:
        while at < stop:
            tag, value = read_tag(data, at, stop)
            if tag & 7 == Wire.LENGTH:
                size, value = read_number(data, value, stop)
                after = min(value + size, stop)
                bounds += tag >> 3, at, value, after
                if size > stop - value:
                    break
            else:
                after, _ = read_value(data, value, stop, tag)
                bounds += tag >> 3, at, value, after
            at = after
    except BrokenError:
        pass
    return np.array(bounds, np.int64).tobytes(), at


def split(
    data: memoryview,
    starts: Int64Array,
    stops: Int64Array,
    most: int,
    headers: Int64Array,
    ends: Int64Array,
    chunks: Int64Array,
) -> int:
    """Cut the events of lines into chunks; a short line is one chunk with its other fields."""
    n_chunks = 0
    for line, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        if 0 < stop - start <= most:
            chunks[3 * n_chunks : 3 * n_chunks + 3] = line, start, stop
            n_chunks += 1
            ends[line] = _UNKNOWN
            continue
        header = _header(headers, line)
        first, at = -1, start
        try:
            for field in message_fields(data, start, stop):
                if field.tag == _EVENT:
                    first = field.start if first < 0 else first
                else:
                    _note(header, field)
                at = field.stop
                if first >= 0 and at - first >= most:
                    chunks[3 * n_chunks : 3 * n_chunks + 3] = line, first, at
                    n_chunks, first = n_chunks + 1, -1
        except BrokenError:
            pass
        if first >= 0:
            chunks[3 * n_chunks : 3 * n_chunks + 3] = line, first, at
            n_chunks += 1
        ends[line] = at
    return n_chunks


def _header(headers: Int64Array, line: int) -> Int64Array:
    return headers[line * HEADER : (line + 1) * HEADER]


def _note(header: Int64Array, field: Field) -> None:
    """Put a field of a line that is not an event into its header."""
    if field.tag in _TEXTS:
        place = _TEXTS[field.tag]
        header[place : place + 2] = field.value, field.stop - field.value
    elif field.tag in _NUMBERS:
        header[_NUMBERS[field.tag]] = field.number


def count(
    data: memoryview,
    chunks: Int64Array,
    first: int,
    last: int,
    headers: Int64Array,
    ends: Int64Array,
    n_events: Int64Array,
    n_stats: Int64Array,
) -> tuple[int, int, int]:
    """Count the events and stats of the chunks ``first`` to ``last``; read short lines' headers."""
    flags, n_broken, broken = ALL_OFFSETS, 0, -1
    for chunk in range(first, last):
        line, start, stop = chunks[3 * chunk : 3 * chunk + 3].tolist()
        is_whole = ends[line] == _UNKNOWN
        at = start
        try:
            for field in message_fields(data, start, stop):
                at = field.stop
                if field.tag != _EVENT:
                    if is_whole:
                        _note(_header(headers, line), field)
                    continue
                n_found, has_offset = _count_stats(data, field)
                if n_found < 0:
                    n_broken += 1
                    broken = field.start if broken < 0 else broken
                    continue
                n_events[chunk] += 1
                n_stats[chunk] += n_found
                if not has_offset:
                    flags = 0
        except BrokenError:
            pass
        if is_whole:
            ends[line] = at
    return flags, n_broken, broken


def _count_stats(data: memoryview, event: Field) -> tuple[int, bool]:
    """How many stats an event has, -1 if it is broken, and whether it has an offset."""
    n_stats, member = 0, 0
    try:
        for field in message_fields(data, event.value, event.stop):
            n_stats += field.tag == _STAT
            if field.tag in (2 << 3, 5 << 3):
                member = field.tag >> 3
    except BrokenError:
        return -1, False
    return n_stats, member == _OFFSET


def read(
    data: memoryview,
    chunks: Int64Array,
    first: int,
    last: int,
    events_before: Int64Array,
    stats_before: Int64Array,
    metadata_ids: NDArray[np.uint8],
    values: Int64Array,
    which: NDArray[np.uint8],
    durations: Int64Array,
    first_stats: NDArray[np.uint8],
    stat_ids: NDArray[np.uint8],
    stat_kinds: NDArray[np.uint8],
    stat_values: Int64Array,
) -> tuple[int, int, int]:
    """Write the rows of the chunks ``first`` to ``last``."""
    flags, n_broken, broken = 0, 0, -1
    for chunk in range(first, last):
        rows = slice(events_before[chunk], events_before[chunk + 1])
        of_stats = slice(stats_before[chunk], stats_before[chunk + 1])
        events, stats, places = _rows(data, chunks, chunk, int(of_stats.start))
        if places and broken < 0:
            broken = places[0]
        n_broken += len(places)
        if len(events) != rows.stop - rows.start or len(stats) != of_stats.stop - of_stats.start:
            flags |= CHANGED
            continue
        values[rows], durations[rows] = events[:, 1], events[:, 3]
        if len(which):
            which[rows] = events[:, 2]
        elif (events[:, 2] != _OFFSET).any():
            flags |= CHANGED
        stat_kinds[of_stats], stat_values[of_stats] = stats[:, 1], stats[:, 2]
        misfits = [
            _put(metadata_ids, len(values), rows, events[:, 0]),
            _put(first_stats, len(values), rows, events[:, 4]),
            _put(stat_ids, len(stat_values), of_stats, stats[:, 0]),
        ]
        flags |= MISFIT * any(misfits)
    return flags, n_broken, broken


def _put(column: NDArray[np.uint8], n_rows: int, rows: slice, places: Int64Array) -> bool:
    """Write integers of some width; returns whether some do not fit."""
    if not n_rows:
        return False
    typed = column.view(f"i{len(column) // n_rows}")
    typed[rows] = places.astype(typed.dtype)
    return bool((typed[rows] != places).any())


_FEWEST_AT_ONCE = 16
"""Fewer events are read one by one: columns of some rows cost more than a loop over them."""


def _rows(
    data: memoryview, chunks: Int64Array, chunk: int, first_stat: int
) -> tuple[Int64Array, Int64Array, list[int]]:
    """Five numbers for each event of a chunk, three for each stat, and where broken ones are."""
    events = list(_events(data, chunks, chunk))
    if len(events) >= _FEWEST_AT_ONCE:
        try:
            return *_ordinary_rows(data, events, first_stat), []
        except IrregularError:
            pass
    event_rows: list[tuple[int, ...]] = []
    stat_rows: list[tuple[int, int, int]] = []
    broken: list[int] = []
    for event in events:
        numbers = {0: 0, 1: 0, 2: 0, 3: 0, 4: first_stat + len(stat_rows)}
        stats: list[tuple[int, int, int]] = []
        places: list[int] = []
        try:
            for field in message_fields(data, event.value, event.stop):
                if field.tag == _STAT:
                    stat = _stat(data, field.value, field.stop)
                    stats.append((0, 0, 0) if stat is None else stat)
                    if stat is None:
                        places.append(field.value)
                elif field.tag == 1 << 3:
                    numbers[0] = field.number
                elif field.tag == 3 << 3:
                    numbers[3] = field.number
                elif field.tag in (2 << 3, 5 << 3):
                    numbers[1], numbers[2] = field.number, field.tag >> 3
        except BrokenError:
            continue
        broken += places
        stat_rows += stats
        event_rows.append(tuple(numbers.values()))
    return (
        np.array(event_rows, np.int64).reshape(-1, 5),
        np.array(stat_rows, np.int64).reshape(-1, 3),
        broken,
    )


def _stat(data: memoryview, start: int, stop: int) -> tuple[int, int, int] | None:
    """Name, kind and value of a stat; None if it is broken."""
    metadata_id = kind = value = 0
    try:
        for field in message_fields(data, start, stop):
            number = field.tag >> 3
            if field.tag == 1 << 3:
                metadata_id = field.number
            elif field.tag == (2 << 3 | Wire.BITS_64):
                content = int.from_bytes(data[field.value : field.stop], "little", signed=True)
                kind, value = number, content
            elif field.tag in _STAT_VALUES:
                kind, value = number, field.number
    except BrokenError:
        return None
    return metadata_id, kind, value


def _ordinary_rows(
    data: memoryview, events: list[Field], first_stat: int
) -> tuple[Int64Array, Int64Array]:
    """The rows of events that NumPy can read.

    Raises:
        IrregularError: Some have floating-point numbers or unusual fields.
    """
    if not events:
        return np.zeros((0, 5), np.int64), np.zeros((0, 3), np.int64)
    base = events[0].start
    content = bytes(data[base : events[-1].stop]) + PADDING
    start = np.array([event.value for event in events], np.int64) - base
    stop = np.array([event.stop for event in events], np.int64) - base
    fields = read_fields(Messages(content, start, stop), 1, 2, 3, 4, 5)
    rows = np.zeros((len(events), 5), np.int64)
    _columns(fields, rows, {1: 0, 3: 3})
    member = _oneof(fields, (2, 5), ())
    rows[member.owner, 1], rows[member.owner, 2] = member.value, member.number
    places = fields.places_of(4, is_message=True)
    owner = fields.owner[places]
    order = np.lexsort((fields.start[places], owner))
    places, owner = places[order], owner[order]
    rows[:, 4] = first_stat + np.searchsorted(owner, np.arange(len(events)))
    stats = np.zeros((len(places), 3), np.int64)
    if len(places):
        inner = read_fields(fields.payloads(places), 1, 2, 3, 4, 5, 6, 7)
        if (inner.number == 2).any():
            raise IrregularError
        _columns(inner, stats, {1: 0})
        member = _oneof(inner, (3, 4, 5, 6, 7), (5, 6))
        stats[member.owner, 1] = member.number
        stats[member.owner, 2] = member.value + np.where(member.is_text, base, 0)
    return rows, stats


def _columns(fields: Occurrences, rows: Int64Array, numbers: dict[int, int]) -> None:
    """Write varints into the columns of their messages; the last of each counts."""
    for number, column in numbers.items():
        places = fields.places_of(number, is_message=False)
        rows[fields.owner[places], column] = fields.value[places]


def _oneof(fields: Occurrences, members: tuple[int, ...], texts: tuple[int, ...]) -> _Member:
    """The member of a oneof in each message; the last one counts."""
    places = np.flatnonzero(np.isin(fields.number, members))
    number, is_text = fields.number[places], fields.is_message[places]
    if (is_text != np.isin(number, texts)).any():
        raise IrregularError
    value = fields.value[places]
    start = fields.start[places[is_text]]
    value[is_text] = prefix_places(fields.messages.data, start, value[is_text])
    return _Member(fields.owner[places], number, value, is_text)


def prefix_places(data: bytes | memoryview, start: Int64Array, length: Int64Array) -> Int64Array:
    """Places of the lengths of texts, right before the texts.

    Args:
        data: Holds the texts.
        start: First byte of each, shape (n,).
        length: In bytes, shape (n,).
    """
    octets = np.frombuffer(data, np.uint8)
    places = np.full(len(start), -1, np.int64)
    for size in range(1, MAX_HEAD_BYTES + 1):
        left = np.flatnonzero((places < 0) & (start >= size))
        decoded = np.zeros(len(left), np.int64)
        for offset in range(size):
            octet = octets[start[left] - size + offset].astype(np.int64)
            decoded |= (octet & 0x7F) << 7 * offset
            decoded[(octet >= 0x80) != (offset < size - 1)] = -1
        fits = left[decoded == length[left]]
        places[fits] = start[fits] - size
    return places


def _events(data: memoryview, chunks: Int64Array, chunk: int) -> Iterator[Field]:
    start, stop = int(chunks[3 * chunk + 1]), int(chunks[3 * chunk + 2])
    try:
        yield from (field for field in message_fields(data, start, stop) if field.tag == _EVENT)
    except BrokenError:
        return
