"""Shapes of sparse tensors, stored as indices, values and a dense shape, and of CSR matrices.

A CSR matrix is a variant; its handle holds the dense shape, and as length the number of values.
"""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, total
from tfprof.graphs.model.tensors import Dims, Handle, PartialShape, known_dims
from tfprof.graphs.shapes.arguments import count_attr, spelled_numbers, spelled_shape
from tfprof.graphs.shapes.broadcasting import broadcast
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()
HANDLES: Rules[Handle | None] = Rules()


def _sparse(nnz: Number | None, rank: Number | None) -> list[PartialShape]:
    """Indices, values and dense shape."""
    return [(nnz, rank), (nnz,), (rank,)]


def _rank(op: OpCall, index: int) -> Number:
    """Dimensions of a sparse tensor, from its dense shape."""
    return op.shape_of_rank(index, 1)[0]


@RULES.of("SparseTensorDenseMatMul")
def _times_dense(op: OpCall) -> list[PartialShape]:
    rows, columns = spelled_shape(op, 2) or (None, None)
    b = op.shape_of_rank(3, 2)
    outer = columns if op.flag("adjoint_a") else rows
    return [(outer, b[0 if op.flag("adjoint_b") else 1])]


@RULES.of("SparseReshape")
def _reshape(op: OpCall) -> list[PartialShape]:
    rank = _rank(op, 2)
    return [(op.shape_of_rank(0, 2)[0], rank), (rank,)]


@RULES.of("SparseConcat")
def _concat(op: OpCall) -> list[PartialShape]:
    n = len(op.inputs) // 3
    nnz = total(op.shape_of_rank(index, 1)[0] for index in range(n, 2 * n))
    return _sparse(nnz, _rank(op, 2 * n))


@RULES.of("SparseSplit")
def _split(op: OpCall) -> list[PartialShape]:
    """Indices of all parts come first, then all values, then all shapes."""
    n, rank = count_attr(op, "num_split"), _rank(op, 3)
    indices: list[PartialShape] = [(None, rank)] * n
    values: list[PartialShape] = [(None,)] * n
    shapes: list[PartialShape] = [(rank,)] * n
    return indices + values + shapes


@RULES.of("SparseFillEmptyRows")
def _fill(op: OpCall) -> list[PartialShape]:
    """The number of filled rows depends on the indices."""
    nnz, rank = op.shape_of_rank(0, 2)
    dense = spelled_numbers(op, 2)
    return [(None, rank), (None,), (dense[0] if dense else None,), (nnz,)]


@RULES.of("SetSize")
def _set_size(op: OpCall) -> list[PartialShape]:
    dense = spelled_shape(op, 2)
    if not dense:
        raise UnknownError("the shape of the sets is unknown")
    return [dense[:-1]]


@RULES.of("SparseMatrixMatMul", "_MklNativeSparseMatrixMatMul")
def _matrix_times_dense(op: OpCall) -> list[PartialShape]:
    a, b = _csr_shape(op), op.shape(1)
    if len(a) < 2 or len(b) < 2:
        raise UnknownError("a matrix has fewer than two dimensions")
    rows = a[-1 if op.flag("transpose_a") or op.flag("adjoint_a") else -2]
    columns = b[-2 if op.flag("transpose_b") or op.flag("adjoint_b") else -1]
    batch = broadcast(a[:-2], b[:-2])
    if op.flag("transpose_output"):
        rows, columns = columns, rows
    return [(*batch, rows, columns)]


@RULES.of("CSRSparseMatrixToSparseTensor")
def _matrix_to_sparse(op: OpCall) -> list[PartialShape]:
    handle = op.handle(0)
    return _sparse(handle.length, None if handle.shape is None else len(handle.shape))


@RULES.of("SparseMatrixNNZ", "SparseMatrixOrderingAMD")
def _about_matrix(op: OpCall) -> list[PartialShape]:
    """One number for each matrix; an ordering has one for each row."""
    dims = _csr_shape(op)
    return [dims[:-2] if op.type == "SparseMatrixNNZ" else dims[:-1]]


