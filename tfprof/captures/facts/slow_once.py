"""Single steps in which a host was much slower than the others, and than in its other steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.facts.host_work import HostWork
from tfprof.captures.facts.slow_hosts import Float64Array, without_own
from tfprof.captures.facts.steps import ONE_IN
from tfprof.core.columns.columns import Int64Array

_FEWEST = 5
"""With fewer steps, none can stand out."""

_SPREADS = 8.0
"""Multiple of the typical deviation from the usual excess; a step beyond it is not noise."""


class SlowOnce(NamedTuple):
    """A step in which a host was slow; times are in ps.

    Attributes:
        host: Index of the host.
        step: Index of the step.
        own_ps: Working time of the host.
        others_ps: Median working time of the others.
    """

    host: int
    step: int
    own_ps: float
    others_ps: float

    @property
    def excess_ps(self) -> float:
        """How much longer the host worked than the others."""
        return self.own_ps - self.others_ps


def slow_once(works: Sequence[HostWork], places: Int64Array) -> list[SlowOnce]:
    """Single slow steps of hosts, the slowest first; empty if more than one in twenty is slow.

    Args:
        works: The hosts.
        places: Indices of the steps to check.
    """
    if len(works) < 2 or len(places) < _FEWEST:
        return []
    own: Float64Array = np.stack([work.in_step_ps[places] for work in works]).astype(np.float64)
    others = without_own(own)
    excess = own - others
    beyond = excess - np.median(excess, axis=1, keepdims=True)
    spread = np.median(np.abs(beyond), axis=1, keepdims=True)
    usual = np.median([work.duration_ps[places] for work in works])
    is_slow = (beyond > _SPREADS * spread) & (beyond > usual)
    hosts, steps = np.nonzero(is_slow)
    if len(np.unique(steps)) > max(1, len(places) // ONE_IN):
        return []
    found = [
        SlowOnce(host, int(places[step]), float(own[host, step]), float(others[host, step]))
        for host, step in zip(hosts.tolist(), steps.tolist(), strict=True)
    ]
    return sorted(found, key=lambda one: (-one.excess_ps, one.host))
