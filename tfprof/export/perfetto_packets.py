"""The bytes of Perfetto's packets: single ones, and those of many events of a track at once.

Field numbers are those of ``protos/perfetto/trace/perfetto_trace.proto``.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.wire.varints import (
    encode_varint,
    length_delimited,
    length_delimited_tag,
    put_varints,
    varint_sizes,
)

_PACKET: Final = length_delimited_tag(1)
_TIME: Final = encode_varint(8 << 3)
_SEQUENCE: Final = encode_varint(10 << 3) + b"\x01"
_CLEARED: Final = encode_varint(13 << 3) + b"\x03"
_NEEDED: Final = encode_varint(13 << 3) + b"\x02"
_INTERNED: Final = length_delimited_tag(12)
_EVENT: Final = length_delimited_tag(11)
_TYPE, _NAME, _TRACK = (encode_varint(number << 3) for number in (9, 10, 11))

_STEP_TEXT: Final = b"\x08\x01" + encode_varint(17 << 3)
"""Fields of an annotation: the first name, and the tag of the number of its text."""

FLOW: Final = encode_varint(47 << 3 | 1)
DOUBLE_VALUE: Final = encode_varint(44 << 3 | 1)
EVENT_NAMES, ANNOTATION_NAMES, ANNOTATION_TEXTS = 2, 3, 29

_Numbers = np.ndarray[Any, np.dtype[np.uint64]]


class EventType(IntEnum):
    """Type of an event."""

    BEGIN = 1
    END = 2
    INSTANT = 3
    COUNTER = 4


def packet(field: int, content: bytes) -> bytes:
    """A packet with one message."""
    told = length_delimited(length_delimited_tag(field), content)
    return length_delimited(_PACKET, _SEQUENCE + told)


def first_packet() -> bytes:
    """The packet that starts a sequence and clears its interned texts."""
    return length_delimited(_PACKET, _SEQUENCE + _CLEARED)


def interned(field: int, texts: Sequence[str], first: int = 0) -> bytes:
    """Texts that are written once, and then referred to by number.

    Args:
        field: Their kind: ``EVENT_NAMES`` …
        texts: The texts.
        first: Number of earlier texts; numbers count from 1.
    """
    tag = length_delimited_tag(field)
    told = b"".join(
        length_delimited(tag, number_field(1, number) + text_field(2, text))
        for number, text in enumerate(texts, first + 1)
    )
    return length_delimited(_PACKET, _SEQUENCE + _NEEDED + length_delimited(_INTERNED, told))


def text_field(field: int, text: str) -> bytes:
    """A field with a text; characters that UTF-8 cannot hold become question marks."""
    return length_delimited(length_delimited_tag(field), text.encode("utf-8", "replace"))


def number_field(field: int, value: int) -> bytes:
    """A field with a number that is not below 0."""
    return encode_varint(field << 3) + encode_varint(value)


def event_packets(
    uuid: int,
    times_ns: Int64Array,
    kinds: Int64Array,
    names: Int64Array,
    steps: Int64Array,
    n_fixed: Int64Array,
    fixed: Int64Array,
    fixed_tag: bytes = FLOW,
) -> bytes:
    """Packets of a track, one for each event.

    Args:
        uuid: The track.
        times_ns: Not below 0, shape (n,).
        kinds: ``EventType`` of each, shape (n,).
        names: Numbers of interned names, 0 for none, shape (n,).
        steps: Numbers of interned steps, 0 for none, shape (n,).
        n_fixed: How many fields of 64 bits each has, shape (n,).
        fixed: Their values, event by event.
        fixed_tag: The tag of these fields.
    """
    track = _TRACK + encode_varint(uuid)
    name_sizes, step_sizes = (varint_sizes(_unsigned(each)) for each in (names, steps))
    time_sizes = varint_sizes(_unsigned(times_ns))
    name_bytes = np.where(names > 0, len(_NAME) + name_sizes, 0)
    step_bytes = np.where(steps > 0, 2 + len(_STEP_TEXT) + step_sizes, 0)
    inner = len(_TYPE) + 1 + len(track) + name_bytes + step_bytes
    inner += (len(fixed_tag) + 8) * n_fixed
    inner_sizes = varint_sizes(_unsigned(inner))
    head = len(_SEQUENCE + _NEEDED + _TIME) + time_sizes
    outer = head + len(_EVENT) + inner_sizes + inner
    outer_sizes = varint_sizes(_unsigned(outer))
    ends = np.cumsum(len(_PACKET) + outer_sizes + outer)
    into = _Packets(int(ends[-1]) if len(ends) else 0, ends - outer - outer_sizes - len(_PACKET))
    into.put(_PACKET)
    into.numbers(outer, outer_sizes)
    into.put(_SEQUENCE + _NEEDED + _TIME)
    into.numbers(times_ns, time_sizes)
    into.put(_EVENT)
    into.numbers(inner, inner_sizes)
    into.put(_TYPE)
    into.numbers(kinds, np.ones_like(kinds))
    into.put(track)
    into.some(names > 0, name_bytes, _NAME, names, name_sizes)
    annotation = length_delimited_tag(4)
    into.some(steps > 0, step_bytes, annotation + b"\0" + _STEP_TEXT, steps, step_sizes)
    within = np.flatnonzero(steps > 0)
    into.data[into.at[within] - step_bytes[within] + 1] = step_bytes[within] - 2
    into.fixed(n_fixed, fixed, fixed_tag)
    return into.data.tobytes()


def _unsigned(numbers: Int64Array) -> _Numbers:
    return numbers.view(np.uint64)


class _Packets:
    """Bytes of many packets, which are filled field by field, all of them at once.

    Attributes:
        data: The bytes.
        at: Where each packet is filled next, shape (n,).
    """

    def __init__(self, n_bytes: int, at: Int64Array) -> None:
        self.data = np.empty(n_bytes, np.uint8)
        self.at = at

    def put(self, content: bytes) -> None:
        """The same bytes in each."""
        for octet in content:
            self.data[self.at] = octet
            self.at = self.at + 1

    def numbers(self, values: Int64Array, sizes: Int64Array) -> None:
        """A varint in each."""
        put_varints(self.data, self.at, _unsigned(values), sizes)
        self.at = self.at + sizes

    def some(
        self,
        has: np.ndarray[Any, np.dtype[np.bool_]],
        n_bytes: Int64Array,
        head: bytes,
        values: Int64Array,
        sizes: Int64Array,
    ) -> None:
        """The same bytes and a varint in some, which take that many bytes there and 0 elsewhere."""
        rows = np.flatnonzero(has)
        at = self.at[rows]
        for place, octet in enumerate(head):
            self.data[at + place] = octet
        put_varints(self.data, at + len(head), _unsigned(values)[rows], sizes[rows])
        self.at = self.at + n_bytes

    def fixed(self, counts: Int64Array, values: Int64Array, tag: bytes) -> None:
        """Fields of 64 bits, some in each."""
        width = len(tag) + 8
        rank = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
        heads = np.repeat(self.at, counts) + rank * width
        for place, octet in enumerate(tag):
            self.data[heads + place] = octet
        columns = heads[:, None] + len(tag) + np.arange(8)
        self.data[columns] = np.ascontiguousarray(values, "<i8").view(np.uint8).reshape(-1, 8)
        self.at = self.at + counts * width
