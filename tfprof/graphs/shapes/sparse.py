"""Shapes of sparse tensors, stored as indices, values and a dense shape, and of CSR matrices.

A CSR matrix is a variant; its handle holds the dense shape, and as length the number of values.
"""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, total
from tfprof.graphs.model.tensors import Handle
from tfprof.graphs.shapes.dims import broadcast
from tfprof.graphs.shapes.rules import HANDLES, SHAPES, Shapes


def _sparse(nnz: Number | None, rank: Number | None) -> Shapes:
    """Indices, values and dense shape."""
    return [(nnz, rank), (nnz,), (rank,)]


def _rank(op: OpCall, index: int) -> Number:
    """Dimensions of a sparse tensor, from its dense shape."""
    return op.shape_of_rank(index, 1)[0]


@SHAPES.of("SparseTensorDenseMatMul")
def _times_dense(op: OpCall) -> Shapes:
    rows, columns = op.spelled_shape(2) or (None, None)
    b = op.shape_of_rank(3, 2)
    outer = columns if op.flag("adjoint_a") else rows
    return [(outer, b[0 if op.flag("adjoint_b") else 1])]


@SHAPES.of("SparseReshape")
def _reshape(op: OpCall) -> Shapes:
    rank = _rank(op, 2)
    return [(op.shape_of_rank(0, 2)[0], rank), (rank,)]


@SHAPES.of("SparseConcat")
def _concat(op: OpCall) -> Shapes:
    n = len(op.inputs) // 3
    nnz = total(op.shape_of_rank(index, 1)[0] for index in range(n, 2 * n))
    return _sparse(nnz, _rank(op, 2 * n))


@SHAPES.of("SparseSplit")
def _split(op: OpCall) -> Shapes:
    """Indices of all parts come first, then all values, then all shapes."""
    n = op.count_attr("num_split")
    return [shape for shape in _sparse(None, _rank(op, 3)) for _ in range(n)]


@SHAPES.of("SparseFillEmptyRows")
def _fill(op: OpCall) -> Shapes:
    """The number of filled rows depends on the indices."""
    nnz, rank = op.shape_of_rank(0, 2)
    dense = op.spelled_numbers(2)
    return [(None, rank), (None,), (dense[0] if dense else None,), (nnz,)]


@SHAPES.of("SetSize")
def _set_size(op: OpCall) -> Shapes:
    dense = op.spelled_shape(2)
    if not dense:
        raise UnknownError("the shape of the sets is unknown")
    return [dense[:-1]]


@SHAPES.of("SparseMatrixMatMul", "_MklNativeSparseMatrixMatMul")
def _matrix_times_dense(op: OpCall) -> Shapes:
    a, b = op.handle_dims(), op.shape_of_least(2, 1)
    if len(a) < 2:
        raise UnknownError("the sparse matrix has fewer than two dimensions")
    rows = a[-1 if op.flag("transpose_a") or op.flag("adjoint_a") else -2]
    columns = b[-2 if op.flag("transpose_b") or op.flag("adjoint_b") else -1]
    batch = broadcast(a[:-2], b[:-2])
    if op.flag("transpose_output"):
        rows, columns = columns, rows
    return [(*batch, rows, columns)]


@SHAPES.of("CSRSparseMatrixToSparseTensor")
def _matrix_to_sparse(op: OpCall) -> Shapes:
    handle = op.handle(0)
    return _sparse(handle.length, None if handle.shape is None else len(handle.shape))


@SHAPES.of("SparseMatrixNNZ", "SparseMatrixOrderingAMD")
def _about_matrix(op: OpCall) -> Shapes:
    """One number for each matrix; an ordering has one for each row."""
    return [op.handle_dims()[: -2 if op.type == "SparseMatrixNNZ" else -1]]


@HANDLES.of("SparseMatrixTranspose")
def _transposed(op: OpCall) -> list[Handle | None]:
    handle = op.handle(0)
    dims = handle.shape
    if dims is None or len(dims) < 2:
        raise UnknownError("the shape of the sparse matrix is unknown")
    return [handle._replace(shape=(*dims[:-2], dims[-1], dims[-2]))]


SHAPES.of("SparseDenseCwiseAdd SparseDenseCwiseMul SparseDenseCwiseDiv SparseSoftmax")(
    lambda op: [op.shape_of_rank(1, 1)]
)
SHAPES.of("SparseAdd SparseSlice")(lambda op: _sparse(None, _rank(op, 2)))
SHAPES.of("SparseAddGrad")(lambda op: [(op.shape_of_rank(1, 2)[0],), (op.shape_of_rank(2, 2)[0],)])
SHAPES.of("SparseSparseMaximum SparseSparseMinimum")(lambda op: _sparse(None, _rank(op, 2))[:2])
SHAPES.of("SparseReduceSumSparse SparseReduceMaxSparse")(
    lambda op: _sparse(None, _rank(op, 2) if op.flag("keep_dims") else None)
)
SHAPES.of("SparseReorder")(lambda op: [op.shape_of_rank(0, 2), op.shape_of_rank(1, 1)])
SHAPES.of("SparseSliceGrad")(lambda op: [(op.shape_of_rank(1, 2)[0],)])
SHAPES.of("SparseFillEmptyRowsGrad RaggedFillEmptyRowsGrad")(
    lambda op: [op.shape_of_rank(0, 1), ()]
)
SHAPES.of("CSRSparseMatrixToDense")(lambda op: [op.handle(0).shape])
HANDLES.of("SparseTensorToCSRSparseMatrix")(
    lambda op: [Handle(op.spelled_shape(2), op.input(1).dtype, op.shape_of_rank(1, 1)[0])]
)
HANDLES.of("DenseToCSRSparseMatrix")(
    lambda op: [Handle(op.shape(), op.input(0).dtype, op.shape_of_rank(1, 2)[0])]
)
HANDLES.of("SparseMatrixMul SparseMatrixSoftmax SparseMatrixSoftmaxGrad")(lambda op: [op.handle(0)])
HANDLES.of("SparseMatrixZeros")(lambda op: [Handle(op.spelled_shape(0), op.integer("type"), 0)])
