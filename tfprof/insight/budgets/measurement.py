"""What was measured of a metric: a number, numbers of steps, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfprof.core.columns.frames import Frame

MOST_CONTRIBUTORS = 3


@dataclass(frozen=True, slots=True)
class Contributor:
    """What a large part of an amount comes from.

    Attributes:
        name: An op, a function, a variable or a scope.
        amount: Its part, in the unit of the metric.
        frame: The line of the program that made it; None if unknown.
    """

    name: str
    amount: float
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """The value of a metric.

    Attributes:
        values: One number, or those of the steps, in order.
        is_timed: The numbers are those of steps, which have noise.
        remark: What to know about the value, such as steps that were left out.
        at_least: The true value may be larger: something could not be counted, as ``remark``
            says.
        contributors: The largest parts first.
    """

    values: tuple[float, ...]
    is_timed: bool = False
    remark: str = ""
    at_least: bool = False
    contributors: tuple[Contributor, ...] = ()

    @property
    def value(self) -> float:
        """The number, or the mean of the steps."""
        return sum(self.values) / len(self.values)


@dataclass(frozen=True, slots=True)
class Missing:
    """A metric that these files do not tell, and why."""

    reason: str


Measurement = Measured | Missing


def largest(parts: Sequence[Contributor]) -> tuple[Contributor, ...]:
    """The largest parts, those of equal size by name."""
    ordered = sorted(parts, key=lambda part: (-part.amount, part.name))
    return tuple(part for part in ordered[:MOST_CONTRIBUTORS] if part.amount > 0)
