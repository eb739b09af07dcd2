"""One op with its inputs, outputs and attributes, for rules and formulas."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tfprof.graphs.model.symbolic import Number, Symbolic
from tfprof.graphs.model.tensors import (
    MOST_OUTPUTS,
    REF,
    UNKNOWN,
    Dims,
    Element,
    Handle,
    PartialShape,
    Tensor,
    known_dims,
)

MOST_DIMS = 254
"""TensorFlow's tensors have no more dimensions."""


class UnknownError(Exception):
    """A value that a rule or formula needs is unknown or contradictory; the text names it.

    Rules, formulas and the functions that they share raise it; their callers catch it.
    """


@dataclass(slots=True, eq=False)
class OpCall:
    """An op.

    Methods that return shapes, elements or handles raise ``UnknownError`` if these are not known.

    Attributes:
        type: Op type.
        inputs: Its inputs without control inputs.
        outputs: Its outputs; empty while their shapes are being derived.
        attrs: Attributes as plain values. A graph may leave out those that have their default.
        output_types: Element type of each output, as ``DataType`` numbers.
    """

    type: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    output_types: tuple[int, ...] = ()

    def input(self, index: int) -> Tensor:
        """An input; an unknown tensor if the op has no such input."""
        return self.inputs[index] if -len(self.inputs) <= index < len(self.inputs) else UNKNOWN

    def shape(self, index: int = 0) -> Dims:
        """Dimensions of an input."""
        shape = self.input(index).shape
        if shape is None:
            raise UnknownError(f"the shape of input {index} is unknown")
        return shape

    def shape_of_rank(self, index: int, rank: int) -> Dims:
        """Dimensions of an input of a given rank."""
        shape = self.shape(index)
        if len(shape) != rank:
            raise UnknownError(f"input {index} has {len(shape)} dimensions instead of {rank}")
        return shape

    def shape_of_least(self, rank: int, index: int = 0) -> Dims:
        """Dimensions of an input that has at least so many of them."""
        shape = self.shape(index)
        if len(shape) < rank:
            raise UnknownError(f"input {index} has {len(shape)} dimensions, fewer than {rank}")
        return shape

    def out(self, index: int = 0) -> Dims:
        """Dimensions of an output."""
        shape = self.outputs[index].shape if index < len(self.outputs) else None
        if shape is None:
            raise UnknownError(f"the shape of output {index} is unknown")
        return shape

    def n_in(self, index: int = 0) -> Number:
        """Number of elements of an input."""
        return math.prod(self.shape(index))

    def n_out(self, index: int = 0) -> Number:
        """Number of elements of an output."""
        return math.prod(self.out(index))

    def dtype(self, index: int = 0) -> int:
        """Element type of an input, references stripped; 0 if unknown."""
        return self.input(index).dtype % REF

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return self.attrs.get(name, default)

    def flag(self, name: str, default: bool = False) -> bool:
        """A Boolean attribute."""
        return bool(self.attrs.get(name, default))

    def integer(self, name: str, default: int = 0) -> int:
        """An integer attribute."""
        value = self.attrs.get(name, default)
        return value if isinstance(value, int) else default

    def text(self, name: str, default: str = "") -> str:
        """A text attribute."""
        value = self.attrs.get(name, default)
        return value if isinstance(value, str) else default

    def ints(self, name: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        """An attribute that is a list of integers."""
        value = self.attrs.get(name, default)
        return value if isinstance(value, tuple) else default

    def count_attr(self, name: str) -> int:
        """An attribute that says how many outputs there are."""
        count = self.attr(name)
        if not isinstance(count, int) or not 0 <= count <= MOST_OUTPUTS:
            raise UnknownError(f"the attribute {name} is {count!r} instead of a number of outputs")
        return count

    def shape_attr(self, name: str = "shape") -> PartialShape:
        """An attribute that is a shape; None (unknown rank) if it is missing."""
        return as_shape(self.attr(name))

    def shapes_attr(self, name: str, default: Any = None) -> list[PartialShape]:
        """An attribute that is a list of shapes."""
        value = self.attr(name, default)
        if not isinstance(value, tuple):
            raise UnknownError(f"the attribute {name} is not a list of shapes")
        return [as_shape(shape) for shape in value]

    def elements(self, index: int) -> tuple[Element, ...]:
        """Elements of an input, None for unknown ones."""
        values = self.input(index).values
        if values is None:
            raise UnknownError(f"the values of input {index} are unknown")
        return values

    def numbers(self, index: int) -> Dims:
        """Elements of an input that are whole numbers."""
        numbers: list[Number] = []
        for value in self.elements(index):
            if value is None or isinstance(value, (float, bool, tuple)):
                raise UnknownError(f"some values of input {index} are unknown")
            numbers.append(value)
        return tuple(numbers)

    def known_ints(self, index: int) -> tuple[int, ...]:
        """Elements of an input that must not depend on an unknown, such as axes."""
        numbers = self.numbers(index)
        known = tuple(number for number in numbers if isinstance(number, int))
        if len(known) != len(numbers):
            raise UnknownError(f"the values of input {index} depend on unknown sizes")
        return known

    def scalar(self, index: int) -> Element:
        """The element of an input that must be a scalar, None if it is unknown."""
        values = self.input(index).values
        if values is None:
            return None
        if len(values) != 1:
            raise UnknownError(f"input {index} has {len(values)} elements instead of one")
        return values[0]

    def size(self, index: int) -> Number | None:
        """The size that a scalar input gives, None if it is unknown."""
        number = whole(self.scalar(index))
        if isinstance(number, int) and number < 0:
            raise UnknownError(f"input {index} gives the size {number}")
        return number

    def axis(self, index: int, rank: int) -> int:
        """The axis that a scalar input gives, as a place from the start."""
        axis = self.scalar(index)
        if not isinstance(axis, int):
            raise UnknownError(f"the axis in input {index} is unknown")
        return axis_in(axis, rank)

    def spelled_numbers(self, index: int) -> tuple[Number | None, ...] | None:
        """The whole numbers in a vector, None for unknown ones; None if their count is unknown."""
        values = self.input(index).values
        if values is not None:
            numbers = tuple(map(whole, values))
        else:
            shape = self.input(index).shape
            count = shape[0] if shape is not None and len(shape) == 1 else None
            if not isinstance(count, int) or count < 0:
                return None
            numbers = (None,) * min(count, MOST_DIMS + 1)
        if len(numbers) > MOST_DIMS:
            raise UnknownError(f"input {index} stands for more than {MOST_DIMS} dimensions")
        return numbers

    def spelled_shape(self, index: int) -> PartialShape:
        """The shape that the elements of a vector spell out."""
        return sound(self.spelled_numbers(index))

    def element_shape(self, index: int) -> PartialShape:
        """The shape of a list's elements from an input, with -1 for unknown dimensions.

        A scalar means an unknown rank.
        """
        if self.input(index).shape == ():
            return None
        numbers = self.spelled_numbers(index)
        return None if numbers is None else as_shape(numbers)

    def handle(self, index: int) -> Handle:
        """The object that a resource or variant input refers to."""
        handle = self.input(index).handle
        if handle is None:
            raise UnknownError(f"it is unknown what input {index} refers to")
        return handle

    def handle_dims(self, index: int = 0) -> Dims:
        """Dimensions of the variable, matrix or elements that an input refers to."""
        dims = known_dims(self.handle(index).shape)
        if dims is None:
            raise UnknownError(f"the shape that input {index} refers to is unknown")
        return dims


def axis_in(axis: int, rank: int) -> int:
    """An axis counted from the start; a negative one counts from the end."""
    if not -rank <= axis < rank:
        raise UnknownError(f"axis {axis} is not in a tensor of {rank} dimensions")
    return axis % rank


def whole(element: Element) -> Number | None:
    """An element if it is a whole number, else None."""
    return None if isinstance(element, (bool, float, tuple)) else element


def sound(shape: PartialShape) -> PartialShape:
    """A shape that has been computed."""
    if shape is not None and any(isinstance(dim, int) and dim < 0 for dim in shape):
        raise UnknownError(f"a shape with a negative size: {shape}")
    return shape


def as_shape(value: Any) -> PartialShape:
    """A value as a shape, None if it is not one; -1 is an unknown dimension."""
    if not isinstance(value, tuple) or len(value) > MOST_DIMS:
        return None
    return tuple(
        dim if isinstance(dim, Symbolic) or (isinstance(dim, int) and dim >= 0) else None
        for dim in value
    )
