"""Whether a difference is more than what the steps of both runs differ by among themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfprof.core.columns.intervals import (
    CONFIDENCE,
    FEWEST,
    interval_of,
    mean_of,
)
from tfprof.insight.diff.side import Float64Array

Verdict = Literal["longer", "shorter", "within noise", "cannot tell", "appeared", "gone"]

_SMALLEST = 1e-3
"""Clocks tell microseconds in steps of one: of a difference below half of that nothing is said."""

_LEAST_CHANGE = 0.01
"""Two runs of one program differ by as much, for reasons that the steps of neither show."""

_SHARE_IN_QUIET = 0.75
_DISTURBED = 50
"""A change of the program is in all steps, also in those that nothing disturbs. If these show less
than three quarters of it, more or fewer steps were disturbed: that may be another program on the
machine, and it takes so much more to rule out chance."""


@dataclass(frozen=True, slots=True)
class Change:
    """A time in two runs.

    Attributes:
        before: Mean of the first run, ms; None if the first has none.
        after: Mean of the second run, ms; None if the second has none.
        low: The difference is at least this, ms; None if the runs have too few steps to tell.
        high: It is at most this.
        least: Of a smaller difference nothing is said, ms.
    """

    before: float | None
    after: float | None
    low: float | None = None
    high: float | None = None
    least: float = 0.0

    @property
    def difference(self) -> float:
        """How much longer the second takes, ms."""
        return (self.after or 0.0) - (self.before or 0.0)

    @property
    def relative(self) -> float | None:
        """The same as a part of the first; None if that took no time."""
        return self.difference / self.before if self.before else None

    @property
    def verdict(self) -> Verdict:
        """Whether it is longer, shorter, or neither can be said.

        What hardly takes time is not recorded in every run: that it is in one of them alone tells
        nothing.
        """
        if (self.before is None or self.after is None) and abs(self.difference) < self.least:
            return "cannot tell"
        if self.before is None:
            return "appeared"
        if self.after is None:
            return "gone"
        if self.low is None or self.high is None:
            return "cannot tell"
        least = max(self.least, _SMALLEST / 2, _LEAST_CHANGE * min(self.before, self.after))
        if abs(self.difference) < least or self.low <= 0 <= self.high:
            return "within noise"
        return "longer" if self.low > 0 else "shorter"


def change(
    before: Float64Array | None,
    after: Float64Array | None,
    n_compared: int = 1,
    least_ms: float = 0.0,
) -> Change:
    """The difference of two means, with an interval (Welch) over the steps.

    Args:
        before: Time in each step of the first run, ms, in order; None if it has none.
        after: The same of the second run.
        n_compared: How many rows are compared. One in twenty would be found different by chance
            alone, so the intervals of many are wider (Bonferroni): all of them hold together in 95
            of 100 comparisons.
        least_ms: Of a smaller difference nothing is said.
    """
    if before is None or after is None or min(len(before), len(after)) < FEWEST:
        return Change(_mean(before), _mean(after), least=least_ms)
    off = mean_of(after.tolist()).minus(mean_of(before.tolist()))
    if abs(quiet(after) - quiet(before)) < _SHARE_IN_QUIET * abs(off.value):
        n_compared *= _DISTURBED
    interval = interval_of(off, 1 - (1 - CONFIDENCE) / max(n_compared, 1))
    # Adding zero makes zero of -0.
    return Change(
        float(before.mean()), float(after.mean()), interval.low + 0.0, interval.high + 0.0, least_ms
    )


def quiet(values: Float64Array) -> float:
    """What the steps take in which nothing disturbs the machine: the mean of the shortest third."""
    return float(np.sort(values)[: max(len(values) // 3, 1)].mean())


def _mean(values: Float64Array | Sequence[float] | None) -> float | None:
    return None if values is None or not len(values) else float(sum(values) / len(values))
