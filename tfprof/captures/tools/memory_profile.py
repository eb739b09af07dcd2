"""Memory profile: what allocators held over time, and what was in use at the peak."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from tfprof.captures.events.ops.memory import (
    ALLOCATION,
    DEALLOCATION,
    LiveMemory,
    MemoryEvents,
    Peak,
    dtype_name,
    live_at,
    memory_events,
    peak_of,
    sampled,
)
from tfprof.captures.events.timeline.names import TENSOR_CORE
from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.one_step import groups_at
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import Steps
from tfprof.captures.run.fact import fact
from tfprof.captures.run.result import Chart, Note, ToolResult
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.errors import UsageError
from tfprof.text import how_to_capture
from tfprof.text.units import human_memory, human_share, milliseconds

_NO_DTYPE = "INVALID"
_PREALLOCATED = "unused preallocated device memory"

SUMMARY = (
    Column("host", "Host", "string"),
    Column("allocator", "Allocator", "string"),
    Column("allocations", "Allocations"),
    Column("deallocations", "Deallocations"),
    Column("capacity_bytes", "Capacity", unit="bytes"),
    Column("peak_lifetime_bytes", "Peak since start of the program", unit="bytes"),
    Column("peak_bytes", "Peak in the capture", unit="bytes"),
    Column("peak_time_ms", "Time of the peak", unit="ms"),
    Column("stack_bytes", "Stack at the peak", unit="bytes"),
    Column("heap_bytes", "Heap at the peak", unit="bytes"),
    Column("free_bytes", "Free at the peak", unit="bytes"),
    Column("fragmentation", "Fragmentation at the peak", unit="fraction"),
)

BREAKDOWN = (
    Column("host", "Host", "string"),
    Column("allocator", "Allocator", "string"),
    Column("op", "Op", "string"),
    Column("allocation_bytes", "Allocated", unit="bytes"),
    Column("requested_bytes", "Requested", unit="bytes"),
    Column("occurrences", "Occurrences"),
    Column("region", "Region", "string"),
    Column("dtype", "Data type", "string"),
    Column("shape", "Shape", "string"),
)


class _Allocator(NamedTuple):
    host: Host
    name: str
    events: MemoryEvents
    peak: Peak
    live: LiveMemory
    whole: MemoryEvents
    """Its events in the whole capture, in which rows of ``live`` are indices."""
    step: int
    """Group of the peak; of several equal peaks in classic mode that of the last."""


class _Told(NamedTuple):
    """What is said of an allocator, without its events."""

    host: Host
    name: str
    n_allocations: int
    n_deallocations: int
    capacity_bytes: int
    lifetime_bytes: int
    used_bytes: int
    """At the peak, as all that follow."""
    time_ps: int
    stack_bytes: int
    heap_bytes: int
    free_bytes: int
    fragmentation: float | None
    in_use: list[tuple[_Entry, int]]
    chart_ms: list[float]
    chart_bytes: list[list[float]]
    """Of the stack, the heap, and what is free."""


class _Entry(NamedTuple):
    """Memory in use at the peak, with its sort key first."""

    allocation_bytes: int
    requested_bytes: int
    op: str
    region: str
    dtype: str
    shape: str
    place: int
    """Index of the allocation; -1 and -2 for memory without an allocation in the capture."""

    def key(self) -> tuple[int, int, str, str, str, str]:
        return (-self.allocation_bytes, -self.requested_bytes, *self[2:6])


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

    def with_events() -> list[_Allocator]:
        return _with_events(run, hosts, step, classic=classic)

    if step is None:
        allocators = [told for one in hosts for told in _of_host(one, classic=classic)]
    else:
        allocators = list(map(_told, with_events()))
    if not classic:
        allocators.sort(key=lambda one: -one.used_bytes)
    notes = list(run.notes)
    if not allocators:
        notes.append(
            Note("warning", "no allocations in this capture: GPU and TPU allocators record them; "
                 f"for those of a CPU {how_to_capture.ALLOCATIONS}")
        )  # fmt: skip
    summary = [_summary(allocator) for allocator in allocators]
    moment = "the peak" if at_ms is None else milliseconds(at_ms)
    looked_at = allocators
    if at_ms is not None:
        looked_at = [_told(_at(each, at_ms)) for each in with_events()]
    in_use = [row for allocator in looked_at for row in _rows(allocator)]
    return ToolResult(
        "memory",
        "Memory profile",
        verdict=tuple(_sentence(allocator) for allocator in allocators),
        tables={
            "summary": Table("summary", SUMMARY, summary, title="Allocators"),
            "peak": Table("peak", BREAKDOWN, in_use, title=f"In use at {moment}"),
        },
        charts=tuple(map(_chart, allocators)),
        notes=tuple(notes),
        gviz=lambda: _reference_json(run, hosts, with_events, classic=classic),
    )  # fmt: skip


@fact
def _of_host(host: Host, *, classic: bool) -> list[_Told]:
    """The allocators of a host in the whole capture."""
    return list(map(_told, _allocators(host, classic=classic)))


def _with_events(
    run: Run, hosts: Sequence[Host], step: Steps | None, *, classic: bool
) -> list[_Allocator]:
    """The allocators of some hosts, the fullest first, with their events in a step, or all."""
    allocators = [allocator for one in hosts for allocator in _allocators(one, classic=classic)]
    if step is not None:
        steps = run_steps(run, classic=classic)
        wanted = groups_at(steps, steps.places(step))
        allocators = [
            within
            for allocator in allocators
            for within in _in_step(allocator, wanted.get(allocator.host.name, set()))
        ]
    if not classic:
        allocators.sort(key=lambda one: -int(one.events.used_bytes[one.peak.place]))
    return allocators


def _allocators(host: Host, *, classic: bool) -> list[_Allocator]:
    """The allocators of a host with their events, worked out once."""
    return host.memo.once(("memory", classic), lambda: _found_allocators(host, classic))


def _found_allocators(host: Host, classic: bool) -> list[_Allocator]:
    allocators: list[_Allocator] = []
    if not {ALLOCATION, DEALLOCATION} & set(host.timeline.names):
        return allocators  # without finding the steps
    groups = host.groups(classic=classic)
    for name, events in memory_events(host.timeline, groups, classic=classic).items():
        peak = peak_of(events, classic=classic)
        highest = np.flatnonzero(events.used_bytes == events.used_bytes[peak.place])
        step = int(events.step[highest[-1]])
        live = live_at(events, peak.place, only_step=step if classic else None)
        allocators.append(_Allocator(host, name, events, peak, live, events, step))
    return allocators


def _in_step(allocator: _Allocator, groups: Collection[int]) -> Iterator[_Allocator]:
    """An allocator with only its events in some steps, if there are any."""
    rows = np.flatnonzero(np.isin(allocator.events.step, list(groups)))
    if not len(rows):
        return
    events = allocator.events.take(rows)
    peak = peak_of(events)
    live = live_at(allocator.events, int(rows[peak.place]))
    at_peak = int(events.step[peak.place])
    yield allocator._replace(
        events=events, peak=peak, live=live, whole=allocator.events, step=at_peak
    )


def _at(allocator: _Allocator, at_ms: float) -> _Allocator:
    """An allocator as if the moment were its peak; before its first event that is the moment."""
    events = allocator.whole
    place = int(np.searchsorted(events.time_ps, round(at_ms * 1e9), side="right")) - 1
    place = max(place, 0)
    peak = allocator.peak._replace(place=place)
    return allocator._replace(events=events, peak=peak, live=live_at(events, place))


def _told(allocator: _Allocator) -> _Told:
    """What is said of an allocator."""
    events, peak = allocator.events, allocator.peak
    at = peak.place
    n_allocations = int(events.is_allocation.sum())
    fragmentation = float(events.fragmentation[at])
    rows = sampled(events.used_bytes)
    drawn = (events.stack_bytes, events.heap_bytes, events.free_bytes)
    return _Told(
        allocator.host, allocator.name, n_allocations, len(events) - n_allocations,
        peak.capacity_bytes, peak.lifetime_bytes, int(events.used_bytes[at]),
        int(events.time_ps[at]), int(events.stack_bytes[at]), int(events.heap_bytes[at]),
        int(events.free_bytes[at]), fragmentation if math.isfinite(fragmentation) else None,
        _entries(allocator), (events.time_ps[rows] / 1e9).tolist(),
        [column[rows].astype(float).tolist() for column in drawn],
    )  # fmt: skip


def _sentence(told: _Told) -> str:
    said = f"{told.name} on {told.host.name} held at most {human_memory(told.used_bytes)}"
    if told.capacity_bytes:
        share = human_share(told.used_bytes, told.capacity_bytes)
        said += f", {share} of its {human_memory(told.capacity_bytes)}"
    return f"{said}, at {milliseconds(told.time_ps / 1e9)}."


def _summary(told: _Told) -> tuple[Cell, ...]:
    return (
        told.host.name, told.name, told.n_allocations, told.n_deallocations, told.capacity_bytes,
        told.lifetime_bytes, told.used_bytes, told.time_ps / 1e9, told.stack_bytes,
        told.heap_bytes, told.free_bytes, told.fragmentation,
    )  # fmt: skip


def _entries(allocator: _Allocator) -> list[tuple[_Entry, int]]:
    """Memory in use at the peak; equal entries as one with their number."""
    events, stack = allocator.whole, int(allocator.events.stack_bytes[allocator.peak.place])
    entries = []
    for row in allocator.live.rows.tolist():
        op, region, shape = (events.texts[place] for place in events.text[row].tolist())
        entries.append(
            _Entry(
                int(events.allocated_bytes[row]), int(events.requested_bytes[row]), op, region,
                dtype_name(int(events.dtype[row])), shape, row,
            )
        )  # fmt: skip
    rest, special = allocator.live.unknown_bytes, -1
    if rest > 0:
        entries.append(
            _Entry(rest, rest, _PREALLOCATED, "persist/dynamic", _NO_DTYPE, "unknown", special)
        )
        special -= 1
    if stack > 0:
        entries.append(_Entry(stack, stack, "stack", "stack", _NO_DTYPE, "unknown", special))
    groups = groupby(sorted(entries, key=_Entry.key), key=_Entry.key)
    equal = [list(entries) for _, entries in groups]
    return [(entries[0], len(entries)) for entries in equal]


def _rows(told: _Told) -> list[tuple[Cell, ...]]:
    names = {_PREALLOCATED: "(allocated before the capture began)", "stack": "(stack)"}
    return [
        (
            told.host.name, told.name,
            names.get(entry.op, entry.op) if entry.place < 0 else entry.op or "(unknown op)",
            entry.allocation_bytes, entry.requested_bytes, number,
            entry.region, "" if entry.dtype == _NO_DTYPE else entry.dtype, entry.shape,
        )
        for entry, number in told.in_use
    ]  # fmt: skip


def _chart(told: _Told) -> Chart:
    stack, heap, free = map(tuple, told.chart_bytes)
    return Chart(
        f"timeline {told.host.name} {told.name}",
        "stacked_area",
        f"Memory of {told.name} on {told.host.name}",
        "time, ms",
        "bytes",
        tuple(told.chart_ms),
        {"stack": stack, "heap": heap, "free": free},
    )


def _reference_json(
    run: Run,
    hosts: Sequence[Host],
    with_events: Callable[[], Sequence[_Allocator]],
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


def _allocator_json(allocator: _Allocator) -> dict[str, Any]:
    events, peak = allocator.events, allocator.peak
    at = peak.place
    entries = _entries(allocator)
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
