"""One run as columns: what a reader of run metadata hands to the profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfprof.model.columns import BoolArray, Int64Array, no_rows


class KnownNames(NamedTuple):
    """What a reader of run metadata has to know of the ops so far.

    Attributes:
        find: Gives the ids of names, as the reader holds them (``TextIndex.find``); -1 for those
            that are unknown.
        is_op: Whether a name is that of an op, by name id; other names are only mentioned as
            somebody's input. The last element stands for unknown names, id -1.
        shapes_wanted: Whether the run-time output shapes of the op are wanted, likewise.
    """

    find: Callable[[Any], Int64Array]
    is_op: BoolArray
    shapes_wanted: BoolArray


@dataclass(frozen=True, slots=True)
class OutputColumns:
    """Outputs with an allocation description, in the order of their stats.

    Attributes:
        stats: Place of the stat.
        slots: Output index.
        sizes: Bytes.
        addresses: Address, an unsigned number seen as int64.
    """

    stats: Int64Array = field(default_factory=no_rows)
    slots: Int64Array = field(default_factory=no_rows)
    sizes: Int64Array = field(default_factory=no_rows)
    addresses: Int64Array = field(default_factory=no_rows)


@dataclass(frozen=True, slots=True)
class AllocatorColumns:
    """Allocators that stats mention, in the order of the stats.

    Attributes:
        stats: Place of the stat.
        name_ids: Index in ``RunColumns.allocators``.
        bytes_in_use: Bytes handed out when the op ended.
    """

    stats: Int64Array = field(default_factory=no_rows)
    name_ids: Int64Array = field(default_factory=no_rows)
    bytes_in_use: Int64Array = field(default_factory=no_rows)


@dataclass(frozen=True, slots=True)
class AllocationColumns:
    """Allocations and deallocations, in the order of the stats.

    Attributes:
        stats: Place of the stat.
        name_ids: Allocator, an index in ``RunColumns.allocators``.
        micros: Time.
        sizes: Bytes, negative for a deallocation.
    """

    stats: Int64Array = field(default_factory=no_rows)
    name_ids: Int64Array = field(default_factory=no_rows)
    micros: Int64Array = field(default_factory=no_rows)
    sizes: Int64Array = field(default_factory=no_rows)


@dataclass(slots=True)
class RunColumns:
    """What a reader takes out of one RunMetadata: one entry per node stat, in message order.

    Attributes:
        devices: Device name and number of node stats of each device block.
        name_ids: Name id of each stat's node, -1 for a name that was not known.
        unknown: Place, node name and timeline label (``y = MatMul(x)``) of the stats whose name
            was not that of an op.
        start_micros: ``all_start_micros``; 0 or less means that the stat has no time.
        duration_micros: ``op_end_rel_micros``, as written (0 and negative values included).
        start_nanos: ``all_start_nanos``, 0 where the run has none.
        duration_nanos: ``op_end_rel_nanos``, 0 where the run has none.
        requested_bytes: Allocated in all, temporary and persistent memory included.
        peak_bytes: Highest sum while the op ran.
        residual_bytes: Still held when the op ended.
        output_bytes: Size of the outputs.
        temporary_bytes: Memory held only while the op ran.
        persistent_bytes: Memory that the op keeps.
        allocators: Names of allocators.
        outputs: Output buffers.
        allocator_levels: What allocators held.
        allocations: What they gave and took back.
        output_shapes: Run-time shapes by name id, for the names that were asked for; an output
            without a tensor description is None.
        fed_shapes: Shape of each tensor that was fed, by op name and output.
    """

    devices: list[tuple[str, int]] = field(default_factory=list)
    name_ids: Int64Array = field(default_factory=no_rows)
    unknown: list[tuple[int, str, str]] = field(default_factory=list)
    start_micros: Int64Array = field(default_factory=no_rows)
    duration_micros: Int64Array = field(default_factory=no_rows)
    start_nanos: Int64Array = field(default_factory=no_rows)
    duration_nanos: Int64Array = field(default_factory=no_rows)
    requested_bytes: Int64Array = field(default_factory=no_rows)
    peak_bytes: Int64Array = field(default_factory=no_rows)
    residual_bytes: Int64Array = field(default_factory=no_rows)
    output_bytes: Int64Array = field(default_factory=no_rows)
    temporary_bytes: Int64Array = field(default_factory=no_rows)
    persistent_bytes: Int64Array = field(default_factory=no_rows)
    allocators: list[str] = field(default_factory=list)
    outputs: OutputColumns = field(default_factory=OutputColumns)
    allocator_levels: AllocatorColumns = field(default_factory=AllocatorColumns)
    allocations: AllocationColumns = field(default_factory=AllocationColumns)
    output_shapes: dict[int, list[tuple[int, ...] | None]] = field(default_factory=dict)
    fed_shapes: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)