def _csr_shape(op: OpCall) -> Dims:
    dims = known_dims(op.handle(0).shape)
    if dims is None:
        raise UnknownError("the shape of the sparse matrix is unknown")
    return dims


@HANDLES.of("SparseTensorToCSRSparseMatrix")
def _from_sparse(op: OpCall) -> list[Handle | None]:
    nnz = op.shape_of_rank(1, 1)[0]
    return [Handle(spelled_shape(op, 2), op.input(1).dtype, nnz)]


@HANDLES.of("DenseToCSRSparseMatrix")
def _from_dense(op: OpCall) -> list[Handle | None]:
    nnz = op.shape_of_rank(1, 2)[0]
    return [Handle(op.shape(), op.input(0).dtype, nnz)]


@HANDLES.of("SparseMatrixTranspose")
def _transposed(op: OpCall) -> list[Handle | None]:
    handle = op.handle(0)
    dims = handle.shape
    if dims is None or len(dims) < 2:
        raise UnknownError("the shape of the sparse matrix is unknown")
    return [handle._replace(shape=(*dims[:-2], dims[-1], dims[-2]))]


RULES.of("SparseTensorDenseAdd")(lambda op: [op.shape(3)])
RULES.of("SparseDenseCwiseAdd SparseDenseCwiseMul SparseDenseCwiseDiv SparseSoftmax")(
    lambda op: [op.shape_of_rank(1, 1)]
)
RULES.of("SparseAdd SparseSlice")(lambda op: _sparse(None, _rank(op, 2)))
RULES.of("SparseAddGrad")(lambda op: [(op.shape_of_rank(1, 2)[0],), (op.shape_of_rank(2, 2)[0],)])
RULES.of("SparseSparseMaximum SparseSparseMinimum")(lambda op: _sparse(None, _rank(op, 2))[:2])
RULES.of("SparseReduceSumSparse SparseReduceMaxSparse")(
    lambda op: _sparse(None, _rank(op, 2) if op.flag("keep_dims") else None)
)
RULES.of("SparseToDense")(lambda op: [spelled_shape(op, 1)])
RULES.of("SparseReorder")(lambda op: [op.shape_of_rank(0, 2), op.shape_of_rank(1, 1)])
RULES.of("SparseSliceGrad")(lambda op: [(op.shape_of_rank(1, 2)[0],)])
RULES.of("SparseFillEmptyRowsGrad RaggedFillEmptyRowsGrad")(lambda op: [op.shape_of_rank(0, 1), ()])
RULES.of("SparseCross SparseCrossV2 SparseCrossHashed")(lambda op: _sparse(None, 2))
RULES.of(
    """
    SparseCountSparseOutput DenseCountSparseOutput RaggedCountSparseOutput
    SparseToSparseSetOperation DenseToSparseSetOperation DenseToDenseSetOperation
    """
)(lambda op: _sparse(None, None))
RULES.of("CSRSparseMatrixToDense")(lambda op: [op.handle(0).shape])
RULES.of("CSRSparseMatrixComponents")(lambda op: [(None,), (None,), (None,)])
RULES.of(
    """
    SparseTensorToCSRSparseMatrix DenseToCSRSparseMatrix SparseMatrixTranspose SparseMatrixMul
    SparseMatrixAdd SparseMatrixSoftmax SparseMatrixSoftmaxGrad SparseMatrixSparseMatMul
    SparseMatrixSparseCholesky SparseMatrixZeros
    """
)(lambda op: [()])
HANDLES.of("SparseMatrixMul SparseMatrixSoftmax SparseMatrixSoftmaxGrad")(lambda op: [op.handle(0)])
HANDLES.of("SparseMatrixZeros")(lambda op: [Handle(spelled_shape(op, 0), op.integer("type"), 0)])
