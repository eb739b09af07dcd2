"""Formulas of float operations, and families of them.

Counting convention, the same for every family: additions, subtractions, multiplications,
divisions, comparisons, minimum and maximum, and each function of C's math library (sqrt, exp, log,
tanh, erf …) are one float operation each. A multiply-add, one product that is added to a sum, is
two float operations, and one MAC. Composed operations cost the sum of their parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.symbolic import Number

RAW_OPS = "TensorFlow API: tf.raw_ops."
"""Where TensorFlow documents its ops; the name of one follows."""


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


def multiply_adds(macs: Number, **numbers: Number) -> Cost:
    """The cost of multiply-adds; ``numbers`` went into the formula."""
    return Cost(macs, 0, tuple(numbers.items()))


def operations(count: Number, **numbers: Number) -> Cost:
    """The cost of float operations that are not multiply-adds."""
    return Cost(0, count, tuple(numbers.items()))


class Formula(NamedTuple):
    """How the float operations of an op are counted.

    Attributes:
        family: Module that it is in.
        rule: The formula, in the letters of ``Cost.numbers``: ``2·m·n·k``.
        why: Its derivation, in one line.
        source: Where the definition of the op, or the count, comes from.
        cost: The function; raises ``UnknownError`` if what it needs is not known.
    """

    family: str
    rule: str
    why: str
    source: str
    cost: Callable[[OpCall], Cost]


@dataclass(frozen=True, slots=True)
class Family:
    """The formulas of a family of ops.

    Attributes:
        name: Name of the module.
        formulas: Formula by op type.
        free: Why an op has no float operations, by op type.
    """

    name: str
    formulas: dict[str, Formula]
    free: dict[str, str]

    @classmethod
    def named(cls, name: str) -> Family:
        """An empty family."""
        return cls(name, {}, {})

    def formula(
        self, *op_types: str, rule: str, source: str = ""
    ) -> Callable[[Callable[[OpCall], Cost]], Callable[[OpCall], Cost]]:
        """Decorate the formula of some op types; its derivation is the docstring's first line.

        Args:
            op_types: The op types, separated by spaces.
            rule: The formula as text.
            source: Where the op or the count is defined; by default TensorFlow's documentation of
                the first op type.
        """

        names = " ".join(op_types).split()

        def enter(cost: Callable[[OpCall], Cost]) -> Callable[[OpCall], Cost]:
            why = (cost.__doc__ or "").strip().partition("\n")[0]
            if not why:
                raise ValueError(f"the formula of {names[0]} has no derivation")
            self.add(names, Formula(self.name, rule, why, source or RAW_OPS + names[0], cost))
            return cost

        return enter

    def add(self, op_types: Iterable[str], formula: Formula) -> None:
        """Enter a formula of a table."""
        for op_type in op_types:
            self._check(op_type)
            self.formulas[op_type] = formula

    def declare_free(self, *op_types: str, because: str) -> None:
        """Enter op types, separated by spaces, that have no float operations."""
        for op_type in " ".join(op_types).split():
            self._check(op_type)
            self.free[op_type] = because

    def _check(self, op_type: str) -> None:
        if op_type in self.formulas or op_type in self.free:
            raise ValueError(f"{op_type} is entered twice in {self.name}")

    def op_types(self) -> Iterator[str]:
        """All op types of the family."""
        yield from self.formulas
        yield from self.free
