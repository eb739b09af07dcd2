"""Convolutions and products with other ops fused to them: the sum of the parts."""

from __future__ import annotations

import math

from tfprof.graphs.flops.conv import conv, depthwise_conv, filter_gradient, products_per_output
from tfprof.graphs.flops.elementwise import PER_ELEMENT
from tfprof.graphs.flops.formulas import (
    RAW_OPS,
    Cost,
    additions,
    formula,
    multiply_adds,
    names_in,
    per_element,
    real_multiply_adds,
)
from tfprof.graphs.flops.linear import mat_mul
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, total
from tfprof.graphs.model.tensors import known_dims
from tfprof.graphs.shapes.conv import (
    CONV_WITH_BIAS,
    FILTER_AND_BIAS_GRADIENTS,
    PADDED_CONV,
    PADDED_FUSED_CONV,
)
from tfprof.graphs.shapes.images import resized
from tfprof.graphs.shapes.rules import with_onednn

_SOURCE = "TensorFlow: fused_ops of the op; each part counts as it does alone"

_SAME_AS = {
    **dict.fromkeys(("Add", "BinaryAdd", "Sum"), "AddV2"),
    **dict.fromkeys(("FusedSwish", "Swish"), "_MklSwish"),
    **dict.fromkeys(("FusedMish", "Mish"), "_MklFusedMish"),
}
"""Other names for element-wise ops."""

_GELU_APPROXIMATE = 9
"""``0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))`` (Hendrycks & Gimpel, GELUs, 2016)."""

_GELU_EXACT = 5
"""``0.5·x·(1 + erf(x / √2))``."""

_HARD_SWISH = 5
"""``x·min(max(x + 3, 0), 6) / 6`` (Howard et al., Searching for MobileNetV3, 2019)."""

_OWN = {
    "GeluApproximate": _GELU_APPROXIMATE,
    "GeluExact": _GELU_EXACT,
    **dict.fromkeys(("HardSwish", "FusedHardSwish"), _HARD_SWISH),
    **dict.fromkeys(("Identity", "None", ""), 0),
}


def tail_operations(op: OpCall, name: str) -> int:
    """Operations per element of an op that is fused behind a product."""
    bare = name.removeprefix("_Mkl").removeprefix("_")
    if bare in _OWN:
        return _OWN[bare]
    entry = PER_ELEMENT.get(_SAME_AS.get(bare, bare))
    if entry is None:
        raise UnknownError(f"no count is stated for {name!r}, which is fused to it")
    return per_element(op, entry)


def _with_tails(op: OpCall, product: Cost) -> Cost:
    """A product and all ops in ``fused_ops``."""
    n = op.n_out()
    work: list[Number] = [product.other]
    for name in names_in(op, "fused_ops"):
        if name == "FusedBatchNorm":
            work.append(3 * n + 4 * op.n_in(2))
        else:
            work.append(tail_operations(op, name) * n)
    return product._replace(other=total(work))


@formula(
    PADDED_FUSED_CONV,
    "2·n·k + n·fused",
    _SOURCE,
    why="A convolution with what is fused to it; padding the image first computes nothing.",
)
@formula(with_onednn("_FusedConv2D", "_FusedConv3D"), "2·n·k + n·fused", _SOURCE)
def _fused_conv(op: OpCall) -> Cost:
    """A convolution, and what is fused to it for each of the n elements of the result."""
    return _with_tails(op, conv(op))


@formula(with_onednn("_FusedDepthwiseConv2dNative"), "2·n·k + n·fused", _SOURCE)
def _fused_depthwise_conv(op: OpCall) -> Cost:
    """A depthwise convolution, and what is fused to it for each of the n results."""
    return _with_tails(op, depthwise_conv(op))


@formula(with_onednn("_FusedMatMul", "_FusedBatchMatMulV2"), "2·n·k + n·fused", _SOURCE)
def _fused_mat_mul(op: OpCall) -> Cost:
    """A matrix product, and what is fused to it for each of the n elements of the result."""
    return _with_tails(op, mat_mul(op))


@formula(CONV_WITH_BIAS, "2·n·k + n", RAW_OPS + "Conv2D")
def _conv_with_bias(op: OpCall) -> Cost:
    """A convolution, and the addition of a bias to each of the n elements of the result."""
    product = conv(op)
    return product._replace(other=additions(op.n_out(), op.dtype()))


@formula(FILTER_AND_BIAS_GRADIENTS, "2·n·k + n - c", RAW_OPS + "Conv2DBackpropFilter")
def _filter_gradient_with_bias(op: OpCall) -> Cost:
    """The gradient of the filter, and n gradients that are summed up for each of c channels."""
    product = filter_gradient(op)
    n, c = op.n_in(2), op.n_out(1)
    count = additions(n - c, op.dtype(2))
    return Cost(product.macs, count, (*product.numbers, ("c", c)))


@formula("FusedPadConv2D", "2·n·k")
@formula(PADDED_CONV, "2·n·k", RAW_OPS + "Conv2D")
def _padded_conv(op: OpCall) -> Cost:
    """A convolution; padding the image first computes nothing."""
    return conv(op) if op.type in PADDED_CONV else _conv_with_filter_at(op, 2)


@formula("FusedResizeAndPadConv2D", "2·n·k + 9·r")
def _resize_pad_conv(op: OpCall) -> Cost:
    """A convolution behind bilinear resizing: three blends a + (b - a)·t for each of r elements."""
    product = _conv_with_filter_at(op, 3)
    dims = known_dims(resized(op))
    if dims is None:
        raise UnknownError("the size that the image is resized to is unknown")
    r = math.prod(dims)
    return Cost(product.macs, 9 * r, (*product.numbers, ("r", r)))


def _conv_with_filter_at(op: OpCall, index: int) -> Cost:
    n, k = op.n_out(), products_per_output(op, op.shape_of_rank(index, 4))
    return multiply_adds(real_multiply_adds(n * k, op.dtype()), 0, n=n, k=k)


@formula(
    "FusedConv2DBiasActivation",
    "2·n·k + n·(2 + 2·side + activation)",
    "TensorFlow 1.15: contrib/fused_conv, fused_conv2d_bias_activation_op.cc",
)
def _conv_bias_activation(op: OpCall) -> Cost:
    """A convolution, scaled, plus a bias, plus a scaled side input if it has one, activated."""
    product = conv(op)
    side = 2 if op.n_in(3) != 0 else 0
    activation = tail_operations(op, op.text("activation_mode", "Relu"))
    return product._replace(other=(2 + side + activation) * op.n_out())
