"""Shapes of XLA's ops."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, ceil_div, floor_div, minimum
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.arguments import (
    axis_in,
    axis_of,
    count_attr,
    replaced,
    same_shape,
    shape_attr,
    shapes_attr,
    spelled_shape,
)
from tfprof.graphs.shapes.dimension_numbers import DotNumbers, dot_numbers, gather_numbers
from tfprof.graphs.shapes.general_conv import xla_convolution
from tfprof.graphs.shapes.rules import Rules
from tfprof.graphs.shapes.windows import window_count

RULES: Rules[PartialShape] = Rules()


@RULES.of("XlaDot", "XlaDotV2")
def _dot(op: OpCall) -> list[PartialShape]:
    """Batch dimensions, then the remaining ones of the left operand, then those of the right."""
    lhs, rhs = op.shape(0), op.shape(1)
    numbers = checked_dot_numbers(op)
    batch = same_shape(
        (
            tuple(lhs[place] for place in numbers.lhs_batch),
            tuple(rhs[place] for place in numbers.rhs_batch),
        )
    )
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


@RULES.of("XlaPad")
def _pad(op: OpCall) -> list[PartialShape]:
    """Elements are added in front, behind, and between; negative numbers cut off."""
    dims = op.shape(0)
    low, high, inside = (op.numbers(index) for index in (2, 3, 4))
    return [
        tuple(
            before + size + (size - 1) * between + after
            for size, before, after, between in zip(dims, low, high, inside, strict=True)
        )
    ]


@RULES.of("XlaGather")
def _gather(op: OpCall) -> list[PartialShape]:
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


def _reduced(op: OpCall) -> PartialShape:
    dims = op.shape(0)
    axes = [axis_in(axis, len(dims)) for axis in op.ints("dimensions_to_reduce")]
    return _others(dims, axes)


@RULES.of("XlaReduceWindow")
def _reduce_window(op: OpCall) -> list[PartialShape]:
    dims = op.shape(0)
    sizes, strides, holes, spacings, padding = (op.known_ints(index) for index in range(2, 7))
    if min((*sizes, *strides, *holes, *spacings), default=1) < 1:
        raise UnknownError("windows, strides and dilations have to be positive")
    added = [sum(padding[2 * place : 2 * place + 2]) for place in range(len(dims))]
    wide = [(size - 1) * hole + 1 for size, hole in zip(dims, holes, strict=True)]
    steps = zip(wide, added, sizes, strides, spacings, strict=True)
    return [
        tuple(
            window_count(size + more, window, stride, spacing)
            for size, more, window, stride, spacing in steps
        )
    ]


@RULES.of("XlaReduceScatter")
def _reduce_scatter(op: OpCall) -> list[PartialShape]:
    """Each member of a group keeps its part along the dimension."""
    dims = op.shape(0)
    axis = axis_of(op, 2, len(dims))
    _, members = op.shape_of_rank(1, 2)
    return [replaced(dims, axis, floor_div(dims[axis], members))]


@RULES.of("XlaBroadcastHelper")
def _broadcast(op: OpCall) -> list[PartialShape]:
    """The operand of lower rank is given dimensions of 1, unless it is a scalar."""
    lhs, rhs = op.shape(0), op.shape(1)
    if len(lhs) == len(rhs) or not lhs or not rhs:
        return [lhs, rhs]
    lower, rank = (lhs, len(rhs)) if len(lhs) < len(rhs) else (rhs, len(lhs))
    sizes = dict(zip(op.known_ints(2), lower, strict=True))
    wider = tuple(sizes.get(place, 1) for place in range(rank))
    return [wider, rhs] if lower is lhs else [lhs, wider]


@RULES.of("XlaSelfAdjointEig")
def _eigenvalues(op: OpCall) -> list[PartialShape]:
    dims = op.shape(0)
    return [dims[:-1], dims]


@RULES.of("XlaSvd")
def _singular_values(op: OpCall) -> list[PartialShape]:
    *batch, m, n = op.shape(0)
    return [(*batch, minimum(m, n)), (*batch, m, m), (*batch, n, n)]


@RULES.of("XlaDequantize")
def _dequantize(op: OpCall) -> list[PartialShape]:
    """Each number holds four elements; rows and columns may change places."""
    *batch, last = op.shape(0)
    dims = (*batch, last * 4)
    return [(*dims[:-2], dims[-1], dims[-2]) if op.flag("transpose_output") else dims]


@RULES.of("XlaSplitND ReadVariableXlaSplitND")
def _split(op: OpCall) -> list[PartialShape]:
    shape = op.shape(0) if op.type == "XlaSplitND" else op.handle(0).shape
    if shape is None:
        return []
    paddings = op.ints("paddings") or (0,) * len(shape)
    parts = zip(shape, op.ints("num_splits"), paddings, strict=True)
    part = tuple(
        None if size is None else ceil_div(size + padding, number)
        for size, number, padding in parts
    )
    return [part] * count_attr(op, "N")


@RULES.of("XlaConcatND")
def _concat(op: OpCall) -> list[PartialShape]:
    dims = op.shape(0)
    paddings = op.ints("paddings") or (0,) * len(dims)
    parts = zip(dims, op.ints("num_concats"), paddings, strict=True)
    return [tuple(size * number - padding for size, number, padding in parts)]


def sorted_sizes(op: OpCall) -> tuple[Number, Number]:
    """Number of elements of a sort, and of those that are sorted together."""
    dims = op.shape(0)
    axis = axis_of(op, len(op.inputs) - 1, len(dims)) if op.type == "XlaVariadicSort" else -1
    return op.n_in(0), dims[axis] if dims else 1


RULES.of("XlaConv XlaConvV2")(lambda op: [xla_convolution(op).shape])
RULES.of("XlaReduce")(lambda op: [_reduced(op)])
# The second half of the inputs are initial values.
RULES.of("XlaVariadicReduce XlaVariadicReduceV2")(lambda op: [_reduced(op)] * (len(op.inputs) // 2))
RULES.of(
    """
    XlaSort XlaReducePrecision XlaAllReduce XlaScatter XlaSelectAndScatter XlaSharding
    XlaClusterOutput XlaSetDynamicDimensionSize XlaSetBound XlaRemoveDynamicDimensionSize
    """
)(lambda op: [op.input(0).shape])
RULES.of("XlaKeyValueSort")(lambda op: [op.input(0).shape, op.input(1).shape])
# The last input is the dimension.
RULES.of("XlaVariadicSort")(lambda op: [tensor.shape for tensor in op.inputs[:-1]])
RULES.of("XlaReplicaId")(lambda op: [()])
RULES.of("XlaRngBitGenerator")(lambda op: [op.input(1).shape, spelled_shape(op, 2)])
RULES.of("XlaCustomCall")(lambda op: [shape_attr(op)])
RULES.of("XlaCustomCallV2")(lambda op: shapes_attr(op, "result_shapes"))
RULES.of("XlaSpmdShardToFullShape")(lambda op: [shape_attr(op, "full_shape")])
