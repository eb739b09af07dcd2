"""Confidence intervals of means of few steps: Student's t, for correlated steps.

Steps that follow each other are not independent: a slow moment of the machine lasts for several.
So n steps count as fewer, ``n (1 - r) / (1 + r)`` for a correlation r of neighbours (the variance
of a mean of a first-order autoregressive process; Bayley and Hammersley, 1946). For the variance
itself they count as more, ``n (1 - r²) / (1 + r²)`` (Bartlett, 1946): these are the degrees of
freedom. The correlation of few steps is uncertain: below thirty, the estimate is drawn towards an
assumed value, the more the fewer there are, and below eight only the assumed value counts.
``tests/core/columns/test_intervals.py`` simulates how often the intervals hold.

>>> low, mid, high = interval_of(mean_of([10.0, 11.0, 9.0, 10.0]))
>>> round(low, 2), mid, round(high, 2)
(8.02, 10.0, 11.98)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Float64Array = npt.NDArray[np.float64]

CONFIDENCE = 0.95
FEWEST = 2
"""Fewest steps that have an interval."""

_FEWEST_TO_CORRELATE = 8
"""The correlation of fewer neighbours is mostly chance."""

_ASSUMED_CORRELATION = 0.4
"""The assumed correlation of fewer, so that intervals hold although steps are correlated."""

_ENOUGH_TO_CORRELATE = 30
"""From this number on nothing is assumed; fewer may seem correlated by chance, and intervals would
be several deviations wide."""

_MOST_CORRELATED = 0.95
_N_ANGLES = 1 << 14


class Mean(NamedTuple):
    """A mean and its uncertainty.

    Attributes:
        value: The mean.
        error: Its standard error, in the same unit.
        freedom: Degrees of freedom of the error, at least 1.
    """

    value: float
    error: float
    freedom: float

    def minus(self, other: Mean, factor: float = 1.0) -> Mean:
        """The difference to ``factor`` times another mean, whose error is independent (Welch)."""
        own, others = self.error**2, (factor * other.error) ** 2
        whole = own + others
        parts = own**2 / self.freedom + others**2 / other.freedom
        freedom = whole**2 / parts if parts else min(self.freedom, other.freedom)
        return Mean(self.value - factor * other.value, math.sqrt(whole), max(freedom, 1.0))


class Interval(NamedTuple):
    """A range that holds the true mean with the given confidence."""

    low: float
    mid: float
    high: float


def mean_of(values: Sequence[float]) -> Mean:
    """The mean of some steps in the order in which they ran.

    Args:
        values: At least ``FEWEST`` numbers.

    Raises:
        ValueError: There are fewer.
    """
    n = len(values)
    if n < FEWEST:
        raise ValueError(f"{n} values have no interval; {FEWEST} are needed")
    numbers = np.asarray(values, np.float64)
    mean = float(numbers.mean())
    off = numbers - mean
    squares = float(off @ off)
    if n < _FEWEST_TO_CORRELATE:
        n_counting = n * (1 - _ASSUMED_CORRELATION) / (1 + _ASSUMED_CORRELATION)
        return Mean(mean, math.sqrt(squares / ((n - 1) * n_counting)), n - 1)
    weight = min(n / _ENOUGH_TO_CORRELATE, 1.0)
    r = weight * _correlation(off, squares) + (1 - weight) * _ASSUMED_CORRELATION
    n_counting = max(n * (1 - r) / (1 + r), float(FEWEST))
    # Correlated values differ less from their own mean than from the true one: hence the - 1 here
    # instead of in the variance. Without correlation it is the usual error.
    freedom = max(n * (1 - r**2) / (1 + r**2) - 1, 2.0)
    return Mean(mean, math.sqrt(squares / (n * (n_counting - 1))), freedom)


def interval_of(mean: Mean, confidence: float = CONFIDENCE) -> Interval:
    """The interval of a mean, the same width on both sides.

    Args:
        mean: The mean.
        confidence: Share of such intervals that hold the true mean, between 0 and 1.
    """
    half = t_quantile((1 + confidence) / 2, mean.freedom) * mean.error
    return Interval(mean.value - half, mean.value, mean.value + half)


def least_mean(values: Sequence[float], confidence: float = CONFIDENCE) -> float:
    """A lower bound of the mean of times of any distribution.

    The mean of nonnegative values is at least x times the share of them that is x or more (Markov).
    If all of n values are x or more, that share is at least ``(1 - confidence) ** (1 / n)``, or n
    in a row would be unlikely. If a few steps took very long, this bound is better than one from
    the deviation.

    Args:
        values: At least one number, none below 0.
        confidence: How often it holds, between 0 and 1.
    """
    return float(min(values) * (1 - confidence) ** (1 / len(values)))


def t_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's distribution.

    With ``t = √ν tan θ`` its density is proportional to ``cos(θ)^(ν-1)``, which is smooth and
    bounded for ν ≥ 1, so that a sum over angles gives six digits.

    Args:
        probability: From 0.5 to below 1.
        freedom: Degrees of freedom ν, at least 1; need not be whole.
    """
    return _t_quantile(probability, round(freedom, 2))


@lru_cache(maxsize=256)
def _t_quantile(probability: float, freedom: float) -> float:
    angles = np.linspace(0.0, math.pi / 2, _N_ANGLES + 1)
    density = np.maximum(np.cos(angles), 0.0) ** (freedom - 1)
    area: Float64Array = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    angle = float(np.interp(2 * probability - 1, area / area[-1], angles))
    return math.sqrt(freedom) * math.tan(angle)


def _correlation(off: Float64Array, squares: float) -> float:
    """Correlation of neighbours, from 0; it is estimated too low by about (1 + 3 r) / n."""
    if not squares:
        return 0.0
    seen = float(off[1:] @ off[:-1]) / squares
    return min(max(seen + (1 + 3 * seen) / len(off), 0.0), _MOST_CORRELATED)
