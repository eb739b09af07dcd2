"""Shapes of ops that pick elements by index, or put them somewhere by index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.graphs.calls import call, floats, ints, scalar, shapes, variable
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import DT_BOOL, Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
T = Symbolic.named("T")


def shape(op_type: str, *inputs: Tensor, **attrs: Any) -> Any:
    return shapes(SHAPES, call(op_type, *inputs, **attrs))[0]


def test_an_embedding_of_a_batch_of_sentences() -> None:
    assert shape("ResourceGather", variable(1000, 64), floats(B, T)) == (B, T, 64)
    assert shape("GatherV2", floats(1000, 64), floats(B, T), scalar(0)) == (B, T, 64)
    assert shape("Gather", floats(1000, 64), floats(B, T)) == (B, T, 64)


def test_batches_of_indices_go_with_batches_of_rows() -> None:
    assert shape("GatherV2", floats(B, T, 8), floats(B, 3), scalar(1), batch_dims=1) == (B, 3, 8)
    assert shape("GatherV2", floats(B, T, 8), floats(B, 3), scalar(-1), batch_dims=-1) == (B, T, 3)
    assert shape("ResourceGather", variable(4, 9, 8), floats(4, 3), batch_dims=1) == (4, 3, 8)


def test_an_unknown_axis_leaves_the_rank() -> None:
    assert shape("GatherV2", floats(B, T, 8), floats(5), Tensor((), 3)) == (None,) * 3


def test_indices_of_several_coordinates() -> None:
    assert shape("GatherNd", floats(4, 5, 6), floats(B, 2)) == (B, 6)
    assert shape("ResourceGatherNd", variable(4, 5, 6), floats(B, 0)) == (B, 4, 5, 6)


def test_what_is_known_counts_what_depends_on_data() -> None:
    assert shape("Where", Tensor((3,), DT_BOOL, (True, False, True))) == (2, 1)
    assert shape("Where", floats(3, B)) == (None, 2)
    assert shape("Unique", ints(3, 1, 3)) == (2,)
    assert shape("Unique", floats(B)) == (None,)
    assert shape("ListDiff", ints(0, 1, 2), ints(1)) == (2,)
    assert shape("DynamicStitch", ints(0, 2), ints(1), floats(2, B), floats(1, B)) == (3, B)
    assert shape("DynamicStitch", Tensor((2,), 3), floats(2, B)) == (None, B)


def test_a_ragged_tensor_takes_its_inner_sizes_from_its_values() -> None:
    kinds = {"row_partition_types": ("ROW_SPLITS",)}
    parts = (floats(T, 5), scalar(0.0), Tensor((B + 1,), 9))
    assert shape("RaggedTensorToTensor", ints(-1, -1, -1), *parts, **kinds) == (B, None, 5)
    assert shape("RaggedTensorToTensor", ints(3, 7, -1), *parts, **kinds) == (3, 7, 5)
    assert shape("RaggedTensorToTensor", scalar(-1), *parts, **kinds) == (B, None, 5)
    kinds = {"row_partition_types": ("FIRST_DIM_SIZE", "VALUE_ROWIDS")}
    parts = (floats(T, 5), scalar(0.0), scalar(B), floats(T))
    assert shape("RaggedTensorToTensor", scalar(-1), *parts, **kinds) == (B, None, 5)
    with pytest.raises(UnknownError):
        shape("RaggedTensorToTensor", ints(-1, -1, 6), *parts, **kinds)


@pytest.mark.parametrize(
    "op",
    [
        call("GatherV2", floats(3), floats(2), scalar(1)),
        call("GatherV2", floats(3, 3), floats(2), scalar(0), batch_dims=1),
        call("GatherV2", floats(3, 3), floats(2), scalar(0), batch_dims=9),
        call("GatherV2", floats(3, 3), floats(2), scalar(0), batch_dims=-9),
        call("GatherNd", floats(3), floats(2, 4)),
        call("GatherNd", floats(3), floats(2, T)),
        call("ResourceGather", floats(3), floats(2)),
        call("ResourceGather", variable(None, 3), floats(2)),
        call("UniqueV2", floats(3), ints(0, 1)),
        call("UniqueV2", floats(3), ints(4)),
        call("Unique", floats(3, 3)),
        call("DynamicPartition", floats(3), floats(3), num_partitions=-2),
        call("DynamicStitch", Tensor(None), Tensor(None)),
        call("DynamicStitch"),
        call("OneHot"),
        call("OneHot", floats(2), scalar(-4)),
        call("OneHot", floats(2), scalar(4), axis=9),
        call("ScatterNd", ints(1), ints(1), ints(-1)),
        call("Bincount", ints(1), scalar(-1), ints(1)),
    ],
    ids=lambda op: op.type,
)
def test_contradictions_are_unknown(op: OpCall) -> None:
    with pytest.raises((UnknownError, KeyError)):
        SHAPES[op.type](op)


X = np.arange(24.0, dtype=np.float32).reshape((2, 3, 4))
PLACES = np.array([[0, 1], [1, 0]], np.int32)


def _variable(raw: Any) -> Any:
    handle = raw.VarHandleOp(dtype=np.float32, shape=X.shape)
    raw.AssignVariableOp(resource=handle, value=X)
    return handle


CASES = {
    "GatherV2": lambda r, f: [
        r.GatherV2(params=f(X, 0), indices=f(PLACES, 0), axis=a, batch_dims=b)
        for a, b in ((0, 0), (1, 0), (-1, 0), (1, 1), (2, 1), (-1, -1))
    ],
    "Gather": lambda r, f: r.Gather(params=f(X, 0), indices=f(PLACES, 0)),
    "GatherNd": lambda r, f: [
        r.GatherNd(params=f(X, 0), indices=f(PLACES, 0)),
        r.GatherNd(params=f(X, 0), indices=PLACES[:, :1]),
    ],
    "ResourceGather": lambda r, f: [
        r.ResourceGather(
            resource=_variable(r), indices=f(PLACES, 0), dtype=np.float32, batch_dims=b
        )
        for b in (0, 1)
    ],
    "ResourceGatherNd": lambda r, f: r.ResourceGatherNd(
        resource=_variable(r), indices=f(PLACES, 0), dtype=np.float32
    ),
    "ScatterNd": lambda r, f: r.ScatterNd(
        indices=f(PLACES, 0), updates=np.ones((2, 4), np.float32), shape=[2, 3, 4]
    ),
    "TensorScatter": lambda r, f: [
        op(tensor=f(X, 0), indices=f(PLACES, 0), updates=np.ones((2, 4), np.float32))
        for op in (
            r.TensorScatterAdd,
            r.TensorScatterMax,
            r.TensorScatterMin,
            r.TensorScatterSub,
            r.TensorScatterUpdate,
        )
    ],
    "ScatterNdNonAliasingAdd": lambda r, f: r.ScatterNdNonAliasingAdd(
        input=f(X, 0), indices=f(PLACES, 0), updates=np.ones((2, 4), np.float32)
    ),
    "Inplace": lambda r, f: [
        r.InplaceAdd(x=f(X, 0), i=[0], v=X[:1]),
        r.InplaceSub(x=f(X, 0), i=[0], v=X[:1]),
    ],
    "Where": lambda r, f: [r.Where(condition=f(X, 0)), r.Where(condition=[True, False])],
    "Unique": lambda r, f: [
        r.Unique(x=f(PLACES[0], 0)),
        r.UniqueWithCounts(x=f(PLACES[0], 0)),
        r.UniqueV2(x=f(PLACES, 0), axis=[1]),
        r.UniqueWithCountsV2(x=f(PLACES[0], 0), axis=np.zeros([0], np.int64)),
    ],
    "ListDiff": lambda r, f: [r.ListDiff(x=[1, 2, 3], y=[2]), r.ListDiff(x=f(PLACES[0]), y=[2])],
    "DynamicPartition": lambda r, f: r.DynamicPartition(
        data=f(X, 0), partitions=f(PLACES[0], 0), num_partitions=2
    ),
    "DynamicStitch": lambda r, f: [
        r.DynamicStitch(indices=[[0, 2], 1], data=[f(X[0, :2], 0), X[0, 0]]),
        r.ParallelDynamicStitch(indices=[f(PLACES, 0)], data=[f(X[:, :2], 0)]),
    ],
    "Bincount": lambda r, f: r.Bincount(arr=f(PLACES, 0), size=5, weights=np.ones([0], np.float32)),
    "DenseBincount": lambda r, f: [
        r.DenseBincount(input=f(i, 0), size=5, weights=np.ones([0], np.float32))
        for i in (PLACES, PLACES[0])
    ],
    "LowerBound": lambda r, f: [
        r.LowerBound(sorted_inputs=f(X[0], 0), values=f(X[0], 0)),
        r.UpperBound(sorted_inputs=f(X[0], 0), values=f(X[0], 0)),
    ],
    "EditDistance": lambda r, f: r.EditDistance(
        hypothesis_indices=np.array([[0, 0], [1, 0]], np.int64),
        hypothesis_values=[1, 2],
        hypothesis_shape=np.array([2, 4], np.int64),
        truth_indices=np.array([[0, 0], [1, 0]], np.int64),
        truth_values=[1, 2],
        truth_shape=np.array([2, 3], np.int64),
    ),
    "UnravelIndex": lambda r, f: r.UnravelIndex(indices=[5, 7], dims=[3, 4]),
    "Ragged": lambda r, f: [
        r.RaggedRange(starts=0, limits=f(PLACES[0], 0), deltas=1),
        r.RaggedRange(starts=0, limits=5, deltas=2),
        r.RaggedGather(
            params_nested_splits=[np.array([0, 2], np.int64)],
            params_dense_values=f(X, 0),
            indices=f(PLACES * 0, 0),
            OUTPUT_RAGGED_RANK=2,
        ),
        r.RaggedTensorToSparse(
            rt_nested_splits=[np.array([0, 2], np.int64)], rt_dense_values=f(X, 0)
        ),
    ],
    "RaggedTensorToTensor": lambda r, f: r.RaggedTensorToTensor(
        shape=np.array([-1, 4, -1], np.int64),
        values=np.ones((5, 2), np.float32),
        default_value=np.float32(0),
        row_partition_tensors=[np.array([0, 2, 5], np.int64)],
        row_partition_types=["ROW_SPLITS"],
    ),
}


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", CASES)
def test_shapes_are_those_of_tensorflow(case: str) -> None:
    check(CASES[case])


@pytest.mark.tensorflow
def test_table_lookups_have_the_shape_of_keys_and_values() -> None:
    def build(raw: Any, feed: Any) -> None:
        table = raw.MutableHashTableV2(key_dtype=np.int32, value_dtype=np.float32)
        raw.LookupTableFindV2(table_handle=table, keys=feed(PLACES, 0), default_value=np.float32(0))

    check(build)
