"""Where a value of a program goes: through tuples and loops to the instructions that use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tfprof.captures.model.hlo import Instruction

Users = Mapping[Instruction, Sequence[Instruction]]

_SAME_TUPLE: Final = frozenset(("while", "opt-barrier", "domain"))
"""Instructions whose result has the parts of their operand."""

_SAME_VALUE: Final = frozenset(("bitcast", "reshape", "add-dependency"))
"""Instructions that only give a value another shape."""


class Flow(NamedTuple):
    """Where a value goes.

    Attributes:
        through: Instructions that it passes without being changed by a computation of its own:
            tuples, their parts, and loops that carry it.
        users: Other instructions that use it, and loops.
    """

    through: tuple[Instruction, ...]
    users: tuple[Instruction, ...]


def flow_of(users_of: Users, value: Instruction, index: tuple[int, ...] = ()) -> Flow:
    """Follow a value of a computation.

    Args:
        users_of: The users of each instruction of its computation.
        value: The instruction that computes it.
        index: Which part of its result, for a tuple.
    """
    seen: dict[tuple[Instruction, tuple[int, ...]], None] = {(value, index): None}
    through: dict[Instruction, None] = {}
    users: dict[Instruction, None] = {}
    waiting = [(value, index)]
    while waiting:
        one, part = waiting.pop()
        for user in users_of.get(one, ()):
            for passed in _passed(user, one, part):
                through[user] = None
                if (user, passed) not in seen:
                    seen[user, passed] = None
                    waiting.append((user, passed))
            if user.opcode not in ("tuple", "get-tuple-element", "opt-barrier", *_SAME_VALUE):
                users[user] = None
    return Flow(tuple(through), tuple(users))


def _passed(
    user: Instruction, operand: Instruction, part: tuple[int, ...]
) -> list[tuple[int, ...]]:
    """Parts of a user's result that are this part of its operand."""
    if user.opcode == "tuple":
        return [(at, *part) for at, one in enumerate(user.operands) if one is operand]
    if user.opcode == "get-tuple-element":
        return [part[1:]] if part[:1] == (user.number,) else []
    if user.opcode in _SAME_TUPLE or (user.opcode in _SAME_VALUE and user.operands[0] is operand):
        return [part]
    return []
