"""Shapes of reductions, running sums, selections and counts."""

from __future__ import annotations

import math

from tfprof.graphs.model.op_call import OpCall, UnknownError, axis_in
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.dims import replaced
from tfprof.graphs.shapes.rules import SHAPES, Shapes


@SHAPES.of("Sum Prod Mean Max Min All Any EuclideanNorm SparseReduceSum SparseReduceMax")
def _reduction(op: OpCall) -> Shapes:
    """Reduced axes are left out, or become 1."""
    sparse = op.type.startswith("Sparse")
    axes_index = 3 if sparse else 1
    dims: PartialShape = op.spelled_shape(2) if sparse else op.shape()
    if dims is None:
        raise UnknownError("the rank of the input is unknown")
    try:
        axes = op.known_ints(axes_index)
    except UnknownError:
        n_axes = 0 if op.flag("keep_dims") else math.prod(op.shape(axes_index))
        if not isinstance(n_axes, int) or not 0 <= n_axes <= len(dims):
            raise
        return [(None,) * (len(dims) - n_axes)]
    reduced = {axis_in(axis, len(dims)) for axis in axes}
    if op.flag("keep_dims"):
        return [tuple(1 if place in reduced else dim for place, dim in enumerate(dims))]
    return [tuple(dim for place, dim in enumerate(dims) if place not in reduced)]


@SHAPES.of("ArgMax ArgMin")
def _arg_reduction(op: OpCall) -> Shapes:
    dims = op.shape()
    try:
        return [replaced(dims, op.axis(1, len(dims)))]
    except UnknownError:
        return [(None,) * max(len(dims) - 1, 0)]


def _with_last(op: OpCall, *last: Number | None) -> tuple[Number | None, ...]:
    """A shape with another last dimension, or without it."""
    return (*op.shape_of_least(1)[:-1], *last)


def _with_first(op: OpCall, first: Number | None) -> tuple[Number | None, ...]:
    """A shape with another number of rows."""
    return (first, *op.shape_of_least(1)[1:])


@SHAPES.of("ApproxTopK")
def _approximate_top_k(op: OpCall) -> Shapes:
    """Without aggregation, the number of results is up to the device."""
    dims = op.shape()
    axis = axis_in(op.integer("reduction_dimension", -1), len(dims))
    k = op.integer("k") if op.flag("aggregate_to_topk", True) else None
    return [replaced(dims, axis, k)] * 2


@SHAPES.of("SparseBincount")
def _sparse_bincount(op: OpCall) -> Shapes:
    """Each row has its own counts."""
    dims = op.spelled_shape(2)
    if dims is None or not 1 <= len(dims) <= 2:
        raise UnknownError("the input of a count must have one or two dimensions")
    return [(*dims[:-1], op.size(3))]


SHAPES.of("NthElement KthOrderStatistic")(lambda op: [_with_last(op)])
SHAPES.of("TopK TopKUnique TopKWithUnique")(lambda op: [_with_last(op, op.integer("k"))] * 2)
SHAPES.of("TopKV2")(lambda op: [_with_last(op, op.size(1))] * 2)
SHAPES.of("InTopK InTopKV2")(lambda op: [(op.shape_of_rank(0, 2)[0],)])
SHAPES.of("HistogramFixedWidth")(lambda op: [(op.size(2),)])
# A row for each row of the input, which has one split more than rows.
SHAPES.of("RaggedBincount")(lambda op: [(op.shape_of_rank(0, 1)[0] - 1, op.size(2))])
# Segment ids take the place of the first dimensions of the data.
SHAPES.of(
    """
    SegmentSumV2 SegmentProdV2 SegmentMinV2 SegmentMaxV2 UnsortedSegmentSum UnsortedSegmentProd
    UnsortedSegmentMin UnsortedSegmentMax
    """
)(lambda op: [(op.size(2), *op.shape()[len(op.shape(1)) :])])
# The last segment id decides how many segments there are.
SHAPES.of(
    """
    SegmentSum SegmentMean SegmentProd SegmentMin SegmentMax SparseSegmentSum SparseSegmentMean
    SparseSegmentSqrtN
    """
)(lambda op: [_with_first(op, None)])
SHAPES.of(
    """
    SparseSegmentSumWithNumSegments SparseSegmentMeanWithNumSegments
    SparseSegmentSqrtNWithNumSegments SparseSegmentSumGrad SparseSegmentMeanGrad
    SparseSegmentSqrtNGrad
    """
)(lambda op: [_with_first(op, op.size(3))])
# One row for each index that occurs.
SHAPES.of("SparseSegmentSumGradV2 SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2")(
    lambda op: [_with_first(op, None), (None,)]
)
