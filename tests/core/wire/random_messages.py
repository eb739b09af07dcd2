"""Plans, messages and broken bytes at random, for tests and for ``fuzz/``.

Everything takes a ``random.Random``: hypothesis hands in its own, and shrinks what it draws.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from tests.core.wire import kinds
from tfprof.core.wire.plan import Plan, Wanted, WantedRows, number, oneof, present, rows, text
from tfprof.core.wire.pool import is_repeated, message_class, private_pool

MESSAGES = (
    kinds.ROOT,
    "tensorflow.AttrValue",
    "tensorflow.GraphDef",
    "tensorflow.MetaGraphDef",
    "tensorflow.NodeExecStats",
    "tensorflow.RunMetadata",
    "tensorflow.TensorProto",
    "tensorflow.profiler.XSpace",
    "tensorflow.tfprof.OpLogProto",
    "tensorflow.tfprof.ProfileNode",
    "tensorflow.tfprof.ProfileProto",
    "tensorflow.tfprof.pprof.Profile",
)
"""Roots of plans: every type of field, and what files have."""

_STRING, _MESSAGE, _BYTES, _BOOL, _ENUM = 9, 11, 12, 8, 14
_TEXTS = (_STRING, _MESSAGE, _BYTES)
_FLOATS = (1, 2)
_EDGES = (0, 1, 127, 128, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1)
_RANGES = {3: (-(2**63), 2**63 - 1), 4: (0, 2**64 - 1), 13: (0, 2**32 - 1), 7: (0, 2**32 - 1)}
_RANGES |= {6: _RANGES[4], 16: _RANGES[3], 18: _RANGES[3]}


def random_plan(chance: random.Random, root: str | None = None, depth: int = 4) -> Plan:
    """A plan for some of the fields of a message and of those in it."""
    root = chance.choice(MESSAGES) if root is None else root
    if root == kinds.ROOT:
        return kinds.plan_of(list(_entries(chance, kinds.DESCRIPTOR, depth)))
    descriptor = private_pool().FindMessageTypeByName(root)
    return Plan(root, list(_entries(chance, descriptor, depth)))


def _entries(
    chance: random.Random, descriptor: Any, depth: int, prefix: str = ""
) -> Iterator[Wanted | WantedRows]:
    left = {field.name: field for field in descriptor.fields}
    for each in descriptor.oneofs:
        if chance.random() > 0.4:
            yield oneof(prefix + each.name)
            for member in each.fields:
                del left[member.name]
    names = [name for name in left if chance.random() > 0.4]
    chance.shuffle(names)
    for name in names:
        field, path = left[name], prefix + name
        if is_repeated(field):
            is_message = field.type == _MESSAGE and depth and chance.random() > 0.1
            inner = list(_entries(chance, field.message_type, depth - 1)) if is_message else []
            yield rows(path, inner)
        elif field.type != _MESSAGE:
            yield text(path) if field.type in _TEXTS else number(path)
        elif depth and chance.random() > 0.2:
            if chance.random() > 0.5:
                yield present(path)
            yield from _entries(chance, field.message_type, depth - 1, f"{path}.")
        else:
            yield chance.choice([text, present])(path)


def random_message(chance: random.Random, root: str, depth: int = 4) -> bytes:
    """A message as protobuf writes it."""
    message = kinds.Kinds() if root == kinds.ROOT else message_class(root)()
    _fill(chance, message, depth)
    return message.SerializeToString()


def _fill(chance: random.Random, message: Any, depth: int) -> None:
    for field in message.DESCRIPTOR.fields:
        if chance.random() < 0.4 or (field.type == _MESSAGE and not depth):
            continue
        if not is_repeated(field):
            if field.type == _MESSAGE:
                getattr(message, field.name).SetInParent()
                _fill(chance, getattr(message, field.name), depth - 1)
            else:
                setattr(message, field.name, _value(chance, field))
        elif field.type != _MESSAGE:
            values = [_value(chance, field) for _ in range(chance.randrange(4))]
            getattr(message, field.name).extend(values)
        elif not field.message_type.GetOptions().map_entry:
            for _ in range(chance.randrange(4)):
                _fill(chance, getattr(message, field.name).add(), depth - 1)
        else:
            _fill_map(chance, getattr(message, field.name), field, depth)


def _fill_map(chance: random.Random, entries: Any, field: Any, depth: int) -> None:
    key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
    for _ in range(chance.randrange(4)):
        if value.type == _MESSAGE:
            _fill(chance, entries[_value(chance, key)], depth - 1)
        else:
            entries[_value(chance, key)] = _value(chance, value)


def _value(chance: random.Random, field: Any) -> Any:
    if field.type == _STRING:
        return chance.choice(["", "a", "ö/x:0", "n" * 130])
    if field.type == _BYTES:
        return chance.choice([b"", b"\xff", b"\x0a\x00" * 70])
    if field.type == _BOOL:
        return chance.random() < 0.5
    if field.type in _FLOATS:
        return chance.choice([0.0, -0.0, 1.5, float("inf"), float("nan"), -1e-40])
    if field.type == _ENUM:
        return chance.choice(field.enum_type.values).number
    low, high = _RANGES.get(field.type, (-(2**31), 2**31 - 1))
    edges = [low, high, *(edge for edge in _EDGES if low <= edge <= high)]
    return chance.choice([chance.choice(edges), chance.randint(0, 300), chance.randint(low, high)])


def varint(value: int, n_bytes: int = 1) -> bytes:
    """A number on the wire, in so many bytes at least."""
    found = bytearray()
    while value > 127 or len(found) + 1 < n_bytes:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def tag(field: int, wire: int, n_bytes: int = 1) -> bytes:
    """Number and wire type of a field."""
    return varint(field << 3 | wire, n_bytes)


def length_delimited(field: int, payload: bytes) -> bytes:
    """A text or a message in a message."""
    return tag(field, 2) + varint(len(payload)) + payload


def odd_message(chance: random.Random, plan: Plan, level: int = 0) -> bytes:
    """What the fields of a plan may look like though protobuf does not write them so.

    Singular fields and messages several times, wrong wire types, packed and unpacked numbers,
    unknown fields and groups, numbers in more bytes than they need. Most of it is valid.
    """
    known = sorted(plan.levels[level])
    parts = []
    for _ in range(chance.randrange(8)):
        field = chance.choice(known) if known and chance.random() < 0.8 else chance.choice(_UNKNOWN)
        action = plan.levels[level].get(field)
        if action is not None and action.level >= 0 and chance.random() < 0.9:
            parts.append(length_delimited(field, odd_message(chance, plan, action.level)))
        else:
            wire = chance.choice([0, 0, 1, 2, 2, 3, 5]) if action is None else int(action.wire)
            wire = chance.choice([0, 1, 2, 3, 5]) if chance.random() < 0.2 else wire
            parts.append(_odd_field(chance, field, wire))
    return b"".join(parts)


_UNKNOWN = (1, 15, 16, 19000, 2**29 - 1)


def _odd_field(chance: random.Random, field: int, wire: int, depth: int = 0) -> bytes:
    head = tag(field, wire, chance.choice([1, 1, 1, 2, 5, 6]) if chance.random() < 0.1 else 1)
    if wire == 0:
        return head + _odd_varint(chance)
    if wire in (1, 5):
        return head + chance.randbytes(8 if wire == 1 else 4)
    if wire == 2:
        payload = chance.choice(
            [
                b"",
                b"text",
                b"".join(_odd_varint(chance) for _ in range(chance.randrange(4))),
                chance.randbytes(chance.choice([4, 8, 12, 16, 20])),
            ]
        )
        return head + varint(len(payload), chance.choice([1, 1, 1, 2, 5])) + payload
    inside = b"" if depth > 2 else _odd_field(chance, chance.choice(_UNKNOWN), 3, depth + 1)
    inside = chance.choice([inside, b"", _odd_field(chance, 7, chance.choice([0, 1, 2, 5]))])
    return head + inside + tag(field, 4)


def _odd_varint(chance: random.Random) -> bytes:
    value = chance.choice([*_EDGES, chance.getrandbits(64), chance.getrandbits(20)])
    found = varint(value, chance.choice([1, 1, 1, 3, 10]))
    if len(found) == 10 and chance.random() < 0.5:  # bits over the 64th
        found = found[:9] + bytes([chance.randrange(128)])
    return found


def mutated(chance: random.Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Bytes with a few faults: flipped, cut out, repeated, put in from elsewhere, cut off."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        at = chance.randrange(len(changed) + 1)
        length = chance.choice([1, 1, 2, 8, 64])
        fault = chance.randrange(7)
        if fault == 0 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif fault == 1 and at < len(changed):
            changed[at] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
        elif fault == 2:
            del changed[at : at + length]
        elif fault == 3:
            changed[at:at] = changed[at : at + length] * chance.choice([1, 1, 2, 50])
        elif fault == 4:
            changed[at:at] = chance.choice([_odd_varint(chance), chance.randbytes(length)])
        elif fault == 5 and others:
            other = chance.choice(others)
            start = chance.randrange(len(other) + 1)
            changed[at : at + chance.choice([0, length])] = other[start : start + 8 * length]
        elif fault == 6:
            del changed[at:]
    return bytes(changed)
