"""Memory profile: what allocators held over time, and what was in use at the peak."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tfprof.captures.events.ops.memory import (
    MOST_ALLOCATORS,
    MemoryEvents,
    dtype_name,
    sampled,
)
from tfprof.captures.events.timeline.names import TENSOR_CORE
from tfprof.captures.facts.allocators import (
    NO_DTYPE,
    PREALLOCATED,
    Allocator,
    ToldAllocator,
    allocators_with_events,
    at_moment,
    in_use_at_peak,
    told_allocators,
    told_of,
)
from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.steps import Steps
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text
from tfprof.captures.run.result import Chart, Note, ToolResult, scope_of
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Table
from tfprof.core.text import how_to_capture
from tfprof.core.text.claims import Claim
from tfprof.core.text.units import milliseconds
from tfprof.errors import UsageError

_ALLOCATOR = text("allocator", "Allocator", "name of the allocator")

SUMMARY = (
    shared.HOST,
    _ALLOCATOR,
    count("allocations", "Allocations", "allocations in the capture"),
    count("deallocations", "Deallocations", "deallocations in the capture"),
    amount("capacity_bytes", "Capacity", "bytes", "stack, heap and free memory together"),
    amount("peak_lifetime_bytes", "Peak since start of the program", "bytes",
           "most in use since the allocator was made, by its statistics"),
    amount("peak_bytes", "Peak in the capture", "bytes",
           "most in use in the capture: stack and heap"),
    amount("peak_time_ms", "Time of the peak", "ms",
           "when that was, from the start of the host's events", "host"),
    amount("stack_bytes", "Stack at the peak", "bytes", "reserved memory then"),
    amount("heap_bytes", "Heap at the peak", "bytes", "memory in use then"),
    amount("free_bytes", "Free at the peak", "bytes", "free memory then"),
    amount("fragmentation", "Fragmentation at the peak", "fraction",
           "part of the free memory outside its largest piece then"),
)  # fmt: skip

BREAKDOWN = (
    shared.HOST,
    _ALLOCATOR,
    text("op", "Op", "op that allocated it", links=("op-stats",)),
    amount("allocation_bytes", "Allocated", "bytes", "size of the allocated memory, of one"),
    amount("requested_bytes", "Requested", "bytes", "size of the requested memory, of one"),
    count("occurrences", "Occurrences", "how many equal ones were in use"),
    text("region", "Region", "purpose of the memory: output, temp, persist …"),
    text("dtype", "Data type", "element type"),
    text("shape", "Shape", "dimensions of the tensor, if they were recorded"),
)


def memory(
    run: Run,
    *,
    host: str | None = None,
    step: Steps | None = None,
    classic: bool = False,
    at_ms: float | None = None,
) -> ToolResult:
    """What each allocator held over time, and what was in use at its peak, the fullest first.

    Args:
        run: The run.
        host: Only this host.
        step: Only events in the step of this number, or of these. Earlier allocations that are
            in use at its peak are named, too.
        classic: The reference's numbers: only allocations in the step of the peak are named, and
            times count from the beginning of each thread.

        at_ms: What is in use at this moment in the table ``peak``, instead of at the peak; in
            milliseconds, as in the charts.

    Raises:
        UsageError: There is no such host or step.
    """
    hosts = run.chosen(host)

    def with_events() -> list[Allocator]:
        return allocators_with_events(run, hosts, step, classic=classic)

    if step is None:
        allocators = [told for one in hosts for told in told_allocators(one, classic=classic)]
    else:
        allocators = list(map(told_of, with_events()))
    if not classic:
        allocators.sort(key=lambda one: -one.used_bytes)
    notes = list(run.notes)
    if not allocators:
        notes.append(
            Note("warning", "no allocations in this capture: GPU and TPU allocators record them; "
                 f"for those of a CPU {how_to_capture.ALLOCATIONS}")
        )  # fmt: skip
    if any(sum(told.host is one for told in allocators) == MOST_ALLOCATORS for one in hosts):
        notes.append(
            Note("warning", f"at most {MOST_ALLOCATORS} allocators of a host are shown, those with "
                 "the most events. Programs have a dozen: the file or its recorder may be faulty")
        )  # fmt: skip
    moment = "the peak" if at_ms is None else milliseconds(at_ms)
    looked_at = allocators
    if at_ms is not None:
        looked_at = [told_of(at_moment(each, at_ms)) for each in with_events()]
    return ToolResult(
        "memory",
        "Memory profile",
        claims=tuple(_claim(told, scope_of([told.host.name], step)) for told in allocators),
        tables=allocator_tables(allocators, looked_at, moment),
        charts=tuple(map(_chart, allocators)),
        notes=tuple(notes),
        gviz=lambda: _reference_json(run, hosts, with_events, classic=classic),
    )  # fmt: skip


def allocator_tables(
    allocators: Sequence[ToldAllocator],
    looked_at: Sequence[ToldAllocator] | None = None,
    moment: str = "the peak",
) -> dict[str, Table]:
    """The tables of some allocators.

    Args:
        allocators: What is said of them.
        looked_at: The same at the moment for which the table ``peak`` says what is in use.
        moment: That moment in words.
    """
    summary = [_summary(allocator) for allocator in allocators]
    in_use = [row for one in (looked_at or allocators) for row in _rows(one)]
    return {
        "summary": Table("summary", SUMMARY, summary, title="Allocators"),
        "peak": Table("peak", BREAKDOWN, in_use, title=f"In use at {moment}"),
    }


def _claim(told: ToldAllocator, scope: str) -> Claim:
    details: dict[str, str | float] = {"host": told.host.name, "at_ms": told.time_ps / 1e9}
    words = "{subject} on {host} held at most {value}"
    if told.capacity_bytes:
        details |= {
            "capacity_share": told.used_bytes / told.capacity_bytes,
            "capacity_bytes": told.capacity_bytes,
        }
        words += ", {capacity_share} of its {capacity_bytes}"
    return Claim(
        told.name, "peak_memory", told.used_bytes, "bytes", scope=scope,
        basis="what the allocator recorded", details=details, words=f"{words}, at {{at_ms}}.",
    )  # fmt: skip


def _summary(told: ToldAllocator) -> tuple[Cell, ...]:
    return (
        told.host.name, told.name, told.n_allocations, told.n_deallocations, told.capacity_bytes,
        told.lifetime_bytes, told.used_bytes, told.time_ps / 1e9, told.stack_bytes,
        told.heap_bytes, told.free_bytes, told.fragmentation,
    )  # fmt: skip


def _rows(told: ToldAllocator) -> list[tuple[Cell, ...]]:
    names = {PREALLOCATED: "(allocated before the capture began)", "stack": "(stack)"}
    return [
        (
            told.host.name, told.name,
            names.get(entry.op, entry.op) if entry.place < 0 else entry.op or "(unknown op)",
            entry.allocation_bytes, entry.requested_bytes, number,
            entry.region, "" if entry.dtype == NO_DTYPE else entry.dtype, entry.shape,
        )
        for entry, number in told.in_use
    ]  # fmt: skip


def _chart(told: ToldAllocator) -> Chart:
    stack, heap, free = map(tuple, told.chart_bytes.tolist())
    return Chart(
        f"timeline {told.host.name} {told.name}",
        "stacked_area",
        f"Memory of {told.name} on {told.host.name}",
        "time, ms",
        "bytes",
        tuple(told.chart_ms.tolist()),
        {"stack": stack, "heap": heap, "free": free},
    )


def _reference_json(
    run: Run,
    hosts: Sequence[Host],
    with_events: Callable[[], Sequence[Allocator]],
    *,
    classic: bool,
) -> dict[str, Any]:
    """The reference's answer, which is of one host."""
    if len(hosts) > 1:
        names = ", ".join(host.name for host in hosts)
        raise UsageError(f"the reference's memory profile is of one host; choose one of {names}")
    allocators = with_events()
    return {
        "memoryProfilePerAllocator": {
            allocator.name: _allocator_json(allocator) for allocator in allocators
        },
        "numHosts": 1 if classic else environment(run).n_machines,
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
    """A number as protobuf writes it into JSON."""
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
