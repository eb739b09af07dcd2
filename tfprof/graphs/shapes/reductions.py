"""Shapes of reductions, running sums, selections and counts."""

from __future__ import annotations

import math

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.arguments import axis_in, axis_of, size, spelled_shape
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()


@RULES.of("Sum Prod Mean Max Min All Any EuclideanNorm SparseReduceSum SparseReduceMax")
def _reduction(op: OpCall) -> list[PartialShape]:
    """Reduced axes are left out, or become 1."""
    sparse = op.type.startswith("Sparse")
    axes_index = 3 if sparse else 1
    dims: PartialShape = spelled_shape(op, 2) if sparse else op.shape()
    keep_dims = op.flag("keep_dims")
    if dims is None:
        raise UnknownError("the rank of the input is unknown")
    try:
        axes = op.known_ints(axes_index)
    except UnknownError:
        return [_reduced_by_unknown_axes(op, axes_index, len(dims), keep_dims)]
    reduced = {axis_in(axis, len(dims)) for axis in axes}
    if keep_dims:
        return [tuple(1 if place in reduced else dim for place, dim in enumerate(dims))]
    return [tuple(dim for place, dim in enumerate(dims) if place not in reduced)]


def _reduced_by_unknown_axes(
    op: OpCall, axes_index: int, rank: int, keep_dims: bool
) -> PartialShape:
    if keep_dims:
        return (None,) * rank
    n_axes = math.prod(op.shape(axes_index))
    if not isinstance(n_axes, int) or not 0 <= n_axes <= rank:
        raise UnknownError(f"the values of input {axes_index} are unknown")
    return (None,) * (rank - n_axes)


@RULES.of("ArgMax", "ArgMin")
def _arg_reduction(op: OpCall) -> list[PartialShape]:
    dims = op.shape()
    try:
        axis = axis_of(op, 1, len(dims))
    except UnknownError:
        return [(None,) * max(len(dims) - 1, 0)]
    return [dims[:axis] + dims[axis + 1 :]]


def _top_k(op: OpCall, k: Number | None) -> list[PartialShape]:
    dims = op.shape()
    if not dims:
        raise UnknownError("the largest elements of a scalar")
    return [(*dims[:-1], k)] * 2


@RULES.of("ApproxTopK")
def _approximate_top_k(op: OpCall) -> list[PartialShape]:
    """Without aggregation, the number of results is up to the device."""
    dims = op.shape()
    axis = axis_in(op.integer("reduction_dimension", -1), len(dims))
    k = op.integer("k") if op.flag("aggregate_to_topk", True) else None
    return [(*dims[:axis], k, *dims[axis + 1 :])] * 2


@RULES.of("NthElement", "KthOrderStatistic")
def _without_last(op: OpCall) -> list[PartialShape]:
    dims = op.shape()
    if not dims:
        raise UnknownError("the n-th element of a scalar")
    return [dims[:-1]]


@RULES.of("SparseBincount")
def _sparse_bincount(op: OpCall) -> list[PartialShape]:
    """Each row has its own counts."""
    dims = spelled_shape(op, 2)
    if dims is None or not 1 <= len(dims) <= 2:
        raise UnknownError("the input of a count must have one or two dimensions")
    return [(*dims[:-1], size(op, 3))]


@RULES.of(
    *("SegmentSumV2", "SegmentProdV2", "SegmentMinV2", "SegmentMaxV2", "UnsortedSegmentSum"),
    *("UnsortedSegmentProd", "UnsortedSegmentMin", "UnsortedSegmentMax"),
)
def _numbered_segments(op: OpCall) -> list[PartialShape]:
    """Segment ids take the place of the first dimensions of the data."""
    n_ids = len(op.shape(1))
    return [(size(op, 2), *op.shape()[n_ids:])]


def _rows(op: OpCall) -> Dims:
    dims = op.shape()
    if not dims:
        raise UnknownError("segments of a scalar")
    return dims


RULES.of("Cumsum Cumprod CumulativeLogsumexp MakeUnique")(lambda op: [op.shape()])
RULES.of("IsotonicRegression")(lambda op: [op.shape(), op.shape()])
RULES.of("TopK TopKUnique TopKWithUnique")(lambda op: _top_k(op, op.integer("k")))
RULES.of("TopKV2")(lambda op: _top_k(op, size(op, 1)))
RULES.of("InTopK InTopKV2")(lambda op: [(op.shape_of_rank(0, 2)[0],)])
RULES.of("HistogramFixedWidth")(lambda op: [(size(op, 2),)])
# A row for each row of the input, which has one split more than rows.
RULES.of("RaggedBincount")(lambda op: [(op.shape_of_rank(0, 1)[0] - 1, size(op, 2))])
# The last segment id decides how many segments there are.
RULES.of(
    """
    SegmentSum SegmentMean SegmentProd SegmentMin SegmentMax SparseSegmentSum SparseSegmentMean
    SparseSegmentSqrtN
    """
)(lambda op: [(None, *_rows(op)[1:])])
RULES.of(
    """
    SparseSegmentSumWithNumSegments SparseSegmentMeanWithNumSegments
    SparseSegmentSqrtNWithNumSegments SparseSegmentSumGrad SparseSegmentMeanGrad
    SparseSegmentSqrtNGrad
    """
)(lambda op: [(size(op, 3), *_rows(op)[1:])])
# One row for each index that occurs.
RULES.of("SparseSegmentSumGradV2 SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2")(
    lambda op: [(None, *_rows(op)[1:]), (None,)]
)
