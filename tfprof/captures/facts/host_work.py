"""The steps of each host as small columns: how long it worked, waited and communicated.

Workers that train together begin their steps together, so that all periods take the same time. What
tells them apart is how long they *work*: the period without the time in which all devices of the
host were in a collective and computed nothing. The one that works longest comes last to the
collectives; the others wait there. Between two steps only what was recorded is work: nothing tells
whether a host works or waits for another one. Without any collective that holds in steps, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.events.steps.step_times import StepTimes
from tfprof.captures.facts.communication import Communication, JointRuns, communication
from tfprof.captures.facts.host_clock import unix_base_ns
from tfprof.captures.facts.steps import HostSteps, RunSteps
from tfprof.columns.columns import Int64Array


@dataclass(frozen=True, eq=False)
class HostWork:
    """The aligned steps of a host.

    Attributes:
        name: Its name.
        step_names: What it calls the steps.
        unix_base_ns: What its times count from, by its clock; None if that is not known.
        duration_ps: How long its steps took, from their starts to those of the next ones, shape
            (n steps,).
        cores: The times of its cores; of a host without TPUs one.
        shared: What it did together with others in these steps.
        counts_all: Whether it works in steps where nothing was recorded.
    """

    name: str
    step_names: Sequence[str]
    unix_base_ns: int | None
    duration_ps: Int64Array
    cores: Sequence[StepTimes]
    shared: Communication
    counts_all: bool = True

    @property
    def own_ps(self) -> Int64Array:
        """How long the host worked, and did not just wait in collectives, shape (n steps,)."""
        return self.duration_ps - self.shared.waiting_ps - self._unrecorded_ps

    @property
    def _unrecorded_ps(self) -> Int64Array:
        """How long nothing tells whether it worked."""
        if self.counts_all:
            return self._busiest([one.between(Spent.UNKNOWN) for one in self.cores])
        return self._busiest([one.of(Spent.UNKNOWN) for one in self.cores])

    @property
    def spent_ps(self) -> Int64Array:
        """The steps by what was spent on, shape (n steps, len(SPENT))."""
        return self._busiest([one.spent_ps for one in self.cores])

    def _busiest(self, amounts: Sequence[Int64Array]) -> Int64Array:
        """Of several cores, the one that communicates least in a step: others wait for it."""
        busiest = np.argmin([one.of(Spent.DEVICE_COLLECTIVES) for one in self.cores], axis=0)
        chosen: Int64Array = np.stack(amounts)[busiest, np.arange(len(self.duration_ps))]
        return chosen

    def without_runs(self) -> HostWork:
        """The same without single collectives, once these are matched: they take much memory."""
        return replace(self, shared=replace(self.shared, joint=JointRuns.none()))


def work_of_hosts(steps: RunSteps) -> tuple[HostWork, ...]:
    """The work of all hosts in the steps that they have in common, in the order of their names."""
    cores: dict[str, list[HostSteps]] = {}
    for one in steps.hosts:
        cores.setdefault(one.host.name, []).append(one)
    works = tuple(host_work(own) for _, own in sorted(cores.items()))
    if any(work.shared.together_ps.any() for work in works):
        return works
    return tuple(replace(work, counts_all=False) for work in works)


def host_work(cores: Sequence[HostSteps]) -> HostWork:
    """The work of a host.

    Args:
        cores: Its steps, or those of each core of its TPUs.
    """
    first = cores[0]
    return HostWork(
        first.host.name,
        first.names,
        unix_base_ns(first.host),
        reduce(np.maximum, [one.times.duration_ps for one in cores]),
        [one.times for one in cores],
        communication(first.host).in_steps(first.times.groups),
    )
