"""Multiply-adds of products and convolutions, from their shapes."""

from __future__ import annotations

from math import gcd, prod
from typing import Final

import numpy as np

from tfprof.captures.model.hlo import (
    ConvolutionDimensions,
    DotDimensions,
    Instruction,
    Shape,
    WindowDimension,
)

_MOST_KERNEL_POSITIONS: Final = 1 << 16
"""A kernel with more positions along one dimension is damaged; all count, even on padding."""

_INPUT_GRADIENT: Final = "__cudnn$convBackwardInput"
_KERNEL_GRADIENT: Final = "__cudnn$convBackwardFilter"


def dot_multiply_adds(lhs: Shape, result: Shape, dimensions: DotDimensions) -> int:
    """Multiply-adds of a product: one for each element of the result and term of its sum."""
    sizes = lhs.dimensions
    terms = prod(sizes[place] for place in dimensions.lhs_contracting if 0 <= place < len(sizes))
    return terms * prod(result.dimensions)


def convolution_shapes(instruction: Instruction) -> tuple[Shape, Shape, Shape] | None:
    """Input, kernel and output to which the dimension numbers of a convolution refer.

    A library call for a gradient has the numbers of the forward convolution. So one of its operands
    is the output of that convolution, and its result is the input or the kernel.
    """
    leaves = instruction.shape.leaves
    if len(instruction.operands) < 2 or not leaves:
        return None
    first, second = (operand.shape for operand in instruction.operands[:2])
    target = instruction.attributes.custom_call_target
    if target == _INPUT_GRADIENT:
        return leaves[0], second, first
    if target == _KERNEL_GRADIENT:
        return first, leaves[0], second
    return first, second, leaves[0]


def convolution_multiply_adds(
    instruction: Instruction, shapes: tuple[Shape, Shape, Shape] | None
) -> int:
    """Multiply-adds of a convolution, without those on padding or on the holes of a dilation.

    Args:
        instruction: A ``convolution``, or a call of a library's convolution.
        shapes: Its input, kernel and output.

    Returns:
        0 if the instruction has no dimension numbers that fit.
    """
    numbers, window = instruction.attributes.convolution, instruction.attributes.window
    if numbers is None or shapes is None or not _fit(numbers, shapes, len(window)):
        return 0
    inputs, kernel, outputs = (shape.dimensions for shape in shapes)
    positions = prod(
        valid_positions(
            inputs[numbers.input_spatial[place]],
            kernel[numbers.kernel_spatial[place]],
            outputs[numbers.output_spatial[place]],
            dimension,
        )
        for place, dimension in enumerate(window)
    )
    features = inputs[numbers.input_feature] // instruction.attributes.feature_groups
    batch = inputs[numbers.input_batch] // instruction.attributes.batch_groups
    return features * outputs[numbers.output_feature] * batch * positions


def _fit(
    numbers: ConvolutionDimensions, shapes: tuple[Shape, Shape, Shape], n_spatial: int
) -> bool:
    """Whether each dimension number refers to an existing dimension."""
    wanted = (
        (numbers.input_batch, numbers.input_feature, *numbers.input_spatial),
        (numbers.kernel_input_feature, numbers.kernel_output_feature, *numbers.kernel_spatial),
        (numbers.output_batch, numbers.output_feature, *numbers.output_spatial),
    )
    return all(
        len(places) >= n_spatial + 2 and all(0 <= place < len(shape.dimensions) for place in places)
        for places, shape in zip(wanted, shapes, strict=True)
    )


def valid_positions(n_inputs: int, n_kernel: int, n_outputs: int, window: WindowDimension) -> int:
    """Pairs of a kernel position and an output along one dimension that meet an input.

    Output ``o`` and kernel position ``k`` meet input ``i`` if ``i · base dilation`` is
    ``o · stride - low padding + k · window dilation``.
    """
    if not (n_inputs and n_kernel and n_outputs):
        return 0
    holes, stride = window.base_dilation, window.stride
    if n_kernel > _MOST_KERNEL_POSITIONS or stride < 1:
        return n_kernel * n_outputs
    # Python's integers, since sizes in damaged programs have no bounds.
    behind = window.padding_low - np.arange(n_kernel).astype(object) * window.window_dilation
    first = np.maximum(-(-behind // stride), 0)
    last = np.minimum(((n_inputs - 1) * holes + behind) // stride, n_outputs - 1)
    common = gcd(stride, holes)
    period = holes // common
    # Where o · stride = behind (mod holes), every period-th output after the first meets an input.
    start = behind // common * pow(stride // common, -1, period) % period
    positions = (last - start) // period - (first - 1 - start) // period
    meets = (behind % common == 0) & (last >= first)
    return int(positions[meets.astype(bool)].sum())
