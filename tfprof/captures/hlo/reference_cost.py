"""Costs of instructions of GPU programs as the reference (xprof 2.24) has them, for classic mode.

The reference uses ``GpuHloCostAnalysis`` (XLA), which was made to choose fusions:

- An operation on elements counts as many "float operations" as the clock cycles that XLA measured
  on one GPU, regardless of the captured GPU.
- Fused instructions count as often as their results are used.
- Sums have 24 bits.
- Matrix products with their older name count as nothing.
- Results with several parts do not count as written to main memory, except those of fusions.

``tfprof.captures.hlo.cost`` does none of that.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, prod
from typing import Final

from tfprof.captures.hlo.cost import MAIN_MEMORY, Cost, rate_of
from tfprof.captures.hlo.cost_rules import elements_of, window_size
from tfprof.captures.hlo.gpu_cycles import CYCLES, OTHER_CYCLES
from tfprof.captures.hlo.library_calls import is_convolution_call
from tfprof.captures.hlo.opcodes import COMPUTES_ELEMENTS, ELEMENTWISE, TOUCHES_NOTHING, is_bitcast
from tfprof.captures.hlo.reference_rules import (
    RULES,
    Properties,
    all_read_and_written,
    collective,
    custom_call,
    float32,
    initial_values,
    scatter,
)
from tfprof.captures.model.hlo import Computation, HloModule, Instruction, Shape

_LARGE_CONSTANT: Final = 8
"""Largest number of elements of a constant that is part of the code, not read from memory."""

_UNSEEN: Final = frozenset(
    ("sort", "custom-call", "all-reduce", "all-reduce-start", "reduce-scatter")
)
"""Instructions whose computations the reference does not visit."""

_COUNTED: Final = frozenset(("opt-barrier", "partition-id", "replica-id"))
"""Instructions that touch no memory, but whose operands and results count."""


def reference_costs_of(module: HloModule) -> Mapping[Instruction, Cost]:
    """The costs that the reference shows for GPU programs."""
    return _Analysis(module).run()


class _Analysis:
    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._properties_of: dict[Instruction, Properties] = {}
        self._totals: dict[Computation, Properties] = {}

    def run(self) -> Mapping[Instruction, Cost]:
        for computation in self._module.computations:
            total = Properties()
            for instruction in computation.instructions:
                properties = self._properties_of[instruction] = self._properties(instruction)
                for place, bytes_read in properties.read.items():
                    total.read[place] = float32(total.read.get(place, 0.0) + bytes_read)
                for part, bytes_written in properties.written.items():
                    total.written[part] = float32(total.written.get(part, 0.0) + bytes_written)
                unknown = 0 if properties.is_known else 1  # counts as -1 in sums, as 0 by itself
                total.flops = float32(total.flops + properties.flops - unknown)
                total.n_bytes = float32(total.n_bytes + properties.n_bytes - unknown)
            self._totals[computation] = total
        visited = self._visited()
        return {
            each: _cost(each, properties) if self._module.home[each] in visited else Cost()
            for each, properties in self._properties_of.items()
        }

    def _visited(self) -> set[Computation]:
        """Computations that the reference visits: not those that sorts and custom calls use."""
        waiting = [self._module.entry] if self._module.entry else []
        visited = set(waiting)
        while waiting:
            for one in waiting.pop().instructions:
                if one.opcode not in _UNSEEN:
                    waiting += [called for called in one.calls if called not in visited]
                    visited.update(one.calls)
        return visited

    def _properties(self, one: Instruction) -> Properties:
        properties = all_read_and_written(one)
        opcode = one.opcode
        if opcode not in _COUNTED and (opcode in TOUCHES_NOTHING or is_bitcast(one)):
            return Properties(uses=properties.uses)
        if opcode in COMPUTES_ELEMENTS:
            cycles = CYCLES.get((opcode, one.shape.element_type), OTHER_CYCLES)
            properties.flops = float32(cycles * one.shape.n_elements)
        elif opcode == "fusion":
            self._fusion(one, properties)
        elif opcode == "custom-call":
            custom_call(one, properties)
        elif opcode in RULES:
            RULES[opcode](one, properties)
        elif one.calls:
            self._calls(one, properties)
        return properties

    def _calls(self, one: Instruction, properties: Properties) -> None:
        totals = [self._totals.get(called, Properties()) for called in one.calls]
        if one.opcode in ("call", "while", "conditional", "async-start"):
            choose = max if one.opcode == "conditional" else sum
            properties.flops = float32(choose(total.flops for total in totals))
            properties.n_bytes = float32(choose(total.n_bytes for total in totals))
            properties.read, properties.written = {}, {}
            if one.opcode in ("call", "async-start"):  # bytes of all callees' operands
                properties.read, properties.written = dict(totals[0].read), dict(totals[0].written)
            return
        first = totals[0].flops
        shape = one.shape.leaves[0] if one.shape.leaves else one.shape
        results = prod(shape.dimensions)
        if one.opcode == "reduce":
            properties.flops = float32(first * (elements_of(one, 0) - results))
            initial_values(one, properties, results)
        elif one.opcode == "reduce-window":
            properties.flops = float32(first * (window_size(one) - 1) * results)
        elif one.opcode == "select-and-scatter" and len(totals) > 1:
            source = elements_of(one, 1)
            both = first * source * (window_size(one) - 1) + totals[1].flops * source
            properties.flops = float32(both)
        elif one.opcode == "scatter":
            scatter(one, properties)
            properties.flops = float32(first * elements_of(one, len(one.operands) - 1))
        elif one.opcode == "map":
            properties.flops = float32(first * results)
        elif one.opcode in ("all-reduce", "all-reduce-start", "reduce-scatter"):
            root = one.calls[0].root
            key = (root.opcode if root else "", shape.element_type)
            properties.flops = float32(CYCLES.get(key, OTHER_CYCLES) * one.shape.n_elements)
            collective(one, properties)

    def _fusion(self, fusion: Instruction, properties: Properties) -> None:
        """Bytes that enter and leave; cycles as often as results are used."""
        inner = fusion.calls[0] if fusion.calls else None
        if inner is None or inner.root is None:
            return
        root = inner.root
        properties.n_bytes = 0.0
        results = root.operands if root.opcode == "tuple" else (root,)
        for place, leaf in enumerate(fusion.shape.leaves):
            size = leaf.n_bytes
            result = results[place] if place < len(results) else root
            if result.opcode == "dynamic-update-slice" and len(result.operands) > 1:
                size = result.operands[1].shape.n_bytes
                if self._properties_of[result].uses:
                    self._properties_of[result].uses[0] = 0.0
            properties.written[place] = size
            properties.n_bytes = float32(properties.n_bytes + size)
        properties.flops = self._utilize(inner)
        for one in inner.instructions:
            if one.opcode == "constant" and one.shape.n_elements > _LARGE_CONSTANT:
                used = min(self._properties_of[one].utilization, 1.0)
                properties.n_bytes = float32(properties.n_bytes + one.shape.n_bytes * used)
        for parameter in inner.parameters:
            place = parameter.number
            if 0 <= place < len(fusion.operands):
                used = self._properties_of[parameter].utilization
                size = int(float32(parameter.shape.n_bytes * min(used, 1.0)))
                properties.read[place, 0] = size
                properties.uses[place] = used
                properties.n_bytes = float32(properties.n_bytes + size)

    def _utilize(self, computation: Computation) -> float:
        """Set how often each instruction's elements are used, and return the sum of their cycles.

        Elementwise instructions pass the uses of their results on to their operands. The parts of
        an operand that others read are added to its own uses.
        """
        users: dict[Instruction, dict[Instruction, None]] = {
            one: {} for one in computation.instructions
        }
        own = dict.fromkeys(computation.instructions, 0.0)
        root = computation.root
        assert root is not None
        own[root], users[root] = 1.0, {root: None}
        flops = 0.0
        for one in reversed(computation.instructions):
            used = 0.0
            for user in users[one]:
                used = float32(used + own[user])
            self._properties_of[one].utilization = used
            flops = float32(flops + float32(used * self._properties_of[one].flops))
            passes = one.opcode in ELEMENTWISE or one.opcode in ("tuple", "get-tuple-element")
            for place, operand in enumerate(one.operands):
                if passes:
                    users[operand].update(users[one])
                    continue
                users[operand][operand] = None
                elements = operand.shape.n_elements
                part = float32(used * self._properties_of[one].uses[place])
                part = ceil(float32(part * elements)) / elements if elements else 0.0
                own[operand] = float32(own[operand] + float32(part))
        return flops


def _cost(one: Instruction, properties: Properties) -> Cost:
    flops = int(properties.flops) if properties.flops >= 0 else 0
    is_convolution = is_convolution_call(one)
    read = sum(
        properties.read.get((place, number), 0.0)
        for place, operand in enumerate(one.operands)
        for number, leaf in enumerate(operand.shape.leaves)
        if _in_main_memory(leaf)
    )
    written = sum(
        properties.written.get(number, 0.0)
        for number, leaf in enumerate(one.shape.leaves)
        if _in_main_memory(leaf)
    )
    n_bytes = max(int(properties.n_bytes), 0)
    if not n_bytes:
        read = written = 0
    return Cost(
        flops,
        flops // (1 if is_convolution else rate_of(one)),
        bytes_accessed=n_bytes,
        main_read_bytes=int(read),
        main_write_bytes=int(written),
        is_known=properties.is_known,
    )


def _in_main_memory(leaf: Shape) -> bool:
    return leaf.layout is not None and leaf.layout.memory_space == MAIN_MEMORY
