"""Linear algebra, by the textbook algorithms, for each matrix of a batch.

Inner steps of factorizations and substitutions are multiply-adds and counted as such. Counts that
the textbook gives as a leading term of n³ flops are half as many multiply-adds, rounded up.
Complex multiply-adds are four real ones.
"""

from __future__ import annotations

import math

from tfprof.graphs.flops.formulas import (
    Cost,
    formula,
    multiplications,
    multiply_adds,
    real_multiply_adds,
)
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, ceil_div, minimum

_BOOK = "Golub & Van Loan, Matrix Computations, 4th ed., "


def _matrix(op: OpCall, index: int = 0) -> tuple[Number, Number, Number]:
    """Matrices in a batch, their rows and columns."""
    dims = op.shape(index)
    if len(dims) < 2:
        raise UnknownError(f"input {index} has {len(dims)} dimensions, not a matrix's 2 or more")
    return math.prod(dims[:-2]), dims[-2], dims[-1]


def _square(op: OpCall, index: int = 0) -> tuple[Number, Number]:
    """Matrices in a batch, and their rows."""
    batch, rows, columns = _matrix(op, index)
    if isinstance(rows, int) and isinstance(columns, int) and rows != columns:
        raise UnknownError(f"matrices of {rows} x {columns} instead of square ones")
    return batch, rows if isinstance(rows, int) else columns


def _cost(op: OpCall, macs: Number, other: Number, **numbers: Number) -> Cost:
    """Cost of multiply-adds and other operations on elements of the op's type."""
    if isinstance(macs, int) and macs < 0:
        raise UnknownError(f"no count for matrices of these sizes: {numbers}")
    work = real_multiply_adds(macs, op.dtype()), multiplications(other, op.dtype())
    return multiply_adds(*work, **numbers)


def _triangle(n: Number) -> Number:
    """n·(n - 1) / 2, the elements below a diagonal."""
    return ceil_div(n * (n - 1), 2)


def _lu_macs(n: Number) -> Number:
    """Σ (n - k)² for k = 1 … n - 1."""
    return ceil_div(n * (n - 1) * (2 * n - 1), 6)


@formula("Cholesky BatchCholesky", "b·(2·(n³ - n) / 6 + n·(n + 1) / 2)", _BOOK + "§4.2.5")
def _cholesky(op: OpCall) -> Cost:
    """(n³ - n) / 6 multiply-adds, a division below the diagonal and a square root on it."""
    b, n = _square(op)
    return _cost(op, b * ceil_div(n**3 - n, 6), b * (_triangle(n) + n), b=b, n=n)


@formula(
    "CholeskyGrad BatchCholeskyGrad",
    "b·(2·(n³ - n) / 3 + n·(n + 1))",
    "Murray, Differentiation of the Cholesky decomposition, 2016",
)
def _cholesky_grad(op: OpCall) -> Cost:
    """Each multiply-add of the factorization has two in reverse."""
    b, n = _square(op)
    return _cost(op, b * ceil_div(n**3 - n, 3), 2 * b * (_triangle(n) + n), b=b, n=n)


@formula("Lu", "b·(2·n·(n - 1)·(2·n - 1) / 6 + n·(n - 1))", _BOOK + "§3.2.10")
def _lu(op: OpCall) -> Cost:
    """Σ (n - k)² multiply-adds; a pivot comparison and a division below the diagonal."""
    b, n = _square(op)
    return _cost(op, b * _lu_macs(n), 2 * b * _triangle(n), b=b, n=n)


@formula("MatrixInverse BatchMatrixInverse", "b·(2·n³)", _BOOK + "§3.4")
def _inverse(op: OpCall) -> Cost:
    """LU and the solution for the n columns of the identity: n³ multiply-adds."""
    b, n = _square(op)
    return _cost(op, b * n**3, 0, b=b, n=n)


@formula("MatrixDeterminant BatchMatrixDeterminant", "b·(LU + n)", _BOOK + "§3.2.10")
def _determinant(op: OpCall) -> Cost:
    """LU, then the product of the n pivots and the sign of the permutation."""
    b, n = _square(op)
    return _cost(op, b * _lu_macs(n), b * (2 * _triangle(n) + n), b=b, n=n)


