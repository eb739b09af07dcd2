"""Quantized kernels. They compute with whole numbers, and their work counts all the same.

To quantize is ``clamp(round(x·scale + shift))``, 5 operations; between two scales it is the same.
Back to real numbers it is ``x·scale + shift``, 2 operations. Corrections for a zero that is not
coded as 0 are part of the product and not counted on their own.
"""

from __future__ import annotations

import math

from tfprof.graphs.flops.conv import products_per_output, taps_of_depthwise
from tfprof.graphs.flops.formulas import (
    RAW_OPS,
    Cost,
    Counted,
    declare_free,
    enter_counts,
    formula,
    multiply_adds,
    names_in,
    operations,
)
from tfprof.graphs.flops.linear import depth
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.shapes.general_conv import uniform_convolution
from tfprof.graphs.shapes.pool import window_sizes
from tfprof.graphs.shapes.quantized import CONVS, DEPTHWISE_CONVS, MAT_MULS, POOLS
from tfprof.graphs.shapes.rules import with_onednn

_PAPER = "Jacob et al., Quantization and Training of Neural Networks, 2018, §2"

_QUANTIZE = 5
_DEQUANTIZE = 2

_PER_ELEMENT = {
    """
    QuantizeV2 _MklQuantizeV2 Requantize RequantizePerChannel UniformQuantize UniformRequantize
    """: (_QUANTIZE, "clamp(round(x·scale + shift))"),
    "QuantizeDownAndShrinkRange": (7, "min and max, then clamp(round(x·scale + shift))"),
    "RequantizationRange RequantizationRangePerChannel": (2, "min and max"),
    "Dequantize _MklDequantize UniformDequantize": (_DEQUANTIZE, "x·scale + shift"),
    "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel": (
        7,
        "clamp(round(x·scale + shift)), then back",
    ),
    "FakeQuantWithMinMaxVarsGradient": (3, "two comparisons choose the sum that dy goes to"),
    "FakeQuantWithMinMaxVarsPerChannelGradient": (3, "two comparisons choose a sum for dy"),
    """
    QuantizeAndDequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4
    """: (5, "round(clamp(x)·scale) / scale; or min and max, unclamped"),
    "FakeQuantWithMinMaxArgsGradient QuantizeAndDequantizeV4Grad": (
        2,
        "two comparisons choose dy or 0",
    ),
    "QuantizedRelu": (1, "max(x, zero)"),
    "QuantizedRelu6": (2, "min(max(x, zero), six)"),
    "QuantizedReluX": (2, "min(max(x, zero), limit)"),
    "UniformQuantizedClipByValue": (2, "min(max(x, low), high)"),
}
"""Operations for each element of input 0, and their meaning."""

_PER_RESULT = {
    "QuantizedAdd": (3, "x·scale + y·scale, each brought to the scale of the sum"),
    "QuantizedBiasAdd": (3, "x·scale + bias·scale, each brought to the scale of the sum"),
    "QuantizedMul": (3, "(x - zero)·(y - zero)"),
    "UniformQuantizedAdd": (7, "clamp(round(x·scale + y·scale + shift)) of both on one scale"),
}
"""Operations for each element of the result, and their meaning."""

for _table, _of_input in ((_PER_ELEMENT, 0), (_PER_RESULT, None)):
    for _op_types, (_count, _expression) in _table.items():
        for _name in _op_types.split():
            _why, _source = f"{_expression} for each element", RAW_OPS + _name.removeprefix("_Mkl")
            enter_counts(Counted(_name, _count, _why, _source, _of_input))

_TAILS = {
    **dict.fromkeys(("Bias", "BiasAdd", "Relu", "Tanh"), 1),
    **dict.fromkeys(("Sum", "SignedSum", "Add", "Relu6", "LeakyRelu"), 2),
    "Elu": 3,
    "Sigmoid": 4,
    "GeluApproximate": 9,
    "GeluExact": 5,
    "Requantize": _QUANTIZE,
    "Dequantize": _DEQUANTIZE,
}
"""Operations for each element of a product's result. A summand is brought to its scale first."""


def _tails_of_name(op_type: str) -> tuple[str, ...]:
    """Ops that are fused to a quantized product by its name, such as ``WithBiasSumAndRelu``."""
    _, _, tails = op_type.replace("Conv2D", "MatMul").partition("MatMul")
    names = tails.removeprefix("WithBias").removeprefix("PerChannel").split("And")
    bias = ("Bias",) if tails.startswith("WithBias") else ()
    return (*bias, *(name for name in names if name))


