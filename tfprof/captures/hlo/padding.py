"""How much of a convolution's arrays is padding, for the layout card of the op profile."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final, Literal

from tfprof.captures.hlo.convolutions import convolution_shapes
from tfprof.captures.model.hlo import BITS, Instruction, Shape

Semantics = Literal["batch", "feature", "spatial", "unknown"]

_CONVOLUTIONS: Final = ("convolution", "custom-call")


@dataclass(frozen=True, slots=True)
class PaddedDimension:
    """One dimension of an array in memory.

    Attributes:
        size: Elements that are there.
        alignment: Its size in memory is the next multiple.
        semantics: What the dimension is.
    """

    size: int
    alignment: int
    semantics: Semantics

    @property
    def padded_size(self) -> int:
        """Elements in memory."""
        return -(-self.size // self.alignment) * self.alignment


def padded_dimensions(instruction: Instruction) -> list[PaddedDimension]:
    """The dimensions of a convolution's result, the fastest one first; empty for anything else.

    Alignments are the sizes of the layout's outer tile, 1 without tiles.
    """
    numbers = instruction.attributes.convolution
    leaves = instruction.shape.leaves
    shapes = convolution_shapes(instruction)
    if instruction.opcode not in _CONVOLUTIONS or numbers is None or shapes is None:
        return []
    result = leaves[0]
    if result is not shapes[2] or result.layout is None:
        return []
    names: dict[int, Semantics] = dict.fromkeys(numbers.output_spatial, "spatial")
    names |= {numbers.output_batch: "batch", numbers.output_feature: "feature"}
    tile = result.layout.tiles[0] if result.layout.tiles else ()
    order = [place for place in result.layout.minor_to_major if place < len(result.dimensions)]
    return [
        PaddedDimension(
            result.dimensions[place],
            max(tile[-1 - number], 1) if number < len(tile) else 1,
            names.get(place, "unknown"),
        )
        for number, place in enumerate(order)
    ]


def utilization(dimensions: list[PaddedDimension]) -> float:
    """The part of an array's memory that is no padding, 0 to 1; 1 of no dimensions."""
    padded = prod(dimension.padded_size for dimension in dimensions)
    return prod(dimension.size for dimension in dimensions) / padded if padded else 1.0


def primitive_bits(instruction: Instruction) -> int:
    """Bits of the wider operand of a convolution, which decide how fast it can be; else 0."""
    if instruction.opcode != "convolution" or len(instruction.operands) != 2:
        return 0
    return max(_bits(operand.shape) for operand in instruction.operands)


def _bits(shape: Shape) -> int:
    return BITS.get(shape.element_type, 0)