@formula("LogMatrixDeterminant", "b·(LU + 3·n)", _BOOK + "§3.2.10")
def _log_determinant(op: OpCall) -> Cost:
    """LU, then the sum of log|pivot| over the n pivots."""
    b, n = _square(op)
    return _cost(op, b * _lu_macs(n), b * (2 * _triangle(n) + 3 * n), b=b, n=n)


@formula("MatrixSolve BatchMatrixSolve", "b·(LU + k·(2·n·(n - 1) + n))", _BOOK + "§3.2.10, §3.1")
def _solve(op: OpCall) -> Cost:
    """LU, then a forward and a back substitution for each of k right-hand sides."""
    b, n = _square(op)
    k = _matrix(op, 1)[2]
    macs = _lu_macs(n) + k * n * (n - 1)
    return _cost(op, b * macs, b * (2 * _triangle(n) + k * n), b=b, n=n, k=k)


@formula(
    "MatrixTriangularSolve BatchMatrixTriangularSolve", "b·k·(n·(n - 1) + n)", _BOOK + "§3.1.1"
)
def _triangular_solve(op: OpCall) -> Cost:
    """n·(n - 1) / 2 multiply-adds and n divisions for each of k right-hand sides."""
    _, n = _square(op)
    b, k = math.prod(op.out()[:-2]), _matrix(op, 1)[2]
    return _cost(op, b * k * _triangle(n), b * k * n, b=b, n=n, k=k)


@formula("BandedTriangularSolve", "b·k·(2·(w - 1)·n - w·(w - 1) + n)", _BOOK + "§4.3.2")
def _banded_solve(op: OpCall) -> Cost:
    """w - 1 multiply-adds for each row but the first, and n divisions, for each of k columns."""
    _, w, n = _matrix(op)
    b, k = math.prod(op.out()[:-2]), _matrix(op, 1)[2]
    macs = (w - 1) * n - _triangle(w)
    return _cost(op, b * k * macs, b * k * n, b=b, n=n, w=w, k=k)


@formula(
    "TridiagonalSolve",
    "b·((n - 1)·(2·p + 2·k·(p + 1) + p) + k·n), p = 1, or 2 with pivoting",
    _BOOK + "§4.3.6",
)
def _tridiagonal_solve(op: OpCall) -> Cost:
    """Elimination: a division and p multiply-adds a row; substitution 1 + p for each of k columns.

    Pivoting fills a second superdiagonal and compares once for each row.
    """
    b, _, n = _matrix(op)
    k = _matrix(op, 1)[2]
    p = 2 if op.flag("partial_pivoting", True) else 1
    macs = (n - 1) * (p + k * (p + 1))
    return _cost(op, b * macs, b * ((n - 1) * p + k * n), b=b, n=n, k=k, p=p)


@formula("TridiagonalMatMul", "2·b·k·(3·n - 2)", _BOOK + "§1.2.5")
def _tridiagonal_mat_mul(op: OpCall) -> Cost:
    """Three multiply-adds for each element of the result, two in the first and last row."""
    b, n, k = _matrix(op, 3)
    return _cost(op, b * k * (3 * n - 2), 0, b=b, n=n, k=k)


@formula(
    "Qr",
    "2·b·(R: 2·m·n·p - (m + n)·p² + 2/3·p³; Q: 2·m·q·p - (m + q)·p² + 2/3·p³)",
    _BOOK + "§5.2.2, §5.1.6",
)
def _qr(op: OpCall) -> Cost:
    """p = min(m, n) Householder reflectors, Σ 2·(m - j)·(n - j); applied to q columns for Q."""
    b, m, n = _matrix(op)
    p = minimum(m, n)
    q = m if op.flag("full_matrices") else p
    macs = 6 * m * n * p - 3 * (m + n) * p**2 + 2 * p**3
    macs = macs + 6 * m * q * p - 3 * (m + q) * p**2 + 2 * p**3
    return _cost(op, b * ceil_div(macs, 3), 0, b=b, m=m, n=n, p=p, q=q)


