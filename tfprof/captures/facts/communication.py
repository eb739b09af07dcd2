"""The collectives of a host in its steps, as small columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from tfprof.captures.events.steps.collectives import (
    CollectiveKind,
    DeviceWork,
    communication_times,
)
from tfprof.captures.facts.collective_runs import ordinals
from tfprof.captures.facts.device_work import device_work
from tfprof.captures.facts.run_steps import cores_of
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import BoolArray, Int64Array, IntArray, narrowest, no_rows

MOST_COLLECTIVES = 10_000
"""Above this number, a host keeps only collectives of some kinds, the same kinds on all hosts."""


@dataclass(frozen=True, eq=False)
class JointRuns:
    """Collectives in which all hosts take part, one row for all devices of this host together.

    Attributes:
        kinds: The kinds, with the ordinal of the run within a step.
        which: Kind of each, shape (n,).
        step: Index of its step.
        arrived_ps: When the last device of the host began it, on the host's time axis.
        left_ps: When the first of them ended it; not before ``arrived_ps``.
        n_left_out: Number of further collectives, omitted because there are too many.
    """

    kinds: Sequence[tuple[CollectiveKind, int]]
    which: IntArray
    step: IntArray
    arrived_ps: Int64Array
    left_ps: Int64Array
    n_left_out: int = 0

    @classmethod
    def none(cls) -> JointRuns:
        """No collectives."""
        nothing = no_rows()
        return cls([], nothing, nothing, nothing, nothing)

    def __len__(self) -> int:
        return len(self.which)


@dataclass(frozen=True, eq=False)
class Communication:
    """Collectives in the steps of a host; times are in ps, each of shape (n steps,).

    Attributes:
        groups: Groups of the steps, ascending.
        together_ps: Time in collectives, averaged over the participating devices.
        exposed_ps: The same without the time in which a device computed meanwhile.
        waiting_ps: ``exposed_ps`` of the device with the least of it.
        joint: Collectives of all hosts.
        n_grouped: Number of collectives among only some of the devices.
    """

    groups: Int64Array
    together_ps: Int64Array
    exposed_ps: Int64Array
    waiting_ps: Int64Array
    joint: JointRuns
    n_grouped: int

    def in_steps(self, groups: Int64Array) -> Communication:
        """The communication in some of the steps.

        Args:
            groups: Groups of these steps, ascending; each must be in ``self.groups``.
        """
        rows = np.searchsorted(self.groups, groups)
        place = np.full(len(self.groups), -1)
        place[rows] = np.arange(len(rows))
        step = place[self.joint.step]
        inside = step >= 0
        joint = JointRuns(
            self.joint.kinds,
            self.joint.which[inside].astype(narrowest(len(self.joint.kinds))),
            step[inside].astype(narrowest(len(rows))),
            self.joint.arrived_ps[inside], self.joint.left_ps[inside], self.joint.n_left_out,
        )  # fmt: skip
        return Communication(
            groups, self.together_ps[rows], self.exposed_ps[rows], self.waiting_ps[rows], joint,
            self.n_grouped,
        )  # fmt: skip


@fact
def communication(host: Host) -> Communication:
    """The communication of a host in all its steps, also in steps that other hosts lack."""
    first, *_ = cores_of(host, 0, inner_only=False)
    work = device_work(host)
    known = communication_times(work, first.times)
    nothing = np.zeros((1, len(first.times)), np.int64)
    together = known.together_ps if len(known.together_ps) else nothing
    exposed = known.exposed_ps if len(known.exposed_ps) else nothing
    is_joint = np.array([kind.is_joint for kind in work.kinds], np.bool_)
    return Communication(
        first.times.groups,
        np.rint(together.mean(axis=0)).astype(np.int64),
        np.rint(exposed.mean(axis=0)).astype(np.int64),
        exposed.min(axis=0),
        _joint_runs(work, first.times.groups),
        int((~is_joint[work.which]).sum()),
    )


def _joint_runs(work: DeviceWork, groups: Int64Array) -> JointRuns:
    """One row for each collective: the k-th run of a kind in a step, on all devices of the host."""
    runs = work.together
    if not len(runs.group) or not len(groups):
        return JointRuns.none()
    step = np.searchsorted(groups, runs.group).clip(max=len(groups) - 1)
    is_joint = np.array([kind.is_joint for kind in work.kinds], np.bool_)[work.which]
    chosen = np.flatnonzero((groups[step] == runs.group) & is_joint)
    in_order = np.lexsort(
        (runs.start_ps[chosen], runs.device[chosen], work.which[chosen], step[chosen])
    )
    order = chosen[in_order]
    step, which = step[order], work.which[order]
    nth = ordinals([step, which, runs.device[order]])
    keys, place = np.unique(np.stack([step, which, nth]), axis=1, return_inverse=True)
    arrived = np.full(keys.shape[1], np.iinfo(np.int64).min)
    left = np.full(keys.shape[1], np.iinfo(np.int64).max)
    np.maximum.at(arrived, place.reshape(-1), runs.start_ps[order])
    np.minimum.at(left, place.reshape(-1), runs.end_ps[order])
    distinct, of_key = np.unique(keys[1:], axis=1, return_inverse=True)
    of_key = of_key.reshape(-1)
    kinds = [(work.kinds[kind], run) for kind, run in distinct.T.tolist()]
    is_kept = _kept(kinds, np.bincount(of_key, minlength=len(kinds)))[of_key]
    return JointRuns(
        kinds, of_key[is_kept], keys[0][is_kept], arrived[is_kept],
        np.maximum(left, arrived)[is_kept], int((~is_kept).sum()),
    )  # fmt: skip


def _kept(kinds: Sequence[tuple[CollectiveKind, int]], counts: Int64Array) -> BoolArray:
    """The kinds to keep if there are too many runs: at least one, chosen by its name alone."""
    is_kept = np.ones(len(kinds), np.bool_)
    if counts.sum() <= MOST_COLLECTIVES:
        return is_kept
    lots = [crc32(f"{kind.name}/{kind.instance}/{nth}".encode()) for kind, nth in kinds]
    order = np.argsort(lots, kind="stable")
    is_kept[order[1:]] = np.cumsum(counts[order])[1:] <= MOST_COLLECTIVES
    return is_kept
