"""Pools and their gradients. Windows that hang over the border count in full."""

from __future__ import annotations

import math

from tfprof.graphs.flops.formulas import (
    Cost,
    Counted,
    declare_free,
    enter_counts,
    float_work,
    formula,
    operations,
)
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.shapes.pool import AVERAGE_GRADIENTS, MAXIMUM_GRADIENTS, window_sizes
from tfprof.graphs.shapes.rules import with_onednn

_REGISTERED = "TensorFlow: flops_registry.py, which counts the same"


@formula(
    with_onednn("AvgPool", "AvgPool3D"),
    "n·k",
    _REGISTERED,
    why="Each of n results takes k - 1 additions and a division for the k taps of its window.",
)
@formula((*with_onednn("MaxPool", "MaxPool3D"), "MaxPoolV2 MaxPoolWithArgmax"), "n·k", _REGISTERED)
def _pool(op: OpCall) -> Cost:
    """Each of n results is compared with the k taps of its window, beginning at the lowest."""
    n, k = op.n_out(), math.prod(window_sizes(op))
    return operations(float_work(n * k, op.dtype()), n=n, k=k)


@formula(AVERAGE_GRADIENTS, "2·n·k", _REGISTERED)
def _average_gradient(op: OpCall) -> Cost:
    """Each of n gradients is scaled and added for each of the k taps of its window."""
    n, k = op.n_in(1), math.prod(window_sizes(op))
    return operations(float_work(2 * n * k, op.dtype(1)), n=n, k=k)


@formula((*MAXIMUM_GRADIENTS, "MaxPoolGradV2"), "n·k + n", _REGISTERED)
def _maximum_gradient(op: OpCall) -> Cost:
    """The largest of k taps is looked up again for each of n gradients, which is then added."""
    n, k = op.n_in(1), math.prod(window_sizes(op))
    return operations(float_work(n * k + n, op.dtype()), n=n, k=k)


@formula("MaxPoolGradGrad MaxPoolGradGradV2 MaxPool3DGradGrad", "n·k")
def _maximum_second_gradient(op: OpCall) -> Cost:
    """The largest of k taps is looked up again for each of n results; its gradient is taken."""
    n, k = op.n_in(1), math.prod(window_sizes(op))
    return operations(float_work(n * k, op.dtype()), n=n, k=k)


declare_free(
    "MaxPoolGradGradWithArgmax", because="takes gradients from given places, computes nothing"
)


@formula("FractionalAvgPool FractionalMaxPool", "t", "Graham, Fractional Max-Pooling, 2014")
def _fractional(op: OpCall) -> Cost:
    """One operation for each of t taps in all windows, which share a border if they overlap."""
    t = _fractional_taps(op, op.shape_of_rank(0, 4), op.out())
    return operations(float_work(t, op.dtype()), t=t)


@formula("FractionalAvgPoolGrad", "2·t")
def _fractional_average_gradient(op: OpCall) -> Cost:
    """A gradient is scaled and added for each of t taps in all windows."""
    t = _fractional_taps(op, op.out(), op.shape_of_rank(1, 4))
    return operations(float_work(2 * t, op.dtype(1)), t=t)


@formula("FractionalMaxPoolGrad", "t + n")
def _fractional_maximum_gradient(op: OpCall) -> Cost:
    """The largest of t taps in all windows are looked up again, and n gradients added there."""
    t = _fractional_taps(op, op.shape_of_rank(0, 4), op.shape_of_rank(1, 4))
    n = op.n_in(2)
    return operations(float_work(t + n, op.dtype()), t=t, n=n)


def _fractional_taps(op: OpCall, image: tuple[Number, ...], result: tuple[Number, ...]) -> Number:
    """Taps in all windows: they cover the image once, and if they overlap, inner borders twice."""
    if len(image) != 4 or len(result) != 4:
        raise UnknownError("fractional pools work on four dimensions")
    batch, height, width, channels = image
    if op.flag("overlapping"):
        height, width = height + result[1] - 1, width + result[2] - 1
    return batch * height * width * channels


enter_counts(
    Counted("MaxPoolGradWithArgmax", 1, of_input=1, work=float_work,
            why="Each of n gradients is added at the place that is given."),
)  # fmt: skip
