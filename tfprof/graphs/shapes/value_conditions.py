"""Truth values: comparisons of sizes, logic on them, and selection by them."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Comparison, Conjunction, Element
from tfprof.graphs.shapes.arguments import whole
from tfprof.graphs.shapes.rules import Rules
from tfprof.graphs.shapes.small_arrays import (
    Folded,
    ValueRules,
    array,
    array_or_unknown,
    elementwise,
    need_some_values,
    values_of,
)

RULES: ValueRules = Rules()


def _compared(relation: str, one: Element, other: Element) -> Element:
    """A truth value, or what it depends on."""
    if isinstance(one, (bool, int, float)) and isinstance(other, (bool, int, float)):
        return _holds(relation, one, other)
    left, right = _size(one), _size(other)
    if left is None or right is None:
        return None
    difference = left - right
    if isinstance(difference, int):
        return _holds(relation, difference, 0)
    return Comparison(relation, left, right)


def _size(value: Element) -> Number | None:
    """An element as a whole number, floats without a fraction included."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return whole(value)


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
    one, other = array(op, 0), array(op, 1)
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
    """The negation of a truth value; None if ``Comparison`` cannot express it."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, Comparison):
        left, right = value.left, value.right
        if value.relation in ("<", "<="):
            left, right = right, left
        return Comparison(_OPPOSITE[value.relation], left, right)
    return None


@RULES.of("Select", "SelectV2")
def _select(op: OpCall) -> Folded:
    """In ``Select``, a vector chooses between rows."""
    need_some_values(op, (1, 2))
    choice, one, other = (array_or_unknown(op, index) for index in range(3))
    if op.type == "Select" and choice.ndim == 1:
        choice = choice.reshape((-1, *(1,) * (one.ndim - 1)))
    return [values_of(elementwise(_chosen, choice, one, other))]


def _chosen(choice: Element, one: Element, other: Element) -> Element:
    if isinstance(choice, bool):
        return one if choice else other
    return one if one == other else None


RULES.of("LogicalNot")(lambda op: [tuple(map(opposite, op.elements(0)))])
