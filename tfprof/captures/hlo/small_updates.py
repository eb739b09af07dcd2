"""Small arguments of a program of which each is updated by instructions of its own."""

from __future__ import annotations

from tfprof.captures.hlo.argument_changes import RESHAPES
from tfprof.captures.hlo.opcodes import ELEMENTWISE
from tfprof.captures.hlo.value_flow import flow_of
from tfprof.captures.model.hlo import HloModule, Instruction


def small_updates(module: HloModule, most_bytes: int) -> list[Instruction]:
    """Instructions that compute an argument's next value element by element, and return it.

    Args:
        module: The program.
        most_bytes: Bytes of the largest array that is small.
    """
    entry = module.entry
    if entry is None or entry.root is None:
        return []
    users_of = entry.users()
    return [
        one
        for one in entry.instructions
        if (one.opcode == "fusion" or one.opcode in ELEMENTWISE)
        and all(part.is_array and part.n_bytes <= most_bytes for part in one.shape.leaves)
        and _updates_argument(one)
        and entry.root in (one, *flow_of(users_of, one).through)
    ]


def _updates_argument(one: Instruction) -> bool:
    """Whether an operand is an argument with the shape of a result."""
    results = {(part.element_type, part.dimensions) for part in one.shape.leaves}
    return any(
        source.opcode == "parameter"
        and (source.shape.element_type, source.shape.dimensions) in results
        for source in map(_source, one.operands)
    )


def _source(one: Instruction) -> Instruction:
    while one.opcode in RESHAPES and one.operands:
        one = one.operands[0]
    return one
