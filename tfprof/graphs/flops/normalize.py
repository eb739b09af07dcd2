"""Normalization kernels.

``n`` is the number of elements, ``c`` that of channels, each with a mean and a variance. With
``d = x - mean`` and ``r = 1 / √(variance + ε)`` (4 operations with the factor of the channel):

* With given statistics: ``y = (x - mean)·(r·scale) + offset``.
* With statistics of the batch, ``mean = Σx / n`` and ``variance = Σd² / n`` come first.
* Backward: ``dx = scale·r·(dy - Σdy / n - d·r²·Σ(dy·d) / n)``, ``dscale = r·Σ(dy·d)``,
  ``doffset = Σdy``.
"""

from __future__ import annotations

import math

from tfprof.graphs.flops.formulas import Cost, formula, names_in, operations
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import Dims
from tfprof.graphs.shapes.rules import with_onednn

_PAPER = "Ioffe & Szegedy, Batch Normalization, 2015, algorithms 1 and 2"
_ACTIVATIONS = {"": 0, "Identity": 0, "Relu": 1, "Relu6": 2, "LeakyRelu": 2, "Elu": 3}


@formula(
    with_onednn("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx"),
    "training: 6·n + 5·c, and 6·c if averages move; inference: 3·n + 4·c",
    _PAPER,
)
def _batch_norm(op: OpCall) -> Cost:
    """Mean n, differences n, variance 2·n, scale and offset 2·n; r·scale 4·c, unbiased variance c.

    Inference needs the differences, scale and offset. A side input that is added and an
    activation are on top.
    """
    n, c = op.n_out(0), op.n_out(1)
    if op.flag("is_training", True):
        moving = op.attr("exponential_avg_factor", 1.0) != 1.0
        count = 6 * n + (11 if moving else 5) * c
    else:
        count = 3 * n + 4 * c
    return operations(count + _fused(op) * n, n=n, c=c)


def _fused(op: OpCall) -> int:
    """Operations per element that are fused to a batch normalization."""
    activation = op.text("activation_mode", "Identity")
    if activation not in _ACTIVATIONS:
        raise UnknownError(f"no count is stated for the activation {activation}")
    return _ACTIVATIONS[activation] + max(op.integer("num_side_inputs"), 0)


@formula(
    (
        *with_onednn("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"),
        "_FusedBatchNormGradEx",
    ),
    "training: 8·n + 7·c; inference: 5·n + 3·c",
    _PAPER,
)
def _batch_norm_grad(op: OpCall) -> Cost:
    """Training: differences n, Σdy n - c, Σ(dy·d) 2·n - c, dx 4·n; 9·c for r and the factors.

    Inference: dx is dy times a factor of the channel. The gradient of a fused activation is one
    comparison.
    """
    n, c = op.n_out(0), op.n_out(1)
    count = 8 * n + 7 * c if op.flag("is_training", True) else 5 * n + 3 * c
    if op.text("activation_mode", "Identity") == "Relu":
        count = count + n
    return operations(count, n=n, c=c)


@formula("BatchNormWithGlobalNormalization", "3·n + 4·c; 3·n + 3·c without scale")
def _global_batch_norm(op: OpCall) -> Cost:
    """(x - mean)·factor + offset for each element; factor = r·scale for each channel."""
    n, c = op.n_in(0), op.n_in(1)
    scaled = op.flag("scale_after_normalization")
    return operations(3 * n + (4 if scaled else 3) * c, n=n, c=c)


@formula("BatchNormWithGlobalNormalizationGrad", "5·n + 9·c")
def _global_batch_norm_grad(op: OpCall) -> Cost:
    """dx n, Σdy n - c, differences n, Σ(dy·d) 2·n - c; 11·c for r and five products of sums."""
    n, c = op.n_in(0), op.n_in(1)
    return operations(5 * n + 9 * c, n=n, c=c)


def _window(op: OpCall, dims: Dims) -> int:
    """Channels that take part in the normalization of one."""
    window = 2 * max(op.integer("depth_radius", 5), 0) + 1
    depth = dims[-1]
    return min(window, depth) if isinstance(depth, int) else window


@formula("LRN", "n·(w + 4)")
def _local_response(op: OpCall) -> Cost:
    """x / (bias + α·Σ x²)^β: a square, w - 1 sums over w channels, and 4."""
    n, w = op.n_in(), _window(op, op.shape_of_rank(0, 4))
    return operations(n * (w + 4), n=n, w=w)


@formula("LRNGrad", "n·(7·w + 3)")
def _local_response_grad(op: OpCall) -> Cost:
    """The norm again (2·w + 1), its power, 1; and 5 for each of w channels that an output reads.

    Those are ``dx += dy·(-2·α·β·x·y / norm)``; the channel itself adds norm^-β.
    """
    n, w = op.n_in(), _window(op, op.shape_of_rank(0, 4))
    return operations(n * (7 * w + 3), n=n, w=w)


@formula("_MklLayerNorm", "7·n + 3·m", "Ba et al., Layer Normalization, 2016")
def _layer_norm(op: OpCall) -> Cost:
    """For m rows: mean n, differences n, variance 2·n, times r, scale and offset 3·n; r 3·m."""
    dims = op.shape()
    n, m = math.prod(dims), math.prod(dims[:-1])
    return operations(7 * n + 3 * m, n=n, m=m)


@formula("_MklFusedInstanceNorm", "6·n + 4·m", "Ulyanov et al., Instance Normalization, 2016")
def _instance_norm(op: OpCall) -> Cost:
    """For m images of one channel: mean n, differences n, variance 2·n, factor and offset 2·n."""
    dims = op.shape()
    axes = {axis % len(dims) for axis in op.ints("reduction_axes")}
    if not axes:
        raise UnknownError("the attribute reduction_axes is missing")
    n = math.prod(dims)
    m = math.prod(dim for place, dim in enumerate(dims) if place not in axes)
    names = names_in(op, "fused_ops")
    unknown = [name for name in names if name not in _ACTIVATIONS]
    if unknown:
        raise UnknownError(f"no count is stated for the fused op {unknown[0]}")
    return operations((6 + sum(_ACTIVATIONS[name] for name in names)) * n + 4 * m, n=n, m=m)
