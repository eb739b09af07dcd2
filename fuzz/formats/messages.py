"""Messages with one hostile value: any text, number, submessage or list in them, at any depth.

Faults in bytes seldom leave a message that is still one. These do, so that what readers, views and
tools do with a value is reached: a text that is long or of another form than it should be, numbers
at their bounds, a submessage that is none, a list that is far longer than it should be.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from tfprof.core.wire import messages as pb
from tfprof.core.wire.pool import is_repeated

_STRING, _GROUP, _MESSAGE, _BYTES, _BOOL, _ENUM = 9, 10, 11, 12, 8, 14
_FLOATS = (1, 2)
_BOUNDS = {
    3: (-(2**63), -(2**31) - 1, -1, 0, 1, 2**31, 2**53 + 1, 2**62, 2**63 - 1),
    4: (0, 1, 2**31, 2**32, 2**63, 2**64 - 1),
    5: (-(2**31), -1, 0, 1, 2**31 - 1),
    13: (0, 1, 2**31, 2**32 - 1),
}
_BOUNDS |= {18: _BOUNDS[3], 16: _BOUNDS[3], 6: _BOUNDS[4], 17: _BOUNDS[5], 15: _BOUNDS[5]}
_BOUNDS |= {7: _BOUNDS[13], _BOOL: (False, True), _ENUM: (0, 1, 127, -1)}
_REALS = (0.0, -0.0, 1.0, -1.0, 1e308, 3e38, 1e-320, float("nan"), float("inf"), -float("inf"))

UNITS = (
    "a", "A", "1", "a1", "_", "_a", "/", "a/", "/a/b_1", ":", "a:", "::", " ", "\n", "\t", "-",
    "--", "+", ".", ",", ",1", "1,", "(", ")", "((", "[", "[1,", "[]", "{", "{}", "{{", "<", "</",
    "<a>", "=", " = ", "^", "$", "$a.py:1 f", "%", "%a.1 = ", "\\", "\\\\", '"', "'", "\0",
    "\x1b[31m", "é", "²", "٣", "\u202e", "\U0001f600", "\ufffd", "é/", "__inference_", "_forward_",
    "_1",
    "PartitionedCall/", "StatefulPartitionedCall_1/", "Iterator::", "::Prefetch", "[0]",
    "f32[", "f32[1,2]", "bf16[8]{0}", "replica_groups={", "{0,1},", "channel_id=", "channel_id=1",
    "Cijk_", "_MI16x16", "regs:", "grid:1,", "a->b", ",->", "1e999", "nan", "inf", "0x",
    "/device:GPU:", "/device:TPU:", "/job:a", "/task:1", "/gpu:0", "stream:", "memcpy",
    "MemcpyH2D", "edge_1_", "_arg_", "a = B(", "body/_1", "while/", "gradients/", "%3", "&lt;",
    "<br>", "#", "//",
)  # fmt: skip
"""What long texts repeat."""

SIZES = (0, 1, 3, 40, 300, 5000, 20_000)
"""Bytes of long texts, about; seldom also ``HUGE``."""

HUGE = 400_000


class Place(NamedTuple):
    """A field that is set in a message, on the way down from the root.

    Attributes:
        owner: The message.
        field: Its field.
        index: Which value of a repeated field; a key of a map; None of a single field.
        around: The place of the owner, None of the root.
    """

    owner: Any
    field: Any
    index: Any
    around: Place | None


def with_hostile_value(chance: random.Random, message: Any) -> bytes:
    """The bytes of a message in which one value, or a few, are hostile; it is changed itself."""
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        place = _some_place(chance, message)
        if place is not None:
            _spoil(chance, place)
    place = _some_place(chance, message)
    if place is None:
        return bytes(message.SerializePartialToString())
    kind = chance.random()
    if place.field.type == _MESSAGE and kind < 0.7:
        return _with_garbage(place, _garbage(chance))
    if kind < 0.15 and is_repeated(place.field) and not _is_map(place.field):
        _repeat(chance, place)
    else:
        _spoil(chance, place)
    return bytes(message.SerializePartialToString())


def with_odd_values(chance: random.Random, message: Any) -> bytes:
    """The bytes of a message in which some values are others; every submessage still is one."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        place = _some_place(chance, message)
        if place is not None:
            _spoil(chance, place)
    return bytes(message.SerializePartialToString())


def _some_place(chance: random.Random, message: Any) -> Place | None:
    """A place: first a field's kind, then one of it, so that what is rare comes up as often."""
    kinds: dict[str, list[Place]] = {}
    for place in _places(message, None, 0):
        kinds.setdefault(place.field.full_name, []).append(place)
    if not kinds:
        return None
    return chance.choice(kinds[chance.choice(sorted(kinds))])


_MOST_VALUES = 30
"""Of one field of one message that are looked at."""


def _places(message: Any, around: Place | None, depth: int) -> Iterator[Place]:
    for field, value in message.ListFields():
        keys: Any = [None]
        if _is_map(field):
            keys = sorted(value)[:_MOST_VALUES]
        elif is_repeated(field):
            keys = range(min(len(value), _MOST_VALUES))
        for key in keys:
            place = Place(message, field, key, around)
            yield place
            if _holds_messages(field) and depth < 12:
                yield from _places(_value(place), place, depth + 1)


