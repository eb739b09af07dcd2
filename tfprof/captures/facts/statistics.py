"""Shares; averages, deviations, minima and maxima in the form that tools show."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np


class Summary(NamedTuple):
    """A summary of numbers; zeros if there are none.

    The deviation is that of a sample (n - 1), and 0 for a single number.
    """

    average: float
    deviation: float
    minimum: float
    maximum: float

    def texts(self, prefix: str, form: Callable[[float], str]) -> dict[str, str]:
        """The numbers as properties of the reference: ``prefix_average`` and so on."""
        names = ("average", "standard_deviation", "minimum", "maximum")
        return {f"{prefix}_{name}": form(number) for name, number in zip(names, self, strict=True)}


def summary(values: Sequence[float]) -> Summary:
    """Summarise numbers."""
    if not values:
        return Summary(0.0, 0.0, 0.0, 0.0)
    lowest, highest = min(values), max(values)
    # A rounded quotient may lie outside, and equal numbers would then have a deviation.
    average = min(max(math.fsum(values) / len(values), lowest), highest)
    squares = math.fsum(np.square(np.asarray(values, np.float64) - average).tolist())
    deviation = math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else 0.0
    return Summary(average, deviation, lowest, highest)


def part(amount: float, whole: float) -> float:
    """A part as a fraction; 0 if the whole is 0."""
    return amount / whole if whole else 0.0


def one_digit(value: float) -> str:
    """A number with one decimal."""
    return f"{value:.1f}"


def percent(fraction: float) -> str:
    """A fraction as a percentage with one decimal."""
    return f"{100.0 * fraction:.1f}%"
