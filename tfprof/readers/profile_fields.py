"""Fields of many small messages of a saved profile, whatever their number and wire types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from tfprof._wire.lockstep import IrregularError, Messages, Occurrences, read_fields
from tfprof._wire.walk import LENGTH_DELIMITED, VARINT, WireError, walk
from tfprof.model.columns import BoolArray, Int64Array
from tfprof.model.strings import StringTable

if TYPE_CHECKING:
    from google.protobuf.message import Message

    MessageT = TypeVar("MessageT", bound=Message)

_MAX_VARINT_BYTES = 10
_MORE = 0x80
_LONG = 4096
"""Bytes of a message beyond which it may have so many fields that it is read by itself."""


def fields_of(messages: Messages, *wanted: int) -> Occurrences:
    """As ``read_fields``, but messages may have any number of fields, also of other wire types.

    Raises:
        IrregularError: The bytes are broken, or a wanted field has an odd wire type.
    """
    is_long = messages.end - messages.start > _LONG
    if is_long.any():
        short, long = np.flatnonzero(~is_long), np.flatnonzero(is_long)
        parts = [
            (short, _read_together(select(messages, short), wanted)),
            (long, _read_one_by_one(select(messages, long), wanted)),
        ]
        owner = np.concatenate([places[part.owner] for places, part in parts])
        columns = [
            np.concatenate([getattr(part, column) for _, part in parts])
            for column in ("number", "is_message", "value", "start")
        ]
        return Occurrences(messages, owner, *columns)
    return _read_together(messages, wanted)


def select(messages: Messages, places: Int64Array) -> Messages:
    """The messages at some places, in their order."""
    return Messages(messages.data, messages.start[places], messages.end[places])


def _read_together(messages: Messages, wanted: tuple[int, ...]) -> Occurrences:
    try:
        return read_fields(messages, *wanted)
    except IrregularError:
        return _read_one_by_one(messages, wanted)


def _read_one_by_one(messages: Messages, wanted: tuple[int, ...]) -> Occurrences:
    view = memoryview(messages.data)
    found: list[tuple[int, int, int, int, int]] = []
    try:
        for owner, (start, end) in enumerate(
            zip(messages.start.tolist(), messages.end.tolist(), strict=True)
        ):
            for field in walk(view, start, end):
                if field.number not in wanted:
                    continue
                if field.wire_type not in (VARINT, LENGTH_DELIMITED):
                    raise IrregularError
                value = field.value - (1 << 64) if field.value >= 1 << 63 else field.value
                is_message = field.wire_type == LENGTH_DELIMITED
                found.append((owner, field.number, is_message, value, field.offset))
    except WireError as error:
        raise IrregularError from error
    columns = np.array(found, np.int64).reshape(-1, 5).T
    owner_of, number, is_message_of, values, starts = columns
    return Occurrences(messages, owner_of, number, is_message_of.astype(np.bool_), values, starts)


def map_entries(fields: Occurrences, number: int) -> tuple[Int64Array, Occurrences]:
    """The entries of a map field, those of a message in the order of its bytes."""
    owner, entries = fields.nested(number)
    order = np.lexsort((entries.start, owner))
    ordered = Messages(entries.data, entries.start[order], entries.end[order])
    return owner[order], fields_of(ordered, 1, 2)


def single_values(fields: Occurrences, number: int) -> Messages:
    """The message in a field of each message, empty where the field is absent.

    Raises:
        IrregularError: Some message has several, which protobuf would merge.
    """
    owner, _ = fields.nested(number)
    if (np.bincount(owner) > 1).any():
        raise IrregularError
    start, end = fields.last_payload(number)
    return Messages(fields.messages.data, start, end)


def repeated(fields: Occurrences, number: int) -> tuple[Int64Array, Messages]:
    """The elements of a repeated field, those of a message in the order of its bytes."""
    owner, elements = fields.nested(number)
    order = np.lexsort((elements.start, owner))
    return owner[order], Messages(elements.data, elements.start[order], elements.end[order])


def last(fields: Occurrences, number: int) -> Messages:
    """A text of each message, empty where it is absent."""
    return Messages(fields.messages.data, *fields.last_payload(number))


def payloads(messages: Messages) -> Iterator[bytes]:
    """The bytes of each message."""
    data = messages.data
    bounds = zip(messages.start.tolist(), messages.end.tolist(), strict=True)
    return (data[start:end] for start, end in bounds)


def decode(payload: bytes) -> str:
    """A text of a message.

    Raises:
        IrregularError: It is not UTF-8.
    """
    try:
        return payload.decode()
    except UnicodeDecodeError:
        raise IrregularError from None


def parsed(message_class: type[MessageT], payload: bytes) -> MessageT:
    """A message by way of protobuf.

    Raises:
        IrregularError: The bytes are broken.
    """
    try:
        return message_class.FromString(payload)
    except DecodeError:
        raise IrregularError from None


def number_payloads(messages: Messages) -> tuple[Int64Array, list[bytes]]:
    """Number equal messages alike, in order of first appearance.

    Returns:
        The number of each message, shape (n,), and the distinct messages by number.
    """
    numbers = _numbers()
    data = messages.data
    bounds = zip(messages.start.tolist(), messages.end.tolist(), strict=True)
    found = [numbers[data[start:end]] for start, end in bounds]
    return np.array(found, np.int64), list(numbers)


def number_rows(*columns: Int64Array) -> tuple[Int64Array, list[tuple[int, ...]]]:
    """The same for the rows of columns."""
    numbers = _numbers()
    rows = zip(*(column.tolist() for column in columns), strict=True)
    found = [numbers[row] for row in rows]
    return np.array(found, np.int64), list(numbers)


def _numbers() -> defaultdict[Any, int]:
    """A table that gives the next number to what it does not know."""
    numbers: defaultdict[Any, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def intern_payloads(messages: Messages, strings: StringTable) -> Int64Array:
    """Ids of texts, shape (n,).

    Raises:
        IrregularError: One is not UTF-8.
    """
    numbers, distinct = number_payloads(messages)
    ids = np.array([strings.intern(decode(payload)) for payload in distinct], np.int64)
    return ids[numbers]


def has_repeats(first: Int64Array, second: Int64Array) -> bool:
    """Whether some pair of numbers is there twice."""
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    return bool(((first[1:] == first[:-1]) & (second[1:] == second[:-1])).any())


def packed_numbers(payload: bytes) -> list[int]:
    """Numbers of a packed field.

    Raises:
        IrregularError: The bytes are broken.
    """
    numbers: list[int] = []
    number = shift = 0
    for byte in payload:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            number &= (1 << 64) - 1
            numbers.append(number - (1 << 64) if number >= 1 << 63 else number)
            number = shift = 0
        elif shift >= 70:
            raise IrregularError
    if shift:
        raise IrregularError
    return numbers


def first_two_numbers(messages: Messages) -> tuple[Int64Array, BoolArray]:
    """The first two numbers of packed payloads.

    Returns:
        The numbers, shape (2, n), and which payloads have as many, shape (n,).

    Raises:
        IrregularError: The bytes are broken.
    """
    data = np.frombuffer(messages.data, np.uint8)
    first, position = _varints_at(data, messages.start, messages.end)
    second, stop = _varints_at(data, position, messages.end)
    return np.stack([first, second]), stop > position


def _varints_at(
    data: npt.NDArray[np.uint8], position: Int64Array, end: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """A varint at each position that is before its end; and the positions behind them."""
    value = np.zeros(len(position), np.uint64)
    position = position.copy()
    active = np.flatnonzero(position < end)
    for place in range(_MAX_VARINT_BYTES):
        if (position[active] >= end[active]).any():
            raise IrregularError
        byte = data[position[active]]
        value[active] |= (byte & 0x7F).astype(np.uint64) << np.uint64(7 * place)
        position[active] += 1
        active = active[byte >= _MORE]
        if not len(active):
            return value.view(np.int64), position
    raise IrregularError
