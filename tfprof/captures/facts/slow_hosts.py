"""The host that is slower than the others: by how much, and what it spends the time on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof.captures.events.steps.step_events import DEVICE_COMPUTE, Spent
from tfprof.captures.events.steps.step_times import SPENT_COLUMN
from tfprof.captures.facts.host_work import HostWork, work_of_hosts
from tfprof.captures.facts.joint_collectives import JointCollectives, joint_collectives
from tfprof.captures.facts.steps import FEWEST, RunSteps
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.intervals import (
    CONFIDENCE,
    Interval,
    interval_of,
    mean_of,
)

Float64Array = npt.NDArray[np.float64]

ALIKE = 0.05
"""Hosts count as alike if the slowest exceeds the others by less than this part of the step."""


class Cause(NamedTuple):
    """A possible reason why a host takes longer than others.

    Attributes:
        key: Its prefix in columns.
        name: Its name for users.
        kinds: The kinds of time in it.
        meaning: The meaning of these kinds.
    """

    key: str
    name: str
    kinds: tuple[Spent, ...]
    meaning: str


CAUSES = (
    Cause("input", "input", (Spent.HOST_WAIT_INPUT, Spent.DEVICE_WAIT_HOST), "waiting for input"),
    Cause("copies", "copies", (Spent.HOST_TO_DEVICE, Spent.DEVICE_TO_HOST, Spent.DEVICE_TO_DEVICE,
                               Spent.HOST_TO_HOST),
          "copies between hosts and devices, and within them"),
    Cause("device_compute", "device compute", DEVICE_COMPUTE, "a device computed"),
    Cause("host_compute", "host compute", (Spent.HOST_COMPUTE, Spent.HOST_CALLBACK),
          "ops on threads of the host"),
    Cause("kernel_launch", "kernel launch", (Spent.HOST_PREPARE,),
          "the host launched work of devices"),
    Cause("compile", "compilation", (Spent.HOST_COMPILE,), "the host compiled"),
    Cause("host_code", "own code", (Spent.HOST_CODE,), "the program's own code"),
    Cause("runtime", "runtime", (Spent.HOST_RUNTIME,), "the framework's runtime, while no op ran"),
    Cause("unexplained", "unknown", (Spent.UNKNOWN,), "nothing that was recorded"),
    Cause("collectives", "collectives", (Spent.DEVICE_COLLECTIVES, Spent.DEVICE_WAIT_DEVICE),
          "collectives, while nothing else of this went on"),
)  # fmt: skip
"""The uses of time in steps. The last is joint work of hosts and does not make a host slow."""

OWN_CAUSES = CAUSES[:-1]

_CELLS_AT_ONCE = 1 << 15


@dataclass(frozen=True, eq=False)
class SlowHosts:
    """A comparison of hosts in the steps that they have in common.

    Attributes:
        works: The hosts, at least two.
        places: Indices of the steps that count, at least one.
        joint: The collectives of the hosts in these steps.
    """

    works: Sequence[HostWork]
    places: Int64Array
    joint: JointCollectives

    @cached_property
    def own_ps(self) -> Float64Array:
        """Working time of each host in each of the steps, shape (n hosts, n steps)."""
        own_ps = np.zeros((len(self.works), len(self.places)))
        for row, work in zip(own_ps, self.works, strict=True):
            row[:] = work.own_ps[self.places]
        return own_ps

    @cached_property
    def others_ps(self) -> Float64Array:
        """Median of the other hosts in each step, shape (n hosts, n steps)."""
        return without_own(self.own_ps)

    @cached_property
    def order(self) -> list[int]:
        """The hosts, the longest working time first; equal ones by name."""
        means = self.own_ps.mean(axis=1)
        return sorted(range(len(means)), key=lambda at: (-means[at], self.works[at].name))

    @property
    def slowest(self) -> int:
        """The host with the longest working time."""
        return self.order[0]

    def excess_ps(self, host: int) -> float:
        """How much longer a host works in a step than the median of the others."""
        return float((self.own_ps[host] - self.others_ps[host]).mean())

    def interval_ps(self, host: int) -> Interval | None:
        """The same with its interval; None with too few steps.

        The slowest host is the result of a comparison: with more hosts, more are far off by chance.
        So the interval is wider for more hosts.
        """
        if len(self.places) < FEWEST:
            return None
        excess = (self.own_ps[host] - self.others_ps[host]).tolist()
        mean = mean_of(excess)
        return interval_of(mean, 1 - (1 - CONFIDENCE) / len(self.works))

    @property
    def step_ps(self) -> float:
        """Mean duration of a step on the slowest host."""
        return float(self.works[self.slowest].duration_ps[self.places].mean())

    @property
    def straggles(self) -> bool:
        """Whether the slowest host exceeds the others by more than noise and a few percent."""
        interval = self.interval_ps(self.slowest)
        is_beyond = interval is not None and interval.low > 0
        return is_beyond and self.excess_ps(self.slowest) >= ALIKE * self.step_ps

    def waited_for_ps(self, host: int) -> float:
        """Mean wait of another host for this one in a step, in collectives that it reaches last."""
        is_last = self.joint.last == host
        n_waiting = self.joint.is_there.sum(axis=0) - 1
        waited = self.joint.waited_ps.sum(axis=0) / np.maximum(n_waiting, 1)
        return float(waited[is_last].sum()) / len(self.places)

    @property
    def delays(self) -> bool:
        """Whether the others wait for most of the extra working time of the slowest host."""
        return 2 * self.waited_for_ps(self.slowest) >= self.excess_ps(self.slowest)

    @cached_property
    def spent_ps(self) -> Float64Array:
        """Mean time of each host by cause in a step, shape (n hosts, len(CAUSES))."""
        return np.stack([mean_spent(work, self.places) for work in self.works])

    @cached_property
    def _excess_by_cause_ps(self) -> Float64Array:
        return self.spent_ps - without_own(self.spent_ps)

    def causes(self, host: int) -> list[tuple[Cause, float]]:
        """Causes by a host's excess over the median of the others, ps in a step, largest first."""
        excess = self._excess_by_cause_ps[host].tolist()[: len(OWN_CAUSES)]
        return sorted(zip(OWN_CAUSES, excess, strict=True), key=lambda pair: -pair[1])

    @property
    def each_step_ps(self) -> float:
        """Time that a step would save if its own slowest host were as fast as the others."""
        return float(gains(self.own_ps).mean())


