"""Captures with a few odd values: times, ids, names, kinds of stats."""

from __future__ import annotations

import random
from typing import Any

from tfprof.core.wire import messages as pb

_NUMBERS = (
    0, 1, -1, 2, 63, 64, 1000, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, -(2**63),
    -(2**31), 10**15,
)  # fmt: skip
_TEXTS = (
    "", ":", "a:", ":B", "Iterator::", "Iterator", "/", "::", "train", "\x00", "\ufffd", "é" * 40,
    "x" * 5000, "a,b->c", "regs:x grid:,,, block:-1 occ_pct:nan", "1e999", "IDLE", "group_id",
    "MemoryAllocation", "region", "/device:GPU:0", "/device:TPU:0", "/host:CPU", "fusion.1",
    "XLA Ops", "Steps", "hlo_op", "flops", "<b>&amp;", "__proto__",
)  # fmt: skip
_DOUBLES = (0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1e308, -1.5, 1e-320)


def with_faults(chance: random.Random, space: pb.XSpace) -> pb.XSpace:
    """The same capture with a few odd values."""
    made = pb.XSpace()
    made.CopyFrom(space)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        if made.planes:
            chance.choice(_FAULTS)(chance, chance.choice(made.planes), made)
    return made


def _odd_stat(chance: random.Random, one: pb.XPlane, made: pb.XSpace) -> None:
    owner = chance.choice([_some_event(chance, one), _some_entry(chance, one), one])
    if owner is None:
        return
    if owner.stats and chance.random() < 0.8:
        stat = chance.choice(owner.stats)
    else:
        stat = owner.stats.add()
        stat.metadata_id = chance.choice([*one.stat_metadata, 0, -1, 2**40])
    kind = chance.randrange(7)
    if kind == 0:
        stat.ClearField("int64_value")
        stat.ClearField("str_value")
    elif kind == 1:
        stat.double_value = chance.choice(_DOUBLES)
    elif kind == 2:
        stat.uint64_value = chance.choice(_NUMBERS) % 2**64
    elif kind == 3:
        stat.int64_value = chance.choice(_NUMBERS)
    elif kind == 4:
        stat.str_value = chance.choice(_TEXTS)
    elif kind == 5:
        stat.bytes_value = chance.randbytes(chance.randrange(20))
    else:
        stat.ref_value = chance.choice([*one.stat_metadata, 0, 2**64 - 1])


def _odd_event(chance: random.Random, one: pb.XPlane, made: pb.XSpace) -> None:
    happened = _some_event(chance, one)
    if happened is None:
        return
    kind = chance.randrange(4)
    if kind == 0:
        happened.duration_ps = chance.choice(_NUMBERS)
    elif kind == 1:
        happened.offset_ps = chance.choice(_NUMBERS)
    elif kind == 2:
        happened.num_occurrences = chance.choice(_NUMBERS)
    else:
        happened.metadata_id = chance.choice([*one.event_metadata, 0, -5, 2**50])


def _odd_line(chance: random.Random, one: pb.XPlane, made: pb.XSpace) -> None:
    if not one.lines:
        return
    own = chance.choice(one.lines)
    kind = chance.randrange(5)
    if kind == 0:
        own.timestamp_ns = chance.choice([*_NUMBERS, own.timestamp_ns + 3600 * 10**9])
    elif kind == 1:
        own.id = chance.choice([*_NUMBERS, 0xDEADBEEF, 0xDEADBEEF - 2**32])
    elif kind == 2:
        own.name = chance.choice(_TEXTS)
    elif kind == 3:
        del own.events[chance.randrange(len(own.events) + 1) :]
    else:
        one.lines.add().CopyFrom(own)


def _odd_name(chance: random.Random, one: pb.XPlane, made: pb.XSpace) -> None:
    kind = chance.randrange(5)
    entry = _some_entry(chance, one)
    if kind == 0:
        one.name = chance.choice(_TEXTS)
    elif kind == 1 and one.stat_metadata:
        key = chance.choice(list(one.stat_metadata))
        names = [known.name for known in one.stat_metadata.values()]
        one.stat_metadata[key].name = chance.choice([*_TEXTS, *names])
    elif kind == 2:
        made.planes.add().CopyFrom(one)
    elif entry is not None:
        names = [known.name for other in made.planes for known in other.event_metadata.values()]
        entry.name = chance.choice([*_TEXTS, *names])


_FAULTS = (_odd_stat, _odd_stat, _odd_event, _odd_event, _odd_line, _odd_name)


def _some_event(chance: random.Random, one: pb.XPlane) -> Any:
    lines = [own for own in one.lines if own.events]
    return chance.choice(chance.choice(lines).events) if lines else None


def _some_entry(chance: random.Random, one: pb.XPlane) -> Any:
    keys = list(one.event_metadata)
    return one.event_metadata[chance.choice(keys)] if keys else None
