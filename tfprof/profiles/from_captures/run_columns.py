"""Runs of ops in the form of run metadata: by device, with the memory that they allocated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.op_memory import OpMemory
from tfprof.captures.events.ops.op_runs import OpRuns
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.columns.columns import Int64Array
from tfprof.columns.compact import CompactColumn
from tfprof.profiles.model.runs import AllocationColumns, AllocatorColumns


class Block(NamedTuple):
    """Runs on one device of the profile.

    Attributes:
        device: Its name.
        runs: Places in the runs of all.
    """

    device: str
    runs: Int64Array


def blocks_of(
    job: str, timeline: Timeline, on_host: OpRuns, on_devices: Mapping[int, OpRuns]
) -> list[Block]:
    """Runs by device, with the device names of run metadata.

    Host events of an op with kernels count on the op's device, as launches.
    """
    device_of = _main_devices(on_devices)
    planes = timeline.space.planes
    names = [f"{job}/device:CPU:0", *(job + planes[plane].name for plane in on_devices)]
    places = {plane: number for number, plane in enumerate(on_devices, 1)}
    of_op = np.array(
        [places.get(device_of.get(op.name, -1), 0) for op in on_host.names] or [0], np.int64
    )
    device = of_op[on_host.ops] if len(on_host) else on_host.ops
    blocks = [Block(name, np.flatnonzero(device == n)) for n, name in enumerate(names)]
    before = len(on_host)
    for name, runs in zip(names[1:], on_devices.values(), strict=True):
        blocks += _streams(name, timeline, runs, before)
        before += len(runs)
    return blocks


def _main_devices(on_devices: Mapping[int, OpRuns]) -> dict[str, int]:
    """The GPU on which each op spent the most time."""
    longest: dict[str, tuple[int, int]] = {}
    for plane, runs in on_devices.items():
        known = runs.ops >= 0
        times = np.zeros(len(runs.names), np.int64)
        np.add.at(times, runs.ops[known], runs.durations_ps[known])
        for op, time in zip(runs.names, times.tolist(), strict=True):
            if time > longest.get(op.name, (-1, -1))[0]:
                longest[op.name] = (time, plane)
    return {name: plane for name, (_, plane) in longest.items()}


def _streams(device: str, timeline: Timeline, runs: OpRuns, before: int) -> list[Block]:
    """Kernels of all streams, copies, and both by stream."""
    blocks = [
        Block(f"{device}/stream:all", before + np.flatnonzero(~runs.is_copy)),
        Block(f"{device}/memcpy", before + np.flatnonzero(runs.is_copy)),
    ]
    line_of = timeline.line_of[runs.events]
    for line in np.unique(line_of).tolist():
        own = np.flatnonzero(line_of == line)
        blocks.append(Block(f"{device}/stream:{timeline.lines[line].id}", before + own))
    return blocks


def memory_columns(
    memory: OpMemory, stats: Int64Array, base_ns: int
) -> tuple[AllocatorColumns, AllocationColumns]:
    """Memory of some runs; a run with memory is in one place only.

    Args:
        memory: What these runs allocated.
        stats: The runs, in the order of their stats.
        base_ns: When the capture began.
    """
    if not len(memory):
        return AllocatorColumns(), AllocationColumns()
    by_run = np.argsort(stats, kind="stable")
    place_of = by_run[np.searchsorted(stats, memory.runs, sorter=by_run)]
    rows = np.lexsort((np.arange(len(memory)), memory.allocators, place_of))
    stat, allocator, sizes = place_of[rows], memory.allocators[rows], memory.sizes[rows]
    begins = np.flatnonzero(
        (np.diff(stat, prepend=-1) != 0) | (np.diff(allocator, prepend=-1) != 0)
    )
    owner = np.cumsum(np.isin(np.arange(len(rows)), begins)) - 1
    held = np.cumsum(sizes)
    before = (held - sizes)[begins]
    ends = np.append(begins[1:], len(rows)) - 1
    allocators = AllocatorColumns(
        kept(stat[begins]),
        kept(allocator[begins]),
        kept(np.add.reduceat(np.maximum(sizes, 0), begins)),
        kept(np.maximum(np.maximum.reduceat(held, begins) - before, 0)),
        kept(held[ends] - before),
        kept(memory.in_use_bytes[rows][ends]),
    )
    micros = (base_ns + memory.start_ps[rows] // 1000) // 1000
    return allocators, AllocationColumns(kept(owner), kept(micros), kept(sizes))


def kept(values: Int64Array) -> CompactColumn:
    """A column of a run."""
    return CompactColumn(np.ascontiguousarray(values, np.int64), 0, len(values))
