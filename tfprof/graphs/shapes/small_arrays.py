"""Small tensors with known elements as arrays, for constant folding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import MOST_VALUES, Element, Values
from tfprof.graphs.shapes.rules import Rules

ValueRules: TypeAlias = "Rules[Values | None]"

Folded: TypeAlias = "Sequence[Values | None]"
"""Result of a rule of values: the elements of each output, None where nothing is known."""

SmallArray: TypeAlias = "npt.NDArray[np.object_]"
"""Elements in the shape of their tensor."""


def array(op: OpCall, index: int) -> SmallArray:
    """The elements of an input in its shape."""
    return filled(op.elements(index), op.shape(index))


def array_or_unknown(op: OpCall, index: int) -> SmallArray:
    """The elements of an input in its shape; None for each if nothing is known of them."""
    if op.input(index).values is not None:
        return array(op, index)
    shape = known_shape(op.shape(index))
    return np.full(shape, None, dtype=object)


def filled(values: Sequence[Element], shape: Sequence[Number | None]) -> SmallArray:
    """Elements in row-major order as an array of a shape."""
    known = known_shape(shape)
    if math.prod(known) != len(values):
        raise UnknownError(f"{len(values)} elements in the shape {known}")
    flat = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        flat[place] = value
    return flat.reshape(known)


def known_shape(shape: Sequence[Number | None]) -> tuple[int, ...]:
    """A shape without unknowns, of a tensor that is small enough."""
    known = tuple(dim for dim in shape if isinstance(dim, int) and dim >= 0)
    if len(known) != len(shape):
        raise UnknownError("the number of elements is unknown")
    if math.prod(known) > MOST_VALUES or len(known) > 32:
        raise UnknownError("a tensor that large is not a list of sizes")
    return known


def values_of(elements: SmallArray) -> Values:
    """The elements in row-major order."""
    if elements.size > MOST_VALUES:
        raise UnknownError("a tensor that large is not a list of sizes")
    return tuple(elements.ravel().tolist())


def arrays_or_unknown(op: OpCall, inputs: Sequence[int]) -> list[SmallArray]:
    """The elements of some inputs, at least one of which has values."""
    if all(op.input(index).values is None for index in inputs):
        raise UnknownError("no values that flow in are known")
    return [array_or_unknown(op, index) for index in inputs]


def elementwise(function: Any, *arrays: SmallArray) -> SmallArray:
    """A function of elements on arrays that are broadcast to each other.

    Raises:
        UnknownError: The result has too many elements.
        ValueError: The shapes do not fit.
    """
    shape = np.broadcast_shapes(*(part.shape for part in arrays))
    known_shape(shape)
    columns = [np.broadcast_to(part, shape).ravel().tolist() for part in arrays]
    return filled([function(*elements) for elements in zip(*columns, strict=True)], shape)