def _is_map(field: Any) -> bool:
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)


def _holds_messages(field: Any) -> bool:
    if _is_map(field):
        field = field.message_type.fields_by_name["value"]
    return bool(field.type == _MESSAGE)


def _value(place: Place) -> Any:
    value = getattr(place.owner, place.field.name)
    return value if place.index is None else value[place.index]


def _spoil(chance: random.Random, place: Place) -> None:
    """Put a hostile value in the place; a submessage gets another field."""
    field = place.field
    if _is_map(field):
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        held = getattr(place.owner, field.name)
        if value.type == _MESSAGE:
            held[_odd(chance, key)].SetInParent()
            if chance.random() < 0.5:
                held[_odd(chance, key)].CopyFrom(held[place.index])
        else:
            held[chance.choice((place.index, _odd(chance, key)))] = _odd(chance, value)
    elif field.type == _MESSAGE:
        _set_another(chance, _value(place))
    elif place.index is None:
        setattr(place.owner, field.name, _odd(chance, field))
    else:
        getattr(place.owner, field.name)[place.index] = _odd(chance, field)


def _set_another(chance: random.Random, message: Any) -> None:
    """Any field of the message, whether it was set or not."""
    fields = [field for field in message.DESCRIPTOR.fields if field.type != _GROUP]
    if not fields:
        return
    field = chance.choice(fields)
    if _is_map(field):
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        held = getattr(message, field.name)
        if value.type == _MESSAGE:
            held[_odd(chance, key)].SetInParent()
        else:
            held[_odd(chance, key)] = _odd(chance, value)
    elif field.type == _MESSAGE:
        if is_repeated(field):
            getattr(message, field.name).add()
        else:
            getattr(message, field.name).SetInParent()
    elif is_repeated(field):
        getattr(message, field.name).append(_odd(chance, field))
    else:
        setattr(message, field.name, _odd(chance, field))


def _odd(chance: random.Random, field: Any) -> Any:
    if field.type == _STRING:
        return odd_text(chance)
    if field.type == _BYTES:
        return chance.choice((_garbage(chance), odd_text(chance).encode()))
    if field.type in _FLOATS:
        return chance.choice(_REALS if field.type == 1 else _REALS[:4] + _REALS[5:])
    if field.type == _ENUM:
        numbers = [value.number for value in field.enum_type.values]
        return chance.choice(numbers)
    return chance.choice(_BOUNDS[field.type])


def odd_text(chance: random.Random) -> str:
    """A text that is long, or of no form at all."""
    size = HUGE if chance.random() < 0.01 else chance.choice(SIZES)
    unit = "".join(chance.choices(UNITS, k=chance.choice((1, 1, 1, 2, 3))))
    text = (unit * (size // len(unit) + 1))[:size]
    return chance.choice(("", "", "", chance.choice(UNITS))) + text + chance.choice(("", "", "x"))


def _garbage(chance: random.Random) -> bytes:
    """Bytes that are seldom a message."""
    size = chance.choice((0, 1, 2, 5, 40, 1000))
    kind = chance.randrange(4)
    if kind == 0:
        return chance.randbytes(size)
    unit = chance.choice((b"\xff", b"\x0a\x00", b"\x0b", b"\x0b\x0c", b"\x08\x00", b"\x0a", b"\0"))
    return (unit * size)[:size] if kind == 1 else unit * size


def _with_garbage(place: Place, garbage: bytes) -> bytes:
    """The bytes of the root with other bytes in place of a submessage; it moves behind the rest."""
    content, at = garbage, place
    while True:
        held = getattr(at.owner, at.field.name)
        if _is_map(at.field):
            key = at.field.message_type.fields_by_name["key"]
            entry = pb.message_class(at.field.message_type.full_name)()
            setattr(entry, key.name, at.index)
            content = bytes(entry.SerializePartialToString()) + _field(2, content)
            del held[at.index]
        elif is_repeated(at.field):
            del held[at.index]
        else:
            at.owner.ClearField(at.field.name)
        content = bytes(at.owner.SerializePartialToString()) + _field(at.field.number, content)
        if at.around is None:
            return content
        at = at.around


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*octets, number])


_MOST_BYTES = 60_000
"""Of a list that was made long; seldom ``HUGE``."""


def _repeat(chance: random.Random, place: Place) -> None:
    """Many more values of the same kind: the same one, empty ones, or all different."""
    held = getattr(place.owner, place.field.name)
    most = HUGE if chance.random() < 0.02 else chance.choice((100, 3000, _MOST_BYTES))
    if place.field.type == _MESSAGE:
        pattern = _value(place) if chance.random() < 0.5 else type(_value(place))()
        copies = most // (pattern.ByteSize() + 2)
        held.extend([pattern] * min(copies, most // 2))
        return
    value = _value(place)
    size = len(value) + 2 if isinstance(value, (str, bytes)) else 2
    kind = chance.randrange(3)
    if place.field.type in _BOUNDS and place.field.type not in (_BOOL, _ENUM) and kind == 0:
        held.extend(range(most // 3))
    elif place.field.type == _STRING and kind == 0:
        held.extend(map(str, range(most // 7)))
    else:
        held.extend([value] * (most // size))
