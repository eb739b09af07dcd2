"""How often something runs: a whole number, one with unknowns, or a share of the runs."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from tfprof.graphs.model.symbolic import Number, Symbolic, total

Times: TypeAlias = "int | Symbolic | Fraction"
"""How often something runs; a fraction if it runs in only some of the runs of what is around."""


def often(times: Times, share: Times) -> Times:
    """How often something runs that is run so often by something that runs so often.

    A share of a symbolic number is all or nothing: polynomials have whole coefficients.
    """
    if isinstance(times, Symbolic):
        return times * (round(share) if isinstance(share, Fraction) else share)
    if isinstance(share, Symbolic):
        return share * (round(times) if isinstance(times, Fraction) else times)
    return times * share


def scaled(number: Number, times: Times) -> Number:
    """A whole number so many times; rounded, if those are a fraction."""
    product = often(number, times)
    return round(product) if isinstance(product, Fraction) else product


def total_times(times: Iterable[Times]) -> Times:
    """How often something runs that is run in several places."""
    times = list(times)
    whole = total(each for each in times if not isinstance(each, Fraction))
    shares = sum((each for each in times if isinstance(each, Fraction)), Fraction())
    if isinstance(whole, Symbolic):
        return whole + round(shares)
    return whole + (shares.numerator if shares.denominator == 1 else shares)
