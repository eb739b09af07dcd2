"""Shapes of ops that copy, rearrange and join tensors, and of ranges."""

from __future__ import annotations

import math

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, ceil_div, floor_div, maximum
from tfprof.graphs.model.tensors import ELEMENT_BYTES, PartialShape
from tfprof.graphs.shapes.arguments import (
    axis_in,
    axis_of,
    count_attr,
    replaced,
    same_shape,
    scalar,
    shape_attr,
    size,
    sound,
    spelled_numbers,
    spelled_shape,
    whole,
)
from tfprof.graphs.shapes.rules import Rules, Shapes

RULES: Rules[PartialShape] = Rules()


@RULES.of("Bitcast")
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


@RULES.of("Shape", "VariableShape")
def _shape(op: OpCall) -> Shapes:
    known = op.handle(0).shape if op.type == "VariableShape" else op.input(0).shape
    return [(None if known is None else len(known),)]


@RULES.of("Reshape", "QuantizedReshape")
def _reshape(op: OpCall) -> Shapes:
    shape = reshaped(op.input(0).shape, spelled_numbers(op, 1))
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
    if isinstance(n, int) and isinstance(rest, int) and not _fits(n, rest, bool(unknown)):
        raise UnknownError(f"{n} elements cannot take the shape {wanted}")
    if unknown and rest != 0:
        sizes[unknown[0]] = floor_div(n, rest)
    return tuple(sizes)


def _fits(n: int, rest: int, is_open: bool) -> bool:
    """Whether sizes with the product ``rest``, and another one if it is open, hold n elements."""
    return n % rest == 0 if is_open and rest else n == rest


@RULES.of("Squeeze")
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


@RULES.of("ExpandDims")
def _expand_dims(op: OpCall) -> Shapes:
    dims = op.shape(0)
    axis = axis_of(op, 1, len(dims) + 1)
    return [(*dims[:axis], 1, *dims[axis:])]


@RULES.of("Transpose", "ConjugateTranspose")
def _transpose(op: OpCall) -> Shapes:
    dims = op.shape(0)
    if op.input(1).values is None:
        return [(None,) * len(dims)]
    order = op.known_ints(1)
    places = [axis_in(axis, len(dims)) for axis in order]
    if sorted(places) != list(range(len(dims))):
        raise UnknownError(f"{order} is no order of {len(dims)} dimensions")
    return [tuple(dims[place] for place in places)]


@RULES.of("Concat", "ConcatV2")
def _concat(op: OpCall) -> Shapes:
    first = op.type == "Concat"
    parts = [tensor.shape for tensor in (op.inputs[1:] if first else op.inputs[:-1])]
    known = [shape for shape in parts if shape is not None]
    if not known:
        raise UnknownError("no shape of the parts is known")
    axis = scalar(op, 0 if first else -1)
    if not isinstance(axis, int):
        return [(None,) * len(known[0])]
    axis = axis_in(axis, len(known[0]))
    length = sum(shape[axis] for shape in known) if len(known) == len(parts) else None
    others = same_shape(replaced(shape, axis, None) for shape in known) or ()
    return [(*others[:axis], length, *others[axis + 1 :])]


@RULES.of("Pack")
def _pack(op: OpCall) -> Shapes:
    dims = same_shape(tensor.shape for tensor in op.inputs)
    if dims is None:
        raise UnknownError("no shape of the parts is known")
    axis = axis_in(op.integer("axis"), len(dims) + 1)
    return [(*dims[:axis], len(op.inputs), *dims[axis:])]


@RULES.of("Unpack")
def _unpack(op: OpCall) -> Shapes:
    dims = op.shape(0)
    axis = axis_in(op.integer("axis"), len(dims))
    return [(*dims[:axis], *dims[axis + 1 :])] * count_attr(op, "num")


@RULES.of("Split")
def _split(op: OpCall) -> Shapes:
    n, dims = count_attr(op, "num_split"), op.shape(1)
    axis = scalar(op, 0)
    if not isinstance(axis, int):
        return [(None,) * len(dims)] * n
    axis = axis_in(axis, len(dims))
    length = dims[axis]
    if isinstance(length, int) and length % n:
        raise UnknownError(f"{length} cannot be split into {n} equal parts")
    return [replaced(dims, axis, floor_div(length, n))] * n


