"""What counts as the time of a step: from its start to the start of the next one.

A mark may hold only part of what a step does: the batch is fetched before it, or the result is read
a step later. From start to start nothing is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.captures.facts.steps import HostSteps, RunSteps, unusual
from tfprof.columns.columns import Int64Array


@dataclass(frozen=True, eq=False)
class Windows:
    """Steps of a host from their starts to their ends.

    Attributes:
        steps: All steps of the host.
        places: Those that count, as places in ``steps``, shape (n,).
        start_ps: When each of them starts, shape (n,).
        stop_ps: When it ends.
        are_periods: Whether they end where the next one starts; else where their marks end.
    """

    steps: HostSteps
    places: Int64Array
    start_ps: Int64Array
    stop_ps: Int64Array
    are_periods: bool

    @property
    def groups(self) -> Int64Array:
        """The groups that the steps start with, shape (n,)."""
        return self.steps.times.groups[self.places]

    @property
    def groups_at_stop(self) -> Int64Array:
        """The groups of which something begins or ends where they end, shape (n,)."""
        return self.steps.times.groups[self.places + self.are_periods]


def windows_of(steps: RunSteps) -> list[Windows]:
    """The steps of each host that count for averages.

    Args:
        steps: All steps of a run, in the order of their times on each host.
    """
    places = steps.typical_places
    follows = places[places + 1 < steps.n_steps]
    starts = [one.times.start_ps for one in steps.hosts]
    marks = [one.times.start_ps + one.times.duration_ps for one in steps.hosts]
    one_by_one = all(
        bool((start[1:] >= stop[:-1]).all()) for start, stop in zip(starts, marks, strict=True)
    )
    if one_by_one and len(follows):
        follows = follows[~unusual(_longest([start[follows + 1] - start[follows]
                                             for start in starts]))]  # fmt: skip
        return [
            Windows(one, follows, start[follows], start[follows + 1], are_periods=True)
            for one, start in zip(steps.hosts, starts, strict=True)
        ]
    return [
        Windows(one, places, start[places], stop[places], are_periods=False)
        for one, start, stop in zip(steps.hosts, starts, marks, strict=True)
    ]


def _longest(spans_ps: Sequence[Int64Array]) -> Int64Array:
    longest: Int64Array = np.max(np.stack(spans_ps), axis=0)
    return longest
