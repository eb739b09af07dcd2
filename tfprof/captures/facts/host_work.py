"""The steps of each host as small columns: how long it worked, waited and communicated.

Workers that train together end their steps together, so that all steps take the same time. What
tells them apart is how long they *work*: the time of a step without that in which all devices of
the host were in a collective and computed nothing. The one that works longest comes last to the
collectives; the others wait there.

A host's columns need nothing of other hosts, and take a few kilobytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from tfprof.captures.events.steps.collectives import (
    CollectiveKind,
    DeviceWork,
    communication_times,
)
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.events.timeline.clocks import unix_base_ns
from tfprof.captures.facts.device_work import device_work
from tfprof.captures.facts.steps import HostSteps, RunSteps
from tfprof.columns.columns import BoolArray, Int64Array

MOST_COLLECTIVES = 10_000
"""Of more collectives a host keeps those of some kinds, the same kinds on all hosts."""


@dataclass(frozen=True, eq=False)
class JointRuns:
    """Collectives of a host in which all hosts take part, one row for all its devices together.

    Attributes:
        kinds: What they are; which of several runs in a step, too.
        which: Kind of each, shape (n,).
        step: Place of its step.
        arrived_ps: When the last device of the host began it, on the axis of the host.
        left_ps: When the first of them ended it; not before ``arrived_ps``.
        n_left_out: How many there are beside these, as they are too many.
    """

    kinds: Sequence[tuple[CollectiveKind, int]]
    which: Int64Array
    step: Int64Array
    arrived_ps: Int64Array
    left_ps: Int64Array
    n_left_out: int = 0

    def __len__(self) -> int:
        return len(self.which)


@dataclass(frozen=True, eq=False)
class HostWork:
    """The aligned steps of a host; times are ps, each of shape (n steps,).

    Attributes:
        name: Its name.
        step_names: What it calls the steps.
        unix_base_ns: What its times count from, by its clock; None if that is not known.
        duration_ps: How long its steps took.
        spent_ps: The same by what it was spent on, shape (n steps, kinds of ``Spent``).
        together_ps: In collectives, on average of the devices that take part.
        exposed_ps: The same without what a device computed meanwhile.
        waiting_ps: The same of the device that had the least of it.
        joint: Collectives of all hosts.
        n_grouped: Collectives in which only some of the devices take part with each other.
    """

    name: str
    step_names: Sequence[str]
    unix_base_ns: int | None
    duration_ps: Int64Array
    spent_ps: Int64Array
    together_ps: Int64Array
    exposed_ps: Int64Array
    waiting_ps: Int64Array
    joint: JointRuns
    n_grouped: int

    @property
    def own_ps(self) -> Int64Array:
        """How long the host worked, and did not just wait in collectives."""
        return self.duration_ps - self.waiting_ps


def work_of_hosts(steps: RunSteps) -> tuple[HostWork, ...]:
    """The work of all hosts in the steps that they have in common, in the order of their names."""
    cores: dict[str, list[HostSteps]] = {}
    for one in steps.hosts:
        cores.setdefault(one.host.name, []).append(one)
    return tuple(host_work(own) for _, own in sorted(cores.items()))


def host_work(cores: Sequence[HostSteps]) -> HostWork:
    """The work of a host; worked out once for the same steps.

    Args:
        cores: Its steps, or those of each core of its TPUs.
    """
    host, groups = cores[0].host, cores[0].times.groups
    key = ("work", groups.tobytes(), len(cores))
    return host.memo.once(key, lambda: _host_work(cores))


def _host_work(cores: Sequence[HostSteps]) -> HostWork:
    first = cores[0]
    work, timeline = device_work(first.host), first.host.timeline
    known = communication_times(work, first.times)
    durations = np.max([one.times.duration_ps for one in cores], axis=0)
    nothing = np.zeros((1, len(durations)), np.int64)
    together = known.together_ps if len(known.together_ps) else nothing
    exposed = known.exposed_ps if len(known.exposed_ps) else nothing
    busiest = _busiest(cores)
    spent = np.stack([one.times.spent_ps for one in cores])[busiest, np.arange(len(durations))]
    return HostWork(
        first.host.name,
        first.names,
        unix_base_ns(timeline.axis),
        durations,
        spent,
        np.rint(together.mean(axis=0)).astype(np.int64),
        np.rint(exposed.mean(axis=0)).astype(np.int64),
        exposed.min(axis=0),
        _joint_runs(work, first.times.groups),
        _n_grouped(work),
    )


def _busiest(cores: Sequence[HostSteps]) -> Int64Array:
    """The core that communicates least in each step: the others of the host wait for it."""
    waiting = [one.times.of(Spent.DEVICE_COLLECTIVES) for one in cores]
    busiest: Int64Array = np.argmin(waiting, axis=0)
    return busiest


def _n_grouped(work: DeviceWork) -> int:
    is_joint = np.array([kind.is_joint for kind in work.kinds], np.bool_)
    return int((~is_joint[work.which]).sum()) if len(work.which) else 0


def _joint_runs(work: DeviceWork, groups: Int64Array) -> JointRuns:
    """The k-th run of a kind in a step is one collective, on all devices of the host."""
    runs = work.together
    nothing = np.zeros(0, np.int64)
    if not len(runs.group) or not len(groups):
        return JointRuns((), nothing, nothing, nothing, nothing)
    step = np.searchsorted(groups, runs.group).clip(max=len(groups) - 1)
    is_joint = np.array([kind.is_joint for kind in work.kinds], np.bool_)[work.which]
    chosen = np.flatnonzero((groups[step] == runs.group) & is_joint)
    order = chosen[np.lexsort((runs.start_ps[chosen], runs.device[chosen], work.which[chosen],
                               step[chosen]))]  # fmt: skip
    step, which, device = step[order], work.which[order], runs.device[order]
    nth = _ordinals([step, which, device])
    keys, place = np.unique(np.stack([step, which, nth]), axis=1, return_inverse=True)
    arrived = np.full(keys.shape[1], np.iinfo(np.int64).min)
    left = np.full(keys.shape[1], np.iinfo(np.int64).max)
    np.maximum.at(arrived, place.reshape(-1), runs.start_ps[order])
    np.minimum.at(left, place.reshape(-1), runs.end_ps[order])
    kinds, of_key = np.unique(keys[1:], axis=1, return_inverse=True)
    named = [(work.kinds[which], nth) for which, nth in kinds.T.tolist()]
    of_key = of_key.reshape(-1)
    kept = _kept(named, np.bincount(of_key, minlength=len(named)))
    is_kept = kept[of_key]
    return JointRuns(
        named, of_key[is_kept], keys[0][is_kept], arrived[is_kept],
        np.maximum(left, arrived)[is_kept], int((~is_kept).sum()),
    )  # fmt: skip


def _ordinals(columns: Iterable[Int64Array]) -> Int64Array:
    """How many rows before each are equal; equal ones follow each other."""
    stacked = np.stack(list(columns))
    is_new = np.ones(stacked.shape[1], np.bool_)
    is_new[1:] = (stacked[:, 1:] != stacked[:, :-1]).any(axis=0)
    rows = np.arange(stacked.shape[1])
    nth: Int64Array = rows - np.maximum.accumulate(np.where(is_new, rows, 0))
    return nth


def _kept(kinds: Sequence[tuple[CollectiveKind, int]], counts: Int64Array) -> BoolArray:
    """Which kinds to keep if there are too many runs: at least one, chosen by its name alone."""
    is_kept = np.ones(len(kinds), np.bool_)
    if counts.sum() <= MOST_COLLECTIVES:
        return is_kept
    lots = [crc32(f"{kind.name}/{kind.instance}/{nth}".encode()) for kind, nth in kinds]
    order = np.argsort(lots, kind="stable")
    together = np.cumsum(counts[order])
    is_kept[order[1:]] = together[1:] <= MOST_COLLECTIVES
    return is_kept
