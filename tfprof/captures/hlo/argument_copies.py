"""Transposed or converted copies of arguments that a program keeps beside the arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from tfprof.captures.hlo.argument_changes import (
    argument_name,
    argument_of,
    has_another_order,
    parts_of,
)
from tfprof.captures.hlo.buffers import MemoryUse
from tfprof.captures.hlo.memory_savings import BACKWARD
from tfprof.captures.hlo.user_lines import user_place
from tfprof.captures.hlo.value_flow import Users, flow_of
from tfprof.captures.model.hlo import BITS, HloModule, Instruction

_LOOPS: Final = frozenset(("while", "call", "conditional"))


class ArgumentCopy(NamedTuple):
    """A copy of an argument.

    Attributes:
        argument: The argument, as the framework names it.
        argument_bytes: Its bytes.
        instruction: The instruction that makes the copy.
        copy_bytes: Bytes of the copy.
        is_converted: Whether it has another element type; else another order of dimensions.
        element_type: The element type of the copy.
        place: Line that it was made for; empty if unknown.
    """

    argument: str
    argument_bytes: int
    instruction: str
    copy_bytes: int
    is_converted: bool
    element_type: str
    place: str


def copies_of_arguments(module: HloModule) -> dict[Instruction, tuple[Instruction, bool]]:
    """Instructions that only transpose or convert an argument, for a loop or for several users.

    Copies to a narrower type in programs with a backward pass are left out: with mixed precision,
    the optimizer needs the wider one.

    Returns:
        The argument of each, and whether the copy has another element type.
    """
    if module.entry is None:
        return {}
    users_of = module.entry.users()
    trains = any(BACKWARD in one.op_name for one in module.entry.instructions)
    found = {}
    for one in module.entry.instructions:
        argument = _argument_of(one)
        if argument is None or not _stays(users_of, one):
            continue
        is_converted = one.shape.element_type != argument.shape.element_type
        narrows = BITS[one.shape.element_type] < BITS[argument.shape.element_type]
        if not (is_converted and narrows and trains) and (is_converted or _is_transposed(one)):
            found[one] = argument, is_converted
    return found


def argument_copies(module: HloModule, use: MemoryUse) -> Iterator[ArgumentCopy]:
    """Those of the copies that are in memory at the peak.

    Args:
        module: The program.
        use: Its use of the device's main memory.
    """
    copies = copies_of_arguments(module)
    for one in use.at_peak:
        if one.instruction in copies and not one.allocation.is_parameter:
            assert one.instruction is not None
            argument, is_converted = copies[one.instruction]
            yield ArgumentCopy(
                argument_name(argument), argument.shape.n_bytes, one.instruction.name,
                one.size_bytes, is_converted, one.shape.element_type,
                _place(module, one.instruction),
            )  # fmt: skip


def _argument_of(one: Instruction) -> Instruction | None:
    """The argument that an instruction only copies; None if it does something else."""
    source = argument_of(one, frozenset(("convert",)))
    is_copy = source is not None and source.shape.n_elements == one.shape.n_elements
    return source if is_copy else None


def _place(module: HloModule, copy: Instruction) -> str:
    """The line that requests the copy: that of the first instruction between it and the argument.

    A transposed argument is often only seen in another order, and copied where a loop uses it.
    """
    chain = [copy]
    while chain[-1].operands and chain[-1].operands[0].opcode != "parameter":
        chain.append(chain[-1].operands[0])
    return next(filter(None, (user_place(module, one) for one in reversed(chain))), "")


def _is_transposed(one: Instruction) -> bool:
    return any(map(has_another_order, parts_of(one)))


def _stays(users_of: Users, one: Instruction) -> bool:
    """Whether a loop or more than one instruction uses a value."""
    users = flow_of(users_of, one).users
    return len(users) > 1 or any(user.opcode in _LOOPS for user in users)
