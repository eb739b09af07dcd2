"""Columns with NumPy: all messages of a level are read together, without protobuf objects.

Fields of other wire types, messages to be merged, floating-point numbers and broken bytes raise
``IrregularError``; then protobuf reads the data.
"""

from __future__ import annotations

import numpy as np

from tfprof.core.wire.lockstep import (
    PADDING,
    BoolArray,
    Int64Array,
    IrregularError,
    Messages,
    Occurrences,
    read_fields,
)
from tfprof.core.wire.plan import Action, Kind, Plan, Wire
from tfprof.core.wire.scanned import Columns
from tfprof.core.wire.walk import (
    LENGTH_DELIMITED,
    MAX_HEAD_BYTES,
    MAX_VARINT_BYTES,
    MORE,
    VARINT,
    WireError,
    walk,
)

_LONG = 4096
"""Longer messages, which may have very many fields, are read one by one."""
_MOST_OF_BOTH = 6
"""Bytes of a tag and a size together; no writer makes longer ones, so protobuf reads them."""


def scan_numpy(plan: Plan, data: bytes) -> list[Columns]:
    """As ``tfprof.core.wire.scan.scan``.

    Raises:
        IrregularError: Protobuf has to read the data.
    """
    padded = data + PADDING
    whole = Messages(padded, np.zeros(1, np.int64), np.array([len(data)], np.int64))
    reader = _Reader(plan)
    reader.fill(0, whole, np.zeros(1, np.int64))
    return [
        Columns(padded, table.columns, slots)
        for table, slots in zip(plan.tables, reader.slots, strict=True)
    ]


class _Reader:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.slots = [
            [np.zeros(0, np.int64) for _ in range(table.n_slots)] for table in plan.tables
        ]

    def fill(self, table: int, messages: Messages, parents: Int64Array) -> None:
        """A row for each message."""
        n_rows = len(messages)
        others = [np.zeros(n_rows, np.int64) for _ in self.slots[table][1:]]
        self.slots[table] = [parents, *others]
        level = self._plan.tables[table].level
        self._fill_level(table, level, messages, np.arange(n_rows, dtype=np.int64))

    def _fill_level(self, table: int, level: int, messages: Messages, rows: Int64Array) -> None:
        actions = self._plan.levels[level]
        # Without wanted fields, the messages are still checked; no field has the number 0.
        fields = _fields_of(messages, tuple(actions) or (0,))
        for number, action in actions.items():
            chosen = np.flatnonzero(fields.number == number)
            if action.wire in (Wire.BITS_64, Wire.BITS_32) and len(chosen):
                raise IrregularError
            is_number = action.wire is Wire.VARINT and action.kind is not Kind.VALUES
            if (fields.is_message[chosen] == is_number).any():
                raise IrregularError
            self._fill_action(table, action, fields, chosen, rows)
            if action.which >= 0:
                slots, places = self.slots[table], rows[fields.owner[chosen]]
                if slots[action.which][places].any() or _has_repeats(places):
                    raise IrregularError  # of a oneof, the last member counts
                slots[action.which][places] = number

    def _fill_action(
        self, table: int, action: Action, fields: Occurrences, places: Int64Array, rows: Int64Array
    ) -> None:
        slots, owner = self.slots[table], fields.owner[places]
        if action.kind in (Kind.ROWS, Kind.VALUES):
            parents = rows[owner]
            if (np.diff(parents) <= 0).any():
                places = places[np.lexsort((fields.start[places], parents))]
                parents = rows[fields.owner[places]]
            inner = fields.payloads(places)
            if action.kind is Kind.ROWS:
                self.fill(action.table, inner, parents)
            elif action.element is Kind.TEXT:
                self.slots[action.table] = [parents, inner.start, inner.end - inner.start]
            else:
                counts, values = _unpacked(inner)
                numbers = _numbers(action.element, values)
                self.slots[action.table] = [np.repeat(parents, counts), numbers]
        elif action.kind is Kind.MESSAGE:
            if _has_repeats(owner):
                raise IrregularError  # protobuf merges them
            if action.slot >= 0:
                slots[action.slot][rows[owner]] = 1
            self._fill_level(table, action.level, fields.payloads(places), rows[owner])
        elif action.kind is Kind.TEXT:
            slots[action.slot][rows[owner]] = fields.start[places]
            slots[action.slot + 1][rows[owner]] = fields.value[places]
        else:
            slots[action.slot][rows[owner]] = _numbers(action.element, fields.value[places])


