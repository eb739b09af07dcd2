"""Embedding lookups that sum: ``SparseSegment*``, and embeddings of TPUs.

A lookup by itself (``Gather``) is no float work.
"""

from __future__ import annotations

import math

from tfprof.graphs.flops.formulas import Cost, additions, formula, operations
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number


def _looked_up(op: OpCall) -> Number:
    """Elements of all rows that are looked up."""
    return op.n_in(1) * math.prod(op.shape(0)[1:])


@formula("SparseSegmentMean SparseSegmentMeanWithNumSegments", rule="n + m")
def _mean(op: OpCall) -> Cost:
    """n additions, and a division for each of the m elements of the means."""
    n, m = _looked_up(op), op.n_out()
    return operations(additions(n + m, op.dtype()), n=n, m=m)


@formula("SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments", rule="n + m + s")
def _sqrt_n(op: OpCall) -> Cost:
    """n additions, a division for each of m elements, and a square root for each of s segments."""
    n, m, s = _looked_up(op), op.n_out(), op.out()[0]
    return operations(additions(n + m + s, op.dtype()), n=n, m=m, s=s)


@formula(
    "SparseSegmentSum SparseSegmentSumWithNumSegments",
    rule="n",
    why="Each of the n elements of the rows that are looked up is added to its segment.",
)
@formula("SparseSegmentSumGrad SparseSegmentSumGradV2", rule="n")
def _sum(op: OpCall) -> Cost:
    """Each of the n elements of the rows that were looked up gets a gradient added."""
    n = _looked_up(op)
    return operations(additions(n, op.dtype()), n=n)


@formula("SparseSegmentMeanGrad SparseSegmentMeanGradV2", rule="2·n + s")
def _mean_grad(op: OpCall) -> Cost:
    """Each of n gradients is scaled and added; the scale takes a division for each segment."""
    n, s = _looked_up(op), op.shape(0)[0]
    return operations(additions(2 * n + s, op.dtype()), n=n, s=s)


@formula("SparseSegmentSqrtNGrad SparseSegmentSqrtNGradV2", rule="2·n + 2·s")
def _sqrt_n_grad(op: OpCall) -> Cost:
    """Each of n gradients is scaled and added; the scale takes a root and a division a segment."""
    n, s = _looked_up(op), op.shape(0)[0]
    return operations(additions(2 * n + 2 * s, op.dtype()), n=n, s=s)


@formula(
    """
    RecvTPUEmbeddingActivations XlaRecvTPUEmbeddingActivations XlaRecvTPUEmbeddingActivationsV2
    SendTPUEmbeddingGradients XlaSendTPUEmbeddingGradients XlaSendTPUEmbeddingGradientsV2
    """,
    rule="unknown",
)
def _tpu_embedding(op: OpCall) -> Cost:
    """The lookups and updates run on a TPU's embedding cores, by a configuration of their own."""
    raise UnknownError("lookups and updates of TPU embeddings are not part of the graph")
