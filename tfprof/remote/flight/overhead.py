"""Cost of recording: steps with a session compared with steps without one in between.

Without a session no step is recorded, but the step numbers go on. They give the number of steps
between the last one recorded before the pause and the first one after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.remote.flight.snapshots import NO_STEPS, Steps

N_PAIRS = 5
"""Times without a session, each between two with one."""

_STUDENT = 2.776
"""Quantile 0.975 of Student's distribution with ``N_PAIRS - 1`` degrees of freedom."""
_FEWEST_STEPS = 5


@dataclass(frozen=True, slots=True)
class Overhead:
    """How much longer steps take with a session.

    Attributes:
        percent: Percent of the time without a session; None if unknown.
        plus_minus: Half of its 95 % confidence interval.
        n_steps: Number of steps that were compared.
        trouble: Why the cost is unknown.
    """

    percent: float | None = None
    plus_minus: float | None = None
    n_steps: int = 0
    trouble: str = ""

    def __str__(self) -> str:
        if self.percent is None or self.plus_minus is None:
            return f"the cost of recording is unknown: {self.trouble}"
        said = f"steps take {self.percent:+.1f} ± {self.plus_minus:.1f} % while it records"
        if abs(self.percent) <= self.plus_minus:
            said += ", which is within their usual variation"
        return f"{said} ({self.n_steps} steps)"


def overhead(windows: Sequence[tuple[Int64Array, Int64Array]]) -> Overhead:
    """Compare step times with a session with those without one in between.

    Args:
        windows: Numbers of the steps that were seen in each time with a session, and when they
            began in nanoseconds; shape (n,) each.
    """
    if len(windows) < N_PAIRS + 1:
        return Overhead(trouble="it was stopped before")
    if any(not len(numbers) for numbers, _ in windows):
        return Overhead(trouble="the program does not mark its steps, or they take longer than "
                        "the times that were compared; give it more time")  # fmt: skip
    recorded = [_period(numbers[[0, -1]], starts[[0, -1]]) for numbers, starts in windows]
    between = [
        _period(np.array([first[0][-1], second[0][0]]), np.array([first[1][-1], second[1][0]]))
        for first, second in pairwise(windows)
    ]
    n_steps = int(windows[-1][0][-1] - windows[0][0][0])
    if not all(recorded) or not all(between):
        return Overhead(n_steps=n_steps, trouble=f"only {n_steps} steps were taken meanwhile; "
                        "give it more time")  # fmt: skip
    with_session = np.array([(a + b) / 2 for a, b in pairwise(recorded)])
    percents = 100 * (with_session / np.array(between) - 1)
    spread = float(percents.std(ddof=1)) / np.sqrt(len(percents))
    return Overhead(float(percents.mean()), float(_STUDENT * spread), n_steps)


def whole_marks(steps: Steps, begin_ns: int) -> tuple[Int64Array, Int64Array]:
    """Numbers and starts of the steps of a snapshot that were recorded whole, shape (n,) each.

    Args:
        steps: The steps.
        begin_ns: When the snapshot began.
    """
    if not steps.are_marked:
        steps = NO_STEPS
    whole = ~steps.has_ended
    return steps.numbers[whole], steps.starts_ns[whole] + begin_ns


def _period(numbers: Int64Array, starts_ns: Int64Array) -> float:
    """Nanoseconds from step to step; 0 with too few steps."""
    n_steps = int(numbers[1] - numbers[0])
    return float(starts_ns[1] - starts_ns[0]) / n_steps if n_steps >= _FEWEST_STEPS else 0.0
