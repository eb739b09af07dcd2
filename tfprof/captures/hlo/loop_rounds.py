"""What the rounds of a compiled loop pass on to the next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tfprof.captures.model.hlo import Computation, Instruction

_COUNTS: Final = re.compile(r"[su]\d+|pred")
_SCATTERS: Final = re.compile(r"(.*/)?scatter(-\w+|_\w+)?")


def only_updates_parts(loop: Instruction) -> bool:
    """Whether a round of a loop only changes parts of arrays that nothing else in it reads.

    Such rounds pass on counters, arrays that stay the same, and arrays of which each goes into the
    one instruction that changes it: no round needs another's result, except to add to it.
    """
    body = body_of(loop)
    root = None if body is None else body.root
    if body is None or root is None or root.opcode != "tuple" or len(body.parameters) != 1:
        return False
    users_of = body.users()
    updated = []
    for taken in users_of[body.parameters[0]]:
        if taken.opcode != "get-tuple-element" or taken.number >= len(root.operands):
            return False
        value = root.operands[taken.number]
        if value is taken or _is_counter(taken):
            continue
        if users_of[taken] != [value] or not _only_changes_part(value, taken):
            return False
        updated.append(value)
    return any(_scatters(value) for value in updated)


def body_of(loop: Instruction) -> Computation | None:
    """The computation of a round of a ``while``: the one that returns the next state."""
    wanted = [part.dimensions for part in loop.shape.leaves]
    for one in loop.calls if loop.opcode == "while" else ():
        if one.root is not None and [part.dimensions for part in one.root.shape.leaves] == wanted:
            return one
    return None


def names_below(computations: Sequence[Computation]) -> set[str]:
    """Names of the instructions of computations and of what these call."""
    names: set[str] = set()
    waiting = list(computations)
    while waiting:
        for instruction in waiting.pop().instructions:
            names.add(instruction.name)
            waiting += instruction.calls
    return names


def _is_counter(one: Instruction) -> bool:
    return not one.shape.dimensions and bool(_COUNTS.fullmatch(one.shape.element_type))


def _only_changes_part(value: Instruction, taken: Instruction) -> bool:
    """Whether an instruction reads of an array at most the part that it changes."""
    if value.operands.count(taken) != 1:
        return False
    if value.opcode != "fusion":
        return value.operands[0] is taken
    inner = value.calls[0] if value.calls else None
    root = None if inner is None else inner.root
    if inner is None or root is None or len(inner.parameters) != len(value.operands):
        return False
    held = inner.parameters[value.operands.index(taken)]
    if root.operands[:1] != (held,) or held in root.operands[1:]:
        return False
    reads = [user for user in inner.users()[held] if user is not root]
    return all(
        user.opcode == "dynamic-slice"
        and root.opcode == "dynamic-update-slice"
        and user.operands[1:] == root.operands[2:]
        for user in reads
    )


def _scatters(one: Instruction) -> bool:
    """Whether the program names an instruction, or a part of a fusion, a scatter."""
    parts = (one, *(each for called in one.calls for each in called.instructions))
    return any(_SCATTERS.fullmatch(each.op_name) for each in parts)
