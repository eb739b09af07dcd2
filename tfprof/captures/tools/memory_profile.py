"""Memory profile: the memory that allocators held over time, and the allocations at the peak."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from tfprof.captures.events.ops.memory import (
    MOST_ALLOCATORS,
)
from tfprof.captures.facts.allocators import (
    NO_DTYPE,
    PREALLOCATED,
    Allocator,
    ToldAllocator,
    allocators_with_events,
    at_moment,
    told_allocators,
    told_of,
)
from tfprof.captures.facts.steps import Steps
from tfprof.captures.rules import Rules
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text
from tfprof.captures.run.reference_json import reference_json
from tfprof.captures.run.result import Chart, Note, ToolResult, scope_of
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Cell, Table
from tfprof.core.text import how_to_capture
from tfprof.core.text.claims import Claim
from tfprof.core.text.units import milliseconds

FRAGMENTATION: Final = "fragmentation"
"""How names of charts of free pieces begin."""

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
    """Show the memory of each allocator over time, and its use at the peak, the fullest first.

    Args:
        run: The run.
        host: Only this host.
        step: Only events in the step with this number, or in the steps with these numbers. The
            allocations at the peak include earlier ones that are still in use.
        classic: The reference's numbers: only allocations in the step of the peak have names, and
            times count from the beginning of each thread.

        at_ms: The table ``peak`` shows the memory in use at this moment instead of at the peak;
            in milliseconds, as in the charts.

    Raises:
        UsageError: There is no such host or step.
    """
    run = run.in_mode(classic=classic)
    hosts = run.chosen(host)

    def with_events() -> list[Allocator]:
        return allocators_with_events(run, hosts, step)

    if step is None:
        allocators = [told for one in hosts for told in told_allocators(one)]
    else:
        allocators = list(map(told_of, with_events()))
    if not run.rules.keeps_allocator_order:
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
        charts=tuple(chart for each in allocators for chart in _charts(each, run.rules)),
        notes=tuple(notes),
        gviz=reference_json("memory", run, hosts, with_events),
    )  # fmt: skip


def allocator_tables(
    allocators: Sequence[ToldAllocator],
    looked_at: Sequence[ToldAllocator] | None = None,
    moment: str = "the peak",
) -> dict[str, Table]:
    """Make the tables of some allocators.

    Args:
        allocators: Their descriptions.
        looked_at: Their descriptions at the moment that the table ``peak`` shows.
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


def _charts(told: ToldAllocator, rules: Rules) -> Iterator[Chart]:
    """Memory over time, and in which pieces its free part is, if that was recorded."""
    stack, heap, free = map(tuple, told.chart_bytes.tolist())
    yield Chart(
        f"timeline {told.host.name} {told.name}",
        "stacked_area",
        f"Memory of {told.name} on {told.host.name}",
        "time, ms",
        "bytes",
        tuple(told.chart_ms.tolist()),
        {"stack": stack, "heap": heap, "free": free},
    )
    is_known = np.isfinite(told.chart_fragmentation)
    if rules.keeps_unknown_fragmentation or not is_known.any():
        return
    all_free = told.chart_bytes[2]
    outside = np.where(is_known, np.nan_to_num(told.chart_fragmentation) * all_free, 0)
    parts = {
        "largest free piece": np.where(is_known, all_free - outside, 0),
        "other free pieces": outside,
        "free, in unknown pieces": np.where(is_known, 0, all_free),
    }
    yield Chart(
        f"{FRAGMENTATION} {told.host.name} {told.name}",
        "stacked_area",
        f"Free memory of {told.name} on {told.host.name}, by its pieces",
        "time, ms",
        "bytes",
        tuple(told.chart_ms.tolist()),
        {name: tuple(values.tolist()) for name, values in parts.items() if values.any()},
    )
