"""Formulas with a fixed number of operations for each element."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tfprof.graphs.flops.element_types import element_type, float_work, is_complex
from tfprof.graphs.flops.formulas import RAW_OPS, Cost, Family, Formula, operations
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


def _rule(count: int, letter: str = "n") -> str:
    return letter if count == 1 else f"{count}·{letter}"


class Counted(NamedTuple):
    """Op types that take the same number of operations for each element.

    Attributes:
        op_types: The op types, separated by spaces.
        each: Operations per element.
        why: The derivation.
        source: The source; by default TensorFlow's documentation of the first op type.
        of_input: The input whose elements count; None for those of the result.
        work: Float operations of a count for an element type; None if all types count.
        letter: Name of the number of elements in the formula.
    """

    op_types: str
    each: int
    why: str
    source: str = ""
    of_input: int | None = 0
    work: Callable[[Number, int], Number] | None = None
    letter: str = "n"

    def cost(self, op: OpCall) -> Cost:
        """The cost of an op."""
        n = op.n_out() if self.of_input is None else op.n_in(self.of_input)
        count = self.each * n
        if self.work is not None:
            count = self.work(count, element_type(op, self.of_input or 0))
        return operations(count, **{self.letter: n})


def enter_counts(family: Family, entries: Iterable[Counted]) -> None:
    """Enter a table of formulas into a family."""
    for entry in entries:
        names = entry.op_types.split()
        source = entry.source or RAW_OPS + names[0]
        rule = _rule(entry.each, entry.letter)
        formula = Formula(family.name, rule, entry.why, source, entry.cost)
        family.add(names, formula)
