"""Shapes of linear algebra."""

import numpy as np
import pytest

from tests.graphs.calls import call, floats, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic, minimum
from tfprof.graphs.shapes.infer import SHAPES

B, M, N = (Symbolic.named(name) for name in "BMN")


@pytest.mark.tensorflow
def test_square_matrices_agree_with_tensorflow():
    def build(raw, feed):
        a = feed(np.stack([np.eye(3, dtype=np.float32)] * 2), 0)
        right = feed(np.ones((2, 3, 4), np.float32), 0)
        lower = raw.Cholesky(input=a)
        raw.CholeskyGrad(l=lower, grad=a)
        raw.MatrixInverse(input=a)
        raw.MatrixDeterminant(input=a)
        raw.LogMatrixDeterminant(input=a)
        raw.MatrixSolve(matrix=a, rhs=right)
        raw.MatrixSquareRoot(input=a)
        raw.Lu(input=a)
        raw.MatrixTriangularSolve(matrix=a, rhs=right)
        raw.MatrixTriangularSolve(matrix=feed(np.eye(3, dtype=np.float32)), rhs=right)
        raw.SelfAdjointEigV2(input=a)
        raw.Eig(input=a, Tout=np.complex64)
        raw.MatrixLogarithm(input=feed(np.eye(3, dtype=np.complex64)))

    check(build)


@pytest.mark.tensorflow
@pytest.mark.parametrize("dims", [(2, 5, 3), (2, 3, 5)])
def test_decompositions_agree_with_tensorflow(dims):
    def build(raw, feed):
        a = feed(np.random.default_rng(0).random(dims).astype(np.float32), 0)
        raw.Qr(input=a)
        raw.Qr(input=a, full_matrices=True)
        raw.Svd(input=a)
        raw.Svd(input=a, full_matrices=True)
        right = feed(np.ones((2, dims[1], 4), np.float32))
        raw.MatrixSolveLs(matrix=a, rhs=right, l2_regularizer=np.float64(0.5))

    check(build)


@pytest.mark.tensorflow
def test_vectors_that_are_not_requested_are_empty():
    def build(raw, feed):
        a = feed(np.stack([np.eye(3, dtype=np.float32)] * 2), 0)
        raw.SelfAdjointEigV2(input=a, compute_v=False)
        raw.Eig(input=a, Tout=np.complex64, compute_v=False)
        raw.Svd(input=a, compute_uv=False)

    check(build, run=False)


@pytest.mark.tensorflow
def test_bands_agree_with_tensorflow():
    def build(raw, feed):
        right = feed(np.ones((2, 6, 4), np.float32), 0)
        diagonals = feed(np.ones((2, 3, 6), np.float32), 0)
        raw.TridiagonalSolve(diagonals=diagonals, rhs=right, partial_pivoting=False)
        line = feed(np.ones((2, 1, 6), np.float32))
        raw.TridiagonalMatMul(superdiag=line, maindiag=line, subdiag=line, rhs=right)
        raw.BandedTriangularSolve(matrix=diagonals, rhs=right)

    check(build)


def test_unknown_sizes_of_a_decomposition_meet_in_a_minimum():
    smaller = minimum(M, N)
    op = call("Svd", floats(B, M, N))
    assert shapes(SHAPES, op) == [(B, smaller), (B, M, smaller), (B, N, smaller)]
    assert shapes(SHAPES, call("Cholesky", floats(B, N, 4))) == [(B, 4, 4)]


def test_the_oldest_eigenvalues_stand_above_the_vectors():
    assert shapes(SHAPES, call("SelfAdjointEig", floats(B, 3, 3))) == [(B, 4, 3)]


def test_a_vector_is_not_a_matrix():
    with pytest.raises(UnknownError, match="1 dimensions, fewer than 2"):
        shapes(SHAPES, call("Cholesky", floats(3)))
