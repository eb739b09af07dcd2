"""XLA's ops, and reductions over devices.

A function that an op applies counts as one operation, such as an addition. Of a reduction over
devices, each op counts what its own device adds. In a ring of k devices, every device adds up one
k-th of the elements: k - 1 additions for each of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from tfprof.graphs.flops.formulas import (
    Cost,
    Counted,
    additions,
    declare_free,
    enter_counts,
    float_work,
    formula,
    multiplications,
    multiply_adds,
    operations,
    real_multiply_adds,
)
from tfprof.graphs.flops.linalg import singular_values, symmetric_eigenvalues
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, ceil_div
from tfprof.graphs.shapes.general_conv import xla_convolution
from tfprof.graphs.shapes.xla import checked_dot_numbers, sorted_sizes

_SEMANTICS = "XLA: Operation Semantics, "


@formula("XlaDot XlaDotV2", "2·n·k", _SEMANTICS + "DotGeneral")
def _dot(op: OpCall) -> Cost:
    """Each of n elements of the result sums k products, over all contracted dimensions."""
    lhs, rhs = op.shape(0), op.shape(1)
    numbers = checked_dot_numbers(op)
    k: Number = 1
    for left, right in zip(numbers.lhs_contracting, numbers.rhs_contracting, strict=True):
        k = k * (lhs[left] if isinstance(lhs[left], int) else rhs[right])
    n = op.n_out()
    return multiply_adds(real_multiply_adds(n * k, op.dtype()), n=n, k=k)


@formula("XlaConv XlaConvV2", "2·p", _SEMANTICS + "ConvWithGeneralPadding")
def _conv(op: OpCall) -> Cost:
    """Elements of the image meet taps p times; taps in the padding count, those in holes do not."""
    p = xla_convolution(op).products
    return multiply_adds(real_multiply_adds(p, op.dtype()), p=p)


@formula("XlaReduce", "n - m", _SEMANTICS + "Reduce")
def _reduce(op: OpCall) -> Cost:
    """One operation less than there are elements, for each of the m results."""
    n, m = op.n_in(), op.n_out()
    return operations(additions(n - m, op.dtype()), n=n, m=m)


@formula("XlaVariadicReduce XlaVariadicReduceV2", "t·(n - m)", _SEMANTICS + "Reduce")
def _variadic_reduce(op: OpCall) -> Cost:
    """One operation for each of t tensors that are reduced together, from n to m elements."""
    t, n, m = len(op.inputs) // 2, op.n_in(), op.n_out()
    return operations(sum(additions(n - m, op.dtype(place)) for place in range(t)), t=t, n=n, m=m)


@formula("XlaReduceWindow", "n·(k - 1)", _SEMANTICS + "ReduceWindow")
def _reduce_window(op: OpCall) -> Cost:
    """Each of n results takes one operation less than its window has elements."""
    n, k = op.n_out(), math.prod(op.known_ints(2))
    return operations(additions(n * (k - 1), op.dtype()), n=n, k=k)


@formula("XlaSelectAndScatter", "n·k", _SEMANTICS + "SelectAndScatter")
def _select_and_scatter(op: OpCall) -> Cost:
    """For each of n sources, k - 1 comparisons select an element of the window; one addition."""
    n, k = op.n_in(4), math.prod(op.known_ints(1))
    return operations(additions(n * k, op.dtype()), n=n, k=k)


@formula(
    "XlaSort XlaKeyValueSort XlaVariadicSort",
    "n·⌈log₂ k⌉",
    "Knuth, The Art of Computer Programming, vol. 3, 2nd ed., §5.2.4",
)
def _sort(op: OpCall) -> Cost:
    """Merging k sorted elements passes all n of them ⌈log₂ k⌉ times, a comparison for each."""
    n, k = sorted_sizes(op)
    if not isinstance(k, int):
        raise UnknownError("how many elements are sorted is unknown")
    passes = max(k - 1, 0).bit_length()
    return operations(additions(n * passes, op.dtype()), n=n, k=k)


@formula("XlaAllReduce XlaReduceScatter", "n", _SEMANTICS + "AllReduce")
def _all_reduce(op: OpCall) -> Cost:
    """Devices share the additions of a group, so that each takes about one for an element."""
    n = op.n_in()
    work = multiplications if op.text("reduce_op") == "Mul" else additions
    return operations(work(n, op.dtype()), n=n)


@formula("XlaSvd", "as Svd with full matrices", "TensorFlow: tf2xla, XlaSvd")
def _singular_values(op: OpCall) -> Cost:
    """Counts like Svd, whatever algorithm and number of iterations the compiler chooses."""
    return singular_values(replace(op, attrs={"full_matrices": True}))


@formula("XlaSelfAdjointEig", "as SelfAdjointEigV2", "TensorFlow: tf2xla, XlaSelfAdjointEig")
def _eigenvalues(op: OpCall) -> Cost:
    """Counts like SelfAdjointEigV2, whatever algorithm the compiler chooses."""
    return symmetric_eigenvalues(replace(op, attrs={}))


declare_free("XlaRngBitGenerator", because="random bits are not float work")

enter_counts(
    Counted("XlaScatter", 1, of_input=2, work=additions, source=_SEMANTICS + "Scatter",
            why="Each of n updates is combined with the element that is there."),
    Counted("XlaReducePrecision", 1, work=float_work, source=_SEMANTICS + "ReducePrecision",
            why="Each of n elements is rounded."),
    Counted("XlaDequantize", 2, of_input=None, source="TensorFlow: XlaDequantize, x·scale + shift",
            why="Each of n elements is scaled and shifted."),
)  # fmt: skip


_RING = "Patarasuk & Yuan, Bandwidth Optimal All-reduce Algorithms, 2009"


def _group_size(op: OpCall) -> Number:
    (k,) = op.numbers(1)
    return k


def _device_count(op: OpCall, name: str) -> int:
    k = op.integer(name)
    if k < 1:
        raise UnknownError(f"the attribute {name} is missing")
    return k


_DEVICES: dict[str, Callable[[OpCall], Number]] = {
    "CollectiveReduce": lambda op: _device_count(op, "group_size"),
    "CollectiveReduceV2": _group_size,
    "CollectiveReduceScatterV2": _group_size,
    "CollectiveReduceV3": lambda op: op.shape_of_rank(2, 2)[1],
    "CrossReplicaSum": lambda op: op.shape_of_rank(1, 2)[1],
    "DTensorAllReduce": lambda op: op.shape_of_rank(1, 2)[1],
    "DTensorReduceScatter": lambda op: op.shape_of_rank(1, 2)[1],
    "NcclAllReduce": lambda op: _device_count(op, "num_devices"),
}
"""Number of devices in a group; where an input lists groups, these are its rows."""


@formula(_DEVICES, "n·(k - 1) / k", _RING)
def _ring(op: OpCall) -> Cost:
    """k - 1 additions for each element of the device's share; one division more for a mean."""
    n, k = op.n_in(), _DEVICES[op.type](op)
    count = ceil_div(n * (k - 1), k)
    reduction = (op.text("reduction") or op.text("reduce_op")).lower()
    if op.text("final_op", "Id") == "Div" or reduction == "mean":
        count = count + ceil_div(n, k)
    return operations(additions(count, op.dtype()), n=n, k=k)


@formula("NcclReduce", "n·(k - 1)")
def _nccl_reduce(op: OpCall) -> Cost:
    """The sum of the k inputs takes k - 1 additions for each element."""
    k, n = len(op.inputs), op.n_in()
    return operations(additions(n * (k - 1), op.dtype()), n=n, k=k)
