"""Sparse tensors and CSR matrices, by hand."""

import pytest

from tests.graphs.calls import call, cost, floats, ints
from tfprof.graphs.flops.registry import FREE
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import DT_FLOAT, DT_INT64, Handle, Tensor
from tfprof.graphs.shapes.infer import SHAPES

NNZ = Symbolic.named("NNZ")
INDICES = Tensor((6, 2), DT_INT64)
DENSE = ints(3, 4, dtype=DT_INT64)


def counted(op_type, *inputs, **attrs):
    return cost(SHAPES, call(op_type, *inputs, **attrs))


def matrix(nnz, dtype=DT_FLOAT):
    return Tensor((), 21, None, Handle((3, 4), dtype, nnz))


def test_each_stored_value_meets_each_column():
    made = counted("SparseTensorDenseMatMul", INDICES, floats(6), DENSE, floats(4, 5))
    assert (made.macs, made.other) == (6 * 5, 0)
    values = Tensor((6,), 8)
    made = counted("SparseTensorDenseMatMul", INDICES, values, DENSE, Tensor((4, 5), 8))
    assert made.macs == 4 * 6 * 5
    made = counted("SparseTensorDenseMatMul", INDICES, floats(NNZ), DENSE, floats(4, 5))
    assert made.flops == 10 * NNZ


def test_stored_values_are_worked_on_once():
    sp = (INDICES, floats(6), DENSE)
    for op_type in ("SparseTensorDenseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseAdd"):
        assert counted(op_type, *sp, floats(3, 4)).flops == 6
    assert counted("SparseSoftmax", *sp).flops == 30
    op = call("SparseReduceSum", *sp, ints(0), outputs=(floats(4),))
    assert cost(None, op).flops == 6


def test_sums_of_sparse_tensors():
    a, b = (INDICES, floats(6), DENSE), (Tensor((5, 2), DT_INT64), floats(5), DENSE)
    assert counted("SparseAdd", *a, *b, floats()).flops == 11
    assert counted("SparseSparseMaximum", *a, *b).flops == 11
    assert counted("SparseFillEmptyRowsGrad", Tensor((6,), DT_INT64), floats(8)).flops == 2


def test_csr_matrices_know_how_many_values_they_have():
    assert counted("SparseMatrixMatMul", matrix(6), floats(4, 5)).macs == 30
    made = counted("SparseMatrixMatMul", matrix(6), floats(5, 4), transpose_b=True)
    assert made.macs == 30
    assert counted("SparseMatrixMul", matrix(6), floats()).flops == 6
    numbers = (floats(), floats())
    assert counted("SparseMatrixAdd", matrix(6), matrix(5), *numbers).flops == 22
    assert counted("SparseMatrixSoftmax", matrix(6)).flops == 30
    assert counted("SparseMatrixSoftmaxGrad", matrix(6), matrix(6)).flops == 24
    with pytest.raises(UnknownError, match="stored values"):
        counted("SparseMatrixSoftmax", matrix(None))


def test_products_of_sparse_matrices_depend_on_their_values():
    with pytest.raises(UnknownError, match="where"):
        counted("SparseMatrixSparseMatMul", matrix(6), matrix(6))


def test_what_moves_values_is_free():
    assert {"SparseToDense", "SparseConcat", "SparseReorder"} <= FREE.keys()
