"""The memory that runs of ops allocated, in the form of run metadata."""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.ops.op_memory import OpMemory, allocator_uses
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.compact import CompactColumn
from tfprof.profiles.model.runs import AllocationColumns, AllocatorColumns


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
    uses = allocator_uses(memory, place_of)
    allocators = AllocatorColumns(
        kept(uses.runs),
        kept(uses.allocators),
        kept(uses.total_bytes),
        kept(uses.peak_bytes),
        kept(uses.live_bytes),
        kept(uses.in_use_bytes),
    )
    micros = (base_ns + memory.start_ps[uses.order] // 1000) // 1000
    sizes = memory.sizes[uses.order]
    return allocators, AllocationColumns(kept(uses.use_of), kept(micros), kept(sizes))


def kept(values: Int64Array) -> CompactColumn:
    """A column of a run."""
    return CompactColumn(np.ascontiguousarray(values, np.int64), 0, len(values))
