"""The measurement of a metric: a number, a number for each step, or the reason for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfprof.core.columns.frames import Frame
from tfprof.core.columns.intervals import FEWEST, Interval, interval_of, least_mean, mean_of

MOST_CONTRIBUTORS = 3


@dataclass(frozen=True, slots=True)
class Contributor:
    """The source of a large part of an amount.

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
        is_timed: Whether the numbers are those of steps, which have noise.
        remark: A fact about the value, such as steps that were left out.
        at_least: Whether the true value may be larger, because something could not be counted;
            ``remark`` names it.
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

    def interval(self, most: float, confidence: float) -> Interval | None:
        """The interval of the mean of steps; None for exact numbers and for a single step.

        Args:
            most: The most that the metric can be.
            confidence: How often the interval holds the true mean.
        """
        if not self.is_timed or len(self.values) < FEWEST:
            return None
        found = interval_of(mean_of(self.values), confidence)
        low = max(found.low, least_mean(self.values, confidence), 0.0)
        return found._replace(low=low, high=min(found.high, most))


@dataclass(frozen=True, slots=True)
class Missing:
    """A metric that the files do not hold, and why."""

    reason: str


Measurement = Measured | Missing


def largest(parts: Sequence[Contributor]) -> tuple[Contributor, ...]:
    """The largest parts, those of equal size by name."""
    ordered = sorted(parts, key=lambda part: (-part.amount, part.name))
    return tuple(part for part in ordered[:MOST_CONTRIBUTORS] if part.amount > 0)
