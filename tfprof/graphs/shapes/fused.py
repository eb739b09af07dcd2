"""Shapes of convolutions and products that other ops are fused to."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes import arrays
from tfprof.graphs.shapes.arguments import count_attr, spelled_numbers
from tfprof.graphs.shapes.conv import convolved, convolved_dims, kernel_of
from tfprof.graphs.shapes.onednn import onednn_kernels
from tfprof.graphs.shapes.rules import Rules
from tfprof.graphs.shapes.windows import Size, layout_of, windows_of

RULES: Rules[PartialShape] = Rules()

PADDED_CONV = onednn_kernels("PadWithConv2D")
PADDED_FUSED_CONV = onednn_kernels("PadWithFusedConv2D")


def padded(op: OpCall, image: tuple[Size, ...], index: int) -> tuple[Size, ...]:
    """A shape with the paddings, two for each dimension, that an input gives."""
    amounts = spelled_numbers(op, index) if op.input(index).values is not None else None
    if amounts is None:
        return (None,) * len(image)
    if len(amounts) != 2 * len(image):
        raise UnknownError(f"input {index} has {len(amounts)} paddings instead of two for each")
    pairs = zip(image, amounts[::2], amounts[1::2], strict=True)
    return tuple(
        None if size is None or before is None or after is None else before + size + after
        for size, before, after in pairs
    )


@RULES.of(*PADDED_CONV, *PADDED_FUSED_CONV)
def _onednn_padded_conv(op: OpCall) -> list[PartialShape]:
    """Paddings come after the filter and the arguments of fused ops."""
    index = 2 + (op.integer("num_args") if op.type in PADDED_FUSED_CONV else 0)
    return [_convolved(op, padded(op, op.shape_of_rank(0, 4), index), 1)]


def resized(op: OpCall) -> tuple[Size, ...]:
    """The shape of the image resized to the size in input 1."""
    batch, _, _, channels = op.shape_of_rank(0, 4)
    sizes = spelled_numbers(op, 1)
    if sizes is None:
        return batch, None, None, channels
    if len(sizes) != 2:
        raise UnknownError(f"input 1 has {len(sizes)} sizes instead of height and width")
    return batch, *sizes, channels


def _convolved(op: OpCall, image: tuple[Size, ...], filter_index: int) -> PartialShape:
    layout = layout_of(op, 2)
    kernel = kernel_of(op, filter_index, 2, depthwise=False)
    return convolved_dims(layout, windows_of(op, 4), image, kernel)


@RULES.of("_MklConcat", "_MklConcatV2")
def _concat(op: OpCall) -> Sequence[PartialShape]:
    """Layouts come after the values and the axis, which is first or last."""
    plain = OpCall(
        op.type.removeprefix("_Mkl"),
        op.inputs[: count_attr(op, "N") + 1],
        attrs=op.attrs,
        output_types=op.output_types[:1],
    )
    return arrays.RULES[plain.type](plain)


# Paddings come before the filter.
RULES.of("FusedPadConv2D")(lambda op: [_convolved(op, padded(op, op.shape_of_rank(0, 4), 1), 2)])
RULES.of("FusedResizeAndPadConv2D")(lambda op: [_convolved(op, padded(op, resized(op), 2), 3)])
RULES.of("FusedConv2DBiasActivation")(lambda op: [convolved(op, 2)])
RULES.of("_MklTranspose _MklConjugateTranspose")(arrays.RULES["Transpose"])
