"""Shapes of quantized kernels, whose results come with their range."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError, axis_in
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.conv import convolved
from tfprof.graphs.shapes.dims import broadcast, replaced, same_shape
from tfprof.graphs.shapes.general_conv import uniform_convolution
from tfprof.graphs.shapes.linear import mat_mul_shape
from tfprof.graphs.shapes.pool import pooled
from tfprof.graphs.shapes.rules import SHAPES, Shapes, with_onednn

_DEPTHWISE_TAILS = ("", "WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize")
_PRODUCT_TAILS = (*_DEPTHWISE_TAILS, "WithBiasAndRequantize")
_CONV_TAILS = """
    AndRelu AndReluAndRequantize AndRequantize PerChannel WithBiasSignedSumAndReluAndRequantize
    WithBiasSumAndRelu WithBiasSumAndReluAndRequantize
"""

CONVS = with_onednn(*("QuantizedConv2D" + tail for tail in (*_PRODUCT_TAILS, *_CONV_TAILS.split())))
DEPTHWISE_CONVS = with_onednn(*("QuantizedDepthwiseConv2D" + tail for tail in _DEPTHWISE_TAILS))
MAT_MULS = with_onednn(
    *("QuantizedMatMul" + tail for tail in (*_PRODUCT_TAILS, "WithBiasAndDequantize"))
)
POOLS = with_onednn("QuantizedAvgPool", "QuantizedMaxPool")


@SHAPES.of(*CONVS, *DEPTHWISE_CONVS)
def _conv(op: OpCall) -> Shapes:
    """Accumulators have a range for each channel of the filter, 8-bit results one for all."""
    shape = convolved(op, 2, depthwise=op.type in DEPTHWISE_CONVS)
    ranges = () if op.type.endswith("Requantize") else op.input(4 + ("WithBias" in op.type)).shape
    return [shape, ranges, ranges]


@SHAPES.of(*with_onednn("QuantizeV2"))
def _quantize(op: OpCall) -> Shapes:
    """There is a range for each slice along an axis, or one for all."""
    shape = op.input(0).shape
    axis = op.integer("axis", -1)
    if axis == -1:
        return [shape, (), ()]
    ranges: PartialShape = (None,) if shape is None else (shape[axis_in(axis, len(shape))],)
    return [shape, ranges, ranges]


@SHAPES.of("QuantizedConcat", *with_onednn("QuantizedConcatV2"))
def _concat(op: OpCall) -> Shapes:
    """Sizes along the axis add up. The axis is the first input, or follows the values."""
    n = op.attr("N")
    if not isinstance(n, int) or not 1 <= n < len(op.inputs):
        raise UnknownError(f"the attribute N is {n!r} instead of the number of values")
    first = 1 if op.type == "QuantizedConcat" else 0
    shapes = [op.shape(first + place) for place in range(n)]
    axis = op.axis(0 if first else n, len(shapes[0]))
    others = same_shape(replaced(shape, axis, None) for shape in shapes) or ()
    return [replaced(others, axis, sum(shape[axis] for shape in shapes)), (), ()]


SHAPES.of(*MAT_MULS)(
    lambda op: [mat_mul_shape(op), (), ()][: 1 if op.type.endswith("AndDequantize") else 3]
)
SHAPES.of("_FusedQuantizedConv2D")(lambda op: [convolved(op, 2)])
SHAPES.of("_FusedQuantizedDepthwiseConv2D")(lambda op: [convolved(op, 2, depthwise=True)])
SHAPES.of(*POOLS, "_QuantizedMaxPool3D")(lambda op: [pooled(op), (), ()])
SHAPES.of(
    """
    QuantizedRelu QuantizedRelu6 QuantizedReluX QuantizedInstanceNorm QuantizedBiasAdd
    QuantizedBatchNormWithGlobalNormalization QuantizeDownAndShrinkRange Requantize
    RequantizePerChannel
    """
)(lambda op: [op.input(0).shape, (), ()])
SHAPES.of("QuantizedAdd QuantizedMul")(lambda op: [broadcast(op.shape(0), op.shape(1)), (), ()])
SHAPES.of("UniformQuantizedAdd")(lambda op: [broadcast(op.shape(0), op.shape(1))])
SHAPES.of("UniformQuantizedConvolution UniformQuantizedConvolutionHybrid")(
    lambda op: [uniform_convolution(op).shape]
)
