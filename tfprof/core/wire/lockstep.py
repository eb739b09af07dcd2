"""Read many small messages of one type at once, with NumPy.

Each step reads the next field of every message, so the number of NumPy calls depends on the fields
of a message, not on the number of messages. For thousands of node stats this is several times
faster than protobuf objects.

Only varint and length-delimited fields are read. Anything else raises ``IrregularError``, and the
caller reads the messages with protobuf instead, which also explains errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfprof.core.wire.walk import LENGTH_DELIMITED, MAX_FIELD_NUMBER, MAX_HEAD_BYTES, VARINT

BoolArray = npt.NDArray[np.bool_]
Int64Array = npt.NDArray[np.int64]
WordArray = npt.NDArray[np.uint64]

PADDING = bytes(16)
"""After the last message, so that eight bytes can be read at any place in it."""

_ONE = np.uint64(1)
_BYTE = np.uint64(0xFF)
_CONTINUES = np.uint64(0x80)
_ALL_CONTINUE = np.uint64(0x8080808080808080)
_ONES = np.uint64(0x0101010101010101)
_LOW_7, _HIGH_7 = np.uint64(0x007F007F007F007F), np.uint64(0x3F803F803F803F80)
_LOW_14, _HIGH_14 = np.uint64(0x00003FFF00003FFF), np.uint64(0x0FFFC0000FFFC000)
_LOW_28, _HIGH_28 = np.uint64(0x000000000FFFFFFF), np.uint64(0x00FFFFFFF0000000)

_MAX_FIELDS = 1000
"""Fields of one message; beyond, NumPy's cost per step would dominate."""


class IrregularError(Exception):
    """Protobuf has to read the messages."""


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages in one buffer.

    Attributes:
        data: The buffer, with ``PADDING`` or more bytes after the last message.
        start: First byte of each message, shape (n,).
        end: One past the last byte of each message, shape (n,).
    """

    data: bytes
    start: Int64Array
    end: Int64Array

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Fields found in messages; those of one message are in the order of its bytes.

    Attributes:
        messages: What was read.
        owner: Index of the message, shape (m,).
        number: Field number.
        is_message: Length-delimited (else a varint).
        value: The varint as int64, or the length of the payload.
        start: First byte of the payload; for a varint, the byte after it.
    """

    messages: Messages
    owner: Int64Array
    number: Int64Array
    is_message: BoolArray
    value: Int64Array
    start: Int64Array

    def payloads(self, places: Int64Array) -> Messages:
        """The payloads of length-delimited fields at some places."""
        start = self.start[places]
        return Messages(self.messages.data, start, start + self.value[places])

    def places_of(self, number: int, *, is_message: bool) -> Int64Array:
        """Places of the fields of a number.

        Raises:
            IrregularError: Some are of the other wire type.
        """
        places = np.flatnonzero(self.number == number)
        if (self.is_message[places] != is_message).any():
            raise IrregularError
        return places

    def last_payload(self, number: int) -> tuple[Int64Array, Int64Array]:
        """Bounds of a string field of each message, empty where it is absent."""
        places = self.places_of(number, is_message=True)
        start = np.zeros(len(self.messages), np.int64)
        length = np.zeros(len(self.messages), np.int64)
        start[self.owner[places]] = self.start[places]
        length[self.owner[places]] = self.value[places]
        return start, start + length


def read_fields(messages: Messages, *wanted: int) -> Occurrences:
    """The wanted fields of all messages.

    Args:
        messages: The messages.
        wanted: Field numbers; the other fields are checked, but left out.

    Raises:
        IrregularError: A field of another wire type, a message of very many fields, or bytes
            that end before they should.
    """
    # The eight bytes from each byte of the buffer on, as a little-endian number.
    words: WordArray = np.ndarray(
        (len(messages.data) - 7,), np.dtype("<u8"), messages.data, strides=(1,)
    )
    owner = np.flatnonzero(messages.start < messages.end)
    position, end = messages.start[owner], messages.end[owner]
    is_wanted = np.zeros(max(wanted) + 2, np.bool_)
    is_wanted[list(wanted)] = True
    rounds: list[tuple[Int64Array, ...]] = []
    for _ in range(_MAX_FIELDS):
        if not len(owner):
            break
        tag, position = _read_varints(words, position, end, MAX_HEAD_BYTES)
        number, kind = tag >> 3, tag & 7
        is_message = kind == LENGTH_DELIMITED
        if not (is_message | (kind == VARINT)).all():
            raise IrregularError
        if number.min() < 1 or number.max() > MAX_FIELD_NUMBER:
            raise IrregularError
        after_tag = position
        value, position = _read_varints(words, position, end)
        if (is_message & (position - after_tag > MAX_HEAD_BYTES)).any():
            raise IrregularError
        chosen = is_wanted[np.minimum(number, len(is_wanted) - 1)]
        if chosen.all():
            rounds.append((owner, number, is_message, value, position))
        elif chosen.any():
            step = (owner, number, is_message, value, position)
            rounds.append(tuple(column[chosen] for column in step))
        payload = np.where(is_message, value, 0)
        if (payload < 0).any() or (payload > end - position).any():
            raise IrregularError
        position = position + payload
        more = position < end
        if not more.all():
            owner, position, end = owner[more], position[more], end[more]
    if len(owner):
        raise IrregularError
    if not rounds:
        none = np.zeros(0, np.int64)
        return Occurrences(messages, none, none, none.astype(np.bool_), none, none)
    columns = [np.concatenate(column) for column in zip(*rounds, strict=True)]
    return Occurrences(messages, *columns)


def _read_varints(
    words: WordArray, position: Int64Array, end: Int64Array, most: int = 10
) -> tuple[Int64Array, Int64Array]:
    """One varint of at most so many bytes at each position, and the positions after them.

    Eight bytes are taken at a time: the lowest byte without the continuation bit ends the
    number, and three shifts close the gaps that the continuation bits leave.
    """
    if (position >= end).any():
        raise IrregularError
    word = words[position]
    if not (word & _CONTINUES).any():  # all of one byte: nearly every tag
        return (word & _BYTE).view(np.int64), position + 1
    stops = ~word & _ALL_CONTINUE
    stop = stops & (~stops + _ONE)
    taken = (stop << _ONE) - _ONE
    bits = word & taken & ~_ALL_CONTINUE
    bits = (bits & _LOW_7) | (bits >> _ONE & _HIGH_7)
    bits = (bits & _LOW_14) | (bits >> np.uint64(2) & _HIGH_14)
    bits = (bits & _LOW_28) | (bits >> np.uint64(4) & _HIGH_28)
    size = ((taken & _ONES) * _ONES >> np.uint64(56)).view(np.int64)
    if most < 8 and (size > most).any():
        raise IrregularError
    position = position + size
    longer = np.flatnonzero(stops == 0)
    for place in (8, 9):
        if not len(longer):
            break
        byte = words[position[longer]] & _BYTE
        bits[longer] |= (byte & np.uint64(0x7F)) << np.uint64(7 * place)
        position[longer] += 1
        longer = longer[byte >= _CONTINUES]
    if len(longer) or (position > end).any():
        raise IrregularError
    return bits.view(np.int64), position
