"""Shapes of linear algebra on batches of matrices."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, minimum
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.broadcasting import broadcast
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()

_EMPTY: PartialShape = (0,)


def _matrix(op: OpCall, index: int = 0) -> tuple[Dims, Number, Number]:
    """The batch, rows and columns."""
    dims = op.shape(index)
    if len(dims) < 2:
        raise UnknownError(f"input {index} has {len(dims)} dimensions, which is no matrix")
    return dims[:-2], dims[-2], dims[-1]


def _square(op: OpCall) -> tuple[Dims, Number]:
    batch, rows, columns = _matrix(op)
    return batch, rows if isinstance(rows, int) else columns


@RULES.of(
    *("Cholesky", "BatchCholesky", "CholeskyGrad", "BatchCholeskyGrad", "MatrixInverse"),
    *("BatchMatrixInverse", "MatrixExponential", "MatrixLogarithm", "MatrixSquareRoot"),
)
def _as_square(op: OpCall) -> list[PartialShape]:
    batch, n = _square(op)
    return [(*batch, n, n)]


@RULES.of("Lu")
def _lu(op: OpCall) -> list[PartialShape]:
    batch, n = _square(op)
    return [(*batch, n, n), (*batch, n)]


@RULES.of("MatrixSolve", "BatchMatrixSolve")
def _solve(op: OpCall) -> list[PartialShape]:
    batch, n = _square(op)
    return [(*batch, n, _matrix(op, 1)[2])]


@RULES.of("MatrixTriangularSolve", "BatchMatrixTriangularSolve", "BandedTriangularSolve")
def _triangular_solve(op: OpCall) -> list[PartialShape]:
    batch, _, n = _matrix(op)
    right_batch, rows, columns = _matrix(op, 1)
    return [(*broadcast(batch, right_batch), n if isinstance(n, int) else rows, columns)]


@RULES.of("MatrixSolveLs", "BatchMatrixSolveLs")
def _least_squares(op: OpCall) -> list[PartialShape]:
    batch, _, n = _matrix(op)
    return [(*batch, n, _matrix(op, 1)[2])]


@RULES.of("Qr")
def _qr(op: OpCall) -> list[PartialShape]:
    batch, m, n = _matrix(op)
    inner = m if op.flag("full_matrices") else minimum(m, n)
    return [(*batch, m, inner), (*batch, inner, n)]


@RULES.of("Svd", "BatchSvd")
def _svd(op: OpCall) -> list[PartialShape]:
    """The vectors are empty unless they are requested."""
    batch, m, n = _matrix(op)
    p = minimum(m, n)
    if not op.flag("compute_uv", True):
        return [(*batch, p), _EMPTY, _EMPTY]
    if op.flag("full_matrices"):
        return [(*batch, p), (*batch, m, m), (*batch, n, n)]
    return [(*batch, p), (*batch, m, p), (*batch, n, p)]


@RULES.of("SelfAdjointEigV2", "BatchSelfAdjointEigV2", "Eig")
def _eigenvalues(op: OpCall) -> list[PartialShape]:
    batch, n = _square(op)
    vectors = (*batch, n, n) if op.flag("compute_v", True) else _EMPTY
    return [(*batch, n), vectors]


@RULES.of("SelfAdjointEig", "BatchSelfAdjointEig")
def _eigenvalues_above_vectors(op: OpCall) -> list[PartialShape]:
    """The eigenvalues are the first row of the result."""
    batch, n = _square(op)
    return [(*batch, n + 1, n)]


RULES.of("MatrixDeterminant BatchMatrixDeterminant")(lambda op: [_matrix(op)[0]])
RULES.of("LogMatrixDeterminant")(lambda op: [_matrix(op)[0]] * 2)
RULES.of("TridiagonalSolve")(lambda op: [op.shape(1)])
RULES.of("TridiagonalMatMul")(lambda op: [op.shape(3)])
