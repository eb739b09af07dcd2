"""Time between the steps: input, checkpoints, evaluation, code of the program.

``for batch in dataset: with Trace(…): …`` fetches the batch before its step begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.code_times import CodeOfSteps, CodeTime, code_times
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.facts.calls import Called, most_first, run_between
from tfprof.captures.facts.periods import periods_of
from tfprof.captures.facts.run_steps import step_events
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host

WAITING = (Spent.HOST_WAIT_INPUT, Spent.DEVICE_WAIT_HOST)
"""Waiting for input, without copies to devices."""


class Between(NamedTuple):
    """Time between some steps and the steps that follow them, on the slowest host of each step.

    Attributes:
        gap_ms: Median of the gaps, each from the end of a step to the start of the next one.
        wait_ms: Mean time of a gap in which the program waits for input.
        share: All gaps, as a part of the periods.
        wait_share: Waiting for input in the gaps, as a part of the periods.
        busy_share: Ops that run in the gaps, as a part of the periods: an evaluation, a checkpoint.
        longest_ms: The longest gap.
        after: The step before the longest gap.
        code: The program's own code in the gaps, the longest time first.
        ran: Functions, ops and programs that ran in the gaps, outside steps; longest time first.
    """

    gap_ms: float = 0.0
    wait_ms: float = 0.0
    share: float = 0.0
    wait_share: float = 0.0
    busy_share: float = 0.0
    longest_ms: float = 0.0
    after: str = ""
    code: Sequence[CodeTime] = ()
    ran: Sequence[Called] = ()


_BUSY = tuple(kind for kind in Spent if kind > Spent.HOST_RUNTIME and kind not in WAITING)


def between_steps(steps: RunSteps) -> Between:
    """The time between these steps and the next ones; zeros without any, and for TPUs."""
    gaps = steps.gap_ps()
    total = int(steps.slowest_ps().sum())
    if not len(gaps) or not gaps.any() or not total:
        return Between()
    waits = steps.between(*WAITING)
    known = gaps[~steps.is_last] if (~steps.is_last).any() else gaps
    longest = int(np.argmax(gaps))
    hosts = [host for host in steps.hosts if host.core is None]
    code = [one for host in hosts for one in code_between(host.host).of(host.times.groups)]
    ran = [one for host in hosts for one in run_between(host.host).of(host.times.groups)]
    return Between(
        float(np.median(known)) / 1e9,
        float(waits.mean()) / 1e9,
        part(int(gaps.sum()), total),
        part(int(waits.sum()), total),
        part(int(steps.between(*_BUSY).sum()), total),
        float(gaps[longest]) / 1e9,
        steps.names[longest],
        tuple(sorted(code, key=lambda one: (-one.total_ps, one.name))),
        tuple(most_first(ran)),
    )


@fact
def code_between(host: Host) -> CodeOfSteps:
    """The program's own code between each step of a host and the next."""
    forest, periods = host.forest(), periods_of(host)
    is_code = periods.is_code & periods.is_between
    groups = periods.groups.of_event
    return code_times(
        forest, groups, np.flatnonzero(is_code), step_events(host), periods.steps.groups
    )