def without_own(amounts: Float64Array) -> Float64Array:
    """Median of all other rows for each row, by column; keeps the shape; at least two rows."""
    found = np.zeros(amounts.shape)
    for columns in _few_columns(amounts):
        found[:, columns] = _without_own(amounts[:, columns])
    return found


def _few_columns(amounts: Float64Array) -> list[slice]:
    """Columns to process at once, so that temporary arrays take little memory."""
    n_rows, n_columns = amounts.shape
    n_at_once = max(1, _CELLS_AT_ONCE // n_rows)
    return [slice(begin, begin + n_at_once) for begin in range(0, n_columns, n_at_once)]


def _without_own(amounts: Float64Array) -> Float64Array:
    n_rows = len(amounts)
    in_order = np.sort(amounts, axis=0)
    rank = np.argsort(np.argsort(amounts, axis=0, kind="stable"), axis=0)
    low, high = (n_rows - 2) // 2, (n_rows - 1) // 2  # the middle of n - 1 others, in 0 … n - 2

    def at(place: int) -> Float64Array:
        # Skips the row's own rank: rows from that rank on are one place further.
        rows = np.where(rank <= place, place + 1, place)
        return np.take_along_axis(in_order, rows, axis=0)

    return (at(low) + at(high)) / 2


def gains(own_ps: Float64Array) -> Float64Array:
    """Time that each step would save if its slowest host were as fast as the others' median."""
    gained = np.zeros(own_ps.shape[1])
    for columns in _few_columns(own_ps):
        in_order = np.sort(own_ps[:, columns], axis=0)
        gained[columns] = in_order[-1] - np.median(in_order[:-1], axis=0)
    return gained


def mean_spent(work: HostWork, places: Int64Array) -> Float64Array:
    """Mean time of a host by cause in some steps, ps, shape (len(CAUSES),)."""
    means = work.spent_ps[places].mean(axis=0)
    return np.array([sum(means[SPENT_COLUMN[kind]] for kind in cause.kinds) for cause in CAUSES])


def compared(works: Sequence[HostWork], places: Int64Array) -> SlowHosts | None:
    """Compare hosts in some of their steps; None with fewer than two hosts, or without steps."""
    if len(works) < 2 or not len(places):
        return None
    joint = joint_collectives(works)
    joint = joint.only(np.isin(joint.step, places))
    return SlowHosts([work.without_runs() for work in works], places, joint)


def slow_hosts(steps: RunSteps) -> SlowHosts | None:
    """The comparison of a run's hosts in their typical steps, or None."""
    return compared(work_of_hosts(steps), steps.typical_places)