def _unpacked(messages: Messages) -> tuple[Int64Array, Int64Array]:
    """Number of varints of each payload, shape (n,), and the varints of all of them."""
    sizes = messages.end - messages.start
    end = np.cumsum(sizes)
    start = end - sizes
    places = np.arange(sizes.sum()) + np.repeat(messages.start - start, sizes)
    byte = np.frombuffer(messages.data, np.uint8)[places]
    is_last = byte < MORE
    if not is_last[end[sizes > 0] - 1].all():
        raise IrregularError
    stops = np.flatnonzero(is_last) + 1
    first = np.concatenate([np.zeros(1, np.int64), stops])[:-1]
    shift = 7 * (np.arange(len(byte)) - np.repeat(first, stops - first))
    if (shift >= 7 * MAX_VARINT_BYTES).any():
        raise IrregularError
    bits = (byte & 0x7F).astype(np.uint64) << shift.astype(np.uint64)
    values = np.add.reduceat(bits, first) if len(first) else bits
    n_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_last)])
    return n_before[end] - n_before[start], values.view(np.int64)


def _has_repeats(owner: Int64Array) -> bool:
    return bool((np.bincount(owner) > 1).any())


def _numbers(kind: Kind, values: Int64Array) -> Int64Array:
    """Values of varints of some type."""
    bits = values.view(np.uint64)
    low_bits = bits & np.uint64(0xFFFFFFFF)
    numbers: Int64Array = values
    if kind is Kind.INT32:
        numbers = values.astype(np.int32).astype(np.int64)
    elif kind is Kind.UINT32:
        numbers = low_bits.view(np.int64)
    elif kind is Kind.BOOL:
        numbers = (values != 0).astype(np.int64)
    elif kind in (Kind.SINT64, Kind.SINT32):
        coded = low_bits if kind is Kind.SINT32 else bits
        numbers = (coded >> np.uint64(1)).view(np.int64) ^ -(coded & np.uint64(1)).view(np.int64)
    return numbers


def _fields_of(messages: Messages, wanted: tuple[int, ...]) -> Occurrences:
    """The wanted fields; long messages are read one by one."""
    is_long = messages.end - messages.start > _LONG
    if not is_long.any():
        return read_fields(messages, *wanted)
    parts = [_fields_of_long(messages, place, wanted) for place in np.flatnonzero(is_long).tolist()]
    short = np.flatnonzero(~is_long)
    if len(short):
        fields = read_fields(
            Messages(messages.data, messages.start[short], messages.end[short]), *wanted
        )
        parts.append(
            (short[fields.owner], fields.number, fields.is_message, fields.value, fields.start)
        )
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Occurrences(messages, *columns)


def _fields_of_long(
    messages: Messages, place: int, wanted: tuple[int, ...]
) -> tuple[Int64Array, Int64Array, BoolArray, Int64Array, Int64Array]:
    """Owner, number, form, value and start of the wanted fields of one message."""
    data = messages.data
    position, stop = int(messages.start[place]), int(messages.end[place])
    view = memoryview(data)
    tags = {number << 3 | LENGTH_DELIMITED: number for number in wanted if number < 16}
    numbers: list[int] = []
    values: list[int] = []
    starts: list[int] = []
    is_message: list[bool] = []
    try:
        while position < stop:
            number = tags.get(data[position])
            if number is not None and position + 3 <= stop:
                # What ``walk`` does, without a call for each of a hundred thousand elements.
                size, offset = data[position + 1], position + 2
                if size >= MORE:
                    second = data[offset]
                    size, offset = (size - MORE) | (second << 7), offset + 1
                    number = None if second >= MORE else number
                if number is not None and offset + size <= stop:
                    numbers.append(number)
                    values.append(size)
                    starts.append(offset)
                    is_message.append(True)
                    position = offset + size
                    continue
            field = next(walk(view, position, stop))
            if field.wire_type not in (VARINT, LENGTH_DELIMITED):
                raise IrregularError
            is_text = field.wire_type == LENGTH_DELIMITED
            if field.offset - field.tag_offset > (_MOST_OF_BOTH if is_text else MAX_HEAD_BYTES):
                raise IrregularError
            if field.number in wanted:
                numbers.append(field.number)
                values.append(field.value - (1 << 64) if field.value >> 63 else field.value)
                starts.append(field.offset)
                is_message.append(is_text)
            position = field.offset + field.value if is_text else _end(view, field.offset, stop)
    except WireError as error:
        raise IrregularError from error
    return (
        np.full(len(numbers), place, np.int64),
        np.array(numbers, np.int64),
        np.array(is_message, np.bool_),
        np.array(values, np.int64),
        np.array(starts, np.int64),
    )


def _end(view: memoryview, start: int, stop: int) -> int:
    """One past the last byte of a varint, which is known to be there."""
    while start < stop and view[start] >= MORE:
        start += 1
    return start + 1
