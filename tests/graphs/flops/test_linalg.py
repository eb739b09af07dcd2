"""Linear algebra: counted by running the textbook loops, or by the textbook's own figures."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graphs.calls import call, cost, floats
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import UNKNOWN, Tensor
from tfprof.graphs.shapes.infer import SHAPES

B, N = Symbolic.named("B"), Symbolic.named("N")

sizes = st.integers(1, 9)


def counted(op_type, *inputs, **attrs):
    made = cost(SHAPES, call(op_type, *inputs, **attrs))
    return made.macs, made.other


def cholesky_steps(n):
    macs = other = 0
    for j in range(n):
        macs += j  # the diagonal element, less the squares before it
        other += 1  # its root
        for _ in range(j + 1, n):
            macs += j
            other += 1  # the division
    return macs, other


def lu_steps(n):
    macs = other = 0
    for k in range(n):
        other += n - 1 - k  # comparisons for the pivot
        for _ in range(k + 1, n):
            other += 1  # the multiplier
            macs += n - 1 - k
    return macs, other


def substitution_steps(n):
    return sum(range(n))


def householder_steps(m, n, columns):
    """Reflectors for each column, each applied to what is right of it, itself included."""
    return sum(2 * (m - j) * (columns - j) for j in range(min(m, n)))


@given(sizes)
def test_cholesky(n):
    assert counted("Cholesky", floats(n, n)) == cholesky_steps(n)
    macs, other = cholesky_steps(n)
    assert counted("CholeskyGrad", floats(n, n), floats(n, n)) == (2 * macs, 2 * other)


@given(sizes)
def test_lu_and_determinants(n):
    macs, other = lu_steps(n)
    assert counted("Lu", floats(n, n)) == (macs, other)
    assert counted("MatrixDeterminant", floats(n, n)) == (macs, other + n)
    assert counted("LogMatrixDeterminant", floats(n, n)) == (macs, other + 3 * n)


@given(sizes, sizes)
def test_solutions(n, k):
    macs, other = lu_steps(n)
    both = 2 * substitution_steps(n)
    expected = (macs + k * both, other + k * n)
    assert counted("MatrixSolve", floats(n, n), floats(n, k)) == expected
    expected = (k * substitution_steps(n), k * n)
    assert counted("MatrixTriangularSolve", floats(n, n), floats(n, k)) == expected


@given(sizes, sizes, sizes)
def test_banded_solutions(n, w, k):
    w = min(w, n)
    steps = sum(min(row, w - 1) for row in range(n))
    assert counted("BandedTriangularSolve", floats(w, n), floats(n, k)) == (k * steps, k * n)


@given(sizes, sizes)
def test_tridiagonal_systems(n, k):
    # forward: a multiplier, the diagonal and each right-hand side; backward: one product less
    expected = ((n - 1) * (1 + 2 * k), (n - 1) + k * n)
    diagonals = floats(3, n)
    op = ("TridiagonalSolve", diagonals, floats(n, k))
    assert counted(*op, partial_pivoting=False) == expected
    # a second superdiagonal, and a comparison for each row
    assert counted(*op) == ((n - 1) * (2 + 3 * k), 2 * (n - 1) + k * n)
    products = sum(len(range(max(row - 1, 0), min(row + 2, n))) for row in range(n))
    assert counted("TridiagonalMatMul", *[floats(1, n)] * 3, floats(n, k)) == (k * products, 0)


@given(sizes, sizes)
def test_qr_is_within_lower_terms_of_its_reflectors(m, n):
    """The formula leaves out terms below n³; the loops have all."""
    p = min(m, n)
    macs, other = counted("Qr", floats(m, n))
    steps = householder_steps(m, n, n) + householder_steps(m, n, p)
    assert other == 0
    assert 0 <= steps - macs <= 2 * (m + n + p) * p


def leading(op_type, m, n, **attrs):
    """Flops of a big matrix by n³."""
    made = cost(SHAPES, call(op_type, floats(m, n), **attrs))
    return Fraction(made.flops, n**3)


def close(fraction, expected):
    return abs(fraction - expected) < Fraction(1, 100)


def test_leading_terms_are_those_of_the_textbook():
    n = 3000
    assert close(leading("Cholesky", n, n), Fraction(1, 3))
    assert close(leading("Lu", n, n), Fraction(2, 3))
    assert close(leading("MatrixInverse", n, n), 2)
    # 2·n²·(m - n/3) for R and as much for Q
    assert close(leading("Qr", 2 * n, n), 2 * 2 * (2 - Fraction(1, 3)))
    # 2·n²·(m - n/3) and 4·(m²·n - m·n² + n³/3)
    full = 2 * (2 - Fraction(1, 3)) + 4 * (4 - 2 + Fraction(1, 3))
    assert close(leading("Qr", 2 * n, n, full_matrices=True), full)
    assert close(leading("Svd", 2 * n, n), 14 * 2 + 8)
    assert close(leading("Svd", 2 * n, n, full_matrices=True), 4 * 4 + 8 * 2 + 9)
    assert close(leading("Svd", 2 * n, n, compute_uv=False), 4 * 2 - Fraction(4, 3))
    assert close(leading("SelfAdjointEigV2", n, n), 9)
    assert close(leading("SelfAdjointEigV2", n, n, compute_v=False), Fraction(4, 3))
    assert close(leading("Eig", n, n), 25)
    assert close(leading("Eig", n, n, compute_v=False), 10)
    assert close(leading("MatrixSquareRoot", n, n), 28 + Fraction(1, 3))
    assert close(leading("MatrixExponential", n, n), 6 * 2 + Fraction(8, 3))


def test_a_wide_matrix_costs_what_its_transpose_costs():
    assert counted("Svd", floats(3, 5)) == counted("Svd", floats(5, 3))


def test_least_squares_by_normal_equations_or_reflectors():
    m, n, k = 20, 5, 2
    macs, other = cholesky_steps(n)
    # Aᵀ·A is symmetric; Aᵀ·b; two substitutions
    macs += m * n * (n + 1) // 2 + k * m * n + k * 2 * substitution_steps(n)
    inputs = (floats(m, n), floats(m, k), UNKNOWN)
    assert counted("MatrixSolveLs", *inputs) == (macs, other + 2 * k * n)
    slow, _ = counted("MatrixSolveLs", *inputs, fast=False)
    assert slow == -(-(3 * m * n**2 - n**3) // 3) + k * (2 * m * n - n**2 + 10)


def test_batches_multiply():
    macs, other = cholesky_steps(4)
    assert counted("Cholesky", floats(B, 3, 4, 4)) == (3 * B * macs, 3 * B * other)
    one = counted("MatrixTriangularSolve", floats(4, 4), floats(4, 2))
    many = counted("MatrixTriangularSolve", floats(4, 4), floats(6, 4, 2))
    assert many == (6 * one[0], 6 * one[1])


def test_unknown_sizes_fit_once_they_are_known():
    macs, other = counted("Cholesky", floats(N, N))
    for n in (1, 2, 5):
        assert (macs.bind(N=n), other.bind(N=n)) == cholesky_steps(n)


def test_complex_multiply_adds_are_four_real_ones():
    z = Tensor((4, 4), 8)
    macs, other = cholesky_steps(4)
    assert counted("Cholesky", z) == (4 * macs, 6 * other)


def test_what_depends_on_values_is_not_counted():
    with pytest.raises(UnknownError, match="square roots"):
        counted("MatrixLogarithm", floats(4, 4))


def test_matrices_that_are_not_square_are_refused():
    for dims in ((3,), (3, 4)):
        with pytest.raises(UnknownError):
            cost(None, call("Cholesky", floats(*dims)))
