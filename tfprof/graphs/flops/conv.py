"""Convolutions and their gradients, in every layout.

A window that hangs over the border takes part with all its taps: papers count so, and kernels
mostly multiply with the padding, too. The gradients pass each product of the forward convolution
once more, so they take as many multiply-adds, whatever strides and paddings are.
"""

from __future__ import annotations

import math

from tfprof.graphs.flops.formulas import (
    RAW_OPS,
    Cost,
    float_work,
    formula,
    multiply_adds,
    operations,
    real_multiply_adds,
)
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Dims
from tfprof.graphs.shapes import conv as op_types

_PAPER = "Dumoulin & Visin, A guide to convolution arithmetic for deep learning, 2016"


def products_per_output(op: OpCall, filter_dims: Dims) -> Number:
    """Number of products in each element of the result: taps × channels of its group."""
    if len(filter_dims) < 3:
        raise UnknownError(f"a filter of {len(filter_dims)} dimensions has no meaning")
    channels_first = op.text("filter_format", "HWIO") != "HWIO"
    return math.prod(filter_dims[1:] if channels_first else filter_dims[:-1])


def taps_of_depthwise(filter_dims: Dims) -> Number:
    """How many taps the window of a depthwise filter has."""
    if len(filter_dims) != 4:
        raise UnknownError(f"a depthwise filter has 4 dimensions, not {len(filter_dims)}")
    return math.prod(filter_dims[:2])


@formula((*op_types.CONV_2D, *op_types.CONV_3D, "Conv"), "2·n·k", _PAPER)
def conv(op: OpCall) -> Cost:
    """Each of n elements of the result sums k products: taps of the window × its channels."""
    n, k = op.n_out(), products_per_output(op, op.shape(1))
    return multiply_adds(real_multiply_adds(n * k, op.dtype()), n=n, k=k)


@formula(op_types.DEPTHWISE, "2·n·k", RAW_OPS + "DepthwiseConv2dNative")
def depthwise_conv(op: OpCall) -> Cost:
    """Each of n elements of the result sums the k taps of a window in one channel."""
    n, k = op.n_out(), taps_of_depthwise(op.shape(1))
    return multiply_adds(n * k, n=n, k=k)


@formula(
    (*op_types.INPUT_GRADIENTS_BY_SIZE, *op_types.INPUT_GRADIENTS_BY_TENSOR),
    "2·n·k",
    _PAPER + ", §4.6 (transposed convolution)",
)
def _input_gradient(op: OpCall) -> Cost:
    """Each of n gradients that come in is spread by k products: taps × channels of its group."""
    n, k = op.n_in(2), products_per_output(op, op.shape(1))
    return multiply_adds(real_multiply_adds(n * k, op.dtype(2)), n=n, k=k)


@formula(
    (*op_types.FILTER_GRADIENTS_BY_SIZE, *op_types.FILTER_GRADIENTS_BY_TENSOR),
    "2·n·k",
    RAW_OPS + "Conv2DBackpropFilter",
)
def filter_gradient(op: OpCall) -> Cost:
    """Each of n gradients that come in is multiplied with the k image elements that it saw."""
    n, k = op.n_in(2), products_per_output(op, op.out())
    return multiply_adds(real_multiply_adds(n * k, op.dtype(2)), n=n, k=k)


@formula(
    op_types.DEPTHWISE_INPUT_GRADIENTS, "2·n·k", RAW_OPS + "DepthwiseConv2dNativeBackpropInput"
)
def _depthwise_input_gradient(op: OpCall) -> Cost:
    """Each of n gradients that come in is spread over the k taps of its window."""
    n, k = op.n_in(2), taps_of_depthwise(op.shape(1))
    return multiply_adds(n * k, n=n, k=k)


@formula(
    op_types.DEPTHWISE_FILTER_GRADIENTS, "2·n·k", RAW_OPS + "DepthwiseConv2dNativeBackpropFilter"
)
def _depthwise_filter_gradient(op: OpCall) -> Cost:
    """Each of n gradients that come in is multiplied with the k image elements that it saw."""
    n, k = op.n_in(2), taps_of_depthwise(op.out())
    return multiply_adds(n * k, n=n, k=k)


@formula("Dilation2D", "2·n·k")
def _dilation(op: OpCall) -> Cost:
    """Each of n results is the maximum of k sums of an image element and a tap."""
    n, k = op.n_out(), _dilation_taps(op)
    return operations(float_work(2 * n * k, op.dtype()), n=n, k=k)


@formula("Dilation2DBackpropInput Dilation2DBackpropFilter", "2·n·k + n")
def _dilation_gradient(op: OpCall) -> Cost:
    """The maximum of k sums is looked up again for each of n gradients, which is then added."""
    n, k = op.n_in(2), _dilation_taps(op)
    return operations(float_work(2 * n * k + n, op.dtype()), n=n, k=k)


def _dilation_taps(op: OpCall) -> Number:
    return math.prod(op.shape_of_rank(1, 3)[:2])
