"""The collectives of a run in some steps, and how much of their time holds the steps up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.captures.facts.collective_times import collective_times
from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.host_work import HostWork, work_of_hosts
from tfprof.captures.facts.joint_collectives import joint_collectives
from tfprof.captures.facts.link_rates import LinkRate, link_rate
from tfprof.captures.facts.run_collectives import RunCollective, run_collectives
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import RunSteps, Steps
from tfprof.captures.run.run import Host, Run
from tfprof.core.columns.columns import Int64Array


@dataclass(frozen=True, eq=False)
class StepCollectives:
    """The collectives of a run in some steps; times are in ps, means over hosts.

    Attributes:
        run: The run.
        hosts: Hosts that count.
        steps: The steps that hosts have in common.
        places: The steps that count.
        in_steps: The collectives in these steps, the longest exposed time first.
        step_ps: Duration of a step; 0 without collectives in steps.
        step_together_ps: Time in collectives in a step; moments in which a device is in two count
            once.
        step_exposed_ps: The part of it in which the device computes nothing.
        is_chosen: Whether these steps were chosen; if not, and no collective is in them, all runs
            in the capture count.
        given_link: The rate of a device's links that the user gives, 10^9 bytes per second.
    """

    run: Run
    hosts: Sequence[Host]
    steps: RunSteps
    places: Int64Array
    in_steps: Sequence[RunCollective]
    step_ps: float
    step_together_ps: float
    step_exposed_ps: float
    is_chosen: bool = False
    given_link: float | None = None

    @cached_property
    def found(self) -> Sequence[RunCollective]:
        """The collectives, the longest exposed time first."""
        if self.in_steps or self.is_chosen:
            return self.in_steps
        every = run_collectives(self.run.hosts, {}, (), joint_collectives(()))
        return _on(every, self.hosts, self.run.hosts)

    @property
    def has_steps(self) -> bool:
        """Whether there are steps with collectives; if not, the whole capture counts."""
        return len(self.in_steps) > 0

    @cached_property
    def n_left_out(self) -> int:
        """Number of runs that do not count, because they are in none of the steps."""
        runs = sum(int(collective_times(host).count.sum()) for host in self.hosts)
        return runs - sum(one.count for one in self.found)

    @property
    def together_ps(self) -> float:
        """Time in collectives, in a step or in the whole capture."""
        return self.step_together_ps if self.has_steps else sum(one.total_ps for one in self.found)

    @property
    def exposed_ps(self) -> float:
        """The part of it in which the device computes nothing."""
        return self.step_exposed_ps if self.has_steps else sum(one.exposed_ps for one in self.found)

    @property
    def bare_waiting_ps(self) -> float:
        """The exposed time that is waiting for late devices, as far as it is known."""
        return min(sum(one.bare_waiting_ps or 0.0 for one in self.found), self.exposed_ps)

    @property
    def bare_transfer_ps(self) -> float:
        """The rest of the exposed time."""
        return self.exposed_ps - self.bare_waiting_ps

    @property
    def link(self) -> LinkRate | None:
        """The rate of the links of the devices; None if unknown."""
        if self.given_link is not None:
            return LinkRate(self.given_link, "option link")
        return link_rate(environment(self.run).device_type)


def collectives_in_steps(
    run: Run, hosts: Sequence[Host], step: Steps | None = None
) -> StepCollectives:
    """The collectives of a run.

    Args:
        run: The run.
        hosts: The hosts whose times count.
        step: Only the step with this number, or the steps with these numbers.

    Raises:
        UsageError: There is no such step.
    """
    steps = run_steps(run)
    places = steps.typical_places if step is None else np.array(steps.places(step), np.int64)
    # Not kept: a column for each step of each host.
    works = work_of_hosts(steps) if len(places) else ()
    found = _in_steps(run, hosts, steps, places, works) if len(places) else []
    names = {host.name for host in hosts}
    counted = [work for work in works if work.name in names] if found else []

    def mean_ps(amounts: Iterable[Int64Array]) -> float:
        return sum(float(one[places].mean()) for one in amounts) / max(len(counted), 1)

    return StepCollectives(
        run, hosts, steps, places, found,
        mean_ps(work.duration_ps for work in counted),
        mean_ps(work.shared.together_ps for work in counted),
        mean_ps(work.shared.exposed_ps for work in counted),
        step is not None,
    )  # fmt: skip


def _in_steps(
    run: Run, hosts: Sequence[Host], steps: RunSteps, places: Int64Array, works: Sequence[HostWork]
) -> list[RunCollective]:
    joint = joint_collectives(works)
    joint = joint.only(np.isin(joint.step, places))
    groups = {one.host.name: one.times.groups[places] for one in steps.hosts}
    with_steps = [host for host in run.hosts if host.name in groups]
    return _on(run_collectives(with_steps, groups, works, joint), hosts, with_steps)


def _on(
    found: Sequence[RunCollective], hosts: Sequence[Host], among: Sequence[Host]
) -> list[RunCollective]:
    """Those that run on some hosts, with the times there."""
    names = {one.name for one in hosts} & {one.name for one in among}
    shown = [one for one in (each.on(names) for each in found) if one.parts]
    return sorted(shown, key=lambda one: (-one.exposed_ps, one.place.program, one.place.name))
