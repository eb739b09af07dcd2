"""Messages of any type on the wire: a byte that picks which fields are read, then the message."""

from __future__ import annotations

import functools
import random

from fuzz.case import Format
from tests.core.wire.random_messages import (
    MESSAGES,
    mutated,
    odd_message,
    random_message,
    random_plan,
    tag,
    varint,
)
from tfprof.core.wire.plan import Plan

_SEED_BYTES = 20_000


@functools.lru_cache(maxsize=256)
def plan_of(number: int) -> Plan:
    """What is read of a message whose first byte is this number."""
    return random_plan(random.Random(number))


def _seeds() -> list[bytes]:
    return [_message(random.Random(number), number) for number in range(2 * len(MESSAGES))]


def _message(chance: random.Random, number: int) -> bytes:
    plan = plan_of(number)
    data = odd_message(chance, plan) + random_message(chance, plan.message, depth=2)
    return bytes([number]) + data[:_SEED_BYTES]


def _changed(chance: random.Random, data: bytes) -> bytes:
    """The same plan with more of what protobuf does not write so."""
    if not data or chance.random() < 0.5:
        return mutated(chance, data)
    return data + odd_message(chance, plan_of(data[0]))


def _repeated(n_bytes: int) -> bytes:
    seed = _seeds()[6]
    return seed[:1] + seed[1:] * (n_bytes // len(seed))


def _nested(n_bytes: int) -> bytes:
    """Messages in messages, which all have the field number 1."""
    heads, inside = [], 0
    while inside < n_bytes:
        heads.append(tag(1, 2) + varint(inside))
        inside += len(heads[-1])
    return b"\x06" + b"".join(reversed(heads))


FORMATS = (Format("wire", ".pb", _seeds, _changed, {"messages": _repeated, "nesting": _nested}),)
