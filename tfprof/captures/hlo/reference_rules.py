"""Costs of single opcodes of GPU programs as the reference has them; see ``reference_cost``."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Final

import numpy as np

from tfprof.captures.hlo.convolutions import convolution_multiply_adds, dot_multiply_adds
from tfprof.captures.hlo.cost_rules import elements_of
from tfprof.captures.hlo.library_calls import is_convolution_call, product_dimensions
from tfprof.captures.model.hlo import Instruction

_CONCATENATE_CYCLES: Final = 6
_CROOKED_CONCATENATE_CYCLES: Final = 400
"""Along an inner dimension, if the first part is not a multiple of a warp's 32 threads."""

_PRODUCT_CALL: Final = "__cublas$lt$matmul"

_LARGEST: Final = int(np.finfo(np.float32).max)


def float32(value: float) -> float:
    """A number rounded to 24 bits."""
    return float(np.float32(min(value, _LARGEST)))


@dataclass(slots=True)
class Properties:
    """The cost of an instruction; leaves without bytes of their own are missing.

    Attributes:
        flops: Cycles.
        n_bytes: Bytes read and written.
        read: Bytes by operand and by leaf of the operand.
        written: Bytes by leaf of the result.
        uses: The used fraction of each operand.
        utilization: For a fused instruction, how often its elements are used.
        is_known: False for custom calls of unknown libraries.
    """

    flops: float = 0.0
    n_bytes: float = 0.0
    read: dict[tuple[int, int], float] = field(default_factory=dict)
    written: dict[int, float] = field(default_factory=dict)
    uses: list[float] = field(default_factory=list)
    utilization: float = 0.0
    is_known: bool = True


def all_read_and_written(one: Instruction) -> Properties:
    """The cost of opcodes without a rule; tuples count with their pointers alone."""
    written = sum(leaf.n_bytes for leaf in one.shape.leaves)
    properties = Properties(n_bytes=float32(written), uses=[1.0] * len(one.operands))
    if not one.shape.is_tuple:
        properties.written[0] = one.shape.n_bytes
    for place, operand in enumerate(one.operands):
        properties.n_bytes = float32(properties.n_bytes + operand.shape.n_bytes)
        if not operand.shape.is_tuple:
            properties.read[place, 0] = operand.shape.n_bytes
    return properties


def _bytes(one: Instruction, place: int) -> int:
    return one.operands[place].shape.n_bytes if 0 <= place < len(one.operands) else 0


def _part(one: Instruction, elements: int) -> float:
    whole = elements_of(one, 0)
    return float32(elements / whole) if whole else 0.0


def initial_values(one: Instruction, properties: Properties, results: int) -> None:
    """A reduction reads its initial values for each result."""
    n_inputs = len(one.operands) // 2
    properties.n_bytes = sum(leaf.n_bytes for leaf in one.shape.leaves)
    properties.n_bytes += sum(_bytes(one, place) for place in range(n_inputs))
    for place in range(n_inputs, len(one.operands)):
        properties.read[place, 0] = results * _bytes(one, place)
        properties.uses[place] = float(results)
        properties.n_bytes += properties.read[place, 0]
    properties.n_bytes = float32(properties.n_bytes)


def collective(one: Instruction, properties: Properties) -> None:
    """Gathered or scattered data count twice; the start of an all-reduce only writes its result."""
    read = sum(operand.shape.n_bytes for operand in one.operands)
    written = one.shape.leaves[-1].n_bytes if one.shape.leaves else 0
    if one.opcode == "all-reduce-start":
        properties.n_bytes = float32(written)
    elif one.opcode == "reduce-scatter":
        properties.n_bytes = float32(2 * read + written)
    elif one.opcode in ("all-gather", "all-gather-start"):
        properties.n_bytes = float32(read + 2 * written)


def scatter(one: Instruction, properties: Properties) -> None:
    """It reads and writes only the updated parts of its operands."""
    n_arrays = len(one.operands) // 2
    total = 0
    for place in range(n_arrays):
        size = _bytes(one, n_arrays + 1 + place)
        properties.read[place, 0] = properties.read[n_arrays + 1 + place, 0] = size
        total += size
    properties.n_bytes = float32(3 * total + _bytes(one, n_arrays))
    if not one.shape.is_tuple:
        properties.written[0] = total


