"""Counts of the events in a capture, also as the file ``capture.json`` beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tfprof.captures.events.timeline.clocks import time_axis
from tfprof.captures.events.timeline.names import DEVICE_PREFIXES, MERGED_PLANES
from tfprof.captures.events.timeline.op_names import OpKind, parse_op_name
from tfprof.captures.model.xspace import Plane, XSpace
from tfprof.captures.run.remarks import n_dropped
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Host
from tfprof.core.text.units import human_count, human_memory, human_time
from tfprof.core.text.wording import plural

VERSION = 1
"""Version of ``capture.json``: higher when a field changes its meaning or disappears."""

_EAGER = re.compile(r"EagerLocalExecute: (_?[A-Z][\w>]*)")


@dataclass(frozen=True, slots=True)
class Arrival:
    """Counts of the recorded events of one host.

    Attributes:
        host: Name of its file, without ``.xplane.pb``.
        machines: Names of the machine inside the capture.
        planes: Events by plane, in the order of the file.
        steps: Marked steps: events that have a step number.
        ops: Events of host threads that have the name of an op, that ran an op eagerly, or that ran
            an instruction of a compiled program.
        kernels: Events of devices with launch details of a kernel.
        dropped: Events that the profiler reports as lost.
        covered_us: From the start of the first event to the last end, in microseconds.
    """

    host: str
    machines: tuple[str, ...]
    planes: tuple[tuple[str, int], ...]
    steps: int
    ops: int
    kernels: int
    dropped: int
    covered_us: float


def arrival(host: str, space: XSpace) -> Arrival:
    """Count the recorded events of a host, without building its timeline."""
    planes = space.planes
    threads = [plane for plane in planes if plane.name in MERGED_PLANES and len(plane.events)]
    devices = [plane for plane in planes if plane.name.startswith(DEVICE_PREFIXES)]
    return Arrival(
        host,
        space.hostnames,
        tuple((plane.name, len(plane.events)) for plane in planes),
        steps=sum(_with_stat(plane, "step_num") for plane in threads),
        ops=sum(map(_ops, threads)),
        kernels=sum(_with_stat(plane, "kernel_details") for plane in devices),
        dropped=n_dropped(space),
        covered_us=_covered_ps(space) / 1e6,
    )


def arrival_of(host: Host) -> Arrival:
    """The counts of a host's recorded events; computed once."""
    return host.memo.once("arrival", lambda: arrival(host.name, host.space))


def arrival_words(arrived: Arrival, n_bytes: int = 0) -> str:
    """The counts of a host's recorded events, on one line.

    Args:
        arrived: The counts.
        n_bytes: Size of its file; omitted if 0.
    """
    devices = [events for name, events in arrived.planes if name.startswith(DEVICE_PREFIXES)]
    busy = sum(map(bool, devices))
    used = f"{busy} of {plural(len(devices), 'device')} busy" if devices else "no device"
    total = sum(events for _, events in arrived.planes)
    parts = [
        _counted(total, "event"),
        used,
        _counted(arrived.steps, "marked step"),
        _counted(arrived.ops, "op"),
        *([_counted(arrived.kernels, "kernel")] if devices else []),
        *([f"{human_count(arrived.dropped)} dropped"] if arrived.dropped else []),
        f"{human_time(round(arrived.covered_us))} covered",
        *([human_memory(n_bytes)] if n_bytes else []),
    ]
    return ", ".join(parts)


def _counted(count: int, noun: str) -> str:
    return f"{human_count(count) if count else 'no'} {noun}{'' if count == 1 else 's'}"


def _with_stat(plane: Plane, name: str) -> int:
    """Events of a plane that have a stat."""
    if not len(plane.events) or not plane.stat_metadata.keys_of(name):
        return 0
    return len(plane.stat(name).events)


def _ops(plane: Plane) -> int:
    names = plane.event_metadata.names
    ops = [parse_op_name(name) if ":" in name else None for name in names]
    is_op = [op is not None and op.kind is not OpKind.UNKNOWN for op in ops]
    types = {op.type for op in ops if op is not None}
    for row, name in enumerate(names):
        eager = _EAGER.fullmatch(name)
        is_op[row] |= eager is not None and eager[1] not in types  # else the op has its own events
    counted = np.array([*is_op, False], np.bool_)[plane.metadata_rows]
    if plane.stat_metadata.keys_of("hlo_op"):
        counted[plane.stat("hlo_op").events] = True
    return int(counted.sum())


def _covered_ps(space: XSpace) -> int:
    axis = time_axis(space)
    first, last = [], []
    for number, plane in enumerate(space.planes):
        events = plane.events
        kept = ~np.asarray(events.is_aggregated, np.bool_)
        possible = axis.is_possible(number)
        if possible is not None:
            kept &= possible
        if kept.any():
            starts = axis.starts_ps(number)[kept]
            first.append(int(starts.min()))
            last.append(int((starts + events.durations_ps[kept]).max()))
    return max(last) - min(first) if first else 0


def as_record(
    arrivals: Iterable[Arrival],
    sizes: Mapping[str, int],
    notes: Iterable[Note],
    options: Mapping[str, Any],
) -> str:
    """The text of ``capture.json``.

    Args:
        arrivals: The counts, by host.
        sizes: Bytes of each host's file.
        notes: Notes on missing parts.
        options: The requested options.
    """
    said = list(notes)
    hosts = []
    for each in arrivals:
        planes = [{"name": name, "events": events} for name, events in each.planes]
        hosts.append({**asdict(each), "planes": planes, "bytes": sizes.get(each.host)})
    document = {
        "version": VERSION,
        "options": dict(options),
        "hosts": sorted(hosts, key=lambda host: str(host["host"])),
        "missing": [asdict(note) for note in said],
    }
    return json.dumps(document, indent=1, sort_keys=True) + "\n"
