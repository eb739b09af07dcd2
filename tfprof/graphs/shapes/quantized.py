"""Shapes of quantized kernels, whose results come with their range."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.arguments import axis_in, axis_of, same_dim
from tfprof.graphs.shapes.broadcasting import broadcast
from tfprof.graphs.shapes.conv import convolved
from tfprof.graphs.shapes.general_conv import uniform_convolution
from tfprof.graphs.shapes.linear import mat_mul_shape
from tfprof.graphs.shapes.onednn import with_onednn
from tfprof.graphs.shapes.pool import pooled
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()

_CONV_TAILS = (
    *("", "AndRelu", "AndReluAndRequantize", "AndRequantize", "PerChannel"),
    *("WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize", "WithBiasAndRequantize"),
    *("WithBiasSignedSumAndReluAndRequantize", "WithBiasSumAndRelu"),
    "WithBiasSumAndReluAndRequantize",
)
_DEPTHWISE_TAILS = ("", "WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize")
_MAT_MUL_TAILS = (
    *("", "WithBias", "WithBiasAndDequantize", "WithBiasAndRelu"),
    *("WithBiasAndReluAndRequantize", "WithBiasAndRequantize"),
)

CONVS = with_onednn(*(f"QuantizedConv2D{tail}" for tail in _CONV_TAILS))
DEPTHWISE_CONVS = with_onednn(*(f"QuantizedDepthwiseConv2D{tail}" for tail in _DEPTHWISE_TAILS))
MAT_MULS = with_onednn(*(f"QuantizedMatMul{tail}" for tail in _MAT_MUL_TAILS))
POOLS = with_onednn("QuantizedAvgPool", "QuantizedMaxPool")


def _with_range_by_channel(op: OpCall, shape: PartialShape) -> list[PartialShape]:
    """Accumulators have a range for each channel of the filter, 8-bit results one for all."""
    if op.type.endswith("Requantize"):
        return [shape, (), ()]
    bias = 1 if "WithBias" in op.type else 0
    by_channel = op.input(4 + bias).shape
    return [shape, by_channel, by_channel]


@RULES.of(*with_onednn("QuantizeV2"))
def _quantize(op: OpCall) -> list[PartialShape]:
    """There is a range for each slice along an axis, or one for all."""
    shape = op.input(0).shape
    axis = op.integer("axis", -1)
    if axis == -1:
        return [shape, (), ()]
    ranges: PartialShape = (None,) if shape is None else (shape[axis_in(axis, len(shape))],)
    return [shape, ranges, ranges]


@RULES.of("QuantizedConcat", *with_onednn("QuantizedConcatV2"))
def _concat(op: OpCall) -> list[PartialShape]:
    """Sizes along the axis add up. The axis is the first input, or follows the values."""
    n = op.attr("N")
    if not isinstance(n, int) or not 1 <= n < len(op.inputs):
        raise UnknownError(f"the attribute N is {n!r} instead of the number of values")
    first = 1 if op.type == "QuantizedConcat" else 0
    shapes = [op.shape(first + place) for place in range(n)]
    axis = axis_of(op, 0 if first else n, len(shapes[0]))
    return [_concatenated(shapes, axis), (), ()]


def _concatenated(shapes: list[Dims], axis: int) -> PartialShape:
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        raise UnknownError("values with different numbers of dimensions are concatenated")
    dims: Dims = ()
    for place, sizes in enumerate(zip(*shapes, strict=True)):
        size = sizes[0]
        for other in sizes[1:]:
            size = size + other if place == axis else same_dim(size, other) or 0
        dims = (*dims, size)
    return dims


RULES.of(*CONVS)(lambda op: _with_range_by_channel(op, convolved(op, 2)))
RULES.of(*DEPTHWISE_CONVS)(lambda op: _with_range_by_channel(op, convolved(op, 2, depthwise=True)))
RULES.of(*MAT_MULS)(
    lambda op: [mat_mul_shape(op), (), ()][: 1 if op.type.endswith("AndDequantize") else 3]
)
RULES.of("_FusedQuantizedConv2D")(lambda op: [convolved(op, 2)])
RULES.of("_FusedQuantizedDepthwiseConv2D")(lambda op: [convolved(op, 2, depthwise=True)])
RULES.of("_QuantizedMatMul UniformQuantizedDot UniformQuantizedDotHybrid")(
    lambda op: [mat_mul_shape(op)]
)
RULES.of(*POOLS, "_QuantizedMaxPool3D")(lambda op: [pooled(op), (), ()])
RULES.of(
    """
    QuantizedRelu QuantizedRelu6 QuantizedReluX QuantizedInstanceNorm QuantizedBiasAdd
    QuantizedBatchNormWithGlobalNormalization QuantizeDownAndShrinkRange Requantize
    RequantizePerChannel
    """
)(lambda op: [op.input(0).shape, (), ()])
RULES.of(
    *with_onednn("Dequantize"),
    """
    FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars
    FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantize QuantizeAndDequantizeV2
    QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 UniformQuantize UniformDequantize
    UniformRequantize UniformQuantizedClipByValue
    """,
)(lambda op: [op.input(0).shape])
RULES.of("RequantizationRange RequantizationRangePerChannel")(lambda op: [(), ()])
RULES.of("QuantizedAdd QuantizedMul")(lambda op: [broadcast(op.shape(0), op.shape(1)), (), ()])
RULES.of("UniformQuantizedAdd")(lambda op: [broadcast(op.shape(0), op.shape(1))])
RULES.of(
    """
    FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannelGradient
    QuantizeAndDequantizeV4Grad
    """
)(lambda op: [op.input(1).shape, op.input(2).shape, op.input(3).shape])
RULES.of("UniformQuantizedConvolution UniformQuantizedConvolutionHybrid")(
    lambda op: [uniform_convolution(op).shape]
)
