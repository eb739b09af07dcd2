"""Sparse tensors, CSR matrices, and embedding lookups that sum: work on the values that are stored.

``nnz`` is their number. That of a CSR matrix travels with its variant as the length. A lookup by
itself (``Gather``) is not float work.
"""

from __future__ import annotations

import math

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
    steps,
)
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number


@formula("SparseTensorDenseMatMul", "2·nnz·k")
def _sparse_times_dense(op: OpCall) -> Cost:
    """Each of nnz stored values takes part in one product for each of k columns."""
    nnz, k = op.n_in(1), op.out()[-1]
    return multiply_adds(real_multiply_adds(nnz * k, op.dtype(1)), nnz=nnz, k=k)


enter_counts(
    Counted("SparseTensorDenseAdd", 1, of_input=1, work=additions, letter="nnz",
            why="Each of nnz stored values is added to an element of the dense tensor."),
    Counted("SparseDenseCwiseAdd", 1, of_input=1, work=additions, letter="nnz",
            why="Each of nnz stored values is combined with an element of the dense tensor."),
    Counted("SparseDenseCwiseMul SparseDenseCwiseDiv", 1, of_input=1, work=multiplications,
            why="Each of nnz stored values is combined with an element of the dense tensor.",
            letter="nnz"),
    Counted("SparseReduceSum SparseReduceMax SparseReduceSumSparse SparseReduceMaxSparse", 1,
            why="Each of nnz stored values is combined with its result, which starts out neutral.",
            of_input=1, work=additions, letter="nnz"),
    Counted("SparseSoftmax", 5, of_input=1, work=additions, letter="nnz",
            why="Maximum, subtraction, exp, sum and division for each of nnz stored values."),
)  # fmt: skip


@formula("SparseAdd", "a + b")
def _add(op: OpCall) -> Cost:
    """Values at the same place, a + b - sums, are added; each sum is compared with a threshold."""
    a, b = op.n_in(1), op.n_in(4)
    return operations(additions(a + b, op.dtype(1)), a=a, b=b)


@formula("SparseSparseMaximum SparseSparseMinimum", "a + b")
def _extreme(op: OpCall) -> Cost:
    """Each of a + b stored values is compared with the value, or 0, at the same place."""
    a, b = op.n_in(1), op.n_in(4)
    return operations(additions(a + b, op.dtype(1)), a=a, b=b)


@formula("SparseFillEmptyRowsGrad RaggedFillEmptyRowsGrad", "n - m")
def _fill_grad(op: OpCall) -> Cost:
    """Gradients of the n - m filled rows are added up to that of the default value."""
    n, m = op.n_in(1), op.n_in(0)
    return operations(additions(steps(n, m), op.dtype(1)), n=n, m=m)


def _nnz(op: OpCall, index: int = 0) -> Number:
    """Stored values of a CSR matrix."""
    length = op.handle(index).length
    if length is None:
        raise UnknownError("the number of stored values of the sparse matrix is unknown")
    return length


@formula("SparseMatrixMatMul _MklNativeSparseMatrixMatMul", "2·nnz·k")
def _matrix_mat_mul(op: OpCall) -> Cost:
    """Each of nnz stored values takes part in one product for each of k columns of b."""
    dims = op.shape(1)
    transposed = op.flag("transpose_b") or op.flag("adjoint_b")
    nnz, k = _nnz(op), dims[-2 if transposed else -1]
    return multiply_adds(real_multiply_adds(nnz * k, op.dtype(1)), nnz=nnz, k=k)


@formula("SparseMatrixMul", "nnz")
def _matrix_mul(op: OpCall) -> Cost:
    """Each of nnz stored values is multiplied once."""
    nnz = _nnz(op)
    return operations(multiplications(nnz, op.dtype(1)), nnz=nnz)


@formula("SparseMatrixAdd", "2·(a + b)")
def _matrix_add(op: OpCall) -> Cost:
    """alpha·A + beta·B: each of a + b stored values is scaled and added to a place."""
    a, b = _nnz(op, 0), _nnz(op, 1)
    dtype = op.dtype(2)
    return operations(multiplications(a + b, dtype) + additions(a + b, dtype), a=a, b=b)


@formula("SparseMatrixSoftmax", "5·nnz")
def _matrix_softmax(op: OpCall) -> Cost:
    """Maximum, subtraction, exp, sum and division for each of nnz stored values."""
    nnz = _nnz(op)
    return operations(5 * nnz, nnz=nnz)


