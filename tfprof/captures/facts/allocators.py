"""Memory that the allocators of a host held over time, and at their peak; computed once."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.memory import (
    ALLOCATION,
    DEALLOCATION,
    LiveMemory,
    MemoryEvents,
    Peak,
    dtype_name,
    fullest_share,
    live_at,
    memory_events,
    peak_of,
    sampled,
)
from tfprof.captures.facts.one_step import groups_at
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import Steps
from tfprof.captures.run.fact import fact, fact_by_rules
from tfprof.captures.run.run import Host, Run
from tfprof.core.columns.intervals import Float64Array

NO_DTYPE = "INVALID"
PREALLOCATED = "unused preallocated device memory"

_LATEST_PS = float(1 << 62)


class Allocator(NamedTuple):
    """An allocator of a host with its events in the whole capture, or in some steps."""

    host: Host
    name: str
    events: MemoryEvents
    peak: Peak
    live: LiveMemory
    whole: MemoryEvents
    """Its events in the whole capture, in which rows of ``live`` are indices."""
    step: int
    """Group of the peak. Of several equal peaks, the rules of the reference take the last one."""


class ToldAllocator(NamedTuple):
    """The data on an allocator that tools show, without its events."""

    host: Host
    name: str
    n_allocations: int
    n_deallocations: int
    capacity_bytes: int
    lifetime_bytes: int
    used_bytes: int
    """At the peak, as all fields that follow."""
    time_ps: int
    stack_bytes: int
    heap_bytes: int
    free_bytes: int
    fragmentation: float | None
    in_use: list[tuple[InUse, int]]
    chart_ms: Float64Array
    chart_bytes: Float64Array
    """Stack, heap and free memory, shape (3, n)."""
    chart_fragmentation: Float64Array
    """Part of the free memory outside its largest piece, shape (n,); NaN where unknown."""

    def without_chart(self) -> ToldAllocator:
        """The same without the chart, which takes most of its memory."""
        return self._replace(
            chart_ms=np.zeros(0), chart_bytes=np.zeros((3, 0)), chart_fragmentation=np.zeros(0)
        )


class InUse(NamedTuple):
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
        """Sort key, the largest first; equal entries have the same key."""
        return (-self.allocation_bytes, -self.requested_bytes, *self[2:6])


@fact_by_rules
def told_allocators(host: Host) -> list[ToldAllocator]:
    """The allocators of a host in the whole capture."""
    return list(map(told_of, allocators_of(host)))


@fact
def most_used_share(host: Host) -> float:
    """Upper bound of the part of its capacity that an allocator of a host held at its peak.

    Most programs are far from their limits: then the allocations themselves need no look.
    """
    return fullest_share(host.timeline) if _has_memory(host) else 0.0


def _has_memory(host: Host) -> bool:
    return bool({ALLOCATION, DEALLOCATION} & set(host.timeline.names))


def allocators_with_events(run: Run, hosts: Sequence[Host], step: Steps | None) -> list[Allocator]:
    """The allocators of some hosts, the fullest first, with their events in a step, or all."""
    allocators = [allocator for one in hosts for allocator in allocators_of(one)]
    if step is not None:
        steps = run_steps(run)
        wanted = groups_at(steps, steps.places(step))
        allocators = [
            within
            for allocator in allocators
            for within in _in_step(allocator, wanted.get(allocator.host.name, set()))
        ]
    if not run.rules.keeps_allocator_order:
        allocators.sort(key=lambda one: -int(one.events.used_bytes[one.peak.place]))
    return allocators


def allocators_of(host: Host) -> list[Allocator]:
    """The allocators of a host with their events; computed once."""
    return host.memo.once("memory", lambda: _found_allocators(host))


def _found_allocators(host: Host) -> list[Allocator]:
    allocators: list[Allocator] = []
    if not _has_memory(host):
        return allocators  # before the costly search for steps
    rules = host.rules
    for name, events in memory_events(host.timeline, host.groups(), rules=rules).items():
        peak = peak_of(events, rules=rules)
        highest = np.flatnonzero(events.used_bytes == events.used_bytes[peak.place])
        step = int(events.step[highest[-1]])
        live = live_at(events, peak.place, only_step=step if rules.names_one_step else None)
        allocators.append(Allocator(host, name, events, peak, live, events, step))
    return allocators


def _in_step(allocator: Allocator, groups: Collection[int]) -> Iterator[Allocator]:
    """An allocator with only its events in some steps; nothing if it has none there."""
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


def at_moment(allocator: Allocator, at_ms: float) -> Allocator:
    """The allocator with its peak moved to a moment; at the earliest its first event."""
    events = allocator.whole
    at_ps = round(min(max(at_ms * 1e9, 0.0), _LATEST_PS))
    place = max(int(np.searchsorted(events.time_ps, at_ps, side="right")) - 1, 0)
    peak = allocator.peak._replace(place=place)
    return allocator._replace(events=events, peak=peak, live=live_at(events, place))


def told_of(allocator: Allocator) -> ToldAllocator:
    """The data on an allocator that tools show."""
    events, peak = allocator.events, allocator.peak
    at = peak.place
    n_allocations = int(events.is_allocation.sum())
    fragmentation = float(events.fragmentation[at])
    rows = sampled(events.used_bytes)
    drawn = (events.stack_bytes, events.heap_bytes, events.free_bytes)
    return ToldAllocator(
        allocator.host, allocator.name, n_allocations, len(events) - n_allocations,
        peak.capacity_bytes, peak.lifetime_bytes, int(events.used_bytes[at]),
        int(events.time_ps[at]), int(events.stack_bytes[at]), int(events.heap_bytes[at]),
        int(events.free_bytes[at]), fragmentation if math.isfinite(fragmentation) else None,
        in_use_at_peak(allocator), events.time_ps[rows] / 1e9,
        np.stack([column[rows].astype(np.float64) for column in drawn]),
        events.fragmentation[rows],
    )  # fmt: skip


def in_use_at_peak(allocator: Allocator) -> list[tuple[InUse, int]]:
    """Memory in use at the peak; equal entries are one entry with a count."""
    events, stack = allocator.whole, int(allocator.events.stack_bytes[allocator.peak.place])
    entries = []
    for row in allocator.live.rows.tolist():
        op, region, shape = (events.texts[place] for place in events.text[row].tolist())
        entries.append(
            InUse(
                int(events.allocated_bytes[row]), int(events.requested_bytes[row]), op, region,
                dtype_name(int(events.dtype[row])), shape, row,
            )
        )  # fmt: skip
    rest, special = allocator.live.unknown_bytes, -1
    if rest > 0:
        entries.append(
            InUse(rest, rest, PREALLOCATED, "persist/dynamic", NO_DTYPE, "unknown", special)
        )
        special -= 1
    if stack > 0:
        entries.append(InUse(stack, stack, "stack", "stack", NO_DTYPE, "unknown", special))
    groups = groupby(sorted(entries, key=InUse.key), key=InUse.key)
    equal = [list(entries) for _, entries in groups]
    return [(entries[0], len(entries)) for entries in equal]
