"""Collectives that hosts share: which host came last, and how far the clocks are apart.

No device can leave an all-reduce before all devices have arrived, and the remaining work is then
the same for all: they leave nearly together. So

* the host with the shortest time in a collective came last; the extra time of the other hosts is
  waiting, whatever their clocks show;
* the difference between the moments at which two hosts leave is the difference of their clocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.collectives import CollectiveKind
from tfprof.captures.facts.communication import JointRuns
from tfprof.captures.facts.host_work import HostWork
from tfprof.core.columns.columns import BoolArray, Int64Array

_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class JointCollectives:
    """Collectives that at least two hosts have; times are in ps, on the time axis of each host.

    Attributes:
        kinds: The kind of each, with the ordinal of the run within a step.
        step: Index of its step, shape (n,).
        is_there: Which hosts have it, shape (n hosts, n).
        arrived_ps: When each host arrived, 0 for hosts without it.
        left_ps: When each host left.
        n_left_out: Number of omitted collectives, as there are too many; the maximum of all hosts.
    """

    kinds: Sequence[tuple[CollectiveKind, int]]
    step: Int64Array
    is_there: BoolArray
    arrived_ps: Int64Array
    left_ps: Int64Array
    n_left_out: int

    def __len__(self) -> int:
        return len(self.step)

    @cached_property
    def waited_ps(self) -> Int64Array:
        """How much longer each host took than the last one to arrive, shape (n hosts, n)."""
        waited = self.left_ps - self.arrived_ps
        waited[~self.is_there] = _FAR
        waited -= waited.min(axis=0, initial=_FAR)
        waited[~self.is_there] = 0
        return waited

    @cached_property
    def least_ps(self) -> Int64Array:
        """How long the last host to arrive took, shape (n,)."""
        least = np.full(len(self), _FAR)
        # Host by host, as the columns of all hosts may be long.
        for is_there, arrived, left in zip(
            self.is_there, self.arrived_ps, self.left_ps, strict=True
        ):
            np.minimum(least, left - arrived, out=least, where=is_there)
        return least

    @cached_property
    def last(self) -> Int64Array:
        """The last host to arrive at each; the first one if several are equal, shape (n,)."""
        if not len(self):
            return np.zeros(0, np.int64)
        last: Int64Array = np.argmax(self.is_there & (self.waited_ps == 0), axis=0)
        return last

    def only(self, chosen: BoolArray) -> JointCollectives:
        """Some of the collectives."""
        if chosen.all():
            return self
        kinds = [kind for kind, is_chosen in zip(self.kinds, chosen, strict=True) if is_chosen]
        return JointCollectives(
            kinds, self.step[chosen], self.is_there[:, chosen], self.arrived_ps[:, chosen],
            self.left_ps[:, chosen], self.n_left_out,
        )  # fmt: skip


def joint_collectives(works: Sequence[HostWork]) -> JointCollectives:
    """Match the collectives of hosts by step, name and number of earlier runs in the step.

    Works host by host, as the columns of all hosts may be long.
    """
    numbers: dict[tuple[CollectiveKind, int], int] = {}
    for work in works:
        for kind in work.shared.joint.kinds:
            numbers.setdefault(kind, len(numbers))
    keys = np.zeros(0, np.int64)
    for work in works:
        own = _keys(work.shared.joint, numbers)
        if not _found(keys, own)[1].all():
            keys = np.union1d(keys, own)
    n_hosts = np.zeros(len(keys), np.int64)
    for work in works:
        n_hosts[_found(keys, _keys(work.shared.joint, numbers))[0]] += 1
    keys = keys[n_hosts > 1]
    shape = (len(works), len(keys))
    is_there = np.zeros(shape, np.bool_)
    arrived, left = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for place, work in enumerate(works):
        runs = work.shared.joint
        row, is_known = _found(keys, _keys(runs, numbers))
        row = row[is_known]
        is_there[place, row] = True
        arrived[place, row] = runs.arrived_ps[is_known]
        left[place, row] = runs.left_ps[is_known]
    step, number = np.divmod(keys, max(len(numbers), 1))
    known = list(numbers)
    kinds = [known[one] for one in number.tolist()]
    n_left_out = max((work.shared.joint.n_left_out for work in works), default=0)
    return JointCollectives(kinds, step, is_there, arrived, left, n_left_out)


def _keys(runs: JointRuns, numbers: Mapping[tuple[CollectiveKind, int], int]) -> Int64Array:
    """One number for the step and the kind of each run."""
    of_kind = np.array([numbers[kind] for kind in runs.kinds], np.int64)
    return runs.step.astype(np.int64) * max(len(numbers), 1) + of_kind[runs.which]


def _found(keys: Int64Array, wanted: Int64Array) -> tuple[Int64Array, BoolArray]:
    """Indices among ascending keys, and which of them match."""
    if not len(keys):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    place = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    return place, keys[place] == wanted


class ClockOffset(NamedTuple):
    """How far the clock of a host is ahead of another one, as estimated from collectives.

    Attributes:
        host: Its name.
        reference: Name of the other host.
        ahead_ns: By how much its clock is ahead; None if that is unknown.
        error_ns: By how much ``ahead_ns`` may be off.
        n_collectives: Number of collectives in the estimate.
    """

    host: str
    reference: str
    ahead_ns: float | None
    error_ns: float
    n_collectives: int


FEWEST = 3
"""With fewer collectives there is no estimate."""


def clock_offsets(works: Sequence[HostWork], joint: JointCollectives) -> tuple[ClockOffset, ...]:
    """The clocks of hosts, compared with the first host that has the most collectives.

    The estimate is the median of the differences at the ends of collectives, limited to the bounds
    that follow because no host leaves before another has arrived. It may be off by the interval of
    that median plus the time of a collective after the last host has arrived, as the ends may be
    that far apart.

    Args:
        works: The hosts.
        joint: Their collectives.
    """
    if len(works) < 2 or not len(joint):
        return ()
    first = int(np.argmax(joint.is_there.sum(axis=1)))
    reference = works[first]
    offsets = []
    for place, work in enumerate(works):
        both = joint.is_there[place] & joint.is_there[first]
        n_both = int(both.sum())
        unknown = ClockOffset(work.name, reference.name, None, math.inf, n_both)
        if work.unix_base_ns is None or reference.unix_base_ns is None or n_both < FEWEST:
            offsets.append(unknown)
            continue
        if place == first:
            offsets.append(unknown._replace(ahead_ns=0.0, error_ns=0.0))
            continue
        apart = joint.left_ps[place, both] - joint.left_ps[first, both]
        least = joint.arrived_ps[place, both] - joint.left_ps[first, both]
        most = joint.left_ps[place, both] - joint.arrived_ps[first, both]
        found = _offset(apart, int(least.max()), int(most.min()), joint.least_ps[both])
        if found is not None:
            ahead_ps, error_ps = found
            ahead_ns = work.unix_base_ns - reference.unix_base_ns + ahead_ps / 1000
            unknown = unknown._replace(ahead_ns=ahead_ns, error_ns=error_ps / 1000)
        offsets.append(unknown)
    return tuple(offsets)


def _offset(
    apart_ps: Int64Array, low_ps: int, high_ps: int, least_ps: Int64Array
) -> tuple[float, float] | None:
    """The offset and its error; None if hosts leave before others arrive, whatever the offset."""
    in_order = np.sort(apart_ps)
    n = len(in_order)
    # Ranks that enclose the median with a probability of 95 %.
    below = max(math.floor((n - 1.96 * math.sqrt(n)) / 2), 0)
    low, high = float(in_order[below]), float(in_order[n - 1 - below])
    error = (high - low) / 2 + float(np.median(least_ps))
    middle = float(np.median(in_order))
    if low_ps > high_ps:
        if low_ps - high_ps > error:
            return None
        return middle, error
    return min(max(middle, float(low_ps)), float(high_ps)), error
