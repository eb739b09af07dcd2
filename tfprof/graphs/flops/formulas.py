"""Formulas of float operations, by op type, and their building blocks.

Counting convention: additions, subtractions, multiplications, divisions, comparisons, minimum and
maximum, and each function of C's math library (sqrt, exp, log, tanh, erf …) are one float operation
each. A multiply-add, one product that is added to a sum, is two float operations, and one MAC.
Composed operations cost the sum of their parts.

Arithmetic on integers, truth values and strings is not float work. A complex addition is 2 float
operations, a multiplication 6 (4 products, 2 sums), a multiply-add 4 real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import (
    COMPLEX_TYPES,
    DT_BOOL,
    DT_RESOURCE,
    DT_STRING,
    DT_VARIANT,
    INTEGER_TYPES,
    QUANTIZED_TYPES,
)

RAW_OPS = "TensorFlow API: tf.raw_ops."
"""Where TensorFlow documents its ops; the name of one follows."""

_NO_FLOATS = INTEGER_TYPES | QUANTIZED_TYPES | {DT_BOOL, DT_STRING, DT_RESOURCE, DT_VARIANT}


class Cost(NamedTuple):
    """The cost of one run of an op.

    Attributes:
        macs: Multiply-adds.
        other: Float operations besides those two of each multiply-add.
        numbers: The numbers that went into the formula, by the letters in its text.
    """

    macs: Number = 0
    other: Number = 0
    numbers: tuple[tuple[str, Number], ...] = ()

    @property
    def flops(self) -> Number:
        """Float operations."""
        return 2 * self.macs + self.other


def multiply_adds(macs: Number, other: Number = 0, **numbers: Number) -> Cost:
    """The cost of multiply-adds and other operations; ``numbers`` went into the formula."""
    return Cost(macs, other, tuple(numbers.items()))


def operations(count: Number, **numbers: Number) -> Cost:
    """The cost of float operations that are not multiply-adds."""
    return Cost(0, count, tuple(numbers.items()))


class Formula(NamedTuple):
    """How the float operations of an op are counted.

    Attributes:
        rule: The formula, in the letters of ``Cost.numbers``: ``2·m·n·k``.
        why: Its derivation, in one line.
        source: Where the definition of the op, or the count, comes from.
        cost: The function; raises ``UnknownError`` if a value that it needs is unknown.
    """

    rule: str
    why: str
    source: str
    cost: Callable[[OpCall], Cost]


FORMULAS: dict[str, Formula] = {}
"""Formula by op type."""

FREE: dict[str, str] = {}
"""Why an op has no float operations, by op type."""


def formula(
    op_types: str | Iterable[str], rule: str, source: str = "", *, why: str = ""
) -> Callable[[Callable[[OpCall], Cost]], Callable[[OpCall], Cost]]:
    """Decorate the formula of some op types.

    Args:
        op_types: The op types, separated by spaces, or several such texts.
        rule: The formula as text.
        source: Where the op or the count is defined; by default TensorFlow's documentation of
            the first op type.
        why: Its derivation; by default the docstring's first line.
    """
    names = (op_types if isinstance(op_types, str) else " ".join(op_types)).split()

    def enter(cost: Callable[[OpCall], Cost]) -> Callable[[OpCall], Cost]:
        text = why or (cost.__doc__ or "").strip().partition("\n")[0]
        if not text:
            raise ValueError(f"the formula of {names[0]} has no derivation")
        made = Formula(rule, text, source or RAW_OPS + names[0], cost)
        for op_type in names:
            _check(op_type)
            FORMULAS[op_type] = made
        return cost

    return enter


def declare_free(*op_types: str, because: str) -> None:
    """Enter op types, separated by spaces, that have no float operations."""
    for op_type in " ".join(op_types).split():
        _check(op_type)
        FREE[op_type] = because


def _check(op_type: str) -> None:
    if op_type in FORMULAS or op_type in FREE:
        raise ValueError(f"{op_type} is entered twice")


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
    if op.dtype() not in COMPLEX_TYPES:
        return 0 if op.dtype() in _NO_FLOATS else entry.real
    if entry.complex_valued is None:
        raise UnknownError(f"no count is stated for complex elements of {op.type}")
    return entry.complex_valued


def enter_per_element(op_type: str, entry: PerElement, source: str) -> None:
    """Enter the formula of an op that works on one element at a time."""

    def cost(op: OpCall) -> Cost:
        n = op.n_out()
        return operations(per_element(op, entry) * n, n=n)

    why = f"{entry.expression} for each element"
    formula(op_type, _rule(entry.real), source, why=why)(cost)


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
            count = self.work(count, op.dtype(self.of_input or 0))
        return operations(count, **{self.letter: n})


def enter_counts(*entries: Counted) -> None:
    """Enter a table of formulas."""
    for entry in entries:
        rule = _rule(entry.each, entry.letter)
        formula(entry.op_types, rule, entry.source, why=entry.why)(entry.cost)


def steps(n: Number, m: Number) -> Number:
    """Operations that reduce n elements to m."""
    left = n - m
    return max(left, 0) if isinstance(left, int) else left


def bits_of(number: Number, what: str) -> int:
    """Rounded-up binary logarithm, at least 1."""
    if not isinstance(number, int):
        raise UnknownError(f"{what} is unknown")
    return max(1, (max(number, 1) - 1).bit_length())


def names_in(op: OpCall, attribute: str) -> tuple[str, ...]:
    """An attribute that lists the names of fused ops."""
    names = op.attr(attribute, ())
    if not isinstance(names, tuple):
        raise UnknownError(f"the attribute {attribute} is not a list of names")
    return tuple(map(str, names))


def is_complex(dtype: int) -> bool:
    """Whether elements are complex numbers."""
    return dtype in COMPLEX_TYPES


def additions(count: Number, dtype: int) -> Number:
    """Float operations of additions or comparisons of elements."""
    return float_work(2 * count if is_complex(dtype) else count, dtype)


def multiplications(count: Number, dtype: int) -> Number:
    """Float operations of multiplications of elements."""
    return float_work(6 * count if is_complex(dtype) else count, dtype)


def real_multiply_adds(count: Number, dtype: int) -> Number:
    """Real multiply-adds of multiply-adds of elements of any type."""
    return 4 * count if is_complex(dtype) else count


def float_work(count: Number, dtype: int) -> Number:
    """The count, or 0 if elements are not floats."""
    return 0 if dtype in _NO_FLOATS else count
