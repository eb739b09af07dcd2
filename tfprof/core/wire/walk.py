"""Walk the fields of one serialized protobuf message without decoding it.

Bounds are checked before every read and nothing recurses, so hostile bytes can only raise
:class:`WireError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol, overload

from tfprof.errors import MalformedProfileError

VARINT: Final = 0
FIXED64: Final = 1
LENGTH_DELIMITED: Final = 2
START_GROUP: Final = 3
END_GROUP: Final = 4
FIXED32: Final = 5

MAX_FIELD_NUMBER: Final = (1 << 29) - 1
MAX_VARINT_BYTES: Final = 10
MAX_HEAD_BYTES: Final = 5
"""Bytes of a tag, and of a length, that protobuf reads."""
MORE: Final = 0x80
"""Bit of a varint's byte: another byte follows."""


class BytesView(Protocol):
    """Bytes to look at: a ``memoryview``, or a file that is read in parts."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, place: int, /) -> int: ...
    @overload
    def __getitem__(self, place: slice, /) -> bytes | memoryview: ...


class Field(NamedTuple):
    """One field as it stands on the wire.

    Attributes:
        number: Field number, 1 to 2**29 - 1.
        wire_type: One of this module's wire type constants. Group marks are passed on as
            fields without a value.
        tag_offset: Where the field starts.
        offset: Where its value starts.
        value: Length in bytes of a length-delimited field, else the raw unsigned number.
    """

    number: int
    wire_type: int
    tag_offset: int
    offset: int
    value: int


class WireError(MalformedProfileError):
    """The bytes stop being protobuf.

    Attributes:
        problem: What is wrong, without the place.
        offset: Byte at which the broken tag, number or length starts.
        field: The field whose payload runs over the end, so that the caller can look inside.
        cut_off: True if more bytes could have made it right.
    """

    def __init__(
        self, problem: str, offset: int, field: Field | None = None, *, cut_off: bool = False
    ) -> None:
        super().__init__(
            f"malformed protobuf data: {problem} at byte {offset}; "
            "the file is damaged or incomplete, copy or record it again"
        )
        self.problem = problem
        self.offset = offset
        self.field = field
        self.cut_off = cut_off


def walk(data: BytesView, start: int = 0, stop: int | None = None) -> Iterator[Field]:
    """Yield the fields of the message in ``data[start:stop]``, in order, not their inside.

    Args:
        data: A contiguous view of bytes (format ``B``), or the parts of a file.
        start: First byte of the message.
        stop: Byte after the message; by default the end of ``data``.

    Yields:
        A :class:`Field` with offsets that count from the start of ``data``.

    Raises:
        WireError: A tag, number or payload runs over ``stop``, or cannot be protobuf.
    """
    end = len(data) if stop is None else stop
    position = start
    while position < end:
        tag_offset = position
        tag, position = read_varint(data, position, end)
        number, wire_type = tag >> 3, tag & 7
        if not 1 <= number <= MAX_FIELD_NUMBER:
            raise WireError(f"impossible field number {number}", tag_offset)
        if wire_type == VARINT:
            offset = position
            value, position = read_varint(data, position, end)
        elif wire_type == LENGTH_DELIMITED:
            value, offset = read_varint(data, position, end)
            if value > end - offset:
                field = Field(number, wire_type, tag_offset, offset, value)
                problem = f"field {number} should hold {value} bytes but {end - offset} are left"
                raise WireError(problem, tag_offset, field, cut_off=True)
            position = offset + value
        elif wire_type in (FIXED64, FIXED32):
            offset, position = position, position + (8 if wire_type == FIXED64 else 4)
            if position > end:
                raise WireError(f"field {number} is cut off", tag_offset, cut_off=True)
            value = int.from_bytes(data[offset:position], "little")
        elif wire_type in (START_GROUP, END_GROUP):
            offset, value = position, 0
        else:
            raise WireError(f"field {number} has impossible wire type {wire_type}", tag_offset)
        yield Field(number, wire_type, tag_offset, offset, value)


def read_varint(data: BytesView, position: int, end: int) -> tuple[int, int]:
    """The number that starts at ``position``, modulo 2**64, and the position after it.

    Raises:
        WireError: It runs over ``end`` or takes more than ten bytes.
    """
    value = 0
    for shift in range(MAX_VARINT_BYTES):
        at = position + shift
        if at >= end:
            raise WireError("a number is cut off", position, cut_off=True)
        byte = data[at]
        value |= (byte & 0x7F) << (7 * shift)
        if byte < MORE:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at + 1
    raise WireError("a number takes more than ten bytes", position)
