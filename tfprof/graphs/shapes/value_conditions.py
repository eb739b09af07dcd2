"""Truth values: comparisons of sizes, logic on them, and selection by them."""

from __future__ import annotations

from functools import partial

from tfprof.graphs.model.op_call import OpCall, whole
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Comparison, Conjunction, Element
from tfprof.graphs.shapes.rules import VALUES
from tfprof.graphs.shapes.small_arrays import (
    Folded,
    array,
    array_or_unknown,
    arrays_or_unknown,
    elementwise,
    values_of,
)


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
    "Less": "<",
    "LessEqual": "<=",
    "Greater": "<",
    "GreaterEqual": "<=",
    "Equal": "==",
    "NotEqual": "!=",
}


@VALUES.of(*_RELATIONS)
def _compare(op: OpCall) -> Folded:
    """``a > b`` is written as ``b < a``."""
    sides = [array(op, index) for index in ((1, 0) if op.type.startswith("Greater") else (0, 1))]
    return [values_of(elementwise(partial(_compared, _RELATIONS[op.type]), *sides))]


@VALUES.of("LogicalAnd", "LogicalOr")
def _logical(op: OpCall) -> Folded:
    function = both if op.type == "LogicalAnd" else either
    return [values_of(elementwise(function, *arrays_or_unknown(op, (0, 1))))]


def both(one: Element, other: Element) -> Element:
    """Whether both are true."""
    one, other = _truth(one), _truth(other)
    if one is False or other is False:
        return False
    if one is True or other is True:
        return other if one is True else one
    if one is None and other is None:
        return None
    sides = [s.parts if isinstance(s, Conjunction) else (s,) for s in (one, other)]
    return Conjunction((*sides[0], *sides[1]))


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


@VALUES.of("Select", "SelectV2")
def _select(op: OpCall) -> Folded:
    """In ``Select``, a vector chooses between rows."""
    one, other = arrays_or_unknown(op, (1, 2))
    choice = array_or_unknown(op, 0)
    if op.type == "Select" and choice.ndim == 1:
        choice = choice.reshape((-1, *(1,) * (one.ndim - 1)))
    return [values_of(elementwise(_chosen, choice, one, other))]


def _chosen(choice: Element, one: Element, other: Element) -> Element:
    if isinstance(choice, bool):
        return one if choice else other
    return one if one == other else None


VALUES.of("LogicalNot")(lambda op: [tuple(map(opposite, op.elements(0)))])
