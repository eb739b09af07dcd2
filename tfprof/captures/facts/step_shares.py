"""Shares of the periods of typical steps: waiting for input, idle time, communication.

Budgets and the metrics of the recorder state these, so that a share has one definition.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.captures.facts.categories import BY_KEY
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.facts.tpu_steps import tpu_run_steps
from tfprof.captures.facts.verdict import input_claim, unexplained_ps
from tfprof.captures.run.run import Run
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text import how_to_capture

_BUSY = ("device_compute", "device_to_device", "device_collectives")


class StepShares(NamedTuple):
    """A share of steps.

    Attributes:
        values: One for each typical step, from 0 to 1, shape (n,); their mean is the share of all
            of them.
        unknown: Why the share is unknown although there are steps; empty if it is known.
    """

    values: np.ndarray
    unknown: str = ""

    @property
    def mean(self) -> float | None:
        """The share of all typical steps; None if it is unknown."""
        return None if self.unknown or not len(self.values) else float(self.values.mean())


def input_shares(run: Run, steps: RunSteps) -> StepShares:
    """Share of the period of each typical step spent waiting for input, as in the verdict."""
    claim = input_claim(run)
    if not claim.is_known and steps.n_steps:
        return StepShares(np.zeros(0), claim.unknown)
    typical = steps.typical
    tpu = tpu_run_steps(run, typical)
    waiting = typical.of(BY_KEY["infeed"]) if tpu is None else tpu.breakdown.waiting
    return StepShares(_shares(typical, waiting))


def idle_shares(steps: RunSteps) -> StepShares:
    """Share of the periods of typical steps in which no device works, or without devices no op.

    As in the verdict, a thread that waits is not idle.
    """
    typical = steps.typical
    if typical.n_steps and not typical.has_ops:
        unknown = f"no op was recorded in any step ({how_to_capture.OPS})"
        return StepShares(np.zeros(0), unknown)
    if not steps.has_device:
        return StepShares(_shares(typical, unexplained_ps(typical)))
    busy: Int64Array = np.sum([typical.of(BY_KEY[key]) for key in _BUSY], axis=0)
    return StepShares(_shares(typical, typical.slowest_ps() - busy))


def collective_shares(steps: RunSteps) -> StepShares:
    """Share of the periods of typical steps that goes to collective communication of devices."""
    if not steps.has_device:
        return StepShares(np.zeros(0), "there is no device")
    typical = steps.typical
    return StepShares(_shares(typical, typical.of(BY_KEY["device_collectives"])))


def _shares(steps: RunSteps, amounts_ps: np.ndarray) -> np.ndarray:
    """Shares of steps whose mean is the share of all of them, as tools state it.

    This differs from the mean of the shares of steps if long steps have other shares. The noise
    of the share is what remains of each amount after subtracting the share of its step's time.
    """
    took_ps = steps.slowest_ps()
    if not took_ps.sum():
        return np.zeros(len(took_ps))
    share = amounts_ps.sum() / took_ps.sum()
    shares: np.ndarray = share + (amounts_ps - share * took_ps) / took_ps.mean()
    return shares
