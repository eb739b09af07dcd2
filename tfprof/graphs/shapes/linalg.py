"""Shapes of linear algebra on batches of matrices, and of diagonals."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError, whole
from tfprof.graphs.model.symbolic import Number, maximum, minimum
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.dims import broadcast
from tfprof.graphs.shapes.rules import SHAPES, Shapes

_EMPTY: PartialShape = (0,)


def _matrix(op: OpCall, index: int = 0) -> tuple[Dims, Number, Number]:
    """The batch, rows and columns."""
    *batch, rows, columns = op.shape_of_least(2, index)
    return tuple(batch), rows, columns


def _square(op: OpCall) -> tuple[Dims, Number]:
    batch, rows, columns = _matrix(op)
    return batch, rows if isinstance(rows, int) else columns


@SHAPES.of(
    """
    Cholesky BatchCholesky CholeskyGrad BatchCholeskyGrad MatrixInverse BatchMatrixInverse
    MatrixExponential MatrixLogarithm MatrixSquareRoot
    """
)
def _as_square(op: OpCall) -> Shapes:
    batch, n = _square(op)
    return [(*batch, n, n)]


@SHAPES.of("Lu")
def _lu(op: OpCall) -> Shapes:
    batch, n = _square(op)
    return [(*batch, n, n), (*batch, n)]


@SHAPES.of("MatrixSolve BatchMatrixSolve")
def _solve(op: OpCall) -> Shapes:
    batch, n = _square(op)
    return [(*batch, n, _matrix(op, 1)[2])]


@SHAPES.of("MatrixTriangularSolve BatchMatrixTriangularSolve BandedTriangularSolve")
def _triangular_solve(op: OpCall) -> Shapes:
    batch, _, n = _matrix(op)
    right_batch, rows, columns = _matrix(op, 1)
    return [(*broadcast(batch, right_batch), n if isinstance(n, int) else rows, columns)]


@SHAPES.of("MatrixSolveLs BatchMatrixSolveLs")
def _least_squares(op: OpCall) -> Shapes:
    batch, _, n = _matrix(op)
    return [(*batch, n, _matrix(op, 1)[2])]


@SHAPES.of("Qr")
def _qr(op: OpCall) -> Shapes:
    batch, m, n = _matrix(op)
    inner = m if op.flag("full_matrices") else minimum(m, n)
    return [(*batch, m, inner), (*batch, inner, n)]


@SHAPES.of("Svd BatchSvd XlaSvd")
def _svd(op: OpCall) -> Shapes:
    """The vectors are empty unless they are requested; XLA's are always full."""
    batch, m, n = _matrix(op)
    p = minimum(m, n)
    if op.type == "XlaSvd" or (op.flag("full_matrices") and op.flag("compute_uv", True)):
        return [(*batch, p), (*batch, m, m), (*batch, n, n)]
    if not op.flag("compute_uv", True):
        return [(*batch, p), _EMPTY, _EMPTY]
    return [(*batch, p), (*batch, m, p), (*batch, n, p)]


@SHAPES.of("SelfAdjointEigV2 BatchSelfAdjointEigV2 Eig")
def _eigenvalues(op: OpCall) -> Shapes:
    batch, n = _square(op)
    return [(*batch, n), (*batch, n, n) if op.flag("compute_v", True) else _EMPTY]


@SHAPES.of("SelfAdjointEig BatchSelfAdjointEig")
def _eigenvalues_above_vectors(op: OpCall) -> Shapes:
    """The eigenvalues are the first row of the result."""
    batch, n = _square(op)
    return [(*batch, n + 1, n)]


@SHAPES.of("DiagPart")
def _diagonal_of_tensor(op: OpCall) -> Shapes:
    dims = op.shape(0)
    if len(dims) % 2:
        raise UnknownError(f"a tensor of {len(dims)} dimensions has no diagonal")
    return [dims[: len(dims) // 2]]


@SHAPES.of("MatrixDiagPart BatchMatrixDiagPart")
def _diagonal_of_matrix(op: OpCall) -> Shapes:
    batch, rows, columns = _matrix(op)
    return [(*batch, minimum(rows, columns))]


@SHAPES.of("MatrixDiagV2 MatrixDiagV3")
def _matrix_from_diagonals(op: OpCall) -> Shapes:
    """The matrix is the smallest that has the diagonals, unless its sizes are given."""
    dims = op.shape(0)
    lowest, highest = _band(op)
    longest = dims[-1]
    batch = dims[:-1] if lowest == highest else dims[:-2]
    rows, columns = whole(op.scalar(2)), whole(op.scalar(3))
    if rows is None or columns is None:
        return [(*batch, None, None)]
    least_rows, least_columns = longest - min(highest, 0), longest + max(lowest, 0)
    if rows == -1 and columns == -1:
        rows = columns = maximum(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    return [(*batch, rows, least_columns if columns == -1 else columns)]


@SHAPES.of("MatrixDiagPartV2 MatrixDiagPartV3")
def _diagonals_of_matrix(op: OpCall) -> Shapes:
    batch, rows, columns = _matrix(op)
    lowest, highest = _band(op)
    longest = minimum(rows + min(highest, 0), columns - max(lowest, 0))
    count = () if lowest == highest else (highest - lowest + 1,)
    return [(*batch, *count, longest)]


def _band(op: OpCall) -> tuple[int, int]:
    """The lowest and the highest diagonal."""
    numbers = op.known_ints(1)
    if len(numbers) not in (1, 2) or numbers[0] > numbers[-1]:
        raise UnknownError(f"the diagonals {numbers}")
    return numbers[0], numbers[-1]


SHAPES.of("Diag")(lambda op: [op.shape(0) * 2])
SHAPES.of("MatrixDiag BatchMatrixDiag")(lambda op: [(*op.shape(0), op.shape(0)[-1])])
SHAPES.of("MatrixDeterminant BatchMatrixDeterminant")(lambda op: [_matrix(op)[0]])
SHAPES.of("LogMatrixDeterminant")(lambda op: [_matrix(op)[0]] * 2)
SHAPES.of("XlaSelfAdjointEig")(lambda op: [op.shape(0)[:-1], op.shape(0)])
