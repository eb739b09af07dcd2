"""XLA's convolution: any order of dimensions, groups, and holes in image and filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, ceil_div, floor_div
from tfprof.graphs.model.tensors import Dims
from tfprof.graphs.shapes.dimension_numbers import ConvNumbers, Places, Roles, conv_numbers
from tfprof.graphs.shapes.windows import window_count


class Steps(NamedTuple):
    """How windows step along each spatial dimension.

    Attributes:
        strides: From window to window.
        added: Elements before and after the image; negative ones are cut off.
        image_dilations: From element to element of the image; what is between counts as 0.
        filter_dilations: From tap to tap.
    """

    strides: Sequence[int]
    added: Sequence[tuple[int, int]]
    image_dilations: Sequence[int]
    filter_dilations: Sequence[int]


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
    numbers = conv_numbers(op)
    n_spatial = len(numbers.image.spatial)
    pairs = _pairs(op.known_ints(3), n_spatial)
    strides, image_dilations, filter_dilations = (
        _for_each(op.known_ints(index), n_spatial) for index in (2, 4, 5)
    )
    steps = Steps(strides, pairs, image_dilations, filter_dilations)
    return _convolution(op, numbers, steps)


def _pairs(padding: tuple[int, ...], n_spatial: int) -> list[tuple[int, int]]:
    if len(padding) != 2 * n_spatial:
        raise UnknownError(f"{len(padding)} paddings for {n_spatial} spatial dimensions")
    return list(zip(padding[::2], padding[1::2], strict=True))


def uniform_convolution(op: OpCall) -> Convolution:
    """The convolution of a UniformQuantizedConvolution, whose steps are attributes."""
    numbers = conv_numbers(op)
    n_spatial = len(numbers.image.spatial)
    strides, image_dilations, filter_dilations = (
        _for_each(op.ints(name), n_spatial)
        for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    padding = op.text("padding")
    pairs = [(0, 0)] * n_spatial
    if padding == "EXPLICIT":
        pairs = _pairs(op.ints("explicit_padding"), n_spatial)
    elif padding not in ("SAME", "VALID"):
        raise UnknownError(f"the padding {padding!r} is unknown")
    steps = Steps(strides, pairs, image_dilations, filter_dilations)
    return _convolution(op, numbers, steps, same=padding == "SAME")


def _for_each(steps: tuple[int, ...], n_spatial: int) -> tuple[int, ...]:
    """One step for each spatial dimension; an empty list means steps of 1."""
    steps = steps or (1,) * n_spatial
    if len(steps) != n_spatial or any(step < 1 for step in steps):
        raise UnknownError(f"the steps {steps} are not {n_spatial} positive numbers")
    return steps


def _convolution(
    op: OpCall, numbers: ConvNumbers, steps: Steps, *, same: bool = False
) -> Convolution:
    image = _Operand.read(op.shape(0), numbers.image)
    kernel = _Operand.read(op.shape(1), numbers.filter)
    if len(image.spatial) != len(kernel.spatial):
        raise UnknownError("image and filter have different numbers of spatial dimensions")
    counts: list[Number] = []
    products: Number = 1
    for place, (size, taps) in enumerate(zip(image.spatial, kernel.spatial, strict=True)):
        stride, dilation = steps.strides[place], steps.image_dilations[place]
        wide = (size - 1) * dilation + 1 if dilation > 1 else size
        count = (
            ceil_div(wide, stride)
            if same
            else window_count(
                wide + sum(steps.added[place]), taps, stride, steps.filter_dilations[place]
            )
        )
        counts.append(count)
        # In an image with holes, each element meets each tap once for every stride.
        products = products * (count * taps if dilation == 1 else ceil_div(size * taps, stride))
    batch = floor_div(image.first, op.integer("batch_group_count", 1))
    shape = _placed(numbers.result, batch, kernel.second, counts)
    return Convolution(shape, products * batch * kernel.second * kernel.first)


class _Operand(NamedTuple):
    """The sizes of an operand by the roles of its dimensions."""

    first: Number
    second: Number
    spatial: Dims

    @classmethod
    def read(cls, dims: Dims, roles: Roles) -> _Operand:
        _check(roles, len(dims))
        spatial = tuple(dims[place] for place in roles.spatial)
        return cls(dims[roles.first], dims[roles.second], spatial)


def _placed(roles: Roles, first: Number, second: Number, spatial: Sequence[Number]) -> Dims:
    """A shape from the sizes of its roles."""
    _check(roles, len(spatial) + 2)
    sizes = {roles.first: first, roles.second: second}
    sizes.update(zip(roles.spatial, spatial, strict=True))
    return tuple(sizes[place] for place in range(len(sizes)))


def _check(roles: Roles, rank: int) -> None:
    """Every dimension has one role."""
    places: Places = (roles.first, roles.second, *roles.spatial)
    if sorted(places) != list(range(rank)):
        raise UnknownError(f"the dimension numbers {places} do not fit {rank} dimensions")
