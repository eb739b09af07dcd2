"""Which arguments of a program could be donated: an output could then be written over each of them.

An output can take the place of an argument of its type and shape if nothing reads the argument
after the output is written, and if what writes it reads the argument element by element. Values
that are in the memory of the output before must then be elsewhere: that memory is not freed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np

from tfprof.captures.hlo.buffers import MemoryUse
from tfprof.captures.hlo.opcodes import ELEMENTWISE
from tfprof.captures.hlo.value_flow import Users, flow_of
from tfprof.captures.model.hlo import Computation, HloModule, Instruction, Shape

Kind = tuple[str, tuple[int, ...]]

_VIEWS: Final = frozenset(("bitcast", "reshape"))
_MAY_OVERWRITE: Final = ELEMENTWISE | {"tuple"}
_CALLS: Final = frozenset(("sort", "call", "custom-call", "conditional", "scatter"))
"""Instructions whose results begin earlier than they: with a copy of an operand, or in a call."""


class Donation(NamedTuple):
    """Arguments of one type and shape that could be donated.

    Attributes:
        arguments: Those that an output could be written over, by number.
        n: How many of them outputs could replace.
        at_most_bytes: Upper bound of what that takes off the peak.
    """

    arguments: tuple[Instruction, ...]
    n: int
    at_most_bytes: int


def donations(module: HloModule, use: MemoryUse) -> list[Donation]:
    """The arguments that could be donated; not those that are.

    Args:
        module: The program.
        use: Its use of the device's main memory.
    """
    entry = module.entry
    if entry is None or entry.root is None:
        return []
    parameters = {one.number: one for one in entry.parameters}
    free: dict[Kind, dict[Instruction, int]] = {}
    taken: dict[Kind, int] = {}
    for allocation in use.allocations:
        parameter = parameters.get(allocation.parameter_number)
        if not allocation.is_parameter or parameter is None or not parameter.shape.is_array:
            continue
        kind = _kind(parameter.shape)
        if allocation.maybe_live_out:
            taken[kind] = taken.get(kind, 0) + 1
        elif kind[1]:
            free.setdefault(kind, {})[parameter] = allocation.size_bytes
    places = {one: at for at, one in enumerate(entry.instructions)}
    users_of = entry.users()
    found = []
    for kind, sizes in free.items():
        writers = [one for shape, one in _outputs(entry.root) if _kind(shape) == kind]
        fits = [
            [each for each in sizes if _can_overwrite(entry, users_of, places, each, writer)]
            for writer in writers
        ]
        replaced = _most_pairs(fits)[: max(len(writers) - taken.get(kind, 0), 0)]
        freed = _off_the_peak(module, use, [writers[at] for at in replaced], max(sizes.values()))
        if freed > 0:
            arguments = dict.fromkeys(each for some in fits for each in some)
            in_order = tuple(sorted(arguments, key=lambda one: one.number))
            found.append(Donation(in_order, len(replaced), freed))
    return found


def _off_the_peak(
    module: HloModule, use: MemoryUse, outputs: list[Instruction], each_bytes: int
) -> int:
    """What the peak falls by at most if outputs need no memory of their own.

    Args:
        module: The program.
        use: Its memory.
        outputs: The outputs.
        each_bytes: Size of each.
    """
    entry = module.entry
    assert entry is not None
    places = {one: at for at, one in enumerate(entry.instructions)}
    unused = np.full(len(places), len(outputs) * each_bytes, np.int64)
    for output in outputs:
        for first, last in _used_before(module, use, places, output):
            unused[first : last + 1] -= each_bytes
    unused = np.maximum(unused, 0)
    if not use.sizes_bytes:  # all memory is there all the time
        return int(unused.min(initial=len(outputs) * each_bytes))
    by_name = {one.name: at for one, at in places.items()}
    at = [by_name.get(name, -1) for name in use.instructions]
    left = [
        size - (int(unused[place]) if place >= 0 else len(outputs) * each_bytes)
        for size, place in zip(use.sizes_bytes, at, strict=True)
    ]
    return min(use.peak_bytes - max(left), len(outputs) * each_bytes)


def _used_before(
    module: HloModule, use: MemoryUse, places: Mapping[Instruction, int], output: Instruction
) -> list[tuple[int, int]]:
    """When other values are in the memory of an output: first and last places, without overlaps."""
    writer = output
    while writer.opcode in (*_VIEWS, "get-tuple-element") and writer.operands:
        writer = writer.operands[0]
    assert module.entry is not None
    assert module.buffers is not None
    users_of = module.entry.users()
    by_id = {one.id: one for one in module.entry.instructions}
    spans: list[tuple[int, int]] = []
    for allocation in use.allocations:
        buffers = [module.buffers.by_id.get(one.buffer_id) for one in allocation.assigned]
        makers = [by_id.get(one.instruction_id) for one in buffers if one is not None]
        if allocation.kind != "output" or writer not in makers:
            continue
        for maker in makers:
            if maker is not None and maker is not writer:
                last = max([places[one] for one in flow_of(users_of, maker).users], default=-1)
                spans.append((places[maker], min(last, places[writer]) - 1))
        break
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        start = max(first, merged[-1][1] + 1) if merged else first
        if last >= start:
            merged.append((start, last))
    return merged


def _kind(shape: Shape) -> Kind:
    return shape.element_type, shape.dimensions


def _outputs(root: Instruction) -> Iterator[tuple[Shape, Instruction]]:
    """Shape of each output, and the instruction that writes it."""
    if root.opcode == "tuple":
        for one in root.operands:
            yield one.shape, one
    else:
        for leaf in root.shape.leaves:
            yield leaf, root


def _can_overwrite(
    entry: Computation,
    users_of: Users,
    places: Mapping[Instruction, int],
    argument: Instruction,
    output: Instruction,
) -> bool:
    """Whether an output could be written over an argument, in the order of the program."""
    writer = output
    while writer.opcode in _VIEWS and writer.operands:
        writer = writer.operands[0]
    if writer is argument or _only_copies(writer, argument):
        return True  # the output is the argument
    flow = flow_of(users_of, argument)
    is_carried = writer in flow.through
    while writer.opcode == "get-tuple-element":
        writer = writer.operands[0]
    if writer.opcode in _CALLS:
        return False
    others = [one for one in flow.users if one is not writer and one is not entry.root]
    if any(places[one] >= places[writer] for one in others):
        return False
    if writer not in flow.users:
        return True
    if writer.opcode == "while":
        passed = [one for one in flow.through if one.opcode == "tuple"]
        return is_carried and sum(one.operands.count(argument) for one in passed) == 1
    views = {argument, *(one for one in flow.through if one.opcode in _VIEWS)}
    return all(
        _reads_in_place(writer, number)
        for number, one in enumerate(writer.operands)
        if one in views
    )


def _only_copies(one: Instruction, argument: Instruction) -> bool:
    """Whether an instruction is a plain copy of an argument."""
    is_copy = one.opcode == "copy" and one.operands[0] is argument
    return is_copy and _is_same(one.shape, argument.shape)


def _reads_in_place(writer: Instruction, number: int) -> bool:
    """Whether an instruction reads an operand element by element, each where it writes one."""
    shape = writer.operands[number].shape
    if writer.opcode != "fusion":
        if writer.opcode == "dynamic-update-slice":
            return number == 0
        return writer.opcode in ELEMENTWISE and _is_same(shape, writer.shape)
    [called] = writer.calls[:1] or [None]
    if called is None:
        return False
    users_of = called.users()
    waiting = [one for one in called.parameters if one.number == number]
    seen = set(waiting)
    while waiting:
        one = waiting.pop()
        for user in users_of[one]:
            in_place = user.opcode == "tuple" or (
                user.opcode in _MAY_OVERWRITE and _is_same(one.shape, user.shape)
            )
            if not in_place and not (
                user.opcode == "dynamic-update-slice" and user.operands[0] is one
            ):
                return False
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    return True


def _is_same(one: Shape, other: Shape) -> bool:
    """Whether elements of two arrays lie at the same places, as far as their order goes."""
    orders = [shape.layout.minor_to_major if shape.layout else () for shape in (one, other)]
    return one.dimensions == other.dimensions and orders[0] == orders[1]


def _most_pairs(fits: list[list[Instruction]]) -> list[int]:
    """Most outputs that can each have an argument of its own: those of a maximum matching."""
    output_of: dict[Instruction, int] = {}

    def place(output: int, tried: set[Instruction]) -> bool:
        for argument in fits[output]:
            if argument in tried:
                continue
            tried.add(argument)
            if argument not in output_of or place(output_of[argument], tried):
                output_of[argument] = output
                return True
        return False

    for output in range(len(fits)):
        place(output, set())
    return sorted(output_of.values())
