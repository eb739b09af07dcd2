"""Matrix products and sums of products, which count for all element types."""

from __future__ import annotations

import math

from tfprof.graphs.flops.formulas import (
    Cost,
    additions,
    formula,
    multiply_adds,
    operations,
    real_multiply_adds,
)
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import COMPLEX_TYPES
from tfprof.graphs.shapes.linear import Einsum, product_sizes, read_einsum
from tfprof.graphs.shapes.rules import with_onednn

_PRODUCT = "Golub & Van Loan, Matrix Computations, 4th ed., §1.1.10"


def depth(op: OpCall) -> Number:
    """Number of products in each element of a matrix product."""
    _, k, _ = product_sizes(op)
    if k is None:
        raise UnknownError("the shapes of both operands are unknown")
    return k


@formula(
    (*with_onednn("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), "SparseMatMul"),
    "2·n·k",
    _PRODUCT,
)
def mat_mul(op: OpCall) -> Cost:
    """Each of n elements of the product is a sum of k products; zeros count like other numbers."""
    n, k = op.n_out(), depth(op)
    return multiply_adds(real_multiply_adds(n * k, op.dtype()), n=n, k=k)


@formula(
    (*with_onednn("Einsum"), "XlaEinsum"),
    "2·p + s; p without 2 if nothing is summed",
    "TensorFlow API: tf.einsum",
)
def _einsum(op: OpCall) -> Cost:
    """Labels of one operand only are summed first (s additions), then p = all labels' products."""
    einsum = read_einsum(op)
    dtype = op.dtype()
    if len(einsum.operands) == 1:
        s = _lone_sums(einsum, 0)
        return operations(additions(s, dtype), s=s)
    if len(einsum.operands) != 2:
        raise UnknownError(f"Einsum of {len(einsum.operands)} operands has no defined order")
    s = _lone_sums(einsum, 0) + _lone_sums(einsum, 1)
    shared = _kept(einsum, 0) | _kept(einsum, 1)
    p = math.prod(einsum.size_of(tuple(sorted(shared))))
    factor = 2 if dtype in COMPLEX_TYPES else 1
    if shared <= set(einsum.result):
        return multiply_adds(0, (6 if factor == 2 else 1) * p + factor * s, p=p, s=s)
    return multiply_adds(real_multiply_adds(p, dtype), factor * s, p=p, s=s)


def _kept(einsum: Einsum, operand: int) -> set[str]:
    """Labels of an operand that are in the result or in another operand."""
    others = (labels for place, labels in enumerate(einsum.operands) if place != operand)
    return set(einsum.operands[operand]) & set(einsum.result).union(*others)


def _lone_sums(einsum: Einsum, operand: int) -> Number:
    """Additions that sum up labels of this operand only; taking a diagonal is free."""
    kept = _kept(einsum, operand)
    return einsum.own_size(operand, set(einsum.operands[operand])) - einsum.own_size(operand, kept)
