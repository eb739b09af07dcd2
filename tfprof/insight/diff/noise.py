"""Decides whether a difference exceeds the variation among the steps of both runs."""

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
"""Clocks have a resolution of 1 µs: differences below half of that are not reported, ms."""

_LEAST_CHANGE = 0.01
"""Two runs of one program differ by this much, for reasons that their steps do not show."""

_SHARE_IN_QUIET = 0.75
_DISTURBED = 50
"""A change of the program affects all steps, including undisturbed ones. If these show less than
three quarters of it, more or fewer steps were disturbed, perhaps by another program on the machine.
Each comparison then counts as this many, which widens its interval."""


@dataclass(frozen=True, slots=True)
class Change:
    """A time in two runs.

    Attributes:
        before: Mean of the first run, ms; None if the first has none.
        after: Mean of the second run, ms; None if the second has none.
        low: The difference is at least this, ms; None if the runs have too few steps.
        high: It is at most this.
        least: Smaller differences are not reported, ms.
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
        """The difference as a share of the first; None if that took no time."""
        return self.difference / self.before if self.before else None

    @property
    def verdict(self) -> Verdict:
        """Whether it is longer, shorter, or undecided.

        Very short events are not recorded in every run, so their absence from one is not a change.
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
        after: Time in each step of the second run.
        n_compared: Number of rows compared. One in twenty would differ by chance alone, so with
            many rows each interval is wider (Bonferroni): all hold together in 95 of 100
            comparisons.
        least_ms: Smaller differences are not reported.
    """
    if before is None or after is None or min(len(before), len(after)) < FEWEST:
        return Change(_mean(before), _mean(after), least=least_ms)
    off = mean_of(after.tolist()).minus(mean_of(before.tolist()))
    if abs(quiet(after) - quiet(before)) < _SHARE_IN_QUIET * abs(off.value):
        n_compared *= _DISTURBED
    interval = interval_of(off, 1 - (1 - CONFIDENCE) / max(n_compared, 1))
    # Adding zero turns -0 into 0.
    return Change(
        float(before.mean()), float(after.mean()), interval.low + 0.0, interval.high + 0.0, least_ms
    )


def quiet(values: Float64Array) -> float:
    """Time of undisturbed steps: the mean of the shortest third."""
    return float(np.sort(values)[: max(len(values) // 3, 1)].mean())


def _mean(values: Float64Array | Sequence[float] | None) -> float | None:
    return None if values is None or not len(values) else float(sum(values) / len(values))
