"""One op with its inputs, outputs and attributes, as rules and formulas see it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import UNKNOWN, Dims, Element, Handle, Tensor


class UnknownError(Exception):
    """Something that a rule or formula needs is unknown or contradicts itself; the text says what.

    Rules, formulas and the functions that they share raise it; whoever asks them catches it.
    """


class OpCall:
    """An op.

    Methods that return shapes, elements or handles raise ``UnknownError`` if these are not known.

    Attributes:
        type: Op type.
        inputs: Its inputs without control inputs.
        outputs: Its outputs; empty while their shapes are being worked out.
        attrs: Attributes as plain values. A graph may leave out those that have their default.
        output_types: Element type of each output, as ``DataType`` numbers.
    """

    __slots__ = ("attrs", "inputs", "output_types", "outputs", "type")

    def __init__(
        self,
        type: str,
        inputs: tuple[Tensor, ...],
        outputs: tuple[Tensor, ...] = (),
        attrs: Mapping[str, Any] | None = None,
        output_types: tuple[int, ...] = (),
    ) -> None:
        self.type = type
        self.inputs = inputs
        self.outputs = outputs
        self.attrs: Mapping[str, Any] = {} if attrs is None else attrs
        self.output_types = output_types

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

    def handle(self, index: int) -> Handle:
        """What an input that is a resource or variant refers to."""
        handle = self.input(index).handle
        if handle is None:
            raise UnknownError(f"it is unknown what input {index} refers to")
        return handle
