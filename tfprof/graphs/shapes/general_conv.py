"""XLA's products and convolutions: any order of dimensions, groups, holes in image and filter.

XLA's ops spell out which dimension is which in messages inside text attributes. These are small
and their fields all numbers, so they are read off the bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from tfprof.core.wire.walk import LENGTH_DELIMITED, VARINT, WireError, read_varint, walk
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, ceil_div, floor_div
from tfprof.graphs.model.tensors import Dims
from tfprof.graphs.shapes.windows import window_count

Places: TypeAlias = tuple[int, ...]


class DotNumbers(NamedTuple):
    """``DotDimensionNumbers`` of ``xla_data.proto``."""

    lhs_contracting: Places
    rhs_contracting: Places
    lhs_batch: Places
    rhs_batch: Places


class GatherNumbers(NamedTuple):
    """``GatherDimensionNumbers`` of ``xla_data.proto``."""

    offset: Places
    collapsed: Places
    index_vector: int


class Roles(NamedTuple):
    """Where the dimensions of an operand of a convolution stand.

    Attributes:
        first: Images of the batch; input channels of a filter.
        second: Channels; output channels of a filter.
        spatial: What windows slide along.
    """

    first: int
    second: int
    spatial: Places


class ConvNumbers(NamedTuple):
    """Dimensions of image, filter and result of a convolution."""

    image: Roles
    filter: Roles
    result: Roles


_XLA_CONV = ((7, 8, 11), (3, 4, 6), (9, 10, 12))
"""Fields of ``ConvolutionDimensionNumbers`` in ``xla_data.proto``."""

_UNIFORM_CONV = ((1, 2, 3), (4, 5, 6), (7, 8, 9))
"""Fields of ``UniformQuantizedConvolutionDimensionNumbersAttr``."""


def dot_numbers(op: OpCall) -> DotNumbers:
    """The dimensions of a dot product."""
    fields = _fields(op)
    return DotNumbers(*(tuple(fields.get(number, ())) for number in (1, 2, 3, 4)))


def gather_numbers(op: OpCall) -> GatherNumbers:
    """The dimensions of a gather.

    Dimensions that are batches of operand and indices are left out of a slice like collapsed ones.
    """
    fields = _fields(op)
    collapsed = (*fields.get(2, ()), *fields.get(5, ()))
    return GatherNumbers(tuple(fields.get(1, ())), collapsed, _one(fields, 4))


def conv_numbers(op: OpCall) -> ConvNumbers:
    """The dimensions of a convolution."""
    uniform = op.type.startswith("Uniform")
    fields = _fields(op)
    if uniform and not fields:
        # The documentation of tf.raw_ops.UniformQuantizedConvolution: NCHW and OIHW.
        spatial = tuple(range(2, len(op.shape(0))))
        return ConvNumbers(Roles(0, 1, spatial), Roles(1, 0, spatial), Roles(0, 1, spatial))
    image, kernel, result = (
        Roles(_one(fields, first), _one(fields, second), tuple(fields.get(spatial, ())))
        for first, second, spatial in (_UNIFORM_CONV if uniform else _XLA_CONV)
    )
    return ConvNumbers(image, kernel, result)


def _one(fields: dict[int, list[int]], number: int) -> int:
    return fields.get(number, [0])[-1]


def _fields(op: OpCall) -> dict[int, list[int]]:
    """Numbers in the attribute's message by field, packed or not."""
    value = op.attr("dimension_numbers", "")
    data = value.encode() if isinstance(value, str) else value
    if not isinstance(data, bytes):
        raise UnknownError("the attribute dimension_numbers is not a message")
    view = memoryview(data)
    fields: dict[int, list[int]] = {}
    try:
        for field in walk(view):
            numbers = fields.setdefault(field.number, [])
            if field.wire_type == VARINT:
                numbers.append(field.value)
            elif field.wire_type == LENGTH_DELIMITED:
                position, end = field.offset, field.offset + field.value
                while position < end:
                    number, position = read_varint(view, position, end)
                    numbers.append(number)
    except WireError as error:
        raise UnknownError(f"the attribute dimension_numbers: {error.problem}") from error
    return fields


