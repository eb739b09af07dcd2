"""Values of small tensors that come out of arithmetic, element by element or in sums.

Sizes are computed as TensorFlow would, but without its overflows: a number that fits no integer
type is unknown. Numbers in float tensors are rounded to the type of the tensor.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from tfprof.graphs.model.op_call import OpCall, axis_in
from tfprof.graphs.model.symbolic import Number, floor_div, maximum, minimum
from tfprof.graphs.model.tensors import DT_BOOL, FLOAT_TYPES, INTEGER_TYPES, Element
from tfprof.graphs.shapes.rules import VALUES
from tfprof.graphs.shapes.small_arrays import Folded, array, elementwise, values_of
from tfprof.graphs.shapes.value_conditions import both, either

Real: TypeAlias = "float | Number"
"""A number in a float tensor: whole numbers with unknowns stay as they are."""

_MOST_POWER = 8
_ROUNDED: dict[int, Any] = {0: float, 1: np.float32, 2: float, 19: np.float16}
_LARGEST_HALF = 65504.0
"""Up to this, a number has a place in every float type."""


def result_in(value: Real | None, dtype: int) -> Element:
    """A number as a tensor of a type holds it, None if it does not."""
    if isinstance(value, int) and not isinstance(value, bool):
        if dtype not in FLOAT_TYPES:
            return value if -(1 << 63) <= value < 1 << 64 else None
        value = float(value)
    if isinstance(value, float):
        rounded = _ROUNDED.get(dtype)
        if rounded is None:
            return None
        if -_LARGEST_HALF <= value <= _LARGEST_HALF:
            return float(rounded(value))
        with np.errstate(over="ignore"):  # numbers too large for the type become infinite
            return float(rounded(value))
    return value


def dtype_of(op: OpCall) -> int:
    """Element type that an op computes in."""
    return op.input(0).dtype or next(iter(op.output_types), 0)


def operand(value: Element) -> Real | None:
    """An element as a number, None if it is not one."""
    return None if isinstance(value, (bool, tuple)) else value


def together(one: Real, other: Real) -> tuple[Real, Real] | None:
    """Two numbers in types that go together: next to a symbol, a float must be whole."""
    if isinstance(one, float) and not isinstance(other, (int, float)):
        return (int(one), other) if one.is_integer() else None
    if isinstance(other, float) and not isinstance(one, (int, float)):
        return (one, int(other)) if other.is_integer() else None
    return one, other


def _binary(*op_types: str) -> Callable[[Callable[[Any, Any], Real | None]], Any]:
    """Decorate a function of two numbers that some op types compute element by element."""

    def enter(function: Callable[[Any, Any], Real | None]) -> Any:
        def rule(op: OpCall) -> Folded:
            dtype = dtype_of(op)

            def compute(one: Element, other: Element) -> Element:
                return result_in(computed(function, one, other), dtype)

            return [values_of(elementwise(compute, array(op, 0), array(op, 1)))]

        VALUES.of(*op_types)(rule)
        return function

    return enter


def computed(
    function: Callable[[Any, Any], Real | None], one: Element, other: Element
) -> Real | None:
    """A function of two elements; None if they are not numbers, or it has no result."""
    left, right = operand(one), operand(other)
    if left is None or right is None:
        return None
    pair = together(left, right)
    try:
        return None if pair is None else function(*pair)
    except (ZeroDivisionError, OverflowError, ValueError):
        return None


_binary("Add", "AddV2")(operator.add)
_binary("Sub")(operator.sub)
_binary("Mul")(operator.mul)


def _has_float(one: Real, other: Real) -> bool:
    return isinstance(one, float) or isinstance(other, float)


@_binary("FloorDiv")
def _floor_divide(one: Any, other: Any) -> Real:
    is_float = _has_float(one, other)
    return float(math.floor(one / other)) if is_float else floor_div(one, other)


@_binary("TruncateDiv")
def _truncate_divide(one: Any, other: Any) -> Real | None:
    if isinstance(one, int) and isinstance(other, int):
        quotient = abs(one) // abs(other)
        return quotient if (one < 0) == (other < 0) else -quotient
    if _has_float(one, other):
        return float(math.trunc(one / other))
    return floor_div(one, other) if _not_negative(one) and _not_negative(other) else None


@_binary("FloorMod")
def _floor_remainder(one: Any, other: Any) -> Any:
    return one % other if _has_float(one, other) else one - floor_div(one, other) * other


@_binary("Mod", "TruncateMod")
def _truncate_remainder(one: Any, other: Any) -> Real | None:
    if _has_float(one, other):
        return math.fmod(one, other)
    quotient = _truncate_divide(one, other)
    return None if quotient is None else one - quotient * other


@_binary("RealDiv")
def _divide(one: Any, other: Any) -> Real | None:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one / other
    quotient = floor_div(one, other)
    return quotient if quotient * other == one else None


@_binary("Maximum")
def larger(one: Any, other: Any) -> Any:
    """The larger one."""
    return max(one, other) if _has_float(one, other) else maximum(one, other)


@_binary("Minimum")
def smaller(one: Any, other: Any) -> Any:
    """The smaller one."""
    return min(one, other) if _has_float(one, other) else minimum(one, other)


@_binary("Pow")
def _power(base: Any, exponent: Any) -> Real | None:
    if _has_float(base, exponent):
        return math.pow(base, exponent)
    if not isinstance(exponent, int) or exponent < 0:
        return None
    if isinstance(base, int):
        return base**exponent if base.bit_length() * exponent <= 64 else None
    return base**exponent if exponent <= _MOST_POWER else None


def _not_negative(number: Number) -> bool:
    return maximum(number, 0) == number


def _magnitude(value: Any) -> Real | None:
    if isinstance(value, (int, float)):
        return abs(value)
    return value if _not_negative(value) else None


def _whole(rounding: Callable[[float], int]) -> Callable[[Any], Real]:
    return lambda value: float(rounding(value)) if isinstance(value, float) else value


_UNARY: dict[str, Callable[[Any], Real | None]] = {
    "Neg": lambda value: -value,
    "Abs": _magnitude,
    "Square": lambda value: value * value,
    "Ceil": _whole(math.ceil),
    "Floor": _whole(math.floor),
    "Round": _whole(round),
    "Rint": _whole(round),
    "Sqrt": lambda value: math.sqrt(value) if isinstance(value, float) else None,
}


@VALUES.of(*_UNARY)
def _unary(op: OpCall) -> Folded:
    function, dtype = _UNARY[op.type], dtype_of(op)
    results: list[Element] = []
    for element in op.elements(0):
        value = operand(element)
        try:
            results.append(None if value is None else result_in(function(value), dtype))
        except (ValueError, OverflowError):
            results.append(None)
    return [tuple(results)]


@VALUES.of("AddN")
def _add_all(op: OpCall) -> Folded:
    dtype = dtype_of(op)

    def step(one: Element, other: Element) -> Element:
        return result_in(computed(operator.add, one, other), dtype)

    parts = [array(op, index) for index in range(len(op.inputs))]
    return [values_of(reduce(lambda one, other: elementwise(step, one, other), parts))]


@VALUES.of("Cast")
def _cast(op: OpCall) -> Folded:
    dtype = op.integer("DstT") or next(iter(op.output_types), 0)
    return [tuple(_converted(value, dtype) for value in op.elements(0))]


def _converted(value: Element, dtype: int) -> Element:
    """An element as another type; a float is cut off at the point."""
    if dtype == DT_BOOL:
        return bool(value) if isinstance(value, (bool, int, float)) else None
    if isinstance(value, tuple) or value is None:
        return None
    if dtype in FLOAT_TYPES:
        return result_in(value + 0 if isinstance(value, bool) else value, dtype)
    if dtype not in INTEGER_TYPES:
        return None
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and abs(value) < 1 << 63 else None
    return int(value) if isinstance(value, bool) else value


def _numeric(function: Callable[[Any, Any], Real | None]) -> Callable[..., Element]:
    return lambda one, other: computed(function, one, other)


_REDUCTIONS: dict[str, tuple[Callable[..., Element], Element]] = {
    "Sum": (_numeric(operator.add), 0),
    "Prod": (_numeric(operator.mul), 1),
    "Max": (_numeric(larger), None),
    "Min": (_numeric(smaller), None),
    "All": (both, True),
    "Any": (either, False),
}


@VALUES.of(*_REDUCTIONS)
def _reduce(op: OpCall) -> Folded:
    elements, dtype = array(op, 0), dtype_of(op)
    axes = sorted({axis_in(axis, elements.ndim) for axis in op.known_ints(1)})
    kept = [axis for axis in range(elements.ndim) if axis not in axes]
    n_rows, n_in_row = (math.prod(elements.shape[axis] for axis in side) for side in (kept, axes))
    flat = elements.transpose([*kept, *axes]).ravel().tolist()
    rows = (flat[row * n_in_row : (row + 1) * n_in_row] for row in range(n_rows))
    return [tuple(_reduced(op.type, row, dtype) for row in rows)]


def _reduced(op_type: str, row: list[Element], dtype: int) -> Element:
    function, start = _REDUCTIONS[op_type]
    result = reduce(function, row) if row else start
    if isinstance(result, (bool, tuple)):
        return result
    return result_in(operand(result), dtype)


# ``Div`` cuts off for integers, but not for floats.
VALUES.of("Div")(
    lambda op: VALUES["TruncateDiv" if op.input(0).dtype in INTEGER_TYPES else "RealDiv"](op)
)
