"""Shapes of variables, lists, arrays of tensors and queues, and of ops that merge them."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Handle, PartialShape
from tfprof.graphs.shapes.dims import common_shape, same_shape
from tfprof.graphs.shapes.rules import SHAPES, Shapes


def _list(op: OpCall) -> Handle:
    """The list that is the first input; without shape and length if it has no handle."""
    return op.input(0).handle or Handle(None)


def _item(op: OpCall, index: int | None) -> PartialShape:
    """The shape of one element, from the list and from the op."""
    stated = None if index is None else op.element_shape(index)
    return same_shape((stated, _list(op).shape))


def _stacked(n: Number | None, item: PartialShape) -> Shapes:
    """A number of elements as one tensor."""
    return [None if item is None else (n, *item)]


@SHAPES.of("TensorListStack")
def _stack(op: OpCall) -> Shapes:
    stated = op.integer("num_elements", -1)
    return _stacked(stated if stated >= 0 else _list(op).length, _item(op, 1))


@SHAPES.of("TensorListConcat", "TensorListConcatV2")
def _concat(op: OpCall) -> Shapes:
    """The parts may have different lengths, which are the second output."""
    length = _list(op).length
    if op.type == "TensorListConcat":
        item = same_shape((op.shape_attr("element_shape"), _item(op, None)))
    else:
        item = _item(op, 1)
    return [_joined(item, length), (length,)]


def _joined(item: PartialShape, length: Number | None) -> PartialShape:
    if not item:
        return None
    first = None if item[0] is None or length is None else length * item[0]
    return (first, *item[1:])


def array_of(op: OpCall) -> Handle:
    """The known facts of a tensor array, from its flow and its handle."""
    known = [op.input(index).handle for index in (-1, 0)]
    return same_list([handle for handle in known if handle is not None])


def same_list(handles: Sequence[Handle]) -> Handle:
    """One handle from several of the same list; where they differ, the first one counts."""
    return Handle(
        same_shape(handle.shape for handle in handles),
        next((handle.dtype for handle in handles if handle.dtype), 0),
        next((handle.length for handle in handles if handle.length is not None), None),
    )


@SHAPES.of("TensorArrayGatherV3", "TensorArrayGatherV2", "TensorArrayGather")
def _gather_from_array(op: OpCall) -> Shapes:
    indices = op.input(1).shape
    n = indices[0] if indices is not None and len(indices) == 1 else None
    return _stacked(n, _array_item(op))


def _array_item(op: OpCall) -> PartialShape:
    """The shape of one element, from the array and from the op."""
    return same_shape((op.shape_attr("element_shape"), array_of(op).shape))


@SHAPES.of("TensorArrayConcatV3", "TensorArrayConcatV2", "TensorArrayConcat")
def _concat_array(op: OpCall) -> Shapes:
    array = array_of(op)
    inner = op.shape_attr("element_shape_except0")
    item = same_shape((None if inner is None else (None, *inner), array.shape))
    return [_joined(item, array.length), (array.length,)]


@SHAPES.of("TensorListElementShape")
def _element_shape(op: OpCall) -> Shapes:
    """The shape is a scalar if the rank is unknown, so only a known rank gives an answer."""
    item = _list(op).shape
    return [None if item is None else (len(item),)]


@SHAPES.of("QueueDequeueManyV2 QueueDequeueMany")
def _dequeue_many(op: OpCall) -> Shapes:
    n = None if op.input(1).values is None else op.numbers(1)[0]
    return _stacked(n, op.handle(0).shape)


@SHAPES.of("Assign")
def _assign(op: OpCall) -> Shapes:
    """Without ``validate_shape``, a variable may change its shape."""
    if not op.flag("validate_shape", True):
        return [op.shape(1)]
    return [same_shape((op.input(1).shape, op.input(0).shape))]


@SHAPES.of("Merge RefMerge _XlaMerge")
def _merge(op: OpCall) -> Shapes:
    """The input from the end of a loop may not be known yet; it is left out then."""
    shape = common_shape([tensor.shape for tensor in op.inputs])
    return [shape] if op.type == "_XlaMerge" else [shape, ()]


SHAPES.of("TensorListGather")(lambda op: _stacked(op.shape_of_rank(1, 1)[0], _item(op, 2)))
SHAPES.of("TensorArrayPack")(lambda op: _stacked(array_of(op).length, _array_item(op)))
SHAPES.of("QueueDequeueUpToV2 QueueDequeueUpTo")(lambda op: _stacked(None, op.handle(0).shape))
# ``Variable`` writes an unknown shape like that of a scalar.
SHAPES.of("Variable")(lambda op: [op.shape_attr() or None])
SHAPES.of("_VarHandlesOp")(lambda op: [()] * len(op.output_types))
SHAPES.of("ReadVariableOp")(lambda op: [op.handle(0).shape])
SHAPES.of("_ReadVariablesOp")(
    lambda op: [None if tensor.handle is None else tensor.handle.shape for tensor in op.inputs]
)
SHAPES.of("_SwitchN")(lambda op: [op.shape(0)] * op.count_attr("num_outs"))
SHAPES.of("RefSelect")(lambda op: [common_shape([tensor.shape for tensor in op.inputs[1:]])])
SHAPES.of("TensorListPopBack")(lambda op: [(), _item(op, 1)])
SHAPES.of("TensorListGetItem")(lambda op: [_item(op, 2)])
SHAPES.of("TensorArrayReadV3 TensorArrayReadV2 TensorArrayRead")(lambda op: [array_of(op).shape])
SHAPES.of("StackPopV2 StackPop QueueDequeueV2 QueueDequeue")(lambda op: [op.handle(0).shape])
