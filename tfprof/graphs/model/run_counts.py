"""How often something runs: a whole number, one with unknowns, or a share of the runs."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from tfprof.graphs.model.symbolic import Number, Symbolic, total

Times: TypeAlias = "int | Symbolic | Fraction"
"""How often something runs per run of its surroundings; a fraction if not in every run."""


def often(times: Times, share: Times) -> Times:
    """The product of two numbers of runs.

    A share of a symbolic number is all or nothing: polynomials have whole coefficients.
    """
    if isinstance(times, Symbolic):
        return times * (round(share) if isinstance(share, Fraction) else share)
    if isinstance(share, Symbolic):
        return share * (round(times) if isinstance(times, Fraction) else times)
    return times * share


def scaled(number: Number, times: Times) -> Number:
    """The product of a whole number and a number of runs, rounded."""
    product = often(number, times)
    return round(product) if isinstance(product, Fraction) else product


def total_times(times: Iterable[Times]) -> Times:
    """The sum of numbers of runs."""
    times = list(times)
    whole = total(each for each in times if not isinstance(each, Fraction))
    shares = sum((each for each in times if isinstance(each, Fraction)), Fraction())
    if isinstance(whole, Symbolic):
        return whole + round(shares)
    return whole + (shares.numerator if shares.denominator == 1 else shares)
