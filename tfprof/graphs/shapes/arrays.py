"""Shapes of ops that rearrange and join tensors, and of ranges."""

from __future__ import annotations

import math

from tfprof.graphs.model.op_call import OpCall, UnknownError, axis_in, sound, whole
from tfprof.graphs.model.symbolic import Number, ceil_div, floor_div, maximum
from tfprof.graphs.model.tensors import ELEMENT_BYTES, PartialShape
from tfprof.graphs.shapes.dims import inserted, replaced, same_shape
from tfprof.graphs.shapes.rules import SHAPES, Shapes


@SHAPES.of("Bitcast")
def _bitcast(op: OpCall) -> Shapes:
    """A type of another size takes its elements from the last dimension, or adds one."""
    dims = op.shape(0)
    before, after = _bits(op.input(0).dtype or op.integer("T")), _bits(op.integer("type"))
    if before == after:
        return [dims]
    if before > after:
        return [(*dims, before // after)]
    if not dims or dims[-1] not in (after // before,):
        raise UnknownError("the last dimension does not hold the pieces of one element")
    return [dims[:-1]]


def _bits(dtype: int) -> int:
    if dtype not in ELEMENT_BYTES:
        raise UnknownError(f"the size of elements of type {dtype} is unknown")
    return 8 * ELEMENT_BYTES[dtype]


def _length(shape: PartialShape) -> PartialShape:
    """The shape of a shape."""
    return (None if shape is None else len(shape),)


@SHAPES.of("Reshape QuantizedReshape")
def _reshape(op: OpCall) -> Shapes:
    shape = reshaped(op.input(0).shape, op.spelled_numbers(1))
    return [shape, (), ()] if op.type == "QuantizedReshape" else [shape]


def reshaped(before: PartialShape, wanted: PartialShape) -> PartialShape:
    """The wanted shape; one size may be -1 or unknown, and follows from the number of elements."""
    if wanted is None:
        return None
    if any(isinstance(size, int) and size < -1 for size in wanted):
        raise UnknownError(f"a shape with a negative size: {wanted}")
    sizes = [None if size == -1 else size for size in wanted]
    unknown = [place for place, size in enumerate(sizes) if size is None]
    if before is None or None in before or len(unknown) > 1:
        return tuple(sizes)
    n: Number = math.prod(dim for dim in before if dim is not None)
    rest: Number = math.prod(size for size in sizes if size is not None)
    if isinstance(n, int) and isinstance(rest, int):
        fits = n % rest == 0 if unknown and rest else n == rest
        if not fits:
            raise UnknownError(f"{n} elements cannot take the shape {wanted}")
    if unknown and rest != 0:
        sizes[unknown[0]] = floor_div(n, rest)
    return tuple(sizes)


@SHAPES.of("Squeeze")
def _squeeze(op: OpCall) -> Shapes:
    """Without axes, unknown sizes stay: they are assumed not to be 1."""
    dims = op.shape(0)
    axes = op.ints("squeeze_dims") or op.ints("axis")
    gone = {axis_in(axis, len(dims)) for axis in axes}
    if not axes:
        gone = {axis for axis, dim in enumerate(dims) if dim == 1}
    if any(isinstance(dims[axis], int) and dims[axis] != 1 for axis in gone):
        raise UnknownError(f"axes {axes} of {dims} are not all of size 1")
    return [tuple(dim for axis, dim in enumerate(dims) if axis not in gone)]


@SHAPES.of("Transpose ConjugateTranspose _MklTranspose _MklConjugateTranspose")
def _transpose(op: OpCall) -> Shapes:
    dims = op.shape(0)
    if op.input(1).values is None:
        return [(None,) * len(dims)]
    order = op.known_ints(1)
    places = [axis_in(axis, len(dims)) for axis in order]
    if sorted(places) != list(range(len(dims))):
        raise UnknownError(f"{order} is not an order of {len(dims)} dimensions")
    return [tuple(dims[place] for place in places)]


@SHAPES.of("Concat ConcatV2 _MklConcat _MklConcatV2")
def _concat(op: OpCall) -> Shapes:
    """The axis comes first, or last. The layouts of oneDNN come after both."""
    first = op.type.endswith("Concat")
    inputs = op.inputs[: op.count_attr("N") + 1] if op.type.startswith("_Mkl") else op.inputs
    parts = [tensor.shape for tensor in (inputs[1:] if first else inputs[:-1])]
    known = [shape for shape in parts if shape is not None]
    if not known:
        raise UnknownError("no shape of the parts is known")
    axis = op.scalar(0 if first else len(inputs) - 1)
    if not isinstance(axis, int):
        return [(None,) * len(known[0])]
    axis = axis_in(axis, len(known[0]))
    length = sum(shape[axis] for shape in known) if len(known) == len(parts) else None
    others = same_shape(replaced(shape, axis, None) for shape in known) or ()
    return [replaced(others, axis, length)]


@SHAPES.of("Pack")
def _pack(op: OpCall) -> Shapes:
    dims = same_shape(tensor.shape for tensor in op.inputs)
    if dims is None:
        raise UnknownError("no shape of the parts is known")
    return [inserted(dims, axis_in(op.integer("axis"), len(dims) + 1), len(op.inputs))]


@SHAPES.of("Unpack")
def _unpack(op: OpCall) -> Shapes:
    dims = op.shape(0)
    return [replaced(dims, axis_in(op.integer("axis"), len(dims)))] * op.count_attr("num")


@SHAPES.of("Split")
def _split(op: OpCall) -> Shapes:
    n, dims = op.count_attr("num_split"), op.shape(1)
    axis = op.scalar(0)
    if not isinstance(axis, int):
        return [(None,) * len(dims)] * n
    axis = axis_in(axis, len(dims))
    length = dims[axis]
    if isinstance(length, int) and length % n:
        raise UnknownError(f"{length} cannot be split into {n} equal parts")
    return [replaced(dims, axis, floor_div(length, n))] * n


@SHAPES.of("SplitV")
def _split_sizes(op: OpCall) -> Shapes:
    """One of the sizes may be -1: the rest."""
    n, dims = op.count_attr("num_split"), op.shape(0)
    axis = op.scalar(2)
    if not isinstance(axis, int):
        return [(None,) * len(dims)] * n
    axis = axis_in(axis, len(dims))
    if op.input(1).values is None:
        return [replaced(dims, axis, None)] * n
    sizes = op.numbers(1)
    if len(sizes) != n:
        raise UnknownError(f"{len(sizes)} sizes for {n} outputs")
    left = dims[axis] - sum(size for size in sizes if size != -1)
    return [sound(replaced(dims, axis, left if size == -1 else size)) for size in sizes]


@SHAPES.of("Pad PadV2 MirrorPad MirrorPadGrad")
def _pad(op: OpCall) -> Shapes:
    """The inputs of the gradient are those of the padded tensor: it takes the padding off."""
    return [padded(op, op.shape(0), 1, -1 if op.type == "MirrorPadGrad" else 1)]


def padded(op: OpCall, dims: tuple[Number | None, ...], index: int, sign: int = 1) -> PartialShape:
    """A shape with the paddings, two for each dimension, that an input gives."""
    values = op.input(index).values
    if values is None:
        return (None,) * len(dims)
    amounts = list(map(whole, values))
    if len(amounts) != 2 * len(dims):
        raise UnknownError(f"{len(amounts)} paddings for {len(dims)} dimensions")
    pairs = zip(dims, amounts[::2], amounts[1::2], strict=True)
    return sound(
        tuple(
            None
            if dim is None or before is None or after is None
            else dim + sign * (before + after)
            for dim, before, after in pairs
        )
    )


@SHAPES.of("Tile")
def _tile(op: OpCall) -> Shapes:
    times = op.spelled_shape(1)
    if times is None:
        return [(None,) * len(op.shape(0))]
    dims = op.shape(0)
    if len(times) != len(dims):
        raise UnknownError(f"{len(times)} multiples for {len(dims)} dimensions")
    return [tuple(None if by is None else dim * by for dim, by in zip(dims, times, strict=True))]


@SHAPES.of("BroadcastGradientArgs")
def _broadcast_axes(op: OpCall) -> Shapes:
    if op.input(0).values is None or op.input(1).values is None:
        return [(None,), (None,)]
    return [(len(axes),) for axes in broadcast_axes(op)]


def broadcast_axes(op: OpCall) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes along which each of two gradients is summed, as its operand was repeated there.

    An axis of size 1 in both is in both, as in TensorFlow. Unknown sizes are assumed not to be 1.
    """
    one, other = op.numbers(0), op.numbers(1)
    rank = max(len(one), len(other))
    one, other = ((1,) * (rank - len(shape)) + shape for shape in (one, other))
    return (
        tuple(axis for axis in range(rank) if one[axis] == 1),
        tuple(axis for axis in range(rank) if other[axis] == 1),
    )


@SHAPES.of("Range")
def _range(op: OpCall) -> Shapes:
    numbers = [op.scalar(index) for index in range(3)]
    if any(number is None or isinstance(number, (bool, tuple)) for number in numbers):
        return [(None,)]
    return [(range_length(*numbers),)]  # type: ignore[arg-type]


def range_length(
    start: Number | float, limit: Number | float, delta: Number | float
) -> Number | None:
    """How many numbers from ``start``, in steps of ``delta``, come before ``limit``."""
    if isinstance(start, float) or isinstance(limit, float) or isinstance(delta, float):
        if not all(isinstance(number, (int, float)) for number in (start, limit, delta)):
            return None
        return max(0, math.ceil((limit - start) / delta))  # type: ignore[operator]
    if not isinstance(delta, int):
        return None
    if delta < 0:
        start, limit, delta = limit, start, -delta
    return maximum(ceil_div(limit - start, delta), 0)


SHAPES.of("Shape")(lambda op: [_length(op.input(0).shape)])
SHAPES.of("VariableShape")(lambda op: [_length(op.handle(0).shape)])
SHAPES.of("ShapeN")(lambda op: [_length(tensor.shape) for tensor in op.inputs])
SHAPES.of("ExpandDims")(lambda op: [inserted(op.shape(0), op.axis(1, len(op.shape(0)) + 1), 1)])
SHAPES.of("TileGrad")(
    lambda op: [tuple(floor_div(*pair) for pair in zip(op.shape(0), op.numbers(1), strict=True))]
)
SHAPES.of("BroadcastArgs")(
    lambda op: [(maximum(op.shape_of_rank(0, 1)[0], op.shape_of_rank(1, 1)[0]),)]
)
SHAPES.of("EnsureShape")(lambda op: [same_shape((op.input(0).shape, op.shape_attr()))])
SHAPES.of("IdentityN _ListToArray _ArrayToList")(lambda op: [tensor.shape for tensor in op.inputs])
SHAPES.of("ConcatOffset")(lambda op: [tensor.shape for tensor in op.inputs[1:]])
SHAPES.of("LinSpace")(lambda op: [(op.size(2),)])