@formula(
    "Svd BatchSvd",
    "b·(4·m·n² - 4/3·n³; with U, V: 14·m·n² + 8·n³; full: 4·m²·n + 8·m·n² + 9·n³)",
    _BOOK + "§8.6.3, Figure 8.6.1",
)
def singular_values(op: OpCall) -> Cost:
    """Golub and Reinsch's algorithm: bidiagonalization and QR steps, for m ≥ n."""
    b, rows, columns = _matrix(op)
    n = minimum(rows, columns)
    m = rows + columns - n
    if not op.flag("compute_uv", True):
        flops = ceil_div(12 * m * n**2 - 4 * n**3, 3)
    elif op.flag("full_matrices"):
        flops = 4 * m**2 * n + 8 * m * n**2 + 9 * n**3
    else:
        flops = 14 * m * n**2 + 8 * n**3
    return _cost(op, b * ceil_div(flops, 2), 0, b=b, m=m, n=n)


def _cubic(op: OpCall, thirds: int) -> Cost:
    """``thirds / 3 · n³`` flops for each matrix."""
    b, n = _square(op)
    return _cost(op, b * ceil_div(thirds * n**3, 6), 0, b=b, n=n)


@formula(
    "SelfAdjointEigV2 BatchSelfAdjointEigV2 SelfAdjointEig BatchSelfAdjointEig",
    "b·9·n³; without vectors b·4/3·n³",
    _BOOK + "§8.3.5",
)
def symmetric_eigenvalues(op: OpCall) -> Cost:
    """Tridiagonalization and symmetric QR steps, the vectors accumulated."""
    return _cubic(op, 27 if op.flag("compute_v", True) else 4)


@formula("Eig", "b·25·n³; without vectors b·10·n³", _BOOK + "§7.5.6")
def _eigenvalues(op: OpCall) -> Cost:
    """Hessenberg form and QR steps, the vectors accumulated."""
    return _cubic(op, 75 if op.flag("compute_v", True) else 30)


@formula("MatrixSquareRoot", "b·(28 + 1/3)·n³", "Higham, Functions of Matrices, 2008, §6.2")
def _square_root(op: OpCall) -> Cost:
    """Schur form 25·n³, its triangular root n³ / 3, and the way back 3·n³."""
    return _cubic(op, 85)


@formula(
    "MatrixExponential",
    "b·(14 + 2/3)·n³",
    "Higham, The Scaling and Squaring Method for the Matrix Exponential, 2005",
)
def _exponential(op: OpCall) -> Cost:
    """A Padé approximant of degree 13: 6 products of 2·n³ and a solution of 8/3·n³, no squaring."""
    return _cubic(op, 44)


@formula("MatrixLogarithm", "unknown", "Higham, Functions of Matrices, 2008, §11.5")
def _logarithm(op: OpCall) -> Cost:
    """Square roots are taken until the matrix is close to the identity."""
    raise UnknownError("the number of square roots of a matrix logarithm depends on its values")


@formula(
    "MatrixSolveLs BatchMatrixSolveLs",
    "fast: b·(m·n·(n + 1) + Cholesky + k·(2·m·n + 2·n²)); else b·(QR + k·(4·m·n - n²))",
    _BOOK + "§5.3.2, §5.3.3",
)
def _least_squares(op: OpCall) -> Cost:
    """Normal equations and Cholesky, or Householder QR; for m ≥ n, else of the transpose."""
    b, rows, columns = _matrix(op)
    k = _matrix(op, 1)[2]
    n = minimum(rows, columns)
    m = rows + columns - n
    if op.flag("fast", True):
        macs = m * ceil_div(n * (n + 1), 2) + ceil_div(n**3 - n, 6)
        macs = macs + k * (m * n + n * (n - 1))
        other = _triangle(n) + n + 2 * k * n
    else:
        macs = ceil_div(3 * m * n**2 - n**3, 3) + k * (2 * m * n - n**2 + _triangle(n))
        other = k * n
    return _cost(op, b * macs, b * other, b=b, m=m, n=n, k=k)
