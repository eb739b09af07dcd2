"""Shapes of sparse tensors and CSR matrices."""

import numpy as np
import pytest

from tests.graphs.calls import call, floats, ints, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import DT_FLOAT, DT_INT64, UNKNOWN, Handle, Tensor
from tfprof.graphs.shapes.infer import HANDLES, SHAPES

B, N = Symbolic.named("B"), Symbolic.named("N")


def matrix(shape, nnz=None):
    return Tensor((), 21, None, Handle(shape, DT_FLOAT, nnz))


@pytest.mark.tensorflow
def test_sparse_tensors_agree_with_tensorflow():
    def build(raw, feed):
        indices = feed(np.array([[0, 1], [2, 0]], np.int64))
        values, dense = feed(np.ones((2,), np.float32)), np.int64([3, 4])
        sp = {"sp_indices": indices, "sp_values": values, "sp_shape": dense}
        a = {"a_indices": indices, "a_values": values, "a_shape": dense}
        b = {"b_indices": indices, "b_values": values, "b_shape": dense}
        full = feed(np.ones((3, 4), np.float32), 0)
        wide = feed(np.ones((4, 5), np.float32))
        raw.SparseTensorDenseMatMul(**a, b=wide)
        raw.SparseTensorDenseMatMul(**a, b=full, adjoint_a=True)
        raw.SparseTensorDenseAdd(**a, b=full)
        for name in ("Add", "Mul", "Div"):
            getattr(raw, f"SparseDenseCwise{name}")(**sp, dense=full)
        raw.SparseSoftmax(**sp)
        total = raw.SparseAdd(**a, **b, thresh=np.float32(0))
        raw.SparseAddGrad(
            backprop_val_grad=total[1], a_indices=indices, b_indices=indices, sum_indices=total[0]
        )
        raw.SparseSparseMaximum(**a, **b)
        of_input = {"input_indices": indices, "input_values": values, "input_shape": dense}
        raw.SparseReduceSum(**of_input, reduction_axes=[1])
        raw.SparseReduceMax(**of_input, reduction_axes=[-1], keep_dims=True)
        raw.SparseReduceSum(**of_input, reduction_axes=np.int32([]))
        raw.SparseReorder(**of_input)
        raw.SparseReshape(input_indices=indices, input_shape=dense, new_shape=np.int64([2, 2, 3]))
        raw.SparseToDense(
            sparse_indices=indices,
            output_shape=dense,
            sparse_values=values,
            default_value=np.float32(0),
        )
        raw.SparseConcat(
            indices=[indices, indices],
            values=[values, values],
            shapes=[dense, dense],
            concat_dim=0,
        )
        raw.SparseSplit(split_dim=0, indices=indices, values=values, shape=dense, num_split=2)
        raw.SparseSlice(indices=indices, values=values, shape=dense, start=dense * 0, size=dense)
        made = raw.SparseFillEmptyRows(
            indices=indices, values=values, dense_shape=dense, default_value=np.float32(0)
        )
        raw.SparseFillEmptyRowsGrad(reverse_index_map=made[3], grad_values=made[1])

    check(build)


def test_csr_matrices_carry_their_shape_and_number_of_values():
    values = floats(N)
    op = call("SparseTensorToCSRSparseMatrix", UNKNOWN, values, ints(B, 4, dtype=DT_INT64))
    (made,) = HANDLES["SparseTensorToCSRSparseMatrix"](op)
    assert made == Handle((B, 4), DT_FLOAT, N)
    (turned,) = HANDLES["SparseMatrixTranspose"](call("SparseMatrixTranspose", matrix((B, 4), N)))
    assert turned == Handle((4, B), DT_FLOAT, N)
    assert shapes(SHAPES, call("SparseMatrixTranspose", matrix((B, 4), N))) == [()]


def test_csr_matrices_multiply_dense_ones():
    op = call("SparseMatrixMatMul", matrix((B, 4, 5)), floats(B, 5, 7))
    assert shapes(SHAPES, op) == [(B, 4, 7)]
    flags = {"transpose_a": True, "adjoint_b": True, "transpose_output": True}
    op = call("SparseMatrixMatMul", matrix((5, 4)), floats(7, 5), **flags)
    assert shapes(SHAPES, op) == [(7, 4)]


def test_csr_matrices_become_dense_again():
    assert shapes(SHAPES, call("CSRSparseMatrixToDense", matrix((B, 4)))) == [(B, 4)]
    op = call("CSRSparseMatrixToSparseTensor", matrix((B, 4), N))
    assert shapes(SHAPES, op) == [(N, 2), (N,), (2,)]
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("CSRSparseMatrixToDense", UNKNOWN))


def test_csr_matrices_of_other_sources():
    (made,) = HANDLES["DenseToCSRSparseMatrix"](
        call("DenseToCSRSparseMatrix", floats(B, 4), Tensor((N, 2), DT_INT64))
    )
    assert made == Handle((B, 4), DT_FLOAT, N)
    (made,) = HANDLES["SparseMatrixZeros"](
        call("SparseMatrixZeros", ints(3, 4, dtype=DT_INT64), type=DT_FLOAT)
    )
    assert made == Handle((3, 4), DT_FLOAT, 0)
    op = call("SparseMatrixSoftmax", matrix((3, 4), N))
    assert HANDLES[op.type](op) == [Handle((3, 4), DT_FLOAT, N)]
    with pytest.raises(UnknownError):
        HANDLES["SparseMatrixTranspose"](call("SparseMatrixTranspose", matrix(None)))


def test_numbers_of_csr_matrices():
    assert shapes(SHAPES, call("SparseMatrixNNZ", matrix((7, 3, 4)))) == [(7,)]
    assert shapes(SHAPES, call("SparseMatrixOrderingAMD", matrix((3, 4)))) == [(3,)]
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("SparseMatrixMatMul", matrix((4,)), floats(4, 4)))


def test_sets_have_one_size_each():
    op = call("SetSize", UNKNOWN, UNKNOWN, ints(B, 4, 5, dtype=DT_INT64))
    assert shapes(SHAPES, op) == [(B, 4)]
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("SetSize", UNKNOWN, UNKNOWN, UNKNOWN))
