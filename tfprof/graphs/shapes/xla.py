"""Shapes of XLA's ops, and of reductions over devices."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.graphs.model.op_call import OpCall, UnknownError, axis_in
from tfprof.graphs.model.symbolic import Number, ceil_div, floor_div
from tfprof.graphs.model.tensors import Dims
from tfprof.graphs.shapes.dims import replaced, same_shape
from tfprof.graphs.shapes.general_conv import (
    DotNumbers,
    dot_numbers,
    gather_numbers,
    xla_convolution,
)
from tfprof.graphs.shapes.rules import SHAPES, Shapes
from tfprof.graphs.shapes.windows import window_count


@SHAPES.of("XlaDot", "XlaDotV2")
def _dot(op: OpCall) -> Shapes:
    """Batch dimensions, then the remaining ones of the left operand, then those of the right."""
    lhs, rhs = op.shape(0), op.shape(1)
    numbers = checked_dot_numbers(op)
    sides = ((lhs, numbers.lhs_batch), (rhs, numbers.rhs_batch))
    batch = same_shape(tuple(dims[place] for place in places) for dims, places in sides)
    left = _others(lhs, (*numbers.lhs_batch, *numbers.lhs_contracting))
    right = _others(rhs, (*numbers.rhs_batch, *numbers.rhs_contracting))
    return [(*(batch or ()), *left, *right)]


def checked_dot_numbers(op: OpCall) -> DotNumbers:
    """The dimensions of a dot product, each of which exists and occurs once."""
    numbers = dot_numbers(op)
    for index, places in (
        (0, (*numbers.lhs_batch, *numbers.lhs_contracting)),
        (1, (*numbers.rhs_batch, *numbers.rhs_contracting)),
    ):
        rank = len(op.shape(index))
        if len(set(places)) != len(places) or any(not 0 <= place < rank for place in places):
            raise UnknownError(f"the dimension numbers {places} do not fit input {index}")
    if len(numbers.lhs_contracting) != len(numbers.rhs_contracting):
        raise UnknownError("the operands are summed along different numbers of dimensions")
    return numbers


def _others(dims: Dims, places: Sequence[int]) -> Dims:
    return tuple(size for place, size in enumerate(dims) if place not in places)


@SHAPES.of("XlaPad")
def _pad(op: OpCall) -> Shapes:
    """Elements are added in front, behind, and between; negative numbers cut off."""
    parts = zip(op.shape(0), *map(op.numbers, (2, 3, 4)), strict=True)
    return [tuple(low + size + (size - 1) * gap + high for size, low, high, gap in parts)]


@SHAPES.of("XlaGather")
def _gather(op: OpCall) -> Shapes:
    """The offset dimensions are those of a slice; the others are those of the indices."""
    numbers = gather_numbers(op)
    indices = op.shape(1)
    batch = [size for place, size in enumerate(indices) if place != numbers.index_vector]
    slices = _others(op.numbers(2), numbers.collapsed)
    rank = len(batch) + len(slices)
    if len(numbers.offset) != len(slices) or not set(numbers.offset) <= set(range(rank)):
        raise UnknownError(f"the offset dimensions {numbers.offset} do not fit the slices")
    along = dict(zip(numbers.offset, slices, strict=True))
    others = iter(batch)
    return [tuple(along[place] if place in along else next(others) for place in range(rank))]


@SHAPES.of("XlaReduce XlaVariadicReduce XlaVariadicReduceV2")
def _reduce(op: OpCall) -> Shapes:
    """The second half of the inputs are initial values."""
    dims = op.shape(0)
    axes = [axis_in(axis, len(dims)) for axis in op.ints("dimensions_to_reduce")]
    return [_others(dims, axes)] * (1 if op.type == "XlaReduce" else len(op.inputs) // 2)


@SHAPES.of("XlaReduceWindow")
def _reduce_window(op: OpCall) -> Shapes:
    dims = op.shape(0)
    sizes, strides, holes, spacings, padding = map(op.known_ints, range(2, 7))
    if min((*sizes, *strides, *holes, *spacings), default=1) < 1:
        raise UnknownError("windows, strides and dilations have to be positive")
    added = [sum(padding[2 * place : 2 * place + 2]) for place in range(len(dims))]
    along = zip(dims, holes, added, strict=True)
    wide = [(size - 1) * hole + 1 + more for size, hole, more in along]
    steps = zip(wide, sizes, strides, spacings, strict=True)
    return [tuple(window_count(*step) for step in steps)]


@SHAPES.of("XlaReduceScatter")
def _reduce_scatter(op: OpCall) -> Shapes:
    """Each member of a group keeps its part along the dimension."""
    dims = op.shape(0)
    axis = op.axis(2, len(dims))
    _, members = op.shape_of_rank(1, 2)
    return [replaced(dims, axis, floor_div(dims[axis], members))]


@SHAPES.of("XlaBroadcastHelper")
def _broadcast(op: OpCall) -> Shapes:
    """The operand of lower rank is given dimensions of 1, unless it is a scalar."""
    lhs, rhs = op.shape(0), op.shape(1)
    if len(lhs) == len(rhs) or not lhs or not rhs:
        return [lhs, rhs]
    lower, rank = (lhs, len(rhs)) if len(lhs) < len(rhs) else (rhs, len(lhs))
    sizes = dict(zip(op.known_ints(2), lower, strict=True))
    wider = tuple(sizes.get(place, 1) for place in range(rank))
    return [wider, rhs] if lower is lhs else [lhs, wider]


@SHAPES.of("XlaDequantize")
def _dequantize(op: OpCall) -> Shapes:
    """Each number holds four elements; rows and columns may change places."""
    *batch, last = op.shape(0)
    dims = (*batch, last * 4)
    return [(*dims[:-2], dims[-1], dims[-2]) if op.flag("transpose_output") else dims]


@SHAPES.of("XlaSplitND ReadVariableXlaSplitND")
def _split(op: OpCall) -> Shapes:
    shape = op.shape(0) if op.type == "XlaSplitND" else op.handle(0).shape
    if shape is None:
        return []
    paddings = op.ints("paddings") or (0,) * len(shape)
    parts = zip(shape, op.ints("num_splits"), paddings, strict=True)
    part = tuple(
        None if size is None else ceil_div(size + padding, number)
        for size, number, padding in parts
    )
    return [part] * op.count_attr("N")


@SHAPES.of("XlaConcatND")
def _concat(op: OpCall) -> Shapes:
    dims = op.shape(0)
    paddings = op.ints("paddings") or (0,) * len(dims)
    parts = zip(dims, op.ints("num_concats"), paddings, strict=True)
    return [tuple(size * number - padding for size, number, padding in parts)]


@SHAPES.of("CollectiveReduceScatterV2")
def _scattered(op: OpCall) -> Shapes:
    """Each device keeps its share of the rows."""
    dims, k = op.shape_of_least(1), op.size(1)
    return [(None if k is None else floor_div(dims[0], k), *dims[1:])]


def sorted_sizes(op: OpCall) -> tuple[Number, Number]:
    """Number of elements of a sort, and of those that are sorted together."""
    dims = op.shape(0)
    axis = op.axis(len(op.inputs) - 1, len(dims)) if op.type == "XlaVariadicSort" else -1
    return op.n_in(0), dims[axis] if dims else 1


SHAPES.of("NcclReduce")(lambda op: [same_shape(tensor.shape for tensor in op.inputs)])
SHAPES.of("XlaConv XlaConvV2")(lambda op: [xla_convolution(op).shape])
# The last input is the dimension.
SHAPES.of("XlaVariadicSort")(lambda op: [tensor.shape for tensor in op.inputs[:-1]])
SHAPES.of("XlaRngBitGenerator")(lambda op: [op.input(1).shape, op.spelled_shape(2)])
SHAPES.of("XlaCustomCallV2")(lambda op: op.shapes_attr("result_shapes"))
