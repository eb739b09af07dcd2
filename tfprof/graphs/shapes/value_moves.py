"""Values of small tensors that come out of ops that make, pick or rearrange elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfprof.graphs.model.op_call import OpCall, UnknownError, axis_in
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import DT_BOOL, FLOAT_TYPES, INTEGER_TYPES, Element, Tensor, Values
from tfprof.graphs.shapes.arrays import broadcast_axes, range_length
from tfprof.graphs.shapes.rules import VALUES
from tfprof.graphs.shapes.slicing import Part, strided_parts
from tfprof.graphs.shapes.small_arrays import (
    Folded,
    SmallArray,
    array,
    array_or_unknown,
    arrays_or_unknown,
    filled,
    known_shape,
    values_of,
)


@VALUES.of("Const", "HostConst")
def _constant(op: OpCall) -> Folded:
    value = op.attr("value")
    return [value.values if isinstance(value, Tensor) else None]


@VALUES.of("Enter")
def _enter(op: OpCall) -> Folded:
    """A value that is not constant in the loop differs in each iteration."""
    if not op.flag("is_constant"):
        raise UnknownError("the value changes in the loop")
    return [op.elements(0)]


@VALUES.of("Merge")
def _merge(op: OpCall) -> Folded:
    first = op.elements(0)
    if any(tensor.values != first for tensor in op.inputs):
        raise UnknownError("the values that meet differ")
    return [first, None]


@VALUES.of("Pack")
def _pack(op: OpCall) -> Folded:
    parts = arrays_or_unknown(op, range(len(op.inputs)))
    return [values_of(np.stack(parts, axis=op.integer("axis")))]


@VALUES.of("Unpack")
def _unpack(op: OpCall) -> Folded:
    whole = array(op, 0)
    axis = axis_in(op.integer("axis"), whole.ndim)
    return [values_of(np.take(whole, [place], axis)) for place in range(whole.shape[axis])]


@VALUES.of("Concat", "ConcatV2")
def _concat(op: OpCall) -> Folded:
    n, first = len(op.inputs), op.type == "Concat"
    parts = arrays_or_unknown(op, range(1, n) if first else range(n - 1))
    return [values_of(np.concatenate(parts, op.axis(0 if first else -1, parts[0].ndim)))]


@VALUES.of("ConcatOffset")
def _concat_offset(op: OpCall) -> Folded:
    """Where each part begins along the axis, and 0 along the others."""
    shapes = [op.numbers(index) for index in range(1, len(op.inputs))]
    axis = op.axis(0, len(shapes[0]))
    offset: Number = 0
    offsets: list[Values | None] = []
    for shape in shapes:
        offsets.append(tuple(offset if place == axis else 0 for place in range(len(shape))))
        offset = offset + shape[axis]
    return offsets


@VALUES.of("Split")
def _split(op: OpCall) -> Folded:
    whole = array(op, 1)
    axis = op.axis(0, whole.ndim)
    return list(map(values_of, np.split(whole, op.count_attr("num_split"), axis)))


@VALUES.of("SplitV")
def _split_sizes(op: OpCall) -> Folded:
    whole = array(op, 0)
    axis = op.axis(2, whole.ndim)
    sizes = list(op.known_ints(1))
    if -1 in sizes:
        sizes[sizes.index(-1)] = whole.shape[axis] - sum(sizes) - 1
    if min(sizes) < 0 or sum(sizes) != whole.shape[axis]:
        raise UnknownError(f"sizes {sizes} of {whole.shape[axis]} elements")
    return list(map(values_of, np.split(whole, np.cumsum(sizes)[:-1].tolist(), axis)))


@VALUES.of("StridedSlice")
def _strided_slice(op: OpCall) -> Folded:
    whole = array(op, 0)
    parts = [part for part in strided_parts(op, whole.ndim, 1) if part.axis >= 0]
    return [values_of(whole[tuple(map(_index, parts, whole.shape))])]


def _index(part: Part, dim: int) -> slice:
    """Begin and end of a part. A single element is a slice, too; its dimension is 1 then."""
    begin, end = part.begin, part.end
    if not part.known or not isinstance(begin, int | None) or not isinstance(end, int | None):
        raise UnknownError("it is unknown where the slice begins or ends")
    if part.single:
        place = axis_in(begin or 0, dim)
        return slice(place, place + 1)
    return slice(begin, end, part.stride)


@VALUES.of("Slice")
def _slice(op: OpCall) -> Folded:
    whole = array(op, 0)
    begins, sizes = op.known_ints(1), op.known_ints(2)
    ends = [None if n == -1 else begin + n for begin, n in zip(begins, sizes, strict=True)]
    index = tuple(slice(begin, end) for begin, end in zip(begins, ends, strict=True))
    return [values_of(whole[index])]


@VALUES.of("Gather", "GatherV2")
def _gather(op: OpCall) -> Folded:
    params = array(op, 0)
    if op.integer("batch_dims"):
        raise UnknownError("values are not followed through batches of indices")
    axis = op.axis(2, params.ndim) if len(op.inputs) > 2 else 0
    indices = np.array(op.known_ints(1), dtype=np.int64).reshape(known_shape(op.shape(1)))
    if indices.size and (indices.min() < 0 or indices.max() >= params.shape[axis]):
        raise UnknownError(f"indices outside of {params.shape[axis]} elements")
    return [values_of(np.take(params, indices, axis))]


@VALUES.of("Fill")
def _fill(op: OpCall) -> Folded:
    shape = known_shape(op.numbers(0))
    return [(op.scalar(1),) * math.prod(shape)]


@VALUES.of("ZerosLike", "OnesLike")
def _constant_like(op: OpCall) -> Folded:
    dtype = op.input(0).dtype
    if dtype == DT_BOOL:
        value: Element = op.type == "OnesLike"
    elif dtype in FLOAT_TYPES:
        value = float(op.type == "OnesLike")
    elif dtype in INTEGER_TYPES:
        value = int(op.type == "OnesLike")
    else:
        raise UnknownError("only zeros and ones that are numbers are followed")
    return [(value,) * math.prod(known_shape(op.shape(0)))]


@VALUES.of("Range")
def _range(op: OpCall) -> Folded:
    start, limit, delta = (_number(op, index) for index in range(3))
    (n,) = known_shape([range_length(start, limit, delta)])
    return [tuple(start + place * delta for place in range(n))]


def _number(op: OpCall, index: int) -> Any:
    number = op.scalar(index)
    if number is None or isinstance(number, (bool, tuple)):
        raise UnknownError(f"the number in input {index} is unknown")
    return number


@VALUES.of("Tile")
def _tile(op: OpCall) -> Folded:
    part, times = array(op, 0), op.known_ints(1)
    known_shape([dim * by for dim, by in zip(part.shape, times, strict=True)])
    return [values_of(np.tile(part, times))]


@VALUES.of("Pad", "PadV2")
def _pad(op: OpCall) -> Folded:
    inner, ends = array(op, 0), op.known_ints(1)
    before, after = ends[::2], ends[1::2]
    sizes = [dim + a + b for dim, a, b in zip(inner.shape, before, after, strict=True)]
    if min(ends, default=0) < 0:
        raise UnknownError("a negative padding")
    padding: Element = op.scalar(2) if op.type == "PadV2" else 0
    padded = filled([padding] * math.prod(known_shape(sizes)), sizes)
    place = tuple(slice(a, a + dim) for a, dim in zip(before, inner.shape, strict=True))
    padded[place] = inner
    return [values_of(padded)]


@VALUES.of("BroadcastArgs")
def _broadcast_shape(op: OpCall) -> Folded:
    """The size that is not 1; unknown sizes are assumed not to be 1."""
    one, other = op.elements(0), op.elements(1)
    rank = max(len(one), len(other))
    one, other = ((1,) * (rank - len(shape)) + shape for shape in (one, other))
    return [tuple(map(_broadcast, one, other))]


def _broadcast(one: Element, other: Element) -> Element:
    if other in (one, 1):
        return one
    if one == 1:
        return other
    if isinstance(one, int) and isinstance(other, int):
        raise UnknownError(f"sizes {one} and {other} do not fit each other")
    return one if isinstance(one, int) else other if isinstance(other, int) else None


@VALUES.of("InvertPermutation")
def _invert_permutation(op: OpCall) -> Folded:
    order = op.known_ints(0)
    if sorted(order) != list(range(len(order))):
        raise UnknownError(f"{order} is not a permutation")
    return [tuple(order.index(place) for place in range(len(order)))]


@VALUES.of("ListDiff")
def _list_difference(op: OpCall) -> Folded:
    gone = set(op.known_ints(1))
    left = [(value, place) for place, value in enumerate(op.known_ints(0)) if value not in gone]
    return [tuple(value for value, _ in left), tuple(place for _, place in left)]


@VALUES.of("Unique")
def _unique(op: OpCall) -> Folded:
    values = op.known_ints(0)
    different = list(dict.fromkeys(values))
    return [tuple(different), tuple(map(different.index, values))]


@VALUES.of("Where")
def _where(op: OpCall) -> Folded:
    marks = array(op, 0)
    if not all(isinstance(mark, (bool, int, float)) for mark in marks.ravel().tolist()):
        raise UnknownError("it is unknown which elements are true")
    return [tuple(np.argwhere(marks.astype(bool)).ravel().tolist())]


@VALUES.of("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch(op: OpCall) -> Folded:
    """Rows by index; the last of several with the same index counts."""
    n = len(op.inputs) // 2
    rows: dict[int, SmallArray] = {}
    for place in range(n):
        indices, data = op.known_ints(place), array_or_unknown(op, n + place)
        inner = data.shape[len(op.shape(place)) :]
        rows.update(zip(indices, data.reshape((len(indices), *inner)), strict=True))
    if not rows or sorted(rows) != list(range(len(rows))):
        raise UnknownError("some rows are not given")
    return [values_of(np.concatenate([np.ravel(rows[place]) for place in range(len(rows))]))]


VALUES.of(
    """
    Identity StopGradient PreventGradient Snapshot CheckNumerics DeepCopy GuaranteeConst EnsureShape
    PlaceholderWithDefault Copy CopyHost DebugIdentity DebugIdentityV2 DebugIdentityV3
    CheckNumericsV2 Print ExpandDims Squeeze Reshape LoopCond Exit _EagerConst _HostCast
    """
)(lambda op: [op.elements(0)])
VALUES.of("IdentityN")(lambda op: [tensor.values for tensor in op.inputs])
VALUES.of("Switch")(lambda op: [op.elements(0)] * 2)
VALUES.of("Shape ShapeN")(lambda op: [tensor.shape for tensor in op.inputs])
VALUES.of("Size")(lambda op: [(op.n_in(0),)])
VALUES.of("Rank")(lambda op: [(len(op.shape(0)),)])
# The handle of an array has its length; its flow may not.
VALUES.of("TensorListLength TensorArraySizeV3 TensorArraySizeV2 TensorArraySize")(
    lambda op: [(op.handle(0).length,)]
)
VALUES.of("TensorListElementShape VariableShape")(lambda op: [op.handle(0).shape])
VALUES.of("Transpose ConjugateTranspose")(
    lambda op: [values_of(array(op, 0).transpose(op.known_ints(1)))]
)
VALUES.of("ReverseV2")(lambda op: [values_of(np.flip(array(op, 0), op.known_ints(1)))])
VALUES.of("BroadcastTo")(
    lambda op: [values_of(np.broadcast_to(array(op, 0), known_shape(op.numbers(1))))]
)
VALUES.of("BroadcastGradientArgs")(broadcast_axes)
