"""Which arguments of a program could be donated: an output could then be written over each of them.

An output can take the place of an argument of its type and shape if nothing reads the argument
after the output is written, and if what writes it reads the argument element by element. Values
that are in the memory of the output before must then be elsewhere: that memory is not freed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from tfprof.captures.hlo.buffers import MemoryUse
from tfprof.captures.hlo.opcodes import ELEMENTWISE
from tfprof.captures.hlo.value_flow import Flow, flow_of
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
    if module.entry is None or module.entry.root is None:
        return []
    order = _Order(module.entry)
    free, taken = _arguments(module.entry, use)
    outputs = list(_outputs(module.entry.root))
    found = []
    for kind, sizes in free.items():
        writers = [one for shape, one in outputs if _kind(shape) == kind]
        fits = [[each for each in sizes if order.can_overwrite(each, one)] for one in writers]
        replaced = _pairs(fits)[: max(len(writers) - taken.get(kind, 0), 0)]
        spans = _used_before(module, use, order, [writers[at] for at in replaced])
        freed = _off_the_peak(use, order, spans, len(replaced), max(sizes.values()))
        if freed > 0:
            arguments = dict.fromkeys(each for some in fits for each in some)
            in_order = tuple(sorted(arguments, key=lambda one: one.number))
            found.append(Donation(in_order, len(replaced), freed))
    return found


def _arguments(
    entry: Computation, use: MemoryUse
) -> tuple[dict[Kind, dict[Instruction, int]], dict[Kind, int]]:
    """Sizes of the arguments that are not donated, and how many of each kind are."""
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
    return free, taken


def _off_the_peak(
    use: MemoryUse, order: _Order, spans: list[tuple[int, int]], n: int, each_bytes: int
) -> int:
    """What the peak falls by at most if outputs need no memory of their own.

    Args:
        use: The memory of the program.
        order: Its order.
        spans: When other values are in the memory of one of the outputs: first and last places.
        n: How many outputs there are.
        each_bytes: Size of each.
    """
    unused = np.full(len(order.places), n * each_bytes, np.int64)
    for first, last in spans:
        unused[first : last + 1] -= each_bytes
    unused = np.maximum(unused, 0)
    if not use.sizes_bytes:  # all memory is there all the time
        return int(unused.min(initial=n * each_bytes))
    by_name = {one.name: at for one, at in order.places.items()}
    at = [by_name.get(name, -1) for name in use.instructions]
    left = [
        size - (int(unused[place]) if place >= 0 else n * each_bytes)
        for size, place in zip(use.sizes_bytes, at, strict=True)
    ]
    return min(use.peak_bytes - max(left), n * each_bytes)


def _used_before(
    module: HloModule, use: MemoryUse, order: _Order, outputs: list[Instruction]
) -> list[tuple[int, int]]:
    """When other values are in the memory of outputs: first and last places, none twice."""
    assert module.buffers is not None
    by_id = {one.id: one for one in order.places}
    makers_of: dict[Instruction, list[Instruction]] = {}
    for allocation in use.allocations:
        if allocation.kind == "output":
            buffers = [module.buffers.by_id.get(one.buffer_id) for one in allocation.assigned]
            makers = [by_id[one.instruction_id] for one in buffers if one and
                      one.instruction_id in by_id]  # fmt: skip
            makers_of |= dict.fromkeys(makers, makers)
    found = []
    for writer in map(_writer_of, outputs):
        spans = [
            (order.places[one], min(order.last_read(one), order.places[writer]) - 1)
            for one in makers_of.get(writer, ())
            if one is not writer
        ]
        end = -1
        for first, last in sorted(spans):
            if last > end:
                found.append((max(first, end + 1), last))
                end = last
    return found


class _Order:
    """The order of a program, and who reads which value when.

    Attributes:
        places: The place of each instruction of the entry computation.
    """

    def __init__(self, entry: Computation) -> None:
        self.places = {one: at for at, one in enumerate(entry.instructions)}
        self._users_of = entry.users()
        self._flows: dict[Instruction, Flow] = {}

    def flow(self, value: Instruction) -> Flow:
        """Where a value goes; the last of its users comes first."""
        if value not in self._flows:
            through, users = flow_of(self._users_of, value)
            in_order = sorted(users, key=lambda one: -self.places[one])
            self._flows[value] = Flow(through, tuple(in_order))
        return self._flows[value]

    def last_read(self, value: Instruction) -> int:
        """The place of the last instruction that reads a value; -1 if none does."""
        users = self.flow(value).users
        return self.places[users[0]] if users else -1

    def can_overwrite(self, argument: Instruction, output: Instruction) -> bool:
        """Whether an output could be written over an argument."""
        viewed = output
        while viewed.opcode in _VIEWS and viewed.operands:
            viewed = viewed.operands[0]
        if viewed is argument or _only_copies(viewed, argument):
            return True  # the output is the argument
        writer, flow = _writer_of(viewed), self.flow(argument)
        other = next((one for one in flow.users if one is not writer), None)
        if writer.opcode in _CALLS or (
            other is not None and self.places[other] >= self.places[writer]
        ):
            return False
        if writer not in flow.users:
            return True
        if writer.opcode == "while":
            passed = [one for one in flow.through if one.opcode == "tuple"]
            is_carried = viewed in flow.through
            return is_carried and sum(one.operands.count(argument) for one in passed) == 1
        views = {argument, *(one for one in flow.through if one.opcode in _VIEWS)}
        return all(
            _reads_in_place(writer, number)
            for number, one in enumerate(writer.operands)
            if one in views
        )


def _writer_of(output: Instruction) -> Instruction:
    """The instruction that writes an output, or a part of its result."""
    writer = output
    while writer.opcode in (*_VIEWS, "get-tuple-element") and writer.operands:
        writer = writer.operands[0]
    return writer


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


def _pairs(fits: list[list[Instruction]]) -> list[int]:
    """Outputs that can each have an argument of its own; those with the least choice come first.

    Args:
        fits: The arguments that each output could be written over.
    """
    n_of = Counter(argument for some in fits for argument in some)
    taken: set[Instruction] = set()
    found = []
    for output in sorted(range(len(fits)), key=lambda one: len(fits[one])):
        left = [one for one in fits[output] if one not in taken]
        if left:
            taken.add(min(left, key=lambda one: n_of[one]))
            found.append(output)
    return sorted(found)
