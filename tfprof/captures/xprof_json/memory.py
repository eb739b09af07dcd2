"""The memory profile's JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tfprof.captures.events.ops.memory import MemoryEvents, dtype_name, sampled
from tfprof.captures.events.timeline.names import TENSOR_CORE
from tfprof.captures.facts.allocators import Allocator, in_use_at_peak
from tfprof.captures.facts.environment import environment
from tfprof.captures.run.run import Host, Run
from tfprof.errors import UsageError


def to_json(
    run: Run,
    hosts: Sequence[Host],
    with_events: Callable[[], Sequence[Allocator]],
) -> dict[str, Any]:
    """Make the reference's JSON, which covers one host."""
    if len(hosts) > 1:
        names = ", ".join(host.name for host in hosts)
        raise UsageError(f"the reference's memory profile is of one host; choose one of {names}")
    allocators = with_events()
    return {
        "memoryProfilePerAllocator": {
            allocator.name: _allocator_json(allocator) for allocator in allocators
        },
        "numHosts": 1 if run.rules.merges_hosts_of_machine else environment(run).n_machines,
        "memoryIds": [allocator.name for allocator in allocators],
        "version": 1,
        "hloModules": _modules(hosts[0]),
    }


def _allocator_json(allocator: Allocator) -> dict[str, Any]:
    events, peak = allocator.events, allocator.peak
    at = peak.place
    entries = in_use_at_peak(allocator)
    kept = [entry for entry, _ in entries if entry.place >= 0]
    stats = _aggregation(events, at)
    stats["peakBytesInUse"] = str(int(events.used_bytes[at]))
    special = [entry for entry, _ in entries if entry.place < 0]
    special.sort(key=lambda entry: -entry.place)
    index = {entry.place: number for number, entry in enumerate(kept)}
    step = str(allocator.step)
    return {
        "profileSummary": {
            "memoryCapacity": str(peak.capacity_bytes),
            "peakBytesUsageLifetime": str(peak.lifetime_bytes),
            "peakStats": stats,
            "peakStatsTimePs": str(int(events.time_ps[at])),
        },
        "memoryProfileSnapshots": [_snapshot(allocator.whole, entry.place) for entry in kept],
        "activeAllocations": [
            {
                "snapshotIndex": str(index.get(entry.place, entry.place)),
                "specialIndex": str(-1 - entry.place if entry.place < 0 else -1),
                "numOccurrences": str(number),
            }
            for entry, number in entries
        ],
        "specialAllocations": [
            {
                "address": "0", "allocationBytes": str(entry.allocation_bytes),
                "dataType": entry.dtype, "memoryActivity": "ALLOCATION",
                "regionType": entry.region, "requestedBytes": str(entry.requested_bytes),
                "stepId": step, "tensorShape": entry.shape, "tfOpName": entry.op,
            }
            for entry in special
        ],
        "sampledTimelineSnapshots": [
            _snapshot(events, row) for row in sampled(events.used_bytes).tolist()
        ],
    }  # fmt: skip


def _aggregation(events: MemoryEvents, row: int) -> dict[str, Any]:
    return {
        "stackReservedBytes": str(int(events.stack_bytes[row])),
        "heapAllocatedBytes": str(int(events.heap_bytes[row])),
        "freeMemoryBytes": str(int(events.free_bytes[row])),
        "fragmentation": _json_number(float(events.fragmentation[row])),
        "peakBytesInUse": str(int(events.peak_bytes[row])),
    }


def _json_number(value: float) -> float | str:
    """A number in the form that protobuf writes into JSON."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _snapshot(events: MemoryEvents, row: int) -> dict[str, Any]:
    op, region, shape = (events.texts[place] for place in events.text[row].tolist())
    return {
        "timeOffsetPs": str(int(events.time_ps[row])),
        "aggregationStats": _aggregation(events, row),
        "activityMetadata": {
            "memoryActivity": "ALLOCATION" if events.is_allocation[row] else "DEALLOCATION",
            "requestedBytes": str(int(events.requested_bytes[row])),
            "allocationBytes": str(int(events.allocated_bytes[row])),
            "address": str(int(events.address[row]) % 2**64),
            "tfOpName": op,
            "stepId": str(int(events.step[row])),
            "regionType": region,
            "dataType": dtype_name(int(events.dtype[row])),
            "tensorShape": shape,
        },
    }


def _modules(host: Host) -> list[dict[str, str]]:
    """All runs of programs on TPUs."""
    timeline = host.timeline
    modules: list[dict[str, str]] = []
    for number, line in enumerate(timeline.lines):
        plane = timeline.space.planes[line.plane].name
        if line.name != "XLA Modules" or not TENSOR_CORE.fullmatch(plane):
            continue
        events = range(timeline.events_of(number).start, timeline.events_of(number).stop)
        modules += [
            {
                "id": str(place),
                "name": timeline.name(event),
                "planeName": plane.removeprefix("/device:"),
                "startTimePs": str(int(timeline.starts_ps[event])),
                "endTimePs": str(int(timeline.ends_of(event))),
            }
            for place, event in enumerate(events, len(modules))
        ]
    return modules
