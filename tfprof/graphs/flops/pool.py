"""Pools and their gradients. Windows that hang over the border count in full."""

from __future__ import annotations

import math

from tfprof.graphs.flops.element_types import element_type, float_work
from tfprof.graphs.flops.formulas import Cost, Family, operations
from tfprof.graphs.flops.per_element import Counted, enter_counts
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.shapes.onednn import with_onednn
from tfprof.graphs.shapes.pool import AVERAGE_GRADIENTS, MAXIMUM_GRADIENTS, window_sizes

FAMILY = Family.named("pool")

_REGISTERED = "TensorFlow: flops_registry.py, which counts the same"


@FAMILY.formula(*with_onednn("AvgPool", "AvgPool3D"), rule="n·k", source=_REGISTERED)
def _average(op: OpCall) -> Cost:
    """Each of n results takes k - 1 additions and a division for the k taps of its window."""
    n, k = op.n_out(), math.prod(window_sizes(op))
    return operations(float_work(n * k, element_type(op)), n=n, k=k)


@FAMILY.formula(
    *with_onednn("MaxPool", "MaxPool3D"),
    "MaxPoolV2 MaxPoolWithArgmax",
    rule="n·k",
    source=_REGISTERED,
)
def _maximum(op: OpCall) -> Cost:
    """Each of n results is compared with the k taps of its window, beginning at the lowest."""
    n, k = op.n_out(), math.prod(window_sizes(op))
    return operations(float_work(n * k, element_type(op)), n=n, k=k)


@FAMILY.formula(*AVERAGE_GRADIENTS, rule="2·n·k", source=_REGISTERED)
def _average_gradient(op: OpCall) -> Cost:
    """Each of n gradients is scaled and added for each of the k taps of its window."""
    n, k = op.n_in(1), math.prod(window_sizes(op))
    return operations(float_work(2 * n * k, element_type(op, 1)), n=n, k=k)


@FAMILY.formula(*MAXIMUM_GRADIENTS, "MaxPoolGradV2", rule="n·k + n", source=_REGISTERED)
def _maximum_gradient(op: OpCall) -> Cost:
    """The largest of k taps is looked up again for each of n gradients, which is then added."""
    n, k = op.n_in(1), math.prod(window_sizes(op))
    return operations(float_work(n * k + n, element_type(op)), n=n, k=k)


@FAMILY.formula("MaxPoolGradGrad MaxPoolGradGradV2 MaxPool3DGradGrad", rule="n·k")
def _maximum_second_gradient(op: OpCall) -> Cost:
    """The largest of k taps is looked up again for each of n results; its gradient is taken."""
    n, k = op.n_in(1), math.prod(window_sizes(op))
    return operations(float_work(n * k, element_type(op)), n=n, k=k)


FAMILY.declare_free(
    "MaxPoolGradGradWithArgmax", because="takes gradients from given places, computes nothing"
)


@FAMILY.formula(
    "FractionalAvgPool FractionalMaxPool", rule="t", source="Graham, Fractional Max-Pooling, 2014"
)
def _fractional(op: OpCall) -> Cost:
    """One operation for each of t taps in all windows, which share a border if they overlap."""
    t = _fractional_taps(op, op.shape_of_rank(0, 4), op.out())
    return operations(float_work(t, element_type(op)), t=t)


@FAMILY.formula("FractionalAvgPoolGrad", rule="2·t")
def _fractional_average_gradient(op: OpCall) -> Cost:
    """A gradient is scaled and added for each of t taps in all windows."""
    t = _fractional_taps(op, op.out(), op.shape_of_rank(1, 4))
    return operations(float_work(2 * t, element_type(op, 1)), t=t)


@FAMILY.formula("FractionalMaxPoolGrad", rule="t + n")
def _fractional_maximum_gradient(op: OpCall) -> Cost:
    """The largest of t taps in all windows are looked up again, and n gradients added there."""
    t = _fractional_taps(op, op.shape_of_rank(0, 4), op.shape_of_rank(1, 4))
    n = op.n_in(2)
    return operations(float_work(t + n, element_type(op)), t=t, n=n)


def _fractional_taps(op: OpCall, image: tuple[Number, ...], result: tuple[Number, ...]) -> Number:
    """Taps in all windows: they cover the image once, and if they overlap, inner borders twice."""
    if len(image) != 4 or len(result) != 4:
        raise UnknownError("fractional pools work on four dimensions")
    batch, height, width, channels = image
    if op.flag("overlapping"):
        height, width = height + result[1] - 1, width + result[2] - 1
    return batch * height * width * channels


enter_counts(FAMILY, (
    Counted("MaxPoolGradWithArgmax", 1, of_input=1, work=float_work,
            why="Each of n gradients is added at the place that is given."),
))  # fmt: skip
