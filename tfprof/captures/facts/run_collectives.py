"""The collectives of all hosts in some steps, and the time that they wait for each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.collectives import CollectiveKind
from tfprof.captures.facts.collective_programs import Place
from tfprof.captures.facts.collective_times import Collective, CollectiveTimes, collective_times
from tfprof.captures.facts.host_work import HostWork
from tfprof.captures.facts.joint_collectives import JointCollectives
from tfprof.captures.hlo.collectives import bus_factor
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array, sums_by
from tfprof.core.columns.distinct import distinct_rows
from tfprof.files.numbered_names import natural_order

MOST_BY_DEVICE = 64
"""With more hosts, their devices are added up."""


@dataclass(frozen=True, slots=True)
class DevicePart:
    """A collective on one device, in all steps that count; times are in ps.

    Attributes:
        host: Name of the host.
        device: Name of the device; ``all`` for all of a host.
        n_devices: Devices of this host that join any collective.
        count: Number of runs.
        total_ps: Their time.
        exposed_ps: The part of it in which the device computed nothing.
        waiting_ps: Time in which it waited for the last device; None if unknown.
        bare_waiting_ps: The exposed part of it; None if unknown.
        least_ps: For each run the shortest time that a device of its group took.
    """

    host: str
    device: str
    n_devices: int
    count: int
    total_ps: float
    exposed_ps: float
    waiting_ps: float | None
    bare_waiting_ps: float | None
    least_ps: float

    def plus(self, other: DevicePart) -> DevicePart:
        """The sum with other runs on the same device."""
        return replace(
            self,
            count=self.count + other.count,
            total_ps=self.total_ps + other.total_ps,
            exposed_ps=self.exposed_ps + other.exposed_ps,
            waiting_ps=(self.waiting_ps or 0) + (other.waiting_ps or 0),
            bare_waiting_ps=(self.bare_waiting_ps or 0) + (other.bare_waiting_ps or 0),
            least_ps=self.least_ps + other.least_ps,
        )


@dataclass(frozen=True)
class RunCollective:
    """A collective of a run: an instruction of a program, or a kind of op or kernel.

    Attributes:
        place: Its place in the program, as the first host has it.
        collective: The same on that host, with its streams.
        parts: Its times, by host and device.
        n_hosts: Number of hosts that count for averages.
        n_steps: Number of steps.
        why: Why the waiting time is unknown; empty if it is known.
        n_ranks: Devices of a group in the capture; 0 if the groups are unknown.
    """

    place: Place
    collective: Collective
    parts: tuple[DevicePart, ...]
    n_hosts: int
    n_steps: int
    why: str
    n_ranks: int

    def on(self, hosts: Collection[str]) -> RunCollective:
        """The same on some of the hosts."""
        parts = tuple(part for part in self.parts if part.host in hosts)
        return replace(self, parts=parts, n_hosts=len(hosts))

    @property
    def is_size_known(self) -> bool:
        """Whether it is known how many devices wait for each other."""
        return self.place.exchange is not None and self.place.exchange.size > 0

    @property
    def count(self) -> int:
        """Number of runs on all devices."""
        return sum(part.count for part in self.parts)

    def _mean(self, amounts: Sequence[float]) -> float:
        """Mean over hosts of the mean over their devices, in one step, as in ``stragglers``."""
        weighted = zip(amounts, self.parts, strict=True)
        return sum(one / part.n_devices for one, part in weighted) / self.n_hosts / self.n_steps

    @cached_property
    def total_ps(self) -> float:
        """Time in a step, on average of devices and hosts."""
        return self._mean([part.total_ps for part in self.parts])

    @cached_property
    def exposed_ps(self) -> float:
        """The part of it in which the device computed nothing."""
        return self._mean([part.exposed_ps for part in self.parts])

    @property
    def overlapped_ps(self) -> float:
        """The rest."""
        return self.total_ps - self.exposed_ps

    @cached_property
    def waiting_ps(self) -> float | None:
        """Time in a step in which it waits for the last device; None if unknown."""
        known = [part.waiting_ps for part in self.parts if part.waiting_ps is not None]
        return self._mean(known) if len(known) == len(self.parts) else None

    @cached_property
    def bare_waiting_ps(self) -> float | None:
        """The exposed part of it."""
        known = [part.bare_waiting_ps for part in self.parts if part.bare_waiting_ps is not None]
        return self._mean(known) if len(known) == len(self.parts) else None

    @property
    def transfer_ps(self) -> float | None:
        """The time after the last device has come; None if unknown."""
        return None if self.waiting_ps is None else self.total_ps - self.waiting_ps

    @property
    def bare_transfer_ps(self) -> float | None:
        """The exposed part of it: what less or earlier communication could save."""
        waiting = self.bare_waiting_ps
        return None if waiting is None else self.exposed_ps - waiting

    @property
    def run_ps(self) -> float:
        """Time of a run."""
        return sum(part.total_ps for part in self.parts) / max(self.count, 1)

    @property
    def least_ps(self) -> float:
        """The shortest time of a device of the group in a run, on average of the runs."""
        return sum(part.least_ps for part in self.parts) / max(self.count, 1)

    @property
    def ready_ps(self) -> float | None:
        """Time of computation in a step that could run meanwhile, but runs after it."""
        ready = self.collective.ready_ps
        return None if ready is None else ready * self._mean([part.count for part in self.parts])

    @property
    def bus_gb_per_s(self) -> float | None:
        """Bytes that cross the link of a device, per second; None if the program is unknown."""
        exchange = self.place.exchange
        if exchange is None or exchange.n_bytes is None or self.least_ps <= 0:
            return None
        factor = bus_factor(exchange.opcode, exchange.size)
        return None if not factor else exchange.n_bytes * factor / self.least_ps * 1e3


@dataclass(eq=False)
class _Found:
    """A collective while its parts are gathered."""

    collective: Collective
    parts: dict[tuple[str, str], DevicePart] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, list[CollectiveKind]] = field(default_factory=dict)
    is_known: bool = True


def run_collectives(
    hosts: Sequence[Host],
    groups: Mapping[str, Int64Array],
    works: Sequence[HostWork],
    joint: JointCollectives,
) -> list[RunCollective]:
    """The collectives of hosts in some steps, the longest exposed time first.

    Args:
        hosts: The hosts.
        groups: The steps that count, as groups of each host, by its name; all of its runs count
            for a host that is not there.
        works: The work of the hosts whose steps are compared, in the order of ``joint``.
        joint: The collectives that hosts share, in the steps that count.
    """
    found: dict[tuple[object, ...], _Found] = {}
    waited = _waited(works, joint)
    by_device = len(hosts) <= MOST_BY_DEVICE
    for host in hosts:
        times = collective_times(host)
        for number, parts, is_known in _parts(host.name, times, groups.get(host.name), by_device):
            collective = times.collectives[number]
            place = collective.place
            one = found.setdefault((place.program, place.name, place.exchange), _Found(collective))
            one.is_known &= is_known
            one.ranks[host.name] = max(one.ranks.get(host.name, 0), collective.n_ranks)
            one.kinds.setdefault(host.name, []).append(collective.kind)
            for part in parts:
                known = one.parts.get((part.host, part.device))
                one.parts[part.host, part.device] = part if known is None else known.plus(part)
    n_steps = max((len(one) for one in groups.values()), default=0) or 1
    n_of_kind = Counter(kind for one in found.values() for kind in _distinct(one.kinds))
    made = [_whole(one, len(hosts), n_steps, waited, n_of_kind) for one in found.values()]
    return sorted(made, key=lambda one: (-one.exposed_ps, one.place.program, one.place.name))


def _distinct(kinds: Mapping[str, Sequence[CollectiveKind]]) -> set[CollectiveKind]:
    return {kind for own in kinds.values() for kind in own}


def _parts(
    host: str, times: CollectiveTimes, groups: Int64Array | None, by_device: bool
) -> Iterator[tuple[int, list[DevicePart], bool]]:
    """The collectives of a host in some steps: number, times, and whether all devices are known."""
    is_in = np.ones(len(times), np.bool_)
    if groups is not None:
        is_in = np.append(np.isin(times.groups, groups), False)[times.step]  # the last: no step
    rows = np.flatnonzero(is_in)
    device = times.device[rows] if by_device else np.zeros(len(rows), np.int64)
    distinct = distinct_rows([times.which[rows], device])
    columns = (
        times.known_count, times.count, times.total_ps, times.exposed_ps, times.waiting_ps,
        times.bare_waiting_ps, times.least_ps,
    )  # fmt: skip
    n_rows = len(distinct.values)
    sums = np.stack([sums_by(distinct.place, one[rows], n_rows) for one in columns], axis=1)
    names = times.devices if by_device or len(times.devices) == 1 else ("all",)
    keyed = zip(distinct.values.tolist(), sums.tolist(), strict=True)
    for number, own in groupby(keyed, key=lambda row: row[0][0]):
        parts, is_known = [], True
        for (_, at), (known, count, *amounts) in own:
            is_known &= known == count
            parts.append(DevicePart(host, names[at], len(times.devices), count, *amounts))
        yield number, sorted(parts, key=lambda part: natural_order(part.device)), is_known


class _Waited(NamedTuple):
    """A kind of collective that hosts share: sums over its runs in the steps that count, ps.

    Attributes:
        by_host: How much longer than the last host each host took.
        least_ps: How long the last host took.
        n_runs: Number of runs.
    """

    by_host: Mapping[str, int]
    least_ps: int
    n_runs: int


def _waited(works: Sequence[HostWork], joint: JointCollectives) -> dict[CollectiveKind, _Waited]:
    numbers: dict[CollectiveKind, int] = {}
    number = np.array([numbers.setdefault(kind, len(numbers)) for kind, _ in joint.kinds], np.int64)
    sums = [sums_by(number, waited, len(numbers)).tolist() for waited in joint.waited_ps]
    least = sums_by(number, joint.least_ps, len(numbers)).tolist()
    counts = np.bincount(number, minlength=len(numbers)).tolist()
    return {
        kind: _Waited(
            {work.name: own[at] for work, own in zip(works, sums, strict=True)},
            least[at], counts[at],
        )
        for kind, at in numbers.items()
    }  # fmt: skip


def _whole(
    one: _Found, n_hosts: int, n_steps: int, waited: Mapping[CollectiveKind, _Waited],
    n_of_kind: Mapping[CollectiveKind, int],
) -> RunCollective:  # fmt: skip
    """A collective with the waits for other hosts."""
    kinds = [kind for own in one.kinds.values() for kind in own]
    is_joint = all(kind.is_joint for kind in kinds)
    n_ranks = sum(one.ranks.values()) if is_joint else max(one.ranks.values())
    why = _why_unknown(one, n_ranks)
    parts = list(one.parts.values())
    if not why and is_joint and len(one.kinds) > 1:
        shared = [waited.get(kind) for kind in dict.fromkeys(kinds)]
        runs = sum(each.n_runs for each in shared if each is not None)
        if any(n_of_kind[kind] > 1 for kind in kinds):
            why = "several programs have an instruction of this name"
        elif any(part.count != runs * _n_devices(part) for part in parts):
            why = "not all runs could be matched with those of the other hosts"
        else:
            parts = [_with_waits(part, [each for each in shared if each]) for part in parts]
    if why:
        parts = [replace(part, waiting_ps=None, bare_waiting_ps=None) for part in parts]
    return RunCollective(
        one.collective.place, one.collective, tuple(parts), n_hosts, n_steps, why,
        n_ranks if one.is_known else 0,
    )  # fmt: skip


def _why_unknown(one: _Found, n_ranks: int) -> str:
    """Why the waits between the devices are unknown; empty if they are known."""
    exchange = one.collective.place.exchange
    if not one.is_known:
        if exchange is not None and exchange.is_permute and exchange.size != 2:
            return "in a chain of senders, a device does not wait for all others"
        return "no event states which device has which number in the groups"
    size = exchange.size if exchange is not None else 0
    if size > n_ranks:
        return f"the capture has {n_ranks} of the {size} devices that wait for each other"
    if not size and n_ranks == 1:
        return "the capture has one of the devices, and does not state how many there are"
    return ""


def _n_devices(part: DevicePart) -> int:
    """Number of devices whose times a part adds up."""
    return part.n_devices if part.device == "all" else 1


def _with_waits(part: DevicePart, shared: Sequence[_Waited]) -> DevicePart:
    """Times of a device, with its waits for other hosts after those for devices of its own."""
    waits = sum(each.by_host[part.host] for each in shared) * _n_devices(part)
    waiting = min((part.waiting_ps or 0) + waits, part.total_ps)
    bare = min((part.bare_waiting_ps or 0) + waits, part.exposed_ps, waiting)
    least = sum(each.least_ps for each in shared) * _n_devices(part)
    return replace(part, waiting_ps=waiting, bare_waiting_ps=bare, least_ps=least)
