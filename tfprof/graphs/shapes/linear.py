"""Shapes of matrix products and sums of products."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.arguments import same_dim
from tfprof.graphs.shapes.broadcasting import broadcast
from tfprof.graphs.shapes.einsum import read_einsum
from tfprof.graphs.shapes.onednn import with_onednn
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()

Matrix = tuple["Number | None", "Number | None"]


def matrix(op: OpCall, index: int, transposed: bool) -> Matrix:
    """Rows and columns of an operand as it enters the product; None where unknown."""
    dims = op.input(index).shape
    if dims is None:
        return None, None
    if len(dims) < 2:
        raise UnknownError(f"input {index} has {len(dims)} dimensions, a matrix has two")
    rows, columns = dims[-2:]
    return (columns, rows) if transposed else (rows, columns)


def is_transposed(op: OpCall, operand: str) -> bool:
    """Whether operand ``a`` or ``b`` of a product is transposed, or its conjugate is."""
    other_name = "x" if operand == "a" else "y"
    return any(
        op.flag(name)
        for name in (f"transpose_{operand}", f"adj_{other_name}", f"adjoint_{operand}")
    )


def product_sizes(op: OpCall) -> tuple[Number | None, Number | None, Number | None]:
    """m, k and n of the product of an m×k and a k×n matrix; None where unknown."""
    m, k = matrix(op, 0, is_transposed(op, "a"))
    other_k, n = matrix(op, 1, is_transposed(op, "b"))
    return m, same_dim(k, other_k), n


def mat_mul_shape(op: OpCall) -> PartialShape:
    """The shape of a product of two matrices."""
    for index in (0, 1):
        if op.input(index).shape is not None:
            op.shape_of_rank(index, 2)
    m, _, n = product_sizes(op)
    return (m, n)


@RULES.of(*with_onednn("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "_FusedBatchMatMulV2"))
def _batch_mat_mul(op: OpCall) -> list[PartialShape]:
    m, _, n = product_sizes(op)
    x, y = op.shape(0), op.shape(1)
    batch: Dims = broadcast(x[:-2], y[:-2])
    return [(*batch, m, n)]


RULES.of(*with_onednn("MatMul", "_FusedMatMul"), "SparseMatMul")(lambda op: [mat_mul_shape(op)])
RULES.of(*with_onednn("Einsum"), "XlaEinsum")(lambda op: [read_einsum(op).shape])