@RULES.of("SplitV")
def _split_sizes(op: OpCall) -> Shapes:
    """One of the sizes may be -1: the rest."""
    n, dims = count_attr(op, "num_split"), op.shape(0)
    axis = scalar(op, 2)
    if not isinstance(axis, int):
        return [(None,) * len(dims)] * n
    axis = axis_in(axis, len(dims))
    values = op.input(1).values
    if values is None:
        return [replaced(dims, axis, None)] * n
    sizes = op.numbers(1)
    if len(sizes) != n:
        raise UnknownError(f"{len(sizes)} sizes for {n} outputs")
    left = dims[axis] - sum(size for size in sizes if size != -1)
    return [sound(replaced(dims, axis, left if size == -1 else size)) for size in sizes]


@RULES.of("Pad", "PadV2", "MirrorPad", "MirrorPadGrad")
def _pad(op: OpCall) -> Shapes:
    """The inputs of the gradient are those of the padded tensor: it takes the padding off."""
    dims = op.shape(0)
    values = op.input(1).values
    if values is None:
        return [(None,) * len(dims)]
    if len(values) != 2 * len(dims):
        raise UnknownError(f"{len(values)} paddings for {len(dims)} dimensions")
    sign = -1 if op.type == "MirrorPadGrad" else 1
    padded: list[Number | None] = []
    for axis, dim in enumerate(dims):
        before, after = whole(values[2 * axis]), whole(values[2 * axis + 1])
        if before is None or after is None:
            padded.append(None)
        else:
            padded.append(dim + sign * (before + after))
    return [sound(tuple(padded))]


@RULES.of("Tile")
def _tile(op: OpCall) -> Shapes:
    times = spelled_shape(op, 1)
    if times is None:
        return [(None,) * len(op.shape(0))]
    dims = op.shape(0)
    if len(times) != len(dims):
        raise UnknownError(f"{len(times)} multiples for {len(dims)} dimensions")
    return [tuple(None if by is None else dim * by for dim, by in zip(dims, times, strict=True))]


@RULES.of("TileGrad")
def _tile_gradient(op: OpCall) -> Shapes:
    times, dims = op.numbers(1), op.shape(0)
    return [tuple(floor_div(dim, by) for dim, by in zip(dims, times, strict=True))]


@RULES.of("BroadcastArgs")
def _broadcast_shape(op: OpCall) -> Shapes:
    lengths = [op.shape_of_rank(index, 1)[0] for index in (0, 1)]
    return [(maximum(*lengths),)]


@RULES.of("BroadcastGradientArgs")
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


@RULES.of("Range")
def _range(op: OpCall) -> Shapes:
    start, limit, delta = (scalar(op, index) for index in range(3))
    numbers = (start, limit, delta)
    if any(number is None or isinstance(number, (bool, tuple)) for number in numbers):
        return [(None,)]
    return [(range_length(start, limit, delta),)]  # type: ignore[arg-type]


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


RULES.of("EnsureShape")(lambda op: [same_shape((op.input(0).shape, shape_attr(op)))])
RULES.of(
    """
    Cast Copy CopyHost DebugGradientIdentity DebugGradientRefIdentity DebugIdentity DebugIdentityV2
    DebugIdentityV3 DeepCopy GuaranteeConst Identity OnesLike PreventGradient Print RefIdentity
    Snapshot CheckNumerics CheckNumericsV2 StopGradient ZerosLike _HostCast InvertPermutation
    RandomShuffle Reverse ReverseSequence ReverseV2 Roll StatelessShuffle XlaOptimizationBarrier
    _CopyFromGpuToHost _CopyFromHostToGpu BatchMatrixBandPart BatchMatrixSetDiag MatrixBandPart
    MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 DataFormatDimMap DataFormatVecPermute Bucketize
    CollectivePermute SleepIdentityOp CollectiveAllToAllV2 CollectiveAllToAllV3 CopyToMesh
    CopyToMeshGrad Relayout RelayoutLike TPUAnnotateTensorsWithDynamicShape TPUCopyWithDynamicShape
    """
)(lambda op: [op.shape()])
RULES.of("IdentityN _ListToArray _ArrayToList")(lambda op: [tensor.shape for tensor in op.inputs])
RULES.of("ShapeN")(
    lambda op: [(None if tensor.shape is None else len(tensor.shape),) for tensor in op.inputs]
)
RULES.of("Size Rank")(lambda op: [()])
RULES.of("ParallelConcat")(lambda op: [shape_attr(op)])
RULES.of("ConcatOffset")(lambda op: [tensor.shape for tensor in op.inputs[1:]])
RULES.of("Fill Empty")(lambda op: [spelled_shape(op, 0)])
RULES.of("BroadcastTo")(lambda op: [spelled_shape(op, 1)])
RULES.of("LinSpace")(lambda op: [(size(op, 2),)])
