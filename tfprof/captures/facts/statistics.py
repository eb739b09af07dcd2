"""Average, deviation, least and most, as tools show them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Summary(NamedTuple):
    """Of some numbers; zeros if there are none.

    Attributes:
        average: Mean.
        deviation: Of a sample: with n - 1; 0 for a single number.
        minimum: Least.
        maximum: Most.
    """

    average: float
    deviation: float
    minimum: float
    maximum: float


def summary(values: Sequence[float]) -> Summary:
    """Sum up numbers."""
    if not values:
        return Summary(0.0, 0.0, 0.0, 0.0)
    lowest, highest = min(values), max(values)
    # A quotient may be off by the last bit, which would make a deviation of equal numbers.
    average = min(max(math.fsum(values) / len(values), lowest), highest)
    squares = math.fsum((value - average) ** 2 for value in values)
    deviation = math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else 0.0
    return Summary(average, deviation, lowest, highest)


def one_digit(value: float) -> str:
    """With one digit behind the point."""
    return f"{value:.1f}"


def percent(fraction: float) -> str:
    """A fraction of one as a percentage with one digit."""
    return f"{100.0 * fraction:.1f}%"