@formula("SparseMatrixSoftmaxGrad", "4·nnz")
def _matrix_softmax_grad(op: OpCall) -> Cost:
    """y·(dy - Σ dy·y): two products, a sum and a subtraction for each of nnz stored values."""
    nnz = _nnz(op)
    return operations(float_work(4 * nnz, op.handle(0).dtype), nnz=nnz)


@formula("SparseMatrixSparseMatMul SparseMatrixSparseCholesky", "unknown")
def _pattern(op: OpCall) -> Cost:
    """The products depend on where both matrices have values."""
    raise UnknownError("the number of products depends on where the sparse matrices have values")


declare_free(
    """
    SparseToDense SparseReorder SparseReshape SparseConcat SparseSplit SparseSlice SparseSliceGrad
    SparseFillEmptyRows SparseAddGrad SparseMatrixTranspose SparseMatrixZeros DenseToCSRSparseMatrix
    SparseTensorToCSRSparseMatrix CSRSparseMatrixToDense CSRSparseMatrixToSparseTensor
    CSRSparseMatrixComponents RaggedTensorToVariantGradient
    """,
    because="moves stored values, computes nothing",
)
declare_free("SparseCross SparseCrossV2 SparseCrossHashed", because="joins and hashes features")
declare_free(
    """
    SparseMatrixNNZ SparseMatrixOrderingAMD SparseCountSparseOutput SparseToSparseSetOperation
    DenseToSparseSetOperation DenseToDenseSetOperation SetSize DenseCountSparseOutput
    RaggedCountSparseOutput
    """,
    because="counts and compares in whole numbers",
)


def _looked_up(op: OpCall) -> Number:
    """Elements of all rows that are looked up."""
    return op.n_in(1) * math.prod(op.shape(0)[1:])


@formula("SparseSegmentMean SparseSegmentMeanWithNumSegments", "n + m")
def _mean(op: OpCall) -> Cost:
    """n additions, and a division for each of the m elements of the means."""
    n, m = _looked_up(op), op.n_out()
    return operations(additions(n + m, op.dtype()), n=n, m=m)


@formula("SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments", "n + m + s")
def _sqrt_n(op: OpCall) -> Cost:
    """n additions, a division for each of m elements, and a square root for each of s segments."""
    n, m, s = _looked_up(op), op.n_out(), op.out()[0]
    return operations(additions(n + m + s, op.dtype()), n=n, m=m, s=s)


@formula(
    "SparseSegmentSum SparseSegmentSumWithNumSegments",
    "n",
    why="Each of the n elements of the rows that are looked up is added to its segment.",
)
@formula("SparseSegmentSumGrad SparseSegmentSumGradV2", "n")
def _sum(op: OpCall) -> Cost:
    """Each of the n elements of the rows that were looked up gets a gradient added."""
    n = _looked_up(op)
    return operations(additions(n, op.dtype()), n=n)


@formula("SparseSegmentMeanGrad SparseSegmentMeanGradV2", "2·n + s")
def _mean_grad(op: OpCall) -> Cost:
    """Each of n gradients is scaled and added; the scale takes a division for each segment."""
    n, s = _looked_up(op), op.shape(0)[0]
    return operations(additions(2 * n + s, op.dtype()), n=n, s=s)


@formula("SparseSegmentSqrtNGrad SparseSegmentSqrtNGradV2", "2·n + 2·s")
def _sqrt_n_grad(op: OpCall) -> Cost:
    """Each of n gradients is scaled and added; the scale takes a root and a division a segment."""
    n, s = _looked_up(op), op.shape(0)[0]
    return operations(additions(2 * n + 2 * s, op.dtype()), n=n, s=s)


@formula(
    """
    RecvTPUEmbeddingActivations XlaRecvTPUEmbeddingActivations XlaRecvTPUEmbeddingActivationsV2
    SendTPUEmbeddingGradients XlaSendTPUEmbeddingGradients XlaSendTPUEmbeddingGradientsV2
    """,
    "unknown",
)
def _tpu_embedding(op: OpCall) -> Cost:
    """The lookups and updates run on a TPU's embedding cores, by a configuration of their own."""
    raise UnknownError("lookups and updates of TPU embeddings are not part of the graph")
