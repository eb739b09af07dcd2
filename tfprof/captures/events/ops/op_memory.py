"""Allocations and deallocations inside runs of ops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.memory import ALLOCATION, DEALLOCATION
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array

_UNNAMED = "unknown"


@dataclass(frozen=True, eq=False)
class OpMemory:
    """Allocations, and their deallocations if in the same run of an op.

    Attributes:
        runs: The run of each, ascending, shape (n,).
        allocators: Place of each one's allocator in ``names``.
        start_ps: Time of each.
        sizes: Bytes, negative for deallocations.
        in_use_bytes: Bytes in use of the allocator at that time.
        names: Names of allocators.
        n_outside: Number of allocations outside of runs of ops.
        outside_bytes: Their bytes.
    """

    runs: Int64Array
    allocators: Int64Array
    start_ps: Int64Array
    sizes: Int64Array
    in_use_bytes: Int64Array
    names: tuple[str, ...]
    n_outside: int = 0
    outside_bytes: int = 0

    def __len__(self) -> int:
        return len(self.runs)

    def take(self, rows: Int64Array) -> OpMemory:
        """Some of the allocations; ``rows`` is ascending."""
        return OpMemory(
            self.runs[rows], self.allocators[rows], self.start_ps[rows], self.sizes[rows],
            self.in_use_bytes[rows], self.names,
        )  # fmt: skip


class AllocatorUses(NamedTuple):
    """Memory of each run by allocator.

    Attributes:
        runs: Place of the run, ascending, shape (n,).
        allocators: Place of the allocator's name.
        total_bytes: Sum of all allocations.
        peak_bytes: Highest sum during the run.
        live_bytes: Bytes not freed at its end.
        in_use_bytes: Bytes in use of the allocator at its end.
        order: The allocations in the order of these uses, shape (n allocations,).
        use_of: The use of each of them.
    """

    runs: Int64Array
    allocators: Int64Array
    total_bytes: Int64Array
    peak_bytes: Int64Array
    live_bytes: Int64Array
    in_use_bytes: Int64Array
    order: Int64Array
    use_of: Int64Array


def allocator_uses(memory: OpMemory, place_of: Int64Array) -> AllocatorUses:
    """Sums by run and allocator.

    Args:
        memory: Allocations; those of a run in order of time.
        place_of: Place of the run of each, shape (n allocations,).
    """
    if not len(memory):
        none = np.zeros(0, np.int64)
        return AllocatorUses(*[none] * len(AllocatorUses._fields))
    order = np.lexsort((np.arange(len(memory)), memory.allocators, place_of))
    place, allocator, sizes = place_of[order], memory.allocators[order], memory.sizes[order]
    is_first = (np.diff(place, prepend=-1) != 0) | (np.diff(allocator, prepend=-1) != 0)
    begins = np.flatnonzero(is_first)
    held = np.cumsum(sizes)
    before = (held - sizes)[begins]
    ends = np.append(begins[1:], len(order)) - 1
    return AllocatorUses(
        place[begins],
        allocator[begins],
        np.add.reduceat(np.maximum(sizes, 0), begins),
        np.maximum(np.maximum.reduceat(held, begins) - before, 0),
        held[ends] - before,
        memory.in_use_bytes[order][ends],
        order,
        np.cumsum(is_first) - 1,
    )


def op_memory(forest: Forest, op_events: Int64Array) -> OpMemory:
    """Allocations by the run of an op around them.

    Args:
        forest: Events with their nesting.
        op_events: Runs of ops, as places in the timeline, shape (n runs,).
    """
    timeline = forest.timeline
    chosen = timeline.on_host & timeline.named((ALLOCATION, DEALLOCATION).__contains__)
    events = np.flatnonzero(chosen)
    run_of = np.full(len(timeline), -1, np.int64)
    run_of[op_events] = np.arange(len(op_events))
    runs = forest.nesting.nearest(run_of)[events] if len(events) else events
    allocators, names = _allocators(timeline, events)
    is_allocation = timeline.named(ALLOCATION.__eq__)[events]
    sizes = timeline.stat("allocation_bytes").at(events)
    freed = _freed_by(timeline, events, allocators, is_allocation)
    has_owner = freed >= 0
    # A deallocation in another run is left out: for the allocating run, the memory stayed.
    own = ~is_allocation & has_owner & (runs[freed] == runs)
    sizes = np.where(is_allocation, sizes, -sizes[freed])
    kept = np.flatnonzero((runs >= 0) & (is_allocation | own))
    kept = kept[np.lexsort((timeline.starts_ps[events[kept]], runs[kept]))]
    outside = is_allocation & (runs < 0)
    in_use = timeline.stat("bytes_allocated").at(events)
    return OpMemory(
        runs[kept], allocators[kept], timeline.starts_ps[events[kept]], sizes[kept],
        in_use[kept], names, int(outside.sum()), int(sizes[outside].sum()),
    )  # fmt: skip


def _allocators(timeline: Timeline, events: Int64Array) -> tuple[Int64Array, tuple[str, ...]]:
    stat = timeline.stat("allocator_name")
    texts = stat.texts_at(events)
    names = (*stat.texts, _UNNAMED)
    return np.where(texts < 0, len(names) - 1, texts), names


def _freed_by(
    timeline: Timeline, events: Int64Array, allocators: Int64Array, is_allocation: BoolArray
) -> Int64Array:
    """The allocation that each deallocation frees, -1 if it is not in the capture."""
    addresses = timeline.stat("addr").at(events)
    order = np.lexsort((is_allocation, timeline.starts_ps[events], addresses, allocators))
    previous = np.full(len(events), -1, np.int64)
    before, after = order[:-1], order[1:]
    same = (addresses[before] == addresses[after]) & (allocators[before] == allocators[after])
    ends = same & is_allocation[before] & ~is_allocation[after]
    previous[after[ends]] = before[ends]
    return previous
