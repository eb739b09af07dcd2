"""Values of small tensors that come out of arithmetic, comparisons and reductions.

Sizes are computed as TensorFlow would, but without its overflows: a number that fits no integer
type is unknown. Numbers in float tensors are rounded to the type of the tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from tfprof.analysis.op_call import OpCall
from tfprof.analysis.shapes.arguments import axis_in
from tfprof.analysis.shapes.rules import Rules
from tfprof.analysis.shapes.small_arrays import (
    Folded,
    SmallArray,
    ValueRules,
    array,
    array_or_unknown,
    elementwise,
    need_some_values,
    values_of,
)
from tfprof.model.symbolic import Number, floor_div, maximum, minimum
from tfprof.model.tensors import (
    DT_BOOL,
    FLOAT_TYPES,
    INTEGER_TYPES,
    Comparison,
    Conjunction,
    Element,
)

RULES: ValueRules = Rules()

Real: TypeAlias = "float | Number"
"""A number in a float tensor: whole numbers with unknowns stay as they are."""

_MOST_POWER = 8
_ROUNDED: dict[int, Any] = {0: float, 1: np.float32, 2: float, 19: np.float16}


def _result(value: Real | None, dtype: int) -> Element:
    """A number as a tensor of a type holds it, None if it does not."""
    if isinstance(value, int) and not isinstance(value, bool):
        if dtype not in FLOAT_TYPES:
            return value if -(1 << 63) <= value < 1 << 64 else None
        value = float(value)
    if isinstance(value, float):
        rounded = _ROUNDED.get(dtype)
        return None if rounded is None else float(rounded(value))
    return value


def _dtype(op: OpCall) -> int:
    return op.input(0).dtype or (op.output_types[0] if op.output_types else 0)


def _operand(value: Element) -> Real | None:
    return None if isinstance(value, (bool, tuple)) else value


def _together(one: Real, other: Real) -> tuple[Real, Real] | None:
    """Two numbers that can be computed with: beside an unknown, a float must be whole."""
    if isinstance(one, float) and not isinstance(other, (int, float)):
        return (int(one), other) if one.is_integer() else None
    if isinstance(other, float) and not isinstance(one, (int, float)):
        return (one, int(other)) if other.is_integer() else None
    return one, other


def _binary(*op_types: str) -> Callable[[Callable[[Any, Any], Real | None]], Any]:
    """Decorate a function of two numbers that some op types compute element by element."""

    def enter(function: Callable[[Any, Any], Real | None]) -> Any:
        def rule(op: OpCall) -> Folded:
            need_some_values(op, (0, 1))
            dtype = _dtype(op)

            def compute(one: Element, other: Element) -> Element:
                return _result(_computed(function, one, other), dtype)

            parts = (array_or_unknown(op, 0), array_or_unknown(op, 1))
            return [values_of(elementwise(compute, *parts))]

        RULES.of(*op_types)(rule)
        return function

    return enter


def _computed(
    function: Callable[[Any, Any], Real | None], one: Element, other: Element
) -> Real | None:
    left, right = _operand(one), _operand(other)
    if left is None or right is None:
        return None
    pair = _together(left, right)
    try:
        return None if pair is None else function(*pair)
    except (ZeroDivisionError, OverflowError, ValueError):
        return None


@_binary("Add", "AddV2")
def _add(one: Any, other: Any) -> Real:
    return one + other  # type: ignore[no-any-return]


@_binary("Sub")
def _subtract(one: Any, other: Any) -> Real:
    return one - other  # type: ignore[no-any-return]


@_binary("Mul")
def _multiply(one: Any, other: Any) -> Real:
    return one * other  # type: ignore[no-any-return]


@_binary("FloorDiv")
def _floor_divide(one: Any, other: Any) -> Real:
    if isinstance(one, float) or isinstance(other, float):
        return float(math.floor(one / other))
    return floor_div(one, other)


@_binary("TruncateDiv")
def _truncate_divide(one: Any, other: Any) -> Real | None:
    if isinstance(one, int) and isinstance(other, int):
        quotient = abs(one) // abs(other)
        return quotient if (one < 0) == (other < 0) else -quotient
    if isinstance(one, float) or isinstance(other, float):
        return float(math.trunc(one / other))
    return floor_div(one, other) if _not_negative(one) and _not_negative(other) else None


@_binary("FloorMod")
def _floor_remainder(one: Any, other: Any) -> Real:
    if isinstance(one, float) or isinstance(other, float):
        return one % other  # type: ignore[no-any-return]
    return one - floor_div(one, other) * other  # type: ignore[no-any-return]


@_binary("Mod", "TruncateMod")
def _truncate_remainder(one: Any, other: Any) -> Real | None:
    if isinstance(one, float) or isinstance(other, float):
        return math.fmod(one, other)
    quotient = _truncate_divide(one, other)
    return None if quotient is None else one - quotient * other


@_binary("RealDiv")
def _divide(one: Any, other: Any) -> Real | None:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one / other
    quotient = floor_div(one, other)
    return quotient if quotient * other == one else None


@RULES.of("Div")
def _old_division(op: OpCall) -> Folded:
    """Cuts off for integers, and does not for floats."""
    return RULES["TruncateDiv" if op.input(0).dtype in INTEGER_TYPES else "RealDiv"](op)


@_binary("Maximum")
def _maximum(one: Any, other: Any) -> Real:
    if isinstance(one, float) or isinstance(other, float):
        return max(one, other)  # type: ignore[no-any-return]
    return maximum(one, other)


@_binary("Minimum")
def _minimum(one: Any, other: Any) -> Real:
    if isinstance(one, float) or isinstance(other, float):
        return min(one, other)  # type: ignore[no-any-return]
    return minimum(one, other)


@_binary("Pow")
def _power(base: Any, exponent: Any) -> Real | None:
    if isinstance(base, float) or isinstance(exponent, float):
        return math.pow(base, exponent)
    if not isinstance(exponent, int) or exponent < 0:
        return None
    if isinstance(base, int):
        return base**exponent if base.bit_length() * exponent <= 64 else None
    return base**exponent if exponent <= _MOST_POWER else None  # type: ignore[no-any-return]


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


@RULES.of(*_UNARY)
def _unary(op: OpCall) -> Folded:
    function, dtype = _UNARY[op.type], _dtype(op)
    results: list[Element] = []
    for element in op.elements(0):
        value = _operand(element)
        try:
            results.append(None if value is None else _result(function(value), dtype))
        except (ValueError, OverflowError):
            results.append(None)
    return [tuple(results)]


@RULES.of("AddN")
def _add_all(op: OpCall) -> Folded:
    dtype = _dtype(op)

    def add(one: Element, other: Element) -> Element:
        return _result(_computed(_add, one, other), dtype)

    parts = [array(op, index) for index in range(len(op.inputs))]
    return [values_of(reduce(lambda one, other: elementwise(add, one, other), parts))]


@RULES.of("Cast")
def _cast(op: OpCall) -> Folded:
    dtype = op.integer("DstT") or (op.output_types[0] if op.output_types else 0)
    return [tuple(_converted(value, dtype) for value in op.elements(0))]


def _converted(value: Element, dtype: int) -> Element:
    """An element as another type; a float loses what is behind the point."""
    if dtype == DT_BOOL:
        return bool(value) if isinstance(value, (bool, int, float)) else None
    if isinstance(value, tuple) or value is None:
        return None
    if dtype in FLOAT_TYPES:
        return _result(value + 0 if isinstance(value, bool) else value, dtype)
    if dtype not in INTEGER_TYPES:
        return None
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and abs(value) < 1 << 63 else None
    return int(value) if isinstance(value, bool) else value


def _compared(relation: str, one: Element, other: Element) -> Element:
    """A truth value, or what it depends on."""
    if isinstance(one, (bool, int, float)) and isinstance(other, (bool, int, float)):
        return _holds(relation, one, other)
    left, right = _operand(one), _operand(other)
    pair = None if left is None or right is None else _together(left, right)
    if pair is None or isinstance(pair[0], float) or isinstance(pair[1], float):
        return None
    difference = pair[0] - pair[1]
    if isinstance(difference, int):
        return _holds(relation, difference, 0)
    return Comparison(relation, *pair)


def _holds(relation: str, one: float, other: float) -> bool:
    if relation == "<":
        return one < other
    if relation == "<=":
        return one <= other
    return (one == other) == (relation == "==")


_RELATIONS = {
    "Less": ("<", False),
    "LessEqual": ("<=", False),
    "Greater": ("<", True),
    "GreaterEqual": ("<=", True),
    "Equal": ("==", False),
    "NotEqual": ("!=", False),
}


@RULES.of(*_RELATIONS)
def _compare(op: OpCall) -> Folded:
    """``a > b`` is written as ``b < a``."""
    relation, swapped = _RELATIONS[op.type]
    need_some_values(op, (0, 1))
    one, other = array_or_unknown(op, 0), array_or_unknown(op, 1)
    if swapped:
        one, other = other, one
    return [values_of(elementwise(lambda a, b: _compared(relation, a, b), one, other))]


@RULES.of("LogicalAnd", "LogicalOr")
def _logical(op: OpCall) -> Folded:
    need_some_values(op, (0, 1))
    function = both if op.type == "LogicalAnd" else either
    return [values_of(elementwise(function, array_or_unknown(op, 0), array_or_unknown(op, 1)))]


def both(one: Element, other: Element) -> Element:
    """Whether both are true."""
    one, other = _truth(one), _truth(other)
    if one is False or other is False:
        return False
    if one is True or other is True:
        return other if one is True else one
    if one is None and other is None:
        return None
    parts: list[bool | Comparison | Conjunction | None] = []
    for side in (one, other):
        parts.extend(side.parts if isinstance(side, Conjunction) else [side])
    return Conjunction(tuple(parts))


def either(one: Element, other: Element) -> Element:
    """Whether one of them is true."""
    one, other = _truth(one), _truth(other)
    if one is True or other is True:
        return True
    if one is False or other is False:
        return other if one is False else one
    return one if one == other else None


def _truth(value: Element) -> bool | Comparison | Conjunction | None:
    return value if isinstance(value, (bool, Comparison, Conjunction)) else None


_OPPOSITE = {"<": "<=", "<=": "<", "==": "!=", "!=": "=="}


def opposite(value: Element) -> Element:
    """Whether it is not true; None if that cannot be written down."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, Comparison):
        left, right = value.left, value.right
        if value.relation in ("<", "<="):
            left, right = right, left
        return Comparison(_OPPOSITE[value.relation], left, right)
    return None


