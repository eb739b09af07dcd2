"""Shapes of the outputs of ops on lists, arrays of tensors, and queues."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Handle, PartialShape
from tfprof.graphs.shapes.arguments import element_shape, same_shape, shape_attr
from tfprof.graphs.shapes.rules import Rules, Shapes

RULES: Rules[PartialShape] = Rules()


def _item(op: OpCall, index: int | None) -> PartialShape:
    """The shape of one element, from the list and from the op."""
    handle = op.input(0).handle
    stated = None if index is None else element_shape(op, index)
    return same_shape((stated, None if handle is None else handle.shape))


@RULES.of("TensorListStack")
def _stack(op: OpCall) -> Shapes:
    handle = op.input(0).handle
    item = _item(op, 1)
    stated = op.integer("num_elements", -1)
    length = stated if stated >= 0 else None if handle is None else handle.length
    return [None if item is None else (length, *item)]


@RULES.of("TensorListGather")
def _gather(op: OpCall) -> Shapes:
    item = _item(op, 2)
    return [None if item is None else (*op.shape_of_rank(1, 1), *item)]


@RULES.of("TensorListConcat", "TensorListConcatV2")
def _concat(op: OpCall) -> Shapes:
    """The parts may have different lengths, which are the second output."""
    handle = op.input(0).handle
    length = None if handle is None else handle.length
    if op.type == "TensorListConcat":
        item = same_shape((shape_attr(op, "element_shape"), _item(op, None)))
    else:
        item = _item(op, 1)
    return [_joined(item, length), (length,)]


def _joined(item: PartialShape, length: Number | None) -> PartialShape:
    if not item:
        return None
    first = None if item[0] is None or length is None else length * item[0]
    return (first, *item[1:])


@RULES.of("TensorListElementShape")
def _element_shape(op: OpCall) -> Shapes:
    """The shape is a scalar if the rank is unknown, so only a known rank gives an answer."""
    item = _item(op, None)
    return [None if item is None else (len(item),)]


def array_of(op: OpCall) -> Handle:
    """What is known of a tensor array, from its flow and its handle."""
    known = [op.input(index).handle for index in (-1, 0)]
    return same_list([handle for handle in known if handle is not None])


def same_list(handles: Sequence[Handle]) -> Handle:
    """One handle from several of the same list; where they differ, the first one counts."""
    return Handle(
        same_shape(handle.shape for handle in handles),
        next((handle.dtype for handle in handles if handle.dtype), 0),
        next((handle.length for handle in handles if handle.length is not None), None),
    )


@RULES.of("TensorArrayGatherV3", "TensorArrayGatherV2", "TensorArrayGather")
def _gather_from_array(op: OpCall) -> Shapes:
    item = same_shape((shape_attr(op, "element_shape"), array_of(op).shape))
    indices = op.input(1).shape
    n = indices[0] if indices is not None and len(indices) == 1 else None
    return [None if item is None else (n, *item)]


@RULES.of("TensorArrayPack")
def _pack(op: OpCall) -> Shapes:
    array = array_of(op)
    item = same_shape((shape_attr(op, "element_shape"), array.shape))
    return [None if item is None else (array.length, *item)]


@RULES.of("TensorArrayConcatV3", "TensorArrayConcatV2", "TensorArrayConcat")
def _concat_array(op: OpCall) -> Shapes:
    array = array_of(op)
    inner = shape_attr(op, "element_shape_except0")
    item = same_shape((None if inner is None else (None, *inner), array.shape))
    return [_joined(item, array.length), (array.length,)]


@RULES.of("QueueDequeueManyV2", "QueueDequeueMany")
def _dequeue_many(op: OpCall) -> Shapes:
    item = op.handle(0).shape
    values = op.input(1).values
    n = None if values is None else op.numbers(1)[0]
    return [None if item is None else (n, *item)]


@RULES.of("QueueDequeueUpToV2", "QueueDequeueUpTo")
def _dequeue_up_to(op: OpCall) -> Shapes:
    item = op.handle(0).shape
    return [None if item is None else (None, *item)]


RULES.of(
    """
    EmptyTensorList TensorListReserve TensorListFromTensor TensorListSetItem TensorListPushBack
    TensorListResize TensorListScatter TensorListScatterV2 TensorListScatterIntoExistingList
    TensorListConcatLists TensorListSplit TensorListLength EmptyTensorMap TensorMapErase
    TensorMapHasKey TensorMapInsert TensorMapSize TensorArrayWriteV3 TensorArrayScatterV3
    TensorArraySplitV3 TensorArraySizeV3 TensorArrayWriteV2 TensorArrayScatterV2 TensorArraySplitV2
    TensorArraySizeV2 TensorArrayWrite TensorArrayScatter TensorArraySplit TensorArraySize
    TensorArrayUnpack QueueSizeV2 QueueSize QueueIsClosedV2 QueueIsClosed
    """
)(lambda op: [()])
RULES.of("TensorListPushBackBatch")(lambda op: [op.shape()])
RULES.of("TensorListPopBack")(lambda op: [(), _item(op, 1)])
RULES.of("TensorListGetItem")(lambda op: [_item(op, 2)])
RULES.of("TensorArrayV3 TensorArrayGradV3 TensorArrayGradWithShape")(lambda op: [(), ()])
RULES.of("TensorArrayV2 TensorArray TensorArrayGradV2 TensorArrayGrad")(lambda op: [(2,)])
RULES.of("TensorArrayReadV3 TensorArrayReadV2 TensorArrayRead")(lambda op: [array_of(op).shape])
RULES.of("StackV2 Stack")(lambda op: [() if op.type == "StackV2" else (2,)])
RULES.of("StackPushV2 StackPush")(lambda op: [op.shape(1)])
RULES.of("StackPopV2 StackPop QueueDequeueV2 QueueDequeue")(lambda op: [op.handle(0).shape])
