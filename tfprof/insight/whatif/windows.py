"""The steps of a prediction: from their starts to the ends of their periods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.captures.facts.steps import HostSteps, RunSteps
from tfprof.core.columns.columns import BoolArray, Int64Array


@dataclass(frozen=True, eq=False)
class Windows:
    """Steps of a host that count.

    Attributes:
        steps: All steps of the host.
        places: Those that count, as places in ``steps``, shape (n,).
    """

    steps: HostSteps
    places: Int64Array

    @property
    def start_ps(self) -> Int64Array:
        """When each of them starts, shape (n,)."""
        return self.steps.times.start_ps[self.places]

    @property
    def stop_ps(self) -> Int64Array:
        """When its period ends: usually where the next step starts."""
        return self.start_ps + self.steps.times.duration_ps[self.places]

    @property
    def is_followed(self) -> BoolArray:
        """Whether the next step starts where the period ends."""
        starts_ps = np.append(self.steps.times.start_ps, -1)
        followed: BoolArray = starts_ps[self.places + 1] == self.stop_ps
        return followed

    @property
    def groups(self) -> Int64Array:
        """The groups of which something begins where the steps start, shape (n,)."""
        return self.steps.times.groups[self.places]

    @property
    def groups_at_stop(self) -> Int64Array:
        """The groups of which something begins or ends where their periods end, shape (n,)."""
        return self.steps.times.groups[self.places + self.is_followed]


def windows_of(steps: RunSteps) -> list[Windows]:
    """The steps of each host that count for averages.

    Args:
        steps: All steps of a run.
    """
    return [Windows(one, steps.typical_places) for one in steps.hosts]