def custom_call(one: Instruction, properties: Properties) -> None:
    """Costs of products and convolutions of libraries; other custom calls have none."""
    leaves, operands = one.shape.leaves, one.operands
    numbers = product_dimensions(one)
    if numbers is not None and one.attributes.custom_call_target == _PRODUCT_CALL and leaves:
        multiply_adds = dot_multiply_adds(operands[0].shape, leaves[0], numbers)
    elif is_convolution_call(one) and len(operands) > 1 and leaves:
        shapes = operands[0].shape, operands[1].shape, leaves[0]
        multiply_adds = convolution_multiply_adds(one, shapes)
    else:
        properties.n_bytes, properties.is_known = 0.0, False
        properties.read, properties.written = {}, {}
        return
    properties.flops = float32(2 * multiply_adds)
    properties.n_bytes = float32(leaves[0].n_bytes + sum(each.shape.n_bytes for each in operands))


def _slice(one: Instruction, properties: Properties) -> None:
    size = one.shape.n_bytes
    indices = _bytes(one, 1) if one.opcode != "slice" else 0
    properties.n_bytes = float32(2 * size + indices)
    properties.read[0, 0] = size
    properties.uses[:1] = [_part(one, one.shape.n_elements)]


def _update(one: Instruction, properties: Properties) -> None:
    size = _bytes(one, 1)
    properties.n_bytes = float32(2 * size + _bytes(one, 2))
    properties.read[0, 0], properties.written[0] = 0.0, size
    properties.uses[:1] = [_part(one, one.shape.n_elements - elements_of(one, 1))]


def _dot(one: Instruction, properties: Properties) -> None:
    if one.attributes.dot is not None and one.operands:
        lhs = one.operands[0].shape
        properties.flops = float32(2 * dot_multiply_adds(lhs, one.shape, one.attributes.dot))


def _convolution(one: Instruction, properties: Properties) -> None:
    if len(one.operands) > 1:
        shapes = one.operands[0].shape, one.operands[1].shape, one.shape
        properties.flops = float32(2 * convolution_multiply_adds(one, shapes))


def _concatenate(one: Instruction, properties: Properties) -> None:
    place = one.attributes.dimensions[0] if one.attributes.dimensions else 0
    first = one.operands[0].shape.dimensions if one.operands else ()
    is_crooked = 0 < place < len(first) and first[place] % 32
    cycles = _CROOKED_CONCATENATE_CYCLES if is_crooked else _CONCATENATE_CYCLES
    properties.flops = float32(cycles * one.shape.n_elements)


def _tuple(one: Instruction, properties: Properties) -> None:
    properties.n_bytes, properties.read, properties.written = float32(one.shape.n_bytes), {}, {}


def _fft(one: Instruction, properties: Properties) -> None:
    halvings = prod(max(length, 1).bit_length() - 1 for length in one.attributes.fft[1])
    properties.flops = float32(8 * halvings * elements_of(one, 0))


def _sort(one: Instruction, properties: Properties) -> None:
    elements = elements_of(one, 0)
    properties.flops = float32(elements * max(elements - 1, 0).bit_length())


def _triangular_solve(one: Instruction, properties: Properties) -> None:
    if len(one.operands) > 1 and one.operands[0].shape.dimensions:
        properties.n_bytes = float32(one.shape.n_bytes + _bytes(one, 0) // 2 + _bytes(one, 1))
        properties.read[0, 0], _ = _bytes(one, 1), properties.read.pop((1, 0), None)
        n_rows = one.operands[0].shape.dimensions[-1]
        properties.flops = float32(2 * n_rows * elements_of(one, 1))


def _cholesky(one: Instruction, properties: Properties) -> None:
    if one.operands and one.operands[0].shape.dimensions:
        half = _bytes(one, 0) // 2
        properties.n_bytes = float32(2 * half)
        properties.read[0, 0] = properties.written[0] = half
        n_rows = one.operands[0].shape.dimensions[-1]
        properties.flops = float32(n_rows * elements_of(one, 0) // 3)


RULES: Final = {
    "slice": _slice,
    "dynamic-slice": _slice,
    "gather": _slice,
    "dynamic-update-slice": _update,
    "dot": _dot,
    "convolution": _convolution,
    "concatenate": _concatenate,
    "all-gather": collective,
    "all-gather-start": collective,
    "tuple": _tuple,
    "fft": _fft,
    "sort": _sort,
    "triangular-solve": _triangular_solve,
    "cholesky": _cholesky,
}
"""By opcode: a function that changes the default cost."""
