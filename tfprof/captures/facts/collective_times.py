"""Times of the collectives of a host, by device and step, with what its programs say of them.

A device that comes early waits for the last one of its group; what follows is the transfer. The
time in which the device itself computes meanwhile is overlapped, the rest is exposed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.collectives import CollectiveKind, DeviceWork
from tfprof.captures.events.steps.step_events import DEVICE_COMPUTE, device_kind
from tfprof.captures.events.timeline.programs import HloKey, hlo_keys, modules_around
from tfprof.captures.events.tpu.cores import tpu_cores
from tfprof.captures.facts.collective_programs import Place, ProgramPlaces, logical_devices
from tfprof.captures.facts.collective_runs import (
    exposed_parts,
    instances_of,
    runs_of,
    skew_of,
    teams_of,
)
from tfprof.captures.facts.device_work import device_work
from tfprof.captures.facts.host_devices import uses_gpu, uses_tpu
from tfprof.captures.facts.run_steps import steps_of_host
from tfprof.captures.read.hlo import split_title, unsigned
from tfprof.captures.rules import OURS
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array, IntArray, narrowest, no_rows, sums_by
from tfprof.core.columns.distinct import distinct_rows
from tfprof.files.numbered_names import natural_order


class Collective(NamedTuple):
    """A collective of a host.

    Attributes:
        kind: Its kind, by which hosts are compared.
        place: Its place in a program, and what it exchanges.
        kernel: Name of its kernel on a GPU; empty elsewhere.
        lines: The streams or lines on which it ran.
        is_with_compute: Whether kernels that compute ran on the same stream of a GPU.
        n_ranks: Devices of one of its groups on this host; 1 if the groups are unknown.
        ready_ps: Time of computation that could run during one run on a device, but runs after it;
            None if its program is not in the capture.
    """

    kind: CollectiveKind
    place: Place
    kernel: str
    lines: tuple[str, ...]
    is_with_compute: bool
    n_ranks: int
    ready_ps: float | None


@dataclass(frozen=True, eq=False)
class CollectiveTimes:
    """Times of the collectives of a host, one row for each collective, device and step; ps.

    Attributes:
        collectives: The collectives.
        devices: Names of the devices that joined any.
        groups: Groups of the steps of the host, ascending.
        which: The collective of each row, shape (n,).
        device: Index of its device.
        step: Index of its step, -1 outside of steps.
        count: Number of runs.
        known_count: Number of runs for which all devices of the group on the host are known.
        total_ps: Time of the runs; of those that a step cuts, the part in the step.
        exposed_ps: The part of it in which the device did not compute.
        waiting_ps: Time until the last device of the group on the host had begun, too.
        bare_waiting_ps: The exposed part of ``waiting_ps``.
        least_ps: For each run the shortest time that a device of the group on the host took.
    """

    collectives: Sequence[Collective]
    devices: Sequence[str]
    groups: Int64Array
    which: IntArray
    device: IntArray
    step: IntArray
    count: IntArray
    known_count: IntArray
    total_ps: Int64Array
    exposed_ps: Int64Array
    waiting_ps: Int64Array
    bare_waiting_ps: Int64Array
    least_ps: Int64Array

    def __len__(self) -> int:
        return len(self.which)


@fact
def collective_times(host: Host) -> CollectiveTimes:
    """The collectives of a host; empty without any."""
    work, timeline = device_work(host), host.timeline
    times = steps_of_host(host)[0].times
    ids, device = np.unique(work.together.device, return_inverse=True)
    device = device.reshape(-1)
    keys, key_of = _keys(host, work)
    rows = distinct_rows([work.which, key_of])
    runs = runs_of(work.together, rows.place, device, times)
    finder = ProgramPlaces(host)
    places = [
        finder.of(keys[key], timeline.name(int(work.events[first])))
        for (_, key), first in zip(rows.values.tolist(), rows.first.tolist(), strict=True)
    ]
    logical = logical_devices(timeline, ids) if len(ids) > 1 else {}
    teams = [
        _team(place, work.kinds[kind], ids.tolist(), logical)
        for place, (kind, _) in zip(places, rows.values.tolist(), strict=True)
    ]
    skew = skew_of(runs, instances_of(timeline, work, runs.step), teams)
    exposed = exposed_parts(work, device, ids)
    row = distinct_rows([runs.which, device, runs.step])

    def summed(values: Int64Array) -> Int64Array:
        return sums_by(row.place, values, len(row.values))

    counts = np.bincount(runs.which, minlength=len(places)).tolist()
    lines = timeline.lines_of(work.events).astype(np.int64)
    on_lines = distinct_rows([rows.place, lines]).values
    mixed = _lines_with_compute(host) if len(lines) else no_rows()
    collectives = [
        Collective(
            work.kinds[kind], place,
            timeline.name(int(work.events[first])) if uses_gpu(host) else "",
            tuple(sorted({timeline.lines[line].name for line in on.tolist()}, key=natural_order)),
            bool(np.isin(on, mixed).any()), int(n_ranks), ready_ps,
        )
        for place, (kind, _), first, on, n_ranks, ready_ps in zip(
            places, rows.values.tolist(), rows.first.tolist(),
            (on_lines[on_lines[:, 0] == at, 1] for at in range(len(places))),
            skew.n_ranks.tolist(), finder.ready_ps(places, counts), strict=True,
        )
    ]  # fmt: skip
    width = narrowest(max(len(places), len(ids), len(times), 1))
    which, of_device, step = (column.astype(width) for column in row.values.T)
    return CollectiveTimes(
        collectives, _device_names(host, ids.tolist()), times.groups, which, of_device, step,
        row.counts, summed(skew.is_known.astype(np.int64)), summed(runs.end_ps - runs.start_ps),
        summed(exposed(runs.start_ps, runs.end_ps)), summed(skew.last_ps - runs.start_ps),
        summed(exposed(runs.start_ps, skew.last_ps)), summed(skew.least_ps),
    )  # fmt: skip


def _keys(host: Host, work: DeviceWork) -> tuple[list[HloKey], Int64Array]:
    """The instruction of each run; without one, the name of its kind."""
    timeline = host.timeline
    if not uses_tpu(host):
        found, place = hlo_keys(timeline, work.events)
        own = [key or HloKey(None, "", "") for key in found]
        by_kind = [HloKey(None, "", kind.name) for kind in work.kinds]
        # A kernel in a graph may have the instruction of its launch: its kind is its name then.
        names = {
            name: at for at, name in enumerate(dict.fromkeys(kind.name for kind in work.kinds))
        }
        of_kind = np.array([names[kind.name] for kind in work.kinds], np.int64)[work.which]
        of_key = np.array([names.get(key.name, -1) for key in own], np.int64)[place]
        return [*own, *by_kind], np.where(of_key == of_kind, place, len(own) + work.which)
    program = timeline.stat("program_id").at(work.events, missing=-1)
    module = modules_around(timeline, work.events)
    rows = distinct_rows([work.which, program, module])
    keys: dict[HloKey, int] = {}
    at = np.zeros(len(rows.values), np.int64)
    for row, (kind, number, run) in enumerate(rows.values.tolist()):
        name, in_title = split_title(timeline.names[run]) if run >= 0 else ("", None)
        key = HloKey(in_title if number == -1 else unsigned(number), name, work.kinds[kind].name)
        at[row] = keys.setdefault(key, len(keys))
    return list(keys), at[rows.place]


def _team(
    place: Place, kind: CollectiveKind, ids: Sequence[int], logical: Mapping[int, int]
) -> Mapping[int, int] | None:
    """The group of each device of a host in a collective; None if unknown."""
    if len(ids) == 1 or kind.is_joint:
        return dict.fromkeys(range(len(ids)), 0)
    exchange = place.exchange
    if exchange is None or (exchange.is_permute and exchange.size > 2):
        return None  # in a longer chain, no device waits for all others
    return teams_of(place.groups, ids, logical) or None


MUCH_COMPUTE = 0.1
"""A stream counts as one of computations from this part of the computation of its GPU on."""


def _lines_with_compute(host: Host) -> Int64Array:
    """Streams of the GPUs of a host on which much is computed."""
    if not uses_gpu(host):
        return np.zeros(0, np.int64)
    timeline = host.timeline
    is_compute = timeline.kind_mask(
        [device_kind(name, OURS) in DEVICE_COMPUTE for name in timeline.names]
    )
    is_compute[device_work(host).events] = False
    found = [no_rows()]
    for plane in timeline.planes_of_gpus():
        events = timeline.device_events(plane)
        events = events[is_compute[events]]
        computed = sums_by(
            timeline.lines_of(events), timeline.durations_ps[events], len(timeline.lines)
        )
        found.append(np.flatnonzero(computed > MUCH_COMPUTE * computed.sum()))
    return np.concatenate(found)


def _device_names(host: Host, ids: Sequence[int]) -> list[str]:
    if uses_tpu(host):
        labels = {core.id: core.label for core in tpu_cores(host.timeline)}
        return [f"TPU {labels.get(one, one)}" for one in ids]
    if uses_gpu(host):
        return [host.space.planes[one].name.removeprefix("/device:").replace(":", " ")
                for one in ids]  # fmt: skip
    return [f"CPU {one}" for one in ids]
