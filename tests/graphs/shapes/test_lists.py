"""Shapes of what comes out of lists, arrays of tensors, and queues."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.graphs.calls import Handle, call, ints, scalar, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import PartialShape, Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
T = Symbolic.named("T")
ANY = scalar(-1)


def list_of(shape: PartialShape, length: Any = None) -> Tensor:
    return Tensor((), 21, None, Handle(shape, 1, length))


def shape(op_type: str, *inputs: Tensor, **attrs: Any) -> Any:
    return shapes(SHAPES, call(op_type, *inputs, **attrs))[0]


def test_a_stacked_list_has_its_length_in_front() -> None:
    assert shape("TensorListStack", list_of((B, 8), T), ANY) == (T, B, 8)
    assert shape("TensorListStack", list_of(None, T), ints(-1, 8)) == (T, None, 8)
    assert shape("TensorListStack", list_of((B, None), None), ints(-1, 8)) == (None, B, 8)
    assert shape("TensorListStack", list_of((B, 8)), ANY, num_elements=5) == (5, B, 8)
    assert shape("TensorListStack", list_of(None, 3), ANY) is None


def test_an_element_has_the_shape_of_the_list_or_the_one_asked_for() -> None:
    assert shape("TensorListGetItem", list_of((B, 8)), scalar(0), ANY) == (B, 8)
    assert shape("TensorListGetItem", Tensor(), scalar(0), ints(B, 8)) == (B, 8)
    assert shape("TensorListGather", list_of((8,)), ints(1, 2), ANY) == (2, 8)


def test_lists_are_joined_along_their_first_dimension() -> None:
    assert shape("TensorListConcatV2", list_of((3, 8), T), ANY, ints()) == (T * 3, 8)
    assert shape("TensorListConcatV2", list_of((None, 8), T), ANY, ints()) == (None, 8)
    assert shape("TensorListConcat", list_of(None), element_shape=(None, 8)) == (None, 8)


def test_a_flow_has_more_than_a_handle() -> None:
    handle, flow = list_of(None, T), list_of((B, 8))
    assert shape("TensorArrayGatherV3", handle, ints(0, 1), flow) == (2, B, 8)
    assert shape("TensorArrayReadV3", handle, scalar(0), flow) == (B, 8)
    assert shape("TensorArrayConcatV3", list_of(None, 4), list_of((3, B))) == (12, B)
    assert shape("TensorArrayReadV3", handle, scalar(0), flow) == (B, 8)
    assert shape("TensorArrayReadV3", Tensor(), scalar(0), Tensor()) is None


def test_shapes_that_contradict_each_other_are_unknown() -> None:
    with pytest.raises(UnknownError):
        shape("TensorListGetItem", list_of((4,)), scalar(0), ints(5))
    with pytest.raises(UnknownError):
        shape("TensorListGetItem", list_of((4,)), scalar(0), ints(4, 4))


def test_queues_give_what_was_put_in() -> None:
    queue = list_of((28, 28))
    assert shape("QueueDequeueV2", queue) == (28, 28)
    assert shape("QueueDequeueManyV2", queue, scalar(32)) == (32, 28, 28)
    assert shape("QueueDequeueUpToV2", queue, scalar(32)) == (None, 28, 28)


X = np.arange(24.0, dtype=np.float32).reshape((2, 3, 4))


def build_lists(r: Any, f: Any) -> None:
    empty = r.EmptyTensorList(element_shape=[-1, 4], max_num_elements=-1, element_dtype=np.float32)
    one = r.TensorListPushBack(input_handle=empty, tensor=f(X[0], 0))
    two = r.TensorListPushBack(input_handle=one, tensor=f(X[1], 0))
    r.TensorListLength(input_handle=two)
    r.TensorListStack(input_handle=two, element_shape=[-1, 4], element_dtype=np.float32)
    r.TensorListPopBack(input_handle=two, element_shape=[-1, -1], element_dtype=np.float32)
    rows = r.TensorListFromTensor(tensor=f(X, 0), element_shape=[-1, 4])
    r.TensorListLength(input_handle=rows)
    r.TensorListGetItem(
        input_handle=rows, index=1, element_shape=[-1, -1], element_dtype=np.float32
    )
    r.TensorListGather(
        input_handle=rows, indices=[1, 0, 1], element_shape=[-1, -1], element_dtype=np.float32
    )
    r.TensorListStack(input_handle=rows, element_shape=[3, 4], element_dtype=np.float32)
    r.TensorListConcatV2(
        input_handle=rows,
        element_shape=[-1, 4],
        leading_dims=np.zeros([0], np.int64),
        element_dtype=np.float32,
    )
    both = r.TensorListConcatLists(input_a=two, input_b=rows, element_dtype=np.float32)
    r.TensorListLength(input_handle=both)
    whole = r.TensorListFromTensor(tensor=f(X, 0), element_shape=[3, 4])
    r.TensorListElementShape(input_handle=whole, shape_type=np.int32)


def build_more_lists(r: Any, f: Any) -> None:
    made = r.TensorListReserve(element_shape=-1, num_elements=2, element_dtype=np.float32)
    made = r.TensorListSetItem(input_handle=made, index=0, item=f(X[0], 0))
    made = r.TensorListSetItem(input_handle=made, index=1, item=f(X[1], 0))
    r.TensorListStack(input_handle=made, element_shape=[-1, 4], element_dtype=np.float32)
    longer = r.TensorListResize(input_handle=made, size=5)
    r.TensorListLength(input_handle=longer)
    put = r.TensorListScatterV2(
        tensor=f(X, 0), indices=[0, 3], element_shape=[3, 4], num_elements=6
    )
    r.TensorListLength(input_handle=put)
    put = r.TensorListScatterIntoExistingList(input_handle=put, tensor=X, indices=[1, 2])
    r.TensorListGetItem(input_handle=put, index=1, element_shape=-1, element_dtype=np.float32)
    put = r.TensorListScatter(tensor=f(X, 0), indices=[0, 3], element_shape=[3, 4])
    r.TensorListLength(input_handle=put)
    parts = r.TensorListSplit(
        tensor=f(X[0], 0), element_shape=[-1, 4], lengths=np.array([1, 2], np.int64)
    )
    r.TensorListLength(input_handle=parts)
    r.TensorListGetItem(
        input_handle=parts, index=1, element_shape=[-1, 4], element_dtype=np.float32
    )


def build_arrays(r: Any, f: Any) -> None:
    made = r.TensorArrayV3(
        size=2, dtype=np.float32, element_shape=[None, 4], clear_after_read=False
    )
    flow = made.flow
    for index in range(2):
        flow = r.TensorArrayWriteV3(
            handle=made.handle, index=index, value=f(X[index], 0), flow_in=flow
        )
    known = {"handle": made.handle, "flow_in": flow, "dtype": np.float32}
    r.TensorArrayReadV3(index=0, **known)
    r.TensorArrayGatherV3(indices=[1, 0], **known)
    r.TensorArrayConcatV3(**known)
    r.TensorArraySizeV3(handle=made.handle, flow_in=flow)
    rows = r.TensorArrayV3(size=0, dtype=np.float32, dynamic_size=True)
    flow = r.TensorArrayScatterV3(
        handle=rows.handle, indices=[0, 1], value=f(X, 0), flow_in=rows.flow
    )
    r.TensorArrayGatherV3(handle=rows.handle, indices=[1, 0], flow_in=flow, dtype=np.float32)
    parts = r.TensorArrayV3(size=2, dtype=np.float32)
    flow = r.TensorArraySplitV3(
        handle=parts.handle,
        value=f(X[0], 0),
        lengths=np.array([1, 2], np.int64),
        flow_in=parts.flow,
    )
    r.TensorArrayReadV3(handle=parts.handle, index=1, flow_in=flow, dtype=np.float32)


def build_queues(r: Any, f: Any) -> None:
    queue = r.FIFOQueueV2(component_types=[np.float32], shapes=[[3, 4]])
    stack = r.StackV2(max_size=3, elem_type=np.float32)
    r.StackPushV2(handle=stack, elem=f(X, 0))
    r.QueueDequeueManyV2(handle=queue, n=2, component_types=[np.float32])
    r.QueueSizeV2(handle=queue)
    r.QueueIsClosedV2(handle=queue)


@pytest.mark.tensorflow
@pytest.mark.parametrize("build", [build_lists, build_more_lists, build_arrays])
def test_shapes_and_lengths_are_those_of_tensorflow(build: Any) -> None:
    check(build)


@pytest.mark.tensorflow
def test_queues_are_those_of_tensorflow() -> None:
    """Dequeueing would wait, so the graph is not run."""
    check(build_queues, run=False)
