"""One run as columns: what a reader of run metadata hands to the profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.core.columns.compact import CompactColumn
from tfprof.core.columns.shapes import OutputShapes


class KnownNames(NamedTuple):
    """What a reader of run metadata needs to know about the ops so far.

    Attributes:
        find: Gives the id of each name, -1 for an unknown one (``TextIndex.find``).
        is_op: Whether a name is that of an op, by name id; other names only occur as inputs. The
            last element is for unknown names, id -1.
        shapes_wanted: Whether the run-time output shapes of the op are wanted, by name id, too.
        new_shapes: Gives the output shapes that no earlier run has shown (``SeenShapes.take_new``).
    """

    find: Callable[[Any], Int64Array]
    is_op: BoolArray
    shapes_wanted: BoolArray
    new_shapes: Callable[[Int64Array, Any, BoolArray], list[tuple[int, OutputShapes]]]


@dataclass(frozen=True, slots=True)
class OutputColumns:
    """Outputs with an allocation description, in the order of their stats.

    Attributes:
        stats: Place of the stat.
        slots: Output index.
        sizes: Bytes.
        addresses: Address, an unsigned number seen as int64.
    """

    stats: CompactColumn = field(default_factory=CompactColumn)
    slots: CompactColumn = field(default_factory=CompactColumn)
    sizes: CompactColumn = field(default_factory=CompactColumn)
    addresses: CompactColumn = field(default_factory=CompactColumn)


@dataclass(frozen=True, slots=True)
class AllocatorColumns:
    """Allocators that stats mention, in the order of the stats.

    Attributes:
        stats: Place of the stat.
        name_ids: Index in ``RunColumns.allocator_names``; 0 for an allocator whose name is not
            needed, because it has neither a level nor allocations.
        total_bytes: Allocated in all.
        peak_bytes: Highest sum while the op ran.
        live_bytes: Still held when the op ended.
        bytes_in_use: Memory in use of all ops when the op ended; 0 if it was not recorded.
    """

    stats: CompactColumn = field(default_factory=CompactColumn)
    name_ids: CompactColumn = field(default_factory=CompactColumn)
    total_bytes: CompactColumn = field(default_factory=CompactColumn)
    peak_bytes: CompactColumn = field(default_factory=CompactColumn)
    live_bytes: CompactColumn = field(default_factory=CompactColumn)
    bytes_in_use: CompactColumn = field(default_factory=CompactColumn)


@dataclass(frozen=True, slots=True)
class AllocationColumns:
    """Allocations and deallocations, in the order of the stats.

    Attributes:
        allocators: Place in ``AllocatorColumns``.
        micros: Time.
        sizes: Bytes, negative for a deallocation.
    """

    allocators: CompactColumn = field(default_factory=CompactColumn)
    micros: CompactColumn = field(default_factory=CompactColumn)
    sizes: CompactColumn = field(default_factory=CompactColumn)


@dataclass(frozen=True, slots=True)
class StatColumns:
    """What is kept of node stats, one entry for each, in message order.

    Attributes:
        start_micros: ``all_start_micros``; 0 or less if the stat has no time.
        duration_micros: ``op_end_rel_micros``, as written (0 and negative values included).
        start_nanos: ``all_start_nanos``, 0 where the run has none.
        duration_nanos: ``op_end_rel_nanos``, 0 where the run has none.
        temporary_bytes: Memory held only while the op ran.
        persistent_bytes: Memory that the op keeps.
        outputs: Output buffers.
        allocators: What allocators gave, temporary and persistent memory not included.
        allocations: Single allocations and deallocations.
    """

    start_micros: CompactColumn = field(default_factory=CompactColumn)
    duration_micros: CompactColumn = field(default_factory=CompactColumn)
    start_nanos: CompactColumn = field(default_factory=CompactColumn)
    duration_nanos: CompactColumn = field(default_factory=CompactColumn)
    temporary_bytes: CompactColumn = field(default_factory=CompactColumn)
    persistent_bytes: CompactColumn = field(default_factory=CompactColumn)
    outputs: OutputColumns = field(default_factory=OutputColumns)
    allocators: AllocatorColumns = field(default_factory=AllocatorColumns)
    allocations: AllocationColumns = field(default_factory=AllocationColumns)


@dataclass(slots=True)
class RunColumns:
    """What a reader takes out of one RunMetadata.

    Attributes:
        devices: Device name and number of node stats of each device block.
        name_ids: Name id of each stat's node, -1 for a name that was not known.
        unknown: Place, node name and timeline label (``y = MatMul(x)``) of the stats whose name
            was not that of an op.
        stats: The stats.
        allocator_names: Names of allocators.
        output_shapes: Name id and outputs of the executions that show new shapes of an op for
            which they are wanted, in order.
        fed_shapes: Shape of each tensor that was fed, by op name and output.
    """

    devices: list[tuple[str, int]] = field(default_factory=list)
    name_ids: Int64Array = field(default_factory=no_rows)
    unknown: list[tuple[int, str, str]] = field(default_factory=list)
    stats: StatColumns = field(default_factory=StatColumns)
    allocator_names: list[str] = field(default_factory=list)
    output_shapes: list[tuple[int, OutputShapes]] = field(default_factory=list)
    fed_shapes: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)
