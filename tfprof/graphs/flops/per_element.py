"""Formulas of the form: so many operations for each element of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tfprof.graphs.flops.element_types import element_type, float_work, is_complex
from tfprof.graphs.flops.formulas import Cost, Formula, operations
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number


class PerElement(NamedTuple):
    """Operations per element.

    Attributes:
        real: For real elements.
        expression: What is computed.
        complex_valued: For complex elements; None if nothing is stated for them.
    """

    real: int
    expression: str
    complex_valued: int | None = None


def per_element(op: OpCall, entry: PerElement) -> int:
    """Operations per element for the element type of an op: 0 for integers and truth values."""
    dtype = element_type(op)
    if not is_complex(dtype):
        return entry.real if float_work(1, dtype) else 0
    if entry.complex_valued is None:
        raise UnknownError(f"no count is stated for complex elements of {op.type}")
    return entry.complex_valued


def formula(family: str, entry: PerElement, source: str) -> Formula:
    """The formula of an op that works on one element at a time."""

    def cost(op: OpCall) -> Cost:
        n = op.n_out()
        return operations(per_element(op, entry) * n, n=n)

    why = f"{entry.expression} for each element"
    return Formula(family, _rule(entry.real), why, source, cost)


def _rule(count: int) -> str:
    return "n" if count == 1 else f"{count}·n"


def counted(
    family: str,
    count: int,
    why: str,
    source: str,
    elements: Callable[[OpCall], Number] = OpCall.n_out,
) -> Formula:
    """The formula of ``count`` operations for each element of the result, whatever its type.

    Args:
        family: Name of the family.
        count: Operations per element.
        why: Derivation of the count.
        source: Source of the count.
        elements: Number of elements, if not those of the result.
    """

    def cost(op: OpCall) -> Cost:
        n = elements(op)
        return operations(count * n, n=n)

    return Formula(family, _rule(count), why, source, cost)
