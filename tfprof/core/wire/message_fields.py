"""Fields of a message, in order, as far as they can be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfprof.core.wire.plan import Wire
from tfprof.core.wire.walk import MAX_HEAD_BYTES, WireError, read_varint

_START_GROUP, _END_GROUP = 3, 4
_MAX_GROUPS = 100
_MAX_SIZE = 1 << 31


class BrokenError(Exception):
    """The bytes are not a valid field from here on."""


class Field(NamedTuple):
    """A field: its tag, where the field and its value start, where it stops, and a number.

    The number is the value of a varint, and the place of the length of a length-delimited field.
    """

    tag: int
    start: int
    value: int
    stop: int
    number: int


def message_fields(data: memoryview, start: int, stop: int) -> Iterator[Field]:
    """The fields of one message.

    Raises:
        BrokenError: After the last one that can be read.
    """
    at = start
    while at < stop:
        tag, value = read_tag(data, at, stop)
        after, number = read_value(data, value, stop, tag)
        if tag & 7 == Wire.LENGTH:  # the number is the place of its length
            yield Field(tag, at, after - number, after, value)
        else:
            yield Field(tag, at, value, after, number)
        at = after


def read_value(data: memoryview, at: int, stop: int, tag: int) -> tuple[int, int]:
    """The place after a value, and the value as int64, or its length."""
    wire = tag & 7
    if wire == Wire.VARINT:
        number, at = read_number(data, at, stop)
        return at, number - (1 << 64) if number >> 63 else number
    if wire == Wire.LENGTH:
        size, after = read_number(data, at, stop)
        if after - at > MAX_HEAD_BYTES or size >= _MAX_SIZE or size > stop - after:
            raise BrokenError
        return after + size, size
    if wire == _START_GROUP:
        return _after_group(data, at, stop, tag >> 3), 0
    width = {Wire.BITS_64: 8, Wire.BITS_32: 4}.get(Wire(wire)) if wire in (1, 5) else None
    if width is None or width > stop - at:
        raise BrokenError
    return at + width, 0


def _after_group(data: memoryview, at: int, stop: int, number: int) -> int:
    open_groups = [number]
    while at < stop:
        tag, at = read_tag(data, at, stop)
        if tag & 7 == _START_GROUP:
            open_groups.append(tag >> 3)
            if len(open_groups) > _MAX_GROUPS:
                raise BrokenError
        elif tag & 7 == _END_GROUP:
            if open_groups.pop() != tag >> 3:
                raise BrokenError
            if not open_groups:
                return at
        else:
            at, _ = read_value(data, at, stop, tag)
    raise BrokenError


def read_tag(data: memoryview, at: int, stop: int) -> tuple[int, int]:
    """A tag, and the place after it."""
    tag, after = read_number(data, at, stop)
    if after - at > MAX_HEAD_BYTES or tag >> 32 or not tag >> 3:
        raise BrokenError
    return tag, after


def read_number(data: memoryview, at: int, stop: int) -> tuple[int, int]:
    """An unsigned number, and the place after it."""
    try:
        return read_varint(data, at, stop)
    except WireError as error:
        raise BrokenError from error
