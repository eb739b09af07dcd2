"""The executions of one step: devices, times, memory, allocations.

Views need only the sums per op in ``StepRecords``. Timelines, saved profiles and checkers need to
know when, where and in which order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Final, NamedTuple, TypeVar

import numpy as np

from tfprof.core.columns.columns import Int64Array, concatenate_tables, no_rows
from tfprof.core.columns.numerals import whole_number

NO_OP: Final = -1
"""Row of an execution that belongs to no op (a copy between host and device)."""

OTHER, HOST, ACCELERATOR = 0, 1, 2
"""Kinds of times: uncounted (a single stream, a copy engine), CPU or accelerator time."""

MEMORY_FIELDS: Final = (
    "memory_micros",
    "host_temp_bytes",
    "host_persistent_bytes",
    "accelerator_temp_bytes",
    "accelerator_persistent_bytes",
    "requested_bytes",
    "peak_bytes",
    "residual_bytes",
    "output_bytes",
    "allocator_bytes_in_use",
)
"""Rows of ``MemoryUses.values``, in the order of the fields of ``ExecMemory``."""


NewIds = Callable[[str, Int64Array], Int64Array]
"""Maps what a column refers to (``op``, ``name``, ``device``, ``allocator``) and ids to new ids."""

TableT = TypeVar(
    "TableT", "Executions", "MemoryUses", "OutputBuffers", "Allocations", "AllocatorLevels"
)

_NAMED: Final = {
    "rows": "op",
    "name_ids": "name",
    "device_ids": "device",
    "allocator_ids": "allocator",
}


@dataclass(frozen=True, slots=True)
class Executions:
    """Times, one entry for each node stat that was kept, in order of arrival.

    Attributes:
        rows: Op row, shape (n,), or ``NO_OP``.
        name_ids: Id in ``StepTable.strings`` of the name where there is no op, else -1.
        device_ids: Id of the lower-case device name in ``StepTable.strings``.
        kinds: ``OTHER``, ``HOST`` or ``ACCELERATOR``.
        start_micros: 0 or less if the run recorded no time.
        duration_micros: By the rules of ``Profile``: at least 1 µs, unless negative (classic).
        start_nanos: The start, finer where the run has nanoseconds.
        duration_nanos: The duration, finer where the run has nanoseconds; may be 0.
    """

    rows: Int64Array = field(default_factory=no_rows)
    name_ids: Int64Array = field(default_factory=no_rows)
    device_ids: Int64Array = field(default_factory=no_rows)
    kinds: Int64Array = field(default_factory=no_rows)
    start_micros: Int64Array = field(default_factory=no_rows)
    duration_micros: Int64Array = field(default_factory=no_rows)
    start_nanos: Int64Array = field(default_factory=no_rows)
    duration_nanos: Int64Array = field(default_factory=no_rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class MemoryUses:
    """Memory of executions on the op's own device, in order of arrival.

    Attributes:
        rows: Op row, shape (m,).
        values: Shape (len(MEMORY_FIELDS), m); sizes in bytes.
    """

    rows: Int64Array = field(default_factory=no_rows)
    values: Int64Array = field(default_factory=lambda: np.zeros((len(MEMORY_FIELDS), 0), np.int64))

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class OutputBuffers:
    """Buffers that outputs were written to.

    Attributes:
        uses: Place of the execution in ``MemoryUses``, ascending, shape (k,).
        slots: Output index.
        sizes: Bytes.
        addresses: Address, an unsigned number seen as int64.
    """

    uses: Int64Array = field(default_factory=no_rows)
    slots: Int64Array = field(default_factory=no_rows)
    sizes: Int64Array = field(default_factory=no_rows)
    addresses: Int64Array = field(default_factory=no_rows)


@dataclass(frozen=True, slots=True)
class Allocations:
    """Allocations (positive) and deallocations (negative) that executions made.

    Attributes:
        rows: Op row, shape (k,).
        allocator_ids: Id of the allocator's name in ``StepTable.strings``.
        micros: Time.
        sizes: Bytes, negative for a deallocation.
    """

    rows: Int64Array = field(default_factory=no_rows)
    allocator_ids: Int64Array = field(default_factory=no_rows)
    micros: Int64Array = field(default_factory=no_rows)
    sizes: Int64Array = field(default_factory=no_rows)


@dataclass(frozen=True, slots=True)
class AllocatorLevels:
    """Memory in use of allocators when executions ended.

    Attributes:
        rows: Op row, shape (k,).
        device_ids: The op's device, an id in ``StepTable.strings``.
        allocator_ids: Id of the allocator's name in ``StepTable.strings``.
        micros: End of the execution.
        bytes_in_use: Bytes.
    """

    rows: Int64Array = field(default_factory=no_rows)
    device_ids: Int64Array = field(default_factory=no_rows)
    allocator_ids: Int64Array = field(default_factory=no_rows)
    micros: Int64Array = field(default_factory=no_rows)
    bytes_in_use: Int64Array = field(default_factory=no_rows)


def renumbered(table: TableT, new_ids: NewIds) -> TableT:
    """The table with other rows and ids."""
    changed = {
        column.name: new_ids(_NAMED[column.name], getattr(table, column.name))
        for column in fields(table)
        if column.name in _NAMED
    }
    return replace(table, **changed)


@dataclass(frozen=True, slots=True)
class StepDetail:
    """One step, execution by execution."""

    executions: Executions = field(default_factory=Executions)
    memory: MemoryUses = field(default_factory=MemoryUses)
    outputs: OutputBuffers = field(default_factory=OutputBuffers)
    allocations: Allocations = field(default_factory=Allocations)
    levels: AllocatorLevels = field(default_factory=AllocatorLevels)

    def renumbered(self, new_ids: NewIds) -> StepDetail:
        """The step with other rows and ids."""
        return StepDetail(*(renumbered(getattr(self, part.name), new_ids) for part in fields(self)))

    def merge(self, other: StepDetail) -> StepDetail:
        """Two parts of a step, one after the other."""
        uses = other.outputs.uses + len(self.memory)
        other = replace(other, outputs=replace(other.outputs, uses=uses))
        names = [part.name for part in fields(self)]
        return StepDetail(
            *(concatenate_tables([getattr(self, name), getattr(other, name)]) for name in names)
        )


_CANONICAL = re.compile(r"(?s:[^\n]*)/(device:gpu|gpu|device:cpu|cpu):[0-9]+")
_GPU_NUMBER = re.compile(r"gpu:[0-9]+")


@dataclass(frozen=True, slots=True)
class Device:
    """A device as the node stats name it.

    Attributes:
        name: Lower-case name.
        is_accelerator_stream: Its stats are accelerator time.
        is_canonical: Its stats are CPU (scheduling) time, run counts and memory.
    """

    name: str
    is_accelerator_stream: bool
    is_canonical: bool

    @classmethod
    def from_name(cls, name: str) -> Device:
        """Classify a device name as written in a DeviceStepStats."""
        # Only ASCII letters, as the original does; others keep their case.
        lower = re.sub("[A-Z]+", lambda letters: letters[0].lower(), name)
        return cls(lower, "stream:all" in lower, _CANONICAL.fullmatch(lower) is not None)

    @property
    def kind(self) -> int:
        """Kind of its times; accelerator time if it is both, as in the original."""
        if self.is_accelerator_stream:
            return ACCELERATOR
        return HOST if self.is_canonical else OTHER

    @property
    def host_name(self) -> str:
        """The CPU that feeds this device."""
        return _GPU_NUMBER.sub("cpu:0", self.name)


_NAME = re.compile(
    r"(?:/job:(?P<job>[^/]+))?(?:/replica:\d+)?(?:/task:(?P<task>\d+))?"
    r"/?(?:device:)?(?P<kind>cpu|gpu):(?P<number>\d+)(?:[/:](?P<rest>.*))?"
)
_LOCAL = "localhost"


class Processor(NamedTuple):
    """A CPU or GPU of one process.

    Attributes:
        job: Job in the cluster, ``localhost`` outside one.
        task: Process of the job.
        kind: ``cpu`` or ``gpu``.
        number: Number among those of the kind.
    """

    job: str
    task: int
    kind: str
    number: int

    @property
    def label(self) -> str:
        """``GPU:0``; in a cluster ``worker:1/GPU:0``."""
        name = f"{self.kind.upper()}:{self.number}"
        return name if self.job == _LOCAL else f"{self.job}:{self.task}/{name}"


class DeviceRole(NamedTuple):
    """The parts of a device name.

    Attributes:
        processor: The processor.
        part: Empty for the processor itself, else ``stream:all``, ``memcpy``, ….
    """

    processor: Processor
    part: str


def device_role(name: str) -> DeviceRole | None:
    """Parse a lower-case device name; None if it names neither a CPU nor a GPU.

    Example:
        >>> device_role("/device:gpu:0/stream:all").processor.label
        'GPU:0'
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    task, number = whole_number(match["task"] or ""), whole_number(match["number"])
    processor = Processor(match["job"] or _LOCAL, task, match["kind"], number)
    return DeviceRole(processor, match["rest"] or "")
