"""Objects of resources and variants: variables, lists, arrays of tensors, queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Handle, PartialShape
from tfprof.graphs.shapes.dims import common_shape, same_shape
from tfprof.graphs.shapes.lists import array_of, same_list
from tfprof.graphs.shapes.rules import HANDLES

Handles: TypeAlias = "Sequence[Handle | None]"


@HANDLES.of("_VarHandlesOp")
def _variables(op: OpCall) -> Handles:
    pairs = zip(op.shapes_attr("shapes"), op.ints("dtypes"), strict=True)
    return [Handle(shape, dtype) for shape, dtype in pairs]


def _only_one(op: OpCall, shapes_name: str, dtypes_name: str) -> Handles:
    """A handle has one shape, so only one shape in attributes can be followed."""
    shapes, dtypes = op.shapes_attr(shapes_name), op.ints(dtypes_name)
    if len(shapes) != 1:
        raise UnknownError(f"the attribute {shapes_name} has {len(shapes)} shapes instead of one")
    return [Handle(shapes[0], dtypes[0] if len(dtypes) == 1 else 0)]


@HANDLES.of("Merge RefMerge")
def _merge(op: OpCall) -> Handles:
    """The input from the end of a loop may not be known yet; the length is unknown then."""
    known = _known(op)
    return [common_handle(known, len(known) == len(op.inputs)), None]


@HANDLES.of("AddN", "AddV2", "Add")
def _sum_of_lists(op: OpCall) -> Handles:
    """Lists that are added, as gradients are, have the same length and elements."""
    return [same_list(_known(op))]


def _known(op: OpCall) -> list[Handle]:
    """The handles of those inputs that have one."""
    known = [tensor.handle for tensor in op.inputs if tensor.handle is not None]
    if not known:
        raise UnknownError("it is unknown what the inputs refer to")
    return known


def common_handle(handles: Sequence[Handle], with_length: bool = True) -> Handle:
    """The common facts of one or more handles."""
    first = handles[0]
    same_length = with_length and all(handle.length == first.length for handle in handles)
    return Handle(
        common_shape([handle.shape for handle in handles]),
        first.dtype if all(handle.dtype == first.dtype for handle in handles) else 0,
        first.length if same_length else None,
    )


def _items(op: OpCall, index: int, length: Number | None) -> Handle:
    """A list with elements of the shape that an input gives."""
    return Handle(op.element_shape(index), op.integer("element_dtype"), length)


@HANDLES.of("TensorListFromTensor")
def _list_of_rows(op: OpCall) -> Handles:
    length, *item = op.shape(0)
    return _refined(_items(op, 1, length), tuple(item))


@HANDLES.of("TensorListScatterV2", "TensorListScatter")
def _scattered_list(op: OpCall) -> Handles:
    """The length is an input; if it is -1, the largest index gives it."""
    length: Number | None = None
    stated = op.input(3).values
    if stated is not None and stated != (-1,):
        length = op.size(3)
    elif op.input(1).values is not None:
        length = max(op.known_ints(1), default=-1) + 1
    return _refined(_items(op, 2, length), op.shape(0)[1:])


def _refined(handle: Handle, item: PartialShape) -> Handles:
    """A list whose elements have the shape of an item that is put in."""
    return [handle._replace(shape=same_shape((handle.shape, item)))]


@HANDLES.of("TensorListSetItem")
def _set_item(op: OpCall) -> Handles:
    handle = op.handle(0)
    if op.flag("resize_if_index_out_of_bounds"):
        handle = handle._replace(length=None)
    return _refined(handle, op.input(2).shape)


def _longer(handle: Handle, by: Number | None) -> Handle:
    length = handle.length
    return handle._replace(length=None if length is None or by is None else length + by)


@HANDLES.of("TensorListConcatLists")
def _joined_lists(op: OpCall) -> Handles:
    one, other = op.handle(0), op.handle(1)
    both = common_handle([one, other])
    return [_longer(both._replace(length=one.length), other.length)]


@HANDLES.of("TensorArrayV3", "TensorArrayV2", "TensorArray")
def _array(op: OpCall) -> Handles:
    """An array that grows has no length yet."""
    length = None if op.flag("dynamic_size") else op.size(0)
    array = Handle(op.shape_attr("element_shape"), op.integer("dtype"), length)
    return [array, array][: 2 if op.type == "TensorArrayV3" else 1]


def _filled(op: OpCall, n: Number, item: PartialShape) -> Handles:
    """An array that grows is filled from its start."""
    array = array_of(op)
    return _refined(array if array.length is not None else array._replace(length=n), item)


@HANDLES.of("TensorArrayScatterV3 TensorArrayScatterV2 TensorArrayScatter TensorArrayUnpack")
def _scatter(op: OpCall) -> Handles:
    rows = op.shape(1 if op.type == "TensorArrayUnpack" else 2)
    return _filled(op, rows[0], rows[1:])


@HANDLES.of("TensorArrayGradWithShape")
def _longer_gradient(op: OpCall) -> Handles:
    """Its elements have more dimensions, in front of those of the array."""
    array, front = op.handle(0), op.element_shape(2)
    item = None if array.shape is None or front is None else (*front, *array.shape)
    return [array._replace(shape=item)] * 2


# An argument that is a variable may say which shape it has.
HANDLES.of("_Arg Placeholder")(lambda op: _only_one(op, "_handle_shapes", "_handle_dtypes"))
HANDLES.of("VarHandleOp _XlaAotOnlyVarHandleOp")(
    lambda op: [Handle(op.shape_attr(), op.integer("dtype"))]
)
HANDLES.of(
    """
    Identity StopGradient PreventGradient Snapshot DeepCopy Copy CopyHost Enter Exit NextIteration
    RefIdentity RefEnter RefExit ZerosLike RefNextIteration CheckNumerics _EagerConst EnsureShape
    DebugIdentity
    """
)(lambda op: [op.handle(0)])
HANDLES.of("TensorListSplit")(
    lambda op: _refined(_items(op, 1, op.shape_of_rank(2, 1)[0]), (None, *op.shape(0)[1:]))
)
HANDLES.of("TensorArraySplitV3 TensorArraySplitV2 TensorArraySplit")(
    lambda op: _filled(op, op.shape_of_rank(2, 1)[0], (None, *op.shape(1)[1:]))
)
HANDLES.of("FIFOQueue FIFOQueueV2 PaddingFIFOQueue PaddingFIFOQueueV2")(
    lambda op: _only_one(op, "shapes", "component_types")
)
HANDLES.of("RandomShuffleQueue RandomShuffleQueueV2")(
    lambda op: _only_one(op, "shapes", "component_types")
)
HANDLES.of("IdentityN")(lambda op: [tensor.handle for tensor in op.inputs])
HANDLES.of("Switch RefSwitch")(lambda op: [op.handle(0)] * 2)
HANDLES.of("EmptyTensorList")(lambda op: [_items(op, 0, 0)])
HANDLES.of("TensorListReserve")(lambda op: [_items(op, 0, op.size(1))])
HANDLES.of("TensorListPushBack")(lambda op: _refined(_longer(op.handle(0), 1), op.input(1).shape))
HANDLES.of("TensorListPopBack")(lambda op: [_longer(op.handle(0), -1), None])
HANDLES.of("TensorListResize")(lambda op: [op.handle(0)._replace(length=op.size(1))])
HANDLES.of("TensorListScatterIntoExistingList")(lambda op: _refined(op.handle(0), op.shape(1)[1:]))
HANDLES.of("TensorArrayWriteV3 TensorArrayWriteV2 TensorArrayWrite")(
    lambda op: _refined(array_of(op), op.input(2).shape)
)
HANDLES.of("TensorArrayGradV3 TensorArrayGradV2 TensorArrayGrad")(
    lambda op: [array_of(op)] * max(1, len(op.output_types))
)
# The op that makes a stack does not have the type of its elements.
HANDLES.of("StackV2 Stack")(lambda op: [Handle(None, op.integer("elem_type"))])