@RULES.of("LogicalNot")
def _not(op: OpCall) -> Folded:
    return [tuple(map(opposite, op.elements(0)))]


@RULES.of("Select", "SelectV2")
def _select(op: OpCall) -> Folded:
    """The first kind takes a vector as a choice between rows."""
    need_some_values(op, (1, 2))
    choice, one, other = (array_or_unknown(op, index) for index in range(3))
    if op.type == "Select" and choice.ndim == 1:
        choice = choice.reshape((-1, *(1,) * (one.ndim - 1)))
    return [values_of(elementwise(_chosen, choice, one, other))]


def _chosen(choice: Element, one: Element, other: Element) -> Element:
    if isinstance(choice, bool):
        return one if choice else other
    return one if one == other else None


def _numeric(function: Callable[[Any, Any], Real | None]) -> Callable[..., Element]:
    return lambda one, other: _computed(function, one, other)


_REDUCTIONS: dict[str, tuple[Callable[..., Element], Element]] = {
    "Sum": (_numeric(_add), 0),
    "Prod": (_numeric(_multiply), 1),
    "Max": (_numeric(_maximum), None),
    "Min": (_numeric(_minimum), None),
    "All": (both, True),
    "Any": (either, False),
}


@RULES.of(*_REDUCTIONS)
def _reduce(op: OpCall) -> Folded:
    elements, dtype = array(op, 0), _dtype(op)
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
    return _result(_operand(result), dtype)
