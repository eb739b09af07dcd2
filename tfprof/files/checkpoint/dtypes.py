"""Element types of stored tensors, and how their bytes become NumPy values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

STRING: Final = 7
"""Number of the type of texts, which have no fixed size."""


@dataclass(frozen=True, slots=True)
class ElementType:
    """A type of fixed size.

    Attributes:
        name: TensorFlow's name.
        stored: NumPy type of the stored elements, in little-endian order.
        values: Converts stored elements to values; None if they are the same.
    """

    name: str
    stored: np.dtype[Any]
    values: Callable[[Array], Array] | None = None


def _bfloat16_values(bits: Array) -> Array:
    """The upper half of a float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _small_int_values(bits: Array, *, n_bits: int, signed: bool) -> Array:
    """The lowest bits of each byte."""
    shift = 8 - n_bits
    raised = (bits << np.uint8(shift)).view(np.int8 if signed else np.uint8)
    lowered: Array = raised >> raised.dtype.type(shift)
    return lowered


def _small_floats(
    exponent_bits: int, mantissa_bits: int, bias: int, not_numbers: Mapping[int, float]
) -> npt.NDArray[np.float32]:
    """The value of every byte.

    Args:
        exponent_bits: Bits of the exponent, before the mantissa; the sign stands before both.
        mantissa_bits: Bits of the mantissa.
        bias: Bias of the exponent.
        not_numbers: Bytes that stand for NaN.
    """
    code = np.arange(256)
    sign = np.where(code >> (exponent_bits + mantissa_bits) & 1, -1.0, 1.0)
    exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = (code & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
    # Below the least exponent there is no leading one.
    size = np.where(exponent > 0, 1 + mantissa, mantissa) * 2.0 ** (np.maximum(exponent, 1) - bias)
    values: npt.NDArray[np.float32] = (sign * size).astype(np.float32)
    values[list(not_numbers)] = list(not_numbers.values())
    return values


_NAN: Final = float("nan")
_ONLY_NEGATIVE_ZERO: Final = {0x80: _NAN}
_SMALL_FLOATS: Final = {
    "float8_e5m2": _small_floats(5, 2, 15, {
        **{sign | 0x7C: value for sign, value in ((0, np.inf), (0x80, -np.inf))},
        **{sign | low: _NAN for sign in (0, 0x80) for low in (0x7D, 0x7E, 0x7F)},
    }),
    "float8_e4m3fn": _small_floats(4, 3, 7, {0x7F: _NAN, 0xFF: _NAN}),
    "float8_e4m3fnuz": _small_floats(4, 3, 8, _ONLY_NEGATIVE_ZERO),
    "float8_e4m3b11fnuz": _small_floats(4, 3, 11, _ONLY_NEGATIVE_ZERO),
    "float8_e5m2fnuz": _small_floats(5, 2, 16, _ONLY_NEGATIVE_ZERO),
    "float4_e2m1fn": _small_floats(2, 1, 1, {}),
}  # fmt: skip


def _fixed(name: str, stored: str) -> ElementType:
    small_float = _SMALL_FLOATS.get(name)
    values: Callable[[Array], Array] | None = None
    if small_float is not None:
        values = small_float.__getitem__
    elif name == "bfloat16":
        values = _bfloat16_values
    elif name in ("int2", "uint2", "int4", "uint4"):
        values = partial(_small_int_values, n_bits=int(name[-1]), signed=name[0] == "i")
    return ElementType(name, np.dtype(stored), values)


ELEMENT_TYPES: Final[Mapping[int, ElementType]] = MappingProxyType({
    number: _fixed(name, stored)
    for number, name, stored in (
        (1, "float32", "<f4"), (2, "float64", "<f8"), (3, "int32", "<i4"), (4, "uint8", "u1"),
        (5, "int16", "<i2"), (6, "int8", "i1"), (8, "complex64", "<c8"), (9, "int64", "<i8"),
        (10, "bool", "?"), (11, "qint8", "i1"), (12, "quint8", "u1"), (13, "qint32", "<i4"),
        (14, "bfloat16", "<u2"), (15, "qint16", "<i2"), (16, "quint16", "<u2"),
        (17, "uint16", "<u2"), (18, "complex128", "<c16"), (19, "float16", "<f2"),
        (22, "uint32", "<u4"), (23, "uint64", "<u8"), (24, "float8_e5m2", "u1"),
        (25, "float8_e4m3fn", "u1"), (26, "float8_e4m3fnuz", "u1"),
        (27, "float8_e4m3b11fnuz", "u1"), (28, "float8_e5m2fnuz", "u1"), (29, "int4", "u1"),
        (30, "uint4", "u1"), (31, "int2", "u1"), (32, "uint2", "u1"), (33, "float4_e2m1fn", "u1"),
    )
})  # fmt: skip
"""Types of fixed size by the number of their ``DataType``."""

_OTHER_NAMES: Final = {STRING: "string", 20: "resource", 21: "variant"}


def dtype_name(number: int) -> str:
    """TensorFlow's name of a type."""
    known = ELEMENT_TYPES.get(number)
    return known.name if known is not None else _OTHER_NAMES.get(number, f"type {number}")


def is_readable(number: int) -> bool:
    """Whether values of a type can be interpreted without the code that wrote them."""
    return number in ELEMENT_TYPES or number == STRING


def values_of(kind: ElementType, stored: Array) -> Array:
    """Values of stored elements: NumPy's own types, small floats as float32, small ints as int8.

    Args:
        kind: The type.
        stored: Elements of ``kind.stored``, in any byte order.
    """
    if stored.dtype.byteorder == ">":
        stored = stored.astype(kind.stored)
    if kind.stored == np.bool_:  # any byte but 0
        truth: Array = stored.view(np.uint8) != 0
        return truth
    return stored if kind.values is None else kind.values(stored)
