"""What resources and variants refer to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.graphs.calls import call, floats, ints, scalar, variable
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Handle, PartialShape, Tensor
from tfprof.graphs.shapes.handles import common_handle
from tfprof.graphs.shapes.infer import HANDLES

B = Symbolic.named("B")
T = Symbolic.named("T")
ANY = scalar(-1)


def handles(op_type: str, *inputs: Tensor, **attrs: Any) -> list[Handle | None]:
    return list(HANDLES[op_type](call(op_type, *inputs, **attrs)))


def list_of(shape: PartialShape, length: Any = None) -> Tensor:
    return Tensor((), 21, None, Handle(shape, 1, length))


def test_a_handle_has_its_variable() -> None:
    assert handles("VarHandleOp", shape=(3, 4), dtype=1) == [Handle((3, 4), 1)]
    assert handles("VarHandleOp") == [Handle(None, 0)]
    assert handles("_VarHandlesOp", shapes=((3,), None), dtypes=(1, 2)) == [
        Handle((3,), 1),
        Handle(None, 2),
    ]


def test_an_argument_may_say_what_it_refers_to() -> None:
    known = {"_handle_shapes": ((3, None),), "_handle_dtypes": (1,)}
    assert handles("_Arg", **known) == [Handle((3, None), 1)]
    for broken in ({}, {"_handle_shapes": ()}, {"_handle_shapes": 7}):
        with pytest.raises(UnknownError):
            handles("_Arg", **broken)


def test_a_handle_is_passed_on() -> None:
    weights = variable(3, 4)
    assert handles("Identity", weights) == [weights.handle]
    assert handles("Switch", weights, scalar(True)) == [weights.handle] * 2
    assert handles("IdentityN", weights, floats(3)) == [weights.handle, None]
    with pytest.raises(UnknownError):
        handles("Identity", floats(3))


def test_what_meets_refers_to_what_both_sides_have_in_common() -> None:
    assert handles("Merge", list_of((B, 8), 3), list_of((4, 8), 3)) == [
        Handle((None, 8), 1, 3),
        None,
    ]
    assert handles("Merge", list_of((8,), 3), list_of((8,), 4))[0] == Handle((8,), 1)
    assert handles("Merge", list_of((8,), 0), Tensor())[0] == Handle((8,), 1)
    with pytest.raises(UnknownError):
        handles("Merge", Tensor(), Tensor())
    assert common_handle([Handle((3,), 1), Handle((3,), 2)]) == Handle((3,), 0)


def test_lists_that_are_added_keep_their_length() -> None:
    assert handles("AddN", list_of((8,), T), list_of((8,), T)) == [Handle((8,), 1, T)]
    assert handles("AddN", list_of((None, 8), T), list_of((B, 8))) == [Handle((B, 8), 1, T)]
    assert handles("AddN", list_of(None), list_of((B, 8), 3)) == [Handle((B, 8), 1, 3)]
    with pytest.raises(UnknownError):
        handles("AddN", floats(3), floats(3))


def test_lists_grow_and_shrink() -> None:
    (empty,) = handles("EmptyTensorList", ints(-1, 8), ANY, element_dtype=1)
    assert empty == Handle((None, 8), 1, 0)
    (one,) = handles("TensorListPushBack", Tensor((), 21, None, empty), floats(B, 8))
    assert one == Handle((B, 8), 1, 1)
    (none, item) = handles("TensorListPopBack", Tensor((), 21, None, one), ANY)
    assert none == Handle((B, 8), 1, 0)
    assert item is None
    assert handles("TensorListPushBack", list_of(None), floats(8)) == [Handle((8,), 1)]
    assert handles("TensorListResize", list_of((8,), 3), scalar(T)) == [Handle((8,), 1, T)]
    joined = handles("TensorListConcatLists", list_of((8,), 3), list_of((8,), T))
    assert joined == [Handle((8,), 1, T + 3)]
    assert handles("TensorListConcatLists", list_of((8,)), list_of((8,), T)) == [Handle((8,), 1)]


def test_what_is_put_in_tells_the_shape_of_elements() -> None:
    (reserved,) = handles("TensorListReserve", ANY, scalar(T), element_dtype=1)
    assert reserved == Handle(None, 1, T)
    reserved_list = Tensor((), 21, None, reserved)
    (filled,) = handles("TensorListSetItem", reserved_list, scalar(0), floats(B, 8))
    assert filled == Handle((B, 8), 1, T)
    resized = handles(
        "TensorListSetItem",
        reserved_list,
        scalar(0),
        floats(B, 8),
        resize_if_index_out_of_bounds=True,
    )
    assert resized == [Handle((B, 8), 1)]
    assert handles("TensorListFromTensor", floats(T, B, 8), ints(-1, 8), element_dtype=1) == [
        Handle((B, 8), 1, T)
    ]
    with pytest.raises(UnknownError):
        handles("TensorListPushBack", list_of((8,)), floats(9))


def test_scattered_lists_have_the_requested_length() -> None:
    rows = floats(2, 8)
    scattered = handles("TensorListScatterV2", rows, ints(0, 4), ints(8), scalar(T))
    assert scattered == [Handle((8,), 0, T)]
    assert handles("TensorListScatterV2", rows, ints(0, 4), ints(8), ANY) == [Handle((8,), 0, 5)]
    assert handles("TensorListScatter", rows, ints(0, 4), ints(8)) == [Handle((8,), 0, 5)]
    parts = handles("TensorListSplit", floats(B, 8), ints(-1, 8), Tensor((3,), 9))
    assert parts == [Handle((None, 8), 0, 3)]


def test_arrays_are_identified_by_their_flow() -> None:
    handle, flow = handles("TensorArrayV3", scalar(T), dtype=1, element_shape=None)
    assert handle == flow == Handle(None, 1, T)
    array = Tensor((), 20, None, handle)
    (written,) = handles("TensorArrayWriteV3", array, scalar(0), floats(B, 8), array)
    assert written == Handle((B, 8), 1, T)
    (gradient, _) = HANDLES["TensorArrayGradV3"](
        call(
            "TensorArrayGradV3",
            array,
            Tensor((), 1, None, written),
            output_types=(20, 1),
        )
    )
    assert gradient == Handle((B, 8), 1, T)


def test_an_array_that_grows_is_as_long_as_what_fills_it() -> None:
    handle, _ = handles("TensorArrayV3", scalar(0), dtype=1, dynamic_size=True)
    assert handle == Handle(None, 1)
    array = Tensor((), 20, None, handle)
    rows = handles("TensorArrayScatterV3", array, Tensor((T,), 3), floats(T, B, 8), array)
    assert rows == [Handle((B, 8), 1, T)]
    parts = handles("TensorArraySplitV3", array, floats(B, 8), Tensor((3,), 9), array)
    assert parts == [Handle((None, 8), 1, 3)]


def test_queues_of_one_component() -> None:
    assert handles("FIFOQueueV2", shapes=((28, 28),), component_types=(1,)) == [Handle((28, 28), 1)]
    with pytest.raises(UnknownError):
        handles("FIFOQueueV2", shapes=((28, 28), ()), component_types=(1, 3))


@pytest.mark.parametrize(
    "op",
    [
        call("TensorListReserve", ints(8), scalar(-3)),
        call("TensorListPushBack", floats(8), floats(8)),
        call("TensorListFromTensor"),
        call("TensorListResize", list_of((8,)), scalar(-1)),
        call("_VarHandlesOp"),
        call("TensorListSplit", floats(8), ANY, Tensor((3, 3), 9)),
    ],
    ids=lambda op: op.type,
)
def test_contradictions_are_unknown(op: OpCall) -> None:
    with pytest.raises(UnknownError):
        HANDLES[op.type](op)
