"""Tensors as known before anything runs: shape, element type, sometimes values."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from tfprof.graphs.model.symbolic import Number

Dims: TypeAlias = "tuple[Number, ...]"
"""Dimensions; unknown ones are ``Symbolic``."""

PartialShape: TypeAlias = "tuple[Number | None, ...] | None"
"""Dimensions, None for unknown ones without a name; None in place of the tuple for unknown rank."""


Values: TypeAlias = "tuple[Element, ...]"
"""Elements of a small tensor in row-major order, None for unknown ones."""

MOST_VALUES = 1024
"""Values of larger tensors are not followed; sizes and axes are never that many."""

MOST_OUTPUTS = 1 << 20
"""An op that claims to have more outputs is broken."""


class Comparison(NamedTuple):
    """A truth value that depends on unknowns: ``left < right`` or ``left != right``.

    Attributes:
        relation: ``<``, ``<=``, ``==`` or ``!=``.
        left: Left side.
        right: Right side.
    """

    relation: str
    left: Number
    right: Number


class Conjunction(NamedTuple):
    """A truth value: all parts are true. None stands for an unknown part."""

    parts: tuple[bool | Comparison | Conjunction | None, ...]


Element: TypeAlias = "Number | float | bool | Comparison | Conjunction | None"


class Handle(NamedTuple):
    """The object that a resource or variant refers to.

    Attributes:
        shape: Shape of the variable, or of each element of a list.
        dtype: Element type as a ``DataType`` number, 0 if unknown.
        length: Number of elements of a list; None if unknown, or not a list.
    """

    shape: PartialShape
    dtype: int = 0
    length: Number | None = None


class Tensor(NamedTuple):
    """Known facts about a tensor.

    Attributes:
        shape: Its dimensions, None for an unknown rank.
        dtype: Element type as a ``DataType`` number, 0 if unknown.
        values: Its elements, None if nothing is known of them.
        handle: The object that a resource or variant refers to.
    """

    shape: Dims | None = None
    dtype: int = 0
    values: Values | None = None
    handle: Handle | None = None


UNKNOWN = Tensor()
"""A tensor about which nothing is known."""


def known_dims(shape: PartialShape) -> Dims | None:
    """The dimensions of a shape; None unless rank and dimensions are known."""
    if shape is None:
        return None
    known = tuple(dim for dim in shape if dim is not None)
    return known if len(known) == len(shape) else None


DT_FLOAT = 1
DT_INT32 = 3
DT_STRING = 7
DT_INT64 = 9
DT_BOOL = 10
DT_RESOURCE = 20
DT_VARIANT = 21

REF = 100
"""Added to the number of a type that is a reference to a TF1 variable."""

COMPLEX_TYPES = frozenset({8, 18})
"""complex64, complex128."""

FLOAT_TYPES = frozenset({1, 2, 14, 19, 24, 25, 26, 27, 28, 33})
"""float, double, bfloat16, half and the kinds of 8 and 4 bits (``types.proto``)."""

QUANTIZED_TYPES = frozenset({11, 12, 13, 15, 16})
"""qint and quint of all sizes."""

INTEGER_TYPES = frozenset({3, 4, 5, 6, 9, 17, 22, 23, 29, 30, 31, 32})
"""Signed and unsigned integers of all sizes."""

ELEMENT_BYTES = {
    **dict.fromkeys((4, 6, 10, 11, 12, *range(24, 34)), 1),
    **dict.fromkeys((5, 14, 15, 16, 17, 19), 2),
    **dict.fromkeys((1, 3, 13, 22), 4),
    **dict.fromkeys((2, 8, 9, 23), 8),
    18: 16,
}
"""Bytes that an element takes in memory, by ``DataType``; kinds of less than a byte take one."""
