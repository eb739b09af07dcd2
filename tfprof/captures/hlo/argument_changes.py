"""Instructions that only bring an argument of a program into another form.

A compiler moves such work into other instructions where it can; what is left takes its own time, in
each call, and the caller could do it once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from tfprof.captures.hlo.memory_savings import BACKWARD
from tfprof.captures.hlo.value_flow import flow_of
from tfprof.captures.model.hlo import BITS, HloModule, Instruction, Shape

RESHAPES: Final = frozenset(("bitcast", "reshape"))
MOVES: Final = frozenset(("copy", "transpose", "parameter")) | RESHAPES
"""Opcodes of instructions that keep all values of an array."""

_CONVERTS: Final = re.compile(r"(.*/)?(convert_element_type|Cast(_\d+)?)")
_PADS: Final = re.compile(r"(.*/)?(pad|Pad(V2)?(_\d+)?)")
_FLOAT: Final = re.compile(r"b?f\d+\w*")


class Form(Enum):
    """In what the result differs from the argument."""

    ORDER = "order"
    TYPE = "type"
    SIZE = "size"


class ArgumentChange(NamedTuple):
    """An instruction that only changes the form of an argument.

    Attributes:
        instruction: The instruction.
        argument: The argument.
        form: In what they differ.
        new_shape: What the caller could pass instead, if not another order.
    """

    instruction: Instruction
    argument: Instruction
    form: Form
    new_shape: Shape


def argument_changes(module: HloModule) -> Iterator[ArgumentChange]:
    """Changes of arguments that a caller could make once instead.

    Left out is what the caller cannot: results that the program returns in the new form; another
    order, if something else uses the argument as it is; another type or size of an argument that
    the program returns updated; narrower types in programs with a backward pass, where mixed
    precision needs both; and types and sizes that only the compiler needs.
    """
    entry = module.entry
    if entry is None or entry.root is None:
        return
    users_of = entry.users()
    returned = [(one.element_type, one.dimensions) for one in entry.root.shape.leaves]
    trains = any(BACKWARD in one.op_name for one in entry.instructions)
    for one in entry.instructions:
        argument = argument_of(one, frozenset(("convert", "pad", "constant")))
        if argument is None or entry.root in (one, *flow_of(users_of, one).through):
            continue
        form = _changed_form(one, argument.shape, trains=trains)
        if form is Form.ORDER and not all(map(_only_reorders, flow_of(users_of, argument).users)):
            continue
        is_state = (argument.shape.element_type, argument.shape.dimensions) in returned
        if form is Form.ORDER or (form is not None and not is_state):
            yield ArgumentChange(one, argument, form, _new_shape(one, argument.shape))


def argument_name(argument: Instruction) -> str:
    """An argument as the program names it; as the compiler does, if all have one name."""
    return argument.op_name if argument.op_name not in ("", "XLA_Args") else argument.name


def argument_of(one: Instruction, changes: frozenset[str]) -> Instruction | None:
    """The argument that is all an instruction of the entry reads, besides constants.

    Args:
        one: The instruction, or a fusion.
        changes: Opcodes that it may consist of, besides those that keep all values.

    Returns:
        The parameter; None if the instruction does something else, or nothing.
    """
    if not one.shape.is_array or not one.shape.dimensions or one.opcode in ("parameter", *RESHAPES):
        return None
    if not (MOVES | changes).issuperset(each.opcode for each in parts_of(one)):
        return None
    sources = [each for each in one.operands if each.opcode != "constant"]
    source = sources[0] if len(sources) == 1 else None
    while source is not None and source.opcode in RESHAPES and source.operands:
        source = source.operands[0]
    is_argument = source is not None and source.opcode == "parameter" and source.shape.is_array
    return source if is_argument else None


def parts_of(one: Instruction) -> tuple[Instruction, ...]:
    """The instructions of a fusion, or the instruction itself."""
    inner = tuple(each for called in one.calls for each in called.instructions)
    return inner if one.opcode == "fusion" else (one,)


def has_another_order(one: Instruction) -> bool:
    """Whether a copy or a transpose has its elements in another order than its operand."""
    if one.opcode == "transpose":
        return list(one.attributes.dimensions) != sorted(one.attributes.dimensions)
    if one.opcode != "copy" or not one.operands:
        return False
    before, after = one.operands[0].shape.layout, one.shape.layout
    return (
        before is not None and after is not None and before.minor_to_major != after.minor_to_major
    )


def _changed_form(one: Instruction, before: Shape, *, trains: bool) -> Form | None:
    parts = parts_of(one)
    after = one.shape.element_type
    if any(part.opcode == "pad" for part in parts):
        return Form.SIZE if _has_name(one, "pad", _PADS) else None
    if any(part.opcode == "convert" for part in parts):
        narrows = BITS[after] < BITS[before.element_type]
        are_float = all(_FLOAT.fullmatch(each) for each in (before.element_type, after))
        is_kept = after == before.element_type or (narrows and trains)
        is_program = _has_name(one, "convert", _CONVERTS)
        return Form.TYPE if are_float and is_program and not is_kept else None
    return Form.ORDER if _only_reorders(one) else None


def _new_shape(one: Instruction, before: Shape) -> Shape:
    """The padded shape, whatever a fusion makes of it; else that of the argument in a new type."""
    padded = next((part.shape for part in parts_of(one) if part.opcode == "pad"), None)
    return padded or Shape(one.shape.element_type, before.dimensions)


def _only_reorders(one: Instruction) -> bool:
    parts = parts_of(one)
    return MOVES.issuperset(part.opcode for part in parts) and any(map(has_another_order, parts))


def _has_name(one: Instruction, opcode: str, name: re.Pattern[str]) -> bool:
    """Whether an op of the program stands for this; else the compiler added it."""
    named = (one, *(part for part in parts_of(one) if part.opcode == opcode))
    return any(name.fullmatch(each.op_name) for each in named)
