"""Float operations and bytes of each instruction of a program, from its shapes alone.

The rules are those of ``HloCostAnalysis`` (XLA), corrected where these count work that does not
happen. Float operations follow the convention of ``tfprof.graphs.flops``: a function of the math
library counts as one; type conversions, selections and arithmetic on integers count as none.
Library calls for products and convolutions count, without their scratch memory. A part of an array
that one fusion reads several times is read from memory once. A loop runs as often as the compiler
states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

from tfprof.captures.hlo.cost_rules import RULES, Work, elements_of, scatter, size_of, window_size
from tfprof.captures.hlo.library_calls import trip_count
from tfprof.captures.hlo.opcodes import (
    COMPUTES_ELEMENTS,
    TOUCHES_NOTHING,
    TRANSCENDENTAL,
    flops_per_element,
    is_bitcast,
)
from tfprof.captures.model.hlo import BITS, Computation, HloModule, Instruction, Shape
from tfprof.core.columns.numerals import LARGEST

MAIN_MEMORY: Final = 0
"""The memory space of a device's main memory: HBM, or a host's."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one run of an instruction; counts are limited to an int64.

    Attributes:
        flops: Float operations.
        device_flops: The same relative to the device's 16-bit rate: a half of them for operands of
            8 bits, a quarter for 4 bits.
        transcendentals: Calls of functions of the math library; part of ``flops``, but not of the
            reference's.
        bytes_accessed: Bytes read and written, in all memory spaces.
        main_read_bytes: Bytes read from the main memory.
        main_write_bytes: Bytes written to the main memory.
        is_known: Whether all of the cost was counted; False for unknown custom calls.
    """

    flops: int = 0
    device_flops: int = 0
    transcendentals: int = 0
    bytes_accessed: int = 0
    main_read_bytes: int = 0
    main_write_bytes: int = 0
    is_known: bool = True

    def __post_init__(self) -> None:
        # Sizes in damaged programs multiply to numbers that exceed any float.
        for name in _COUNTS:
            if getattr(self, name) > LARGEST:
                object.__setattr__(self, name, LARGEST)


_COUNTS: Final = (
    "flops", "device_flops", "transcendentals", "bytes_accessed", "main_read_bytes",
    "main_write_bytes",
)  # fmt: skip

NO_COST: Final = Cost()


def costs_of(module: HloModule) -> Mapping[Instruction, Cost]:
    """The cost of every instruction of a module, including those of called computations.

    Linear in the number of instructions.
    """
    costs: dict[Instruction, Cost] = {}
    totals: dict[Computation, Cost] = {}
    works: dict[Instruction, Work] = {}
    for computation in module.computations:
        for instruction in computation.instructions:
            work = works[instruction] = work_of(instruction, totals, works)
            costs[instruction] = _cost(instruction, work)
        totals[computation] = _sum([costs[each] for each in computation.instructions])
    return costs


def work_of(
    instruction: Instruction,
    totals: Mapping[Computation, Cost],
    works: Mapping[Instruction, Work],
) -> Work:
    """The work of an instruction.

    Args:
        instruction: The instruction; the work of its callees is already in ``totals``.
        totals: Sums of computations; a missing one costs nothing.
        works: The work of their instructions.
    """
    work = Work(read=[size_of(operand.shape) for operand in instruction.operands])
    work.written = [leaf.n_bytes for leaf in instruction.shape.leaves]
    opcode = instruction.opcode
    if opcode in TOUCHES_NOTHING or is_bitcast(instruction):
        work.read, work.written = [0] * len(work.read), [0] * len(work.written)
    elif opcode in COMPUTES_ELEMENTS:
        n_flops = instruction.shape.n_elements * flops_per_element(instruction)
        if opcode in TRANSCENDENTAL:
            work.transcendentals = n_flops
        else:
            work.flops = n_flops
    elif opcode in RULES:
        RULES[opcode](instruction, work)
    elif opcode == "fusion":
        _fusion(instruction, work, totals, works)
    elif instruction.calls:
        _calls(instruction, work, totals)
    return work


def _cost(instruction: Instruction, work: Work) -> Cost:
    inner, inner_read, inner_written = work.inner
    read = sum(
        bytes_
        for operand, bytes_ in zip(instruction.operands, work.read, strict=True)
        if _in_main_memory(operand.shape)
    )
    written = sum(
        bytes_
        for leaf, bytes_ in zip(instruction.shape.leaves, work.written, strict=True)
        if _in_main_memory(leaf)
    )
    flops = work.flops + work.transcendentals
    return Cost(
        flops,
        flops // rate_of(instruction),
        work.transcendentals,
        sum(work.read) + sum(work.written) + inner,
        read + inner_read,
        written + inner_written,
        work.is_known,
    )


def _in_main_memory(shape: Shape) -> bool:
    leaf = shape.leaves[0] if shape.leaves else shape
    return leaf.layout is None or leaf.layout.memory_space == MAIN_MEMORY


def rate_of(instruction: Instruction) -> int:
    """How many times as fast as with 16 bits a device computes with operands of this type."""
    kinds = [operand.shape.element_type for operand in instruction.operands]
    widths = [1 if kind == "pred" else BITS.get(kind, 0) for kind in kinds]
    return {8: 2, 4: 4}.get(max(widths, default=0), 1)


def _sum(costs: list[Cost]) -> Cost:
    counts = {name: sum(getattr(cost, name) for cost in costs) for name in _COUNTS}
    return Cost(**counts, is_known=all(cost.is_known for cost in costs))


def _add(work: Work, cost: Cost, times: int = 1) -> None:
    """Add the float operations of a computation that runs ``times`` times."""
    work.flops += (cost.flops - cost.transcendentals) * times
    work.transcendentals += cost.transcendentals * times
    work.is_known = work.is_known and cost.is_known


def _fusion(
    instruction: Instruction,
    work: Work,
    totals: Mapping[Computation, Cost],
    works: Mapping[Instruction, Work],
) -> None:
    """Count the operations inside, and the bytes that enter and leave."""
    for computation in instruction.calls[:1]:
        _add(work, totals.get(computation, NO_COST))
        users = computation.users()
        for parameter in computation.parameters:
            if 0 <= parameter.number < len(work.read):
                size = work.read[parameter.number]
                used = sum(_read_by(parameter, user, works) for user in users[parameter])
                used += size if parameter is computation.root else 0
                work.read[parameter.number] = min(size, used)
        root = computation.root
        if root is not None:
            results = root.operands if root.opcode == "tuple" else (root,)
            if len(results) == len(work.written):
                for place, result in enumerate(results):
                    if result.opcode == "dynamic-update-slice" and len(result.operands) > 1:
                        work.written[place] = size_of(result.operands[1].shape)


def _read_by(parameter: Instruction, user: Instruction, works: Mapping[Instruction, Work]) -> int:
    """Bytes that a fused instruction reads of a parameter."""
    n_bytes = 0
    for place, operand in enumerate(user.operands):
        if operand is not parameter:
            continue
        if user.opcode in ("bitcast", "get-tuple-element", "tuple"):
            n_bytes += size_of(parameter.shape)
        elif user in works and place < len(works[user].read):
            n_bytes += works[user].read[place]
    return n_bytes


def _calls(instruction: Instruction, work: Work, totals: Mapping[Computation, Cost]) -> None:
    """Count what called computations do; calls, loops and conditionals only move their bytes."""
    costs = [totals.get(computation, NO_COST) for computation in instruction.calls]
    if instruction.opcode == "conditional":
        cost = max(costs, key=lambda each: (each.flops, each.bytes_accessed))
        times = 1
    else:
        cost = _sum(costs)
        times = trip_count(instruction) if instruction.opcode == "while" else 1
    if instruction.opcode in ("call", "while", "conditional", "async-start"):
        work.read, work.written = [0] * len(work.read), [0] * len(work.written)
        work.inner = (
            cost.bytes_accessed * times,
            cost.main_read_bytes * times,
            cost.main_write_bytes * times,
        )
        _add(work, cost, times)
        work.is_known = work.is_known and times > 0
        return
    if instruction.opcode == "scatter":
        scatter(instruction, work)
    times = _applications(instruction)
    if instruction.opcode == "select-and-scatter" and len(costs) == 2:
        source = elements_of(instruction, 1)
        _add(work, costs[0], source * (window_size(instruction) - 1))
        _add(work, costs[1], source)
    else:
        _add(work, cost, times)


def _applications(instruction: Instruction) -> int:
    """How often an instruction applies its function."""
    opcode, shape = instruction.opcode, instruction.shape
    results = prod(shape.leaves[0].dimensions) if shape.leaves else 0
    if opcode == "reduce":
        return max(elements_of(instruction, 0) - results, 0)
    if opcode == "reduce-window":
        return (window_size(instruction) - 1) * results
    if opcode == "scatter":
        return elements_of(instruction, len(instruction.operands) - 1)
    if opcode in ("all-reduce", "all-reduce-start", "reduce-scatter"):
        return sum(prod(leaf.dimensions) for leaf in shape.leaves)
    if opcode == "map":
        return results
    return 0
