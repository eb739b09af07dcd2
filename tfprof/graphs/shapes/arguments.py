"""What shape rules read from an op: axes, sizes in an input, shapes in attributes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import MOST_OUTPUTS, Dims, Element, PartialShape

MOST_DIMS = 254
"""TensorFlow's tensors have no more dimensions."""


def axis_in(axis: int, rank: int) -> int:
    """An axis counted from the start; a negative one counts from the end."""
    if not -rank <= axis < rank:
        raise UnknownError(f"axis {axis} is not in a tensor of {rank} dimensions")
    return axis % rank


def scalar(op: OpCall, index: int) -> Element:
    """The element of an input that must be a scalar, None if it is unknown."""
    values = op.input(index).values
    if values is None:
        return None
    if len(values) != 1:
        raise UnknownError(f"input {index} has {len(values)} elements instead of one")
    return values[0]


def whole(element: Element) -> Number | None:
    """An element if it is a whole number, else None."""
    return None if isinstance(element, (bool, float, tuple)) else element


def size(op: OpCall, index: int) -> Number | None:
    """The size that a scalar input gives, None if it is unknown."""
    number = whole(scalar(op, index))
    if isinstance(number, int) and number < 0:
        raise UnknownError(f"input {index} gives the size {number}")
    return number


def axis_of(op: OpCall, index: int, rank: int) -> int:
    """The axis that a scalar input gives, as a place from the start."""
    axis = scalar(op, index)
    if not isinstance(axis, int):
        raise UnknownError(f"the axis in input {index} is unknown")
    return axis_in(axis, rank)


def spelled_numbers(op: OpCall, index: int) -> tuple[Number | None, ...] | None:
    """The whole numbers in a vector, None for each unknown one; None if their count is unknown."""
    values = op.input(index).values
    if values is not None:
        numbers = tuple(whole(value) for value in values)
    else:
        shape = op.input(index).shape
        count = shape[0] if shape is not None and len(shape) == 1 else None
        if not isinstance(count, int) or count < 0:
            return None
        numbers = (None,) * min(count, MOST_DIMS + 1)
    if len(numbers) > MOST_DIMS:
        raise UnknownError(f"input {index} stands for more than {MOST_DIMS} dimensions")
    return numbers


def spelled_shape(op: OpCall, index: int) -> PartialShape:
    """The shape that the elements of a vector spell out."""
    return sound(spelled_numbers(op, index))


def sound(shape: PartialShape) -> PartialShape:
    """A shape that has been computed."""
    if shape is not None and any(isinstance(dim, int) and dim < 0 for dim in shape):
        raise UnknownError(f"a shape with a negative size: {shape}")
    return shape


def element_shape(op: OpCall, index: int) -> PartialShape:
    """The shape of a list's elements from an input, with -1 for unknown dimensions.

    A scalar means an unknown rank.
    """
    if op.input(index).shape == ():
        return None
    numbers = spelled_numbers(op, index)
    if numbers is None:
        return None
    return tuple(None if isinstance(n, int) and n < 0 else n for n in numbers)


def as_shape(value: Any) -> PartialShape:
    """The value of an attribute as a shape, None if it is not one; -1 is an unknown dimension."""
    if not isinstance(value, tuple) or len(value) > MOST_DIMS:
        return None
    return tuple(dim if isinstance(dim, int) and dim >= 0 else None for dim in value)


def shape_attr(op: OpCall, name: str = "shape") -> PartialShape:
    """An attribute that is a shape; None (unknown rank) if it is missing."""
    return as_shape(op.attr(name))


def shapes_attr(op: OpCall, name: str) -> list[PartialShape]:
    """An attribute that is a list of shapes."""
    value = op.attr(name)
    if not isinstance(value, tuple):
        raise UnknownError(f"the attribute {name} is not a list of shapes")
    return [as_shape(shape) for shape in value]


def count_attr(op: OpCall, name: str) -> int:
    """An attribute that says how many outputs there are."""
    count = op.attr(name)
    if not isinstance(count, int) or not 0 <= count <= MOST_OUTPUTS:
        raise UnknownError(f"the attribute {name} is {count!r} instead of a number of outputs")
    return count


def same_dim(one: Number | None, other: Number | None) -> Number | None:
    """The size that two shapes give for one dimension: a number rather than a symbol."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, int) and isinstance(other, int) and one != other:
        raise UnknownError(f"sizes {one} and {other} should be the same")
    return one if isinstance(one, int) else other if isinstance(other, int) else one


def same_shape(shapes: Iterable[PartialShape]) -> PartialShape:
    """One shape from several partial descriptions of it."""
    merged: PartialShape = None
    for shape in shapes:
        if merged is None:
            merged = shape
        elif shape is not None:
            if len(shape) != len(merged):
                raise UnknownError(f"shapes {merged} and {shape} should be the same")
            merged = tuple(map(same_dim, merged, shape))
    return merged


def common_shape(shapes: Sequence[PartialShape]) -> PartialShape:
    """The shape that fits each of several shapes: dimensions that differ are unknown."""
    known = [shape for shape in shapes if shape is not None]
    if not known or any(len(shape) != len(known[0]) for shape in known):
        return None
    return tuple(
        dims[0] if all(dim == dims[0] for dim in dims) else None
        for dims in zip(*known, strict=True)
    )


def replaced(dims: Dims, axis: int, size: Number | None) -> PartialShape:
    """A shape with another size along one axis."""
    return (*dims[:axis], size, *dims[axis + 1 :])