def _product(op: OpCall, k: Number) -> Cost:
    """A product of depth ``k`` with what is fused to it."""
    n = op.n_out()
    by_name = not op.type.startswith(("_F", "_Q"))
    tails = _tails_of_name(op.type) if by_name else names_in(op, "fused_ops")
    unknown = [name for name in tails if name not in _TAILS]
    if unknown:
        raise UnknownError(f"no count is stated for {unknown[0]!r}, which is fused to it")
    per_result = sum(_TAILS[name] for name in tails)
    return multiply_adds(n * k, per_result * n, n=n, k=k)


@formula((*CONVS, "_FusedQuantizedConv2D"), "2·n·k + n·fused", _PAPER)
def _conv(op: OpCall) -> Cost:
    """Each of n results sums k products; then bias, sum, activation and rescaling by the name."""
    return _product(op, products_per_output(op, op.shape(1)))


@formula((*DEPTHWISE_CONVS, "_FusedQuantizedDepthwiseConv2D"), "2·n·k + n·fused", _PAPER)
def _depthwise_conv(op: OpCall) -> Cost:
    """Each of n results sums the k taps of a window in one channel; then what is fused to it."""
    return _product(op, taps_of_depthwise(op.shape(1)))


@formula((*MAT_MULS, "_QuantizedMatMul"), "2·n·k + n·fused", _PAPER)
def _mat_mul(op: OpCall) -> Cost:
    """Each of n elements of the product sums k products; then what is fused to it."""
    return _product(op, depth(op))


@formula("UniformQuantizedDot", "2·n·k + 5·n", _PAPER)
def _uniform_dot(op: OpCall) -> Cost:
    """Each of n elements of the product sums k products, and is rescaled."""
    n, k = op.n_out(), depth(op)
    return multiply_adds(n * k, _QUANTIZE * n, n=n, k=k)


@formula("UniformQuantizedDotHybrid", "2·n·k + 2·w", _PAPER)
def _hybrid_dot(op: OpCall) -> Cost:
    """The w weights become real numbers; each of n elements of the product sums k products."""
    n, k, w = op.n_out(), depth(op), op.n_in(1)
    return multiply_adds(n * k, _DEQUANTIZE * w, n=n, k=k, w=w)


@formula((*POOLS, "_QuantizedMaxPool3D"), "n·k", RAW_OPS + "QuantizedMaxPool")
def _pool(op: OpCall) -> Cost:
    """Each of n results takes one operation for each of the k taps of its window."""
    n, k = op.n_out(), math.prod(window_sizes(op))
    return operations(n * k, n=n, k=k)


@formula("QuantizedBatchNormWithGlobalNormalization", "3·n + 4·c; 3·n + 3·c without scale")
def _batch_norm(op: OpCall) -> Cost:
    """(x - mean)·factor + offset for each element; factor = scale / √(variance + ε) by channel."""
    n, c = op.n_in(0), op.n_in(3)
    factor = 4 if op.flag("scale_after_normalization") else 3
    return operations(3 * n + factor * c, n=n, c=c)


@formula(
    "QuantizedInstanceNorm",
    "10·n + 3·c; 12·n + 3·c if the range is not given",
    "Ulyanov et al., Instance Normalization, 2016",
)
def _instance_norm(op: OpCall) -> Cost:
    """Mean n, differences n, variance 2·n, product n, then 5·n to quantize; c channels of images.

    The range of the result is found by 2·n comparisons unless it is given.
    """
    dims = op.shape_of_rank(0, 4)
    n, c = math.prod(dims), dims[0] * dims[3]
    per_element = 10 if op.flag("output_range_given") else 12
    return operations(per_element * n + 3 * c, n=n, c=c)


@formula("UniformQuantizedConvolution", "2·p + 5·n", _PAPER)
def _uniform_conv(op: OpCall) -> Cost:
    """Elements of the image meet taps p times, over channels and images; n results are rescaled."""
    p, n = uniform_convolution(op).products, op.n_out()
    return multiply_adds(p, _QUANTIZE * n, p=p, n=n)


@formula("UniformQuantizedConvolutionHybrid", "2·p + 2·w", _PAPER)
def _hybrid_conv(op: OpCall) -> Cost:
    """The w weights become real numbers; elements of the image meet taps p times."""
    p, w = uniform_convolution(op).products, op.n_in(1)
    return multiply_adds(p, _DEQUANTIZE * w, p=p, w=w)


declare_free("QuantizedReshape", because="moves elements, computes nothing")
declare_free(
    *with_onednn("QuantizedConcatV2"),
    "QuantizedConcat",
    because="moves elements; values that have the same range are not rescaled",
)