class Convolution(NamedTuple):
    """A convolution.

    Attributes:
        shape: Shape of the result.
        products: How many products it takes.
    """

    shape: Dims
    products: Number


def xla_convolution(op: OpCall) -> Convolution:
    """The convolution of an XlaConv, whose steps are inputs."""
    strides, added, image_dilations, filter_dilations = map(op.known_ints, (2, 3, 4, 5))
    return _convolution(op, strides, image_dilations, filter_dilations, added)


def uniform_convolution(op: OpCall) -> Convolution:
    """The convolution of a UniformQuantizedConvolution, whose steps are attributes."""
    names = ("window_strides", "lhs_dilation", "rhs_dilation")
    strides, image_dilations, filter_dilations = map(op.ints, names)
    padding = op.text("padding")
    if padding not in ("SAME", "VALID", "EXPLICIT"):
        raise UnknownError(f"the padding {padding!r} is unknown")
    added = op.ints("explicit_padding") if padding == "EXPLICIT" else None
    is_same = padding == "SAME"
    return _convolution(op, strides, image_dilations, filter_dilations, added, same=is_same)


def _convolution(
    op: OpCall,
    strides: Sequence[int],
    image_dilations: Sequence[int],
    filter_dilations: Sequence[int],
    added: Sequence[int] | None,
    *,
    same: bool = False,
) -> Convolution:
    """A convolution by the steps along each spatial dimension; an empty list means steps of 1.

    Args:
        op: The op.
        strides: From window to window.
        image_dilations: From element to element of the image; the gaps count as 0.
        filter_dilations: From tap to tap.
        added: Elements before and after the image, in turn; negative ones are cut off.
        same: As many windows as fit with padding.
    """
    numbers = conv_numbers(op)
    batch, _, spatial = _sizes(op.shape(0), numbers.image)
    inputs, outputs, taps = _sizes(op.shape(1), numbers.filter)
    n_spatial = len(spatial)
    if n_spatial != len(taps):
        raise UnknownError("image and filter have different numbers of spatial dimensions")
    added = (0,) * 2 * n_spatial if added is None else added
    if len(added) != 2 * n_spatial:
        raise UnknownError(f"{len(added)} paddings for {n_spatial} spatial dimensions")
    columns = [spatial, taps, added[::2], added[1::2]]
    for steps in (strides, image_dilations, filter_dilations):
        columns.append(steps or (1,) * n_spatial)
        if len(columns[-1]) != n_spatial or any(step < 1 for step in steps):
            raise UnknownError(f"the steps {steps} are not {n_spatial} positive numbers")
    counts: list[Number] = []
    products: Number = 1
    for size, window, before, after, stride, hole, spacing in zip(*columns, strict=True):
        wide = (size - 1) * hole + 1 if hole != 1 else size
        if same:
            counts.append(ceil_div(wide, stride))
        else:
            counts.append(window_count(wide + before + after, window, stride, spacing))
        # In an image with holes, each element meets each tap once for every stride.
        products = products * (
            counts[-1] * window if hole == 1 else ceil_div(size * window, stride)
        )
    batch = floor_div(batch, op.integer("batch_group_count", 1))
    roles = numbers.result
    _check(roles, n_spatial + 2)
    places = {roles.first: batch, roles.second: outputs}
    places.update(zip(roles.spatial, counts, strict=True))
    shape = tuple(places[place] for place in range(len(places)))
    return Convolution(shape, products * batch * outputs * inputs)


def _sizes(dims: Dims, roles: Roles) -> tuple[Number, Number, Sequence[Number]]:
    """The sizes of an operand by the roles of its dimensions."""
    _check(roles, len(dims))
    return dims[roles.first], dims[roles.second], [dims[place] for place in roles.spatial]


def _check(roles: Roles, rank: int) -> None:
    """Every dimension has one role."""
    places: Places = (roles.first, roles.second, *roles.spatial)
    if sorted(places) != list(range(rank)):
        raise UnknownError(f"the dimension numbers {places} do not fit {rank} dimensions")
