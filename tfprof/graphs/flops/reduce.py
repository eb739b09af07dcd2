"""Reductions, running sums, segments, selections and counts.

To reduce n elements to m takes n - m operations: one less than a result has elements.
"""

from __future__ import annotations

import math

from tfprof.graphs.flops.formulas import (
    RAW_OPS,
    Cost,
    Counted,
    additions,
    bits_of,
    declare_free,
    enter_counts,
    float_work,
    formula,
    is_complex,
    multiplications,
    operations,
    steps,
)
from tfprof.graphs.model.op_call import OpCall, UnknownError, axis_in
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import REF

_SELECTION = "Knuth, The Art of Computer Programming, vol. 3, 2nd ed., "


@formula(
    "Prod",
    "n - m",
    why="One multiplication less than there are elements, for each of the m results.",
)
@formula(
    "Sum", "n - m", why="One addition less than there are elements, for each of the m results."
)
@formula(
    "TileGrad MirrorPadGrad",
    "n - m",
    RAW_OPS + "MirrorPadGrad",
    why="Gradients of the n - m elements that are copies are added to those of the m originals.",
)
@formula("Max Min ArgMax ArgMin", "n - m", RAW_OPS + "Max, ArgMax")
def _reduction(op: OpCall) -> Cost:
    """One comparison less than there are elements, for each of the m results."""
    n, m = op.n_in(), op.n_out()
    work = multiplications if op.type == "Prod" else additions
    return operations(work(steps(n, m), op.dtype()), n=n, m=m)


@formula("Mean", "(n - m) + m")
def _mean(op: OpCall) -> Cost:
    """n - m additions and one division for each of the m means."""
    n, m = op.n_in(), op.n_out()
    return operations(additions(steps(n, m) + m, op.dtype()), n=n, m=m)


@formula("EuclideanNorm", "n + (n - m) + m")
def _euclidean_norm(op: OpCall) -> Cost:
    """n squares, n - m additions and a square root for each of the m norms."""
    n, m = op.n_in(), op.n_out()
    dtype = op.dtype()
    squares = 3 * n if is_complex(dtype) else n
    return operations(float_work(squares + steps(n, m) + m, dtype), n=n, m=m)


def _steps_along(op: OpCall) -> tuple[Number, Number]:
    """Elements, and lines along the axis that a running sum follows."""
    dims = op.shape()
    axis = op.axis(1, len(dims))
    return math.prod(dims), math.prod(dims[:axis] + dims[axis + 1 :])


@formula(
    "Cumprod",
    "n - m",
    why="Each element of m lines but the first is multiplied by the product before it.",
)
@formula("Cumsum", "n - m")
def _running(op: OpCall) -> Cost:
    """Each element of m lines but the first is added to the sum before it."""
    n, m = _steps_along(op)
    work = multiplications if op.type == "Cumprod" else additions
    return operations(work(steps(n, m), op.dtype()), n=n, m=m)


@formula("CumulativeLogsumexp", "6·(n - m)")
def _cumulative_logsumexp(op: OpCall) -> Cost:
    """For each element of m lines but the first: max + log1p(exp(min - max))."""
    n, m = _steps_along(op)
    return operations(6 * steps(n, m), n=n, m=m)


@formula("SegmentMean", "n + m")
def _segment_mean(op: OpCall) -> Cost:
    """n additions, and one division for each of the m elements of the means."""
    n, m = op.n_in(), op.n_out()
    return operations(additions(n + m, op.dtype()), n=n, m=m)


@formula(
    "TopK TopKV2 TopKUnique TopKWithUnique ApproxTopK", "n·⌈log₂ k⌉", _SELECTION + "§5.2.3 (heaps)"
)
def _top_k(op: OpCall) -> Cost:
    """Each of n elements passes a heap of the k largest so far; for k = n that is sorting."""
    n, out = op.n_in(), op.out()
    axis = axis_in(op.integer("reduction_dimension", -1), len(out))
    k = out[axis]
    count = n * bits_of(k, "how many elements are chosen")
    return operations(additions(count, op.dtype()), n=n, k=k)


@formula("Bincount DenseBincount", "n", RAW_OPS + "DenseBincount")
def _bincount(op: OpCall) -> Cost:
    """Each of n values adds its weight, or 1, to a bin."""
    n = op.n_in()
    return operations(_bin_additions(op, n), n=n)


@formula("SparseBincount RaggedBincount", "nnz")
def _sparse_bincount(op: OpCall) -> Cost:
    """Each of nnz values adds its weight, or 1, to a bin."""
    nnz = op.n_in(1)
    return operations(_bin_additions(op, nnz), nnz=nnz)


def _bin_additions(op: OpCall, count: Number) -> Number:
    """Bins have the type of the weights, which come last; setting a bin to 1 adds nothing."""
    if op.flag("binary_output"):
        return 0
    return additions(count, op.input(-1).dtype % REF)


@formula("Bucketize", "n·⌈log₂ (b + 1)⌉")
def _bucketize(op: OpCall) -> Cost:
    """A binary search among b boundaries for each of n elements."""
    n = op.n_in()
    boundaries = op.attr("boundaries", ())
    if not isinstance(boundaries, tuple):
        raise UnknownError("the attribute boundaries is not a list")
    b = len(boundaries)
    return operations(additions(n * b.bit_length(), op.dtype()), n=n, b=b)


@formula("LowerBound UpperBound", "n·⌈log₂ (b + 1)⌉")
def _bound(op: OpCall) -> Cost:
    """A binary search among the b sorted elements of its row for each of n values."""
    n = op.n_in(1)
    b = op.shape_of_rank(0, 2)[1]
    count = n * bits_of(b + 1, "the number of sorted elements")
    return operations(additions(count, op.dtype()), n=n, b=b)


declare_free("All Any", because="logic on truth values is not float work")
declare_free("MakeUnique", because="sets low bits of the elements")

enter_counts(
    Counted("SegmentSum SegmentSumV2 UnsortedSegmentSum SegmentMin SegmentMinV2 SegmentMax "
            "SegmentMaxV2 UnsortedSegmentMin UnsortedSegmentMax", 1, work=additions,
            source=RAW_OPS + "UnsortedSegmentSum",
            why="Each of the n elements is combined with its segment, which starts out neutral."),
    Counted("SegmentProd SegmentProdV2 UnsortedSegmentProd", 1, work=multiplications,
            source=RAW_OPS + "UnsortedSegmentProd",
            why="Each of the n elements is multiplied with its segment, which starts out as 1."),
    Counted("NthElement", 2, work=additions, source=_SELECTION + "§5.3.3",
            why="Hoare's selection halves the candidates at each step: n + n/2 + n/4 … "
            "comparisons."),
    Counted("KthOrderStatistic", 32,
            why="A binary search on the 32 bits of the result compares all n elements for each "
            "bit."),
    Counted("InTopK InTopKV2", 1, source=RAW_OPS + "InTopKV2",
            why="Each of the n predictions is compared with that of the target class."),
    Counted("IsotonicRegression", 4, source="pool adjacent violators algorithm",
            why="Each of n elements is merged at most once: two sums, a division and a "
            "comparison."),
    Counted("HistogramFixedWidth", 4, work=additions, source="tf.histogram_fixed_width",
            why="For the bin of each of n values: max(x, low), - low, / width, min(…, last)."),
)  # fmt: skip
