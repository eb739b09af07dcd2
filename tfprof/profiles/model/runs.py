"""One run as columns, as a reader of run metadata returns it, and with its ops.

Sums by op and single executions are computed when they are first read: most steps of a long
recording are only averaged. The rules are those of
``tensorflow/core/profiler/internal/tfprof_node.cc``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.core.columns.compact import CompactColumn
from tfprof.core.columns.shapes import OutputShapes
from tfprof.profiles.model.executions import (
    ACCELERATOR,
    HOST,
    Allocations,
    AllocatorLevels,
    Executions,
    MemoryUses,
    OutputBuffers,
    StepDetail,
)
from tfprof.profiles.model.steps import StepRecords


@dataclass(frozen=True, slots=True)
class DeviceBlocks:
    """The devices of a run; the stats of a device follow one another.

    Attributes:
        counts: Number of stats, shape (n devices,).
        name_ids: Id of the lower-case device name in ``StepTable.strings``.
        kinds: What the times count as: ``OTHER``, ``HOST`` or ``ACCELERATOR``.
        on_cpu: The device is a CPU.
    """

    counts: Int64Array
    name_ids: Int64Array
    kinds: Int64Array
    on_cpu: BoolArray


@dataclass(frozen=True, slots=True)
class PlacedRun:
    """A run, and the role of each of its stats.

    Attributes:
        stats: The stats.
        rows: Op row of each stat, -1 without one, shape (n stats,); 32 bits save memory.
        kept: The stat belongs to an op, and to the op's device.
        holds_memory: Its memory counts, if it has a start.
        devices: The devices.
        names: Id in ``StepTable.strings`` of the name of each stat without an op, by place.
        allocator_names: Names of allocators.
        allocator_ids: Id in ``StepTable.strings`` of each allocator's name, and -1 at the end.
        classic: Keep negative durations.
    """

    stats: StatColumns
    rows: npt.NDArray[np.int32]
    kept: BoolArray
    holds_memory: BoolArray
    devices: DeviceBlocks
    names: dict[int, int]
    allocator_names: list[str]
    allocator_ids: Int64Array
    classic: bool

    def records(self) -> StepRecords:
        """Sums by op."""
        kept = self.kept
        start_micros = self.stats.start_micros.array()
        timed = start_micros > 0
        sized = timed & self.holds_memory
        kinds, micros = self._kinds(), self._durations()
        on_host, on_accelerator = timed & (kinds == HOST), timed & (kinds == ACCELERATOR)

        def values() -> Iterator[Int64Array]:  # one after the other, each of which may be long
            yield on_host[kept].astype(np.int64)
            yield np.where(on_accelerator, micros, 0)[kept]
            yield np.where(on_host, micros, 0)[kept]
            for size in self._sizes():
                yield (size * sized)[kept]

        start = np.where(timed, start_micros, 0)
        end = np.where(timed, start + micros, 0)
        rows = self.rows[kept].astype(np.int64)
        return StepRecords.from_stats(rows, values(), (start[kept], end[kept]))

    def detail(self) -> StepDetail:
        """The stats themselves, in order."""
        start_micros = self.stats.start_micros.array()
        end_micros = start_micros + self.stats.duration_micros.array()
        counts = self.holds_memory & (start_micros > 0)
        return StepDetail(
            self._executions(start_micros),
            self._memory(counts, end_micros),
            self._outputs(counts),
            self._allocations(counts),
            self._levels(counts, end_micros),
        )

    def _executions(self, start_micros: Int64Array) -> Executions:
        micros, nanos = self.stats.duration_micros.array(), self.stats.duration_nanos.array()
        start_nanos = self.stats.start_nanos.array()
        names = np.full(len(self.rows), -1, np.int64)
        names[list(self.names)] = list(self.names.values())
        there = self.kept | (names >= 0)
        finest_start = np.where(start_nanos > 0, start_nanos, start_micros * 1000)
        finest = np.where((micros > 0) & (nanos <= 0), micros * 1000, nanos)
        columns = (
            self.rows.astype(np.int64),
            names,
            np.repeat(self.devices.name_ids, self.devices.counts),
            self._kinds(),
            start_micros,
            self._durations(),
            np.where(start_micros > 0, finest_start, 0),
            np.maximum(finest, 0),
        )
        return Executions(*(column[there] for column in columns))

    def _memory(self, counts: BoolArray, end_micros: Int64Array) -> MemoryUses:
        """The memory of the stats that count, by the rules of ``ExecStep::AddMemoryStats``."""
        devices = self.devices
        on_host = np.repeat(devices.on_cpu, devices.counts)
        temporary = self.stats.temporary_bytes.array()
        persistent = self.stats.persistent_bytes.array()
        columns = (
            end_micros,
            np.where(on_host, temporary, 0),
            np.where(on_host, persistent, 0),
            np.where(on_host, 0, temporary),
            np.where(on_host, 0, persistent),
            *self._sizes(),
            self._gpu_bytes_in_use(),
        )
        values = np.empty((len(columns), np.count_nonzero(counts)), np.int64)
        for place, column in enumerate(columns):
            values[place] = column[counts]
        return MemoryUses(self.rows[counts].astype(np.int64), values)

    def _outputs(self, counts: BoolArray) -> OutputBuffers:
        outputs = self.stats.outputs
        stats = outputs.stats.array()
        made = counts[stats]
        use_of = np.cumsum(counts) - 1
        others = (outputs.slots, outputs.sizes, outputs.addresses)
        return OutputBuffers(use_of[stats[made]], *(each.array()[made] for each in others))

    def _allocations(self, counts: BoolArray) -> Allocations:
        allocations, allocators = self.stats.allocations, self.stats.allocators
        makers = allocations.allocators.array()
        stats = allocators.stats.array()[makers]
        made = counts[stats]
        return Allocations(
            self.rows[stats[made]].astype(np.int64),
            self.allocator_ids[allocators.name_ids.array()[makers[made]]],
            allocations.micros.array()[made],
            allocations.sizes.array()[made],
        )

    def _levels(self, counts: BoolArray, end_micros: Int64Array) -> AllocatorLevels:
        allocators = self.stats.allocators
        owners, in_use = allocators.stats.array(), allocators.bytes_in_use.array()
        has_level = (in_use != 0) & counts[owners]
        stats = owners[has_level]
        return AllocatorLevels(
            self.rows[stats].astype(np.int64),
            np.repeat(self.devices.name_ids, self.devices.counts)[stats],
            self.allocator_ids[allocators.name_ids.array()[has_level]],
            end_micros[stats],
            in_use[has_level],
        )

    def _kinds(self) -> Int64Array:
        kinds: Int64Array = np.repeat(self.devices.kinds, self.devices.counts)
        return kinds

    def _durations(self) -> Int64Array:
        """Durations with 0 taken as 1 µs; negative ones count as 0 unless classic."""
        micros = self.stats.duration_micros.array()
        rounded: Int64Array = np.where(micros == 0, 1, micros)
        return rounded if self.classic else np.maximum(rounded, 0)

    def _sizes(self) -> Iterator[Int64Array]:
        """Requested, peak, residual and output bytes of each stat.

        Sums go over allocators and outputs; temporary and persistent memory go on top
        (``ExecStep::AddMemoryStats``): requested and peak bytes hold both, what is left after the
        op holds the persistent part.
        """
        allocators, outputs = self.stats.allocators, self.stats.outputs
        owners, n_stats = allocators.stats.array(), len(self.rows)
        persistent = self.stats.persistent_bytes.array()
        extra = self.stats.temporary_bytes.array() + persistent
        for sizes in (allocators.total_bytes, allocators.peak_bytes):
            yield _summed(owners, sizes.array(), n_stats) + extra
        yield _summed(owners, allocators.live_bytes.array(), n_stats) + persistent
        yield _summed(outputs.stats.array(), outputs.sizes.array(), n_stats)

    def _gpu_bytes_in_use(self) -> Int64Array:
        """As in the original, the allocators of a GPU are those with GPU in their names."""
        allocators = self.stats.allocators
        bytes_in_use = allocators.bytes_in_use.array()
        is_gpu = np.array([*("GPU" in name for name in self.allocator_names), False], np.bool_)
        of_gpu = is_gpu[allocators.name_ids.array()] & (bytes_in_use != 0)
        in_use = np.zeros(len(self.rows), np.int64)
        np.maximum.at(in_use, allocators.stats.array()[of_gpu], bytes_in_use[of_gpu])
        return in_use


def _summed(owner: Int64Array, values: Int64Array, n_stats: int) -> Int64Array:
    """Sums by owner; the owners ascend."""
    sums = np.zeros(n_stats, np.int64)
    if (owner[1:] > owner[:-1]).all():
        sums[owner] = values
    else:
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        sums[owner[first]] = np.add.reduceat(values, first)
    return sums


class KnownNames(NamedTuple):
    """The ops so far, for a reader of run metadata.

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
        total_bytes: Sum of all allocations.
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
    """The columns that a reader takes from one RunMetadata.

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
