"""Executions of a saved profile → ``StepTable``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tfprof.core.columns.columns import Int64Array, row_ranges, taken_rows
from tfprof.core.columns.remarks import Notices
from tfprof.core.columns.strings import StringTable
from tfprof.core.wire.lockstep import IrregularError
from tfprof.profiles.model.executions import (
    ACCELERATOR,
    HOST,
    MEMORY_FIELDS,
    Allocations,
    AllocatorLevels,
    Device,
    Executions,
    MemoryUses,
    OutputBuffers,
    StepDetail,
)
from tfprof.profiles.model.ops import OpTable
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import MEASURES, StepRecords
from tfprof.profiles.read.profile_fields import (
    EXEC,
    NODE,
    Damage,
    Tables,
    has_repeats,
    intern_texts,
)

EXECS = f"{NODE}.execs"
_TABLES_OF_KIND = ((ACCELERATOR, f"{EXEC}.accelerator_execs"), (HOST, f"{EXEC}.cpu_execs"))
_USES = f"{EXEC}.memory_execs"

_SIZES = tuple(MEMORY_FIELDS.index(name) for name in MEASURES[3:])
_MICROS = MEMORY_FIELDS.index("memory_micros")
_IN_USE = MEMORY_FIELDS.index("allocator_bytes_in_use")

_GPU_ALLOCATOR = "GPU"
"""The format keeps allocations of GPUs only, and no name of the allocator."""


@dataclass(frozen=True, slots=True)
class _Records:
    """Records of all steps.

    Attributes:
        rows: Op row of each record, shape (n,).
        steps: Step of each record.
        run_counts: Their run counts.
        window: Their starts and ends, shape (2, n).
        tables: Tables of the saved profile.
        ops: The ops, for errors.
    """

    rows: Int64Array
    steps: Int64Array
    run_counts: Int64Array
    window: Int64Array
    tables: Tables
    ops: OpTable

    def place(self, record: int) -> str:
        """A record, for errors."""
        return f"node {self.ops.name(int(self.rows[record]))!r}, step {self.steps[record]}"


def read_steps(profile: Profile, rows: Int64Array, tables: Tables, damage: Damage) -> None:
    """Fill the steps of a profile that has its ops.

    Args:
        profile: The profile. If it is not classic, negative durations count as 0 and are noted.
        rows: Row of each node, -1 for one without.
        tables: Tables of the saved profile.
        damage: Receives reports of damage.

    Raises:
        IrregularError: Protobuf has to read the messages first.
        MalformedProfileError: A time has fewer than two numbers.
    """
    records = tables[EXECS]
    saved = _Records(
        rows[records.parent],
        records.number("key"),
        records.number("value.run_count"),
        np.stack(
            [records.number("value.all_start_micros"), records.number("value.latest_end_micros")]
        ),
        tables,
        profile.ops,
    )
    if has_repeats(records.parent, saved.steps):
        raise IrregularError  # of two entries with the same key, protobuf takes the last
    notices = None if profile.classic else profile.notices
    owners, detail = _read_detail(saved, profile.steps.strings, damage, notices)
    steps, step_of_record = np.unique(saved.steps, return_inverse=True)
    step_of_record = np.where(saved.rows < 0, len(steps), step_of_record)
    parts = _split(detail, owners, step_of_record, len(steps))
    order, bounds = _in_groups(step_of_record, len(steps))
    of_steps = (order[first:end] for first, end in pairwise(bounds.tolist()))
    for step, chosen, part in zip(steps.tolist(), of_steps, parts, strict=True):
        profile.steps.add(step, _sums(saved, chosen, part), part)


def _read_detail(
    saved: _Records, strings: StringTable, damage: Damage, notices: Notices | None
) -> tuple[dict[str, Int64Array], StepDetail]:
    """All steps as one, and the record of each row of its tables."""
    execution_owner, executions = _read_executions(saved, strings, damage, notices)
    memory_owner, memory, outputs = _read_memory(saved)
    allocation_owner, allocations = _read_allocations(saved, strings)
    level = np.flatnonzero(memory.values[_IN_USE] != 0)
    levels = AllocatorLevels(
        memory.rows[level],
        _devices_of(saved, executions, execution_owner, memory_owner[level]),
        np.full(len(level), strings.intern(_GPU_ALLOCATOR) if len(level) else 0, np.int64),
        memory.values[_MICROS][level],
        memory.values[_IN_USE][level],
    )
    owners = {
        "executions": execution_owner,
        "memory": memory_owner,
        "outputs": memory_owner[outputs.uses],
        "allocations": allocation_owner,
        "levels": memory_owner[level],
    }
    return owners, StepDetail(executions, memory, outputs, allocations, levels)


def _devices_of(
    saved: _Records, executions: Executions, execution_owner: Int64Array, records: Int64Array
) -> Int64Array:
    """The device that a record's memory is on: that of its CPU time, as the original has it."""
    devices = np.full(len(saved.rows), -1, np.int64)
    on_host = executions.kinds == HOST
    for chosen in (~on_host, on_host):
        devices[execution_owner[chosen]] = executions.device_ids[chosen]
    return devices[records]


def _read_executions(
    saved: _Records, strings: StringTable, damage: Damage, notices: Notices | None
) -> tuple[Int64Array, Executions]:
    """Times by kind, device and order; then entries without a time for the other devices."""
    parts = [_read_times(saved, kind, table, strings, damage) for kind, table in _TABLES_OF_KIND]
    owner, device, kind, start, duration = np.concatenate(parts, axis=1)
    if notices is not None:
        negative = duration < 0
        notices.add(
            "negative-duration",
            "node stats end before they start (clock skew); their time counts as 0",
            int(negative.sum()),
        )
        duration = np.where(negative, 0, duration)

    named = saved.tables[f"{EXEC}.devices"]
    record_of, listed = named.parent, intern_texts(named.text("value"), strings)
    n_names = len(strings) or 1
    timed = np.unique(owner * n_names + device)
    untimed = ~np.isin(record_of * n_names + listed, timed)
    idle_owner, idle_device = record_of[untimed], listed[untimed]
    idle = np.zeros(len(idle_owner), np.int64)
    kinds = np.array([Device.from_name(name).kind for name in strings.values], np.int64)
    owner = np.concatenate([owner, idle_owner])
    start = np.concatenate([start, idle])
    duration = np.concatenate([duration, idle])
    executions = Executions(
        saved.rows[owner],
        np.full(len(owner), -1, np.int64),
        np.concatenate([device, idle_device]),
        np.concatenate([kind, kinds[idle_device] if len(kinds) else idle]),
        start,
        duration,
        np.maximum(start, 0) * 1000,
        np.maximum(duration, 0) * 1000,
    )
    return owner, executions


def _read_times(
    saved: _Records, kind: int, table: str, strings: StringTable, damage: Damage
) -> Int64Array:
    """Record, device, kind, start and duration of each time, shape (5, n)."""
    entries, times = saved.tables[table], saved.tables[f"{table}.value.times"]
    devices = intern_texts(entries.text("key"), strings)
    numbers = saved.tables[f"{table}.value.times.int64_values"]
    first, end = np.searchsorted(numbers.parent, [np.arange(len(times)), np.arange(len(times)) + 1])
    complete = end - first >= 2
    owner = entries.parent[times.parent]
    damage.report(
        "incomplete-time",
        ~complete,
        lambda time: f"{saved.place(int(owner[time]))}: a time without start or duration",
        "executions were left out: the profile does not hold both start and duration",
    )
    first, owner, device = first[complete], owner[complete], devices[times.parent[complete]]
    values = numbers.number("value")
    return np.stack([owner, device, np.full(len(owner), kind), values[first], values[first + 1]])


def _read_memory(saved: _Records) -> tuple[Int64Array, MemoryUses, OutputBuffers]:
    uses, buffers = saved.tables[_USES], saved.tables[f"{_USES}.output_memory"]
    values = np.stack([uses.number(name) for name in MEMORY_FIELDS])
    slots = buffers.number("key")
    if has_repeats(buffers.parent, slots):
        raise IrregularError
    outputs = OutputBuffers(
        buffers.parent, slots, buffers.number("value.bytes"), buffers.number("value.ptr")
    )
    return uses.parent, MemoryUses(saved.rows[uses.parent], values), outputs


def _read_allocations(saved: _Records, strings: StringTable) -> tuple[Int64Array, Allocations]:
    allocations = saved.tables[f"{EXEC}.allocations"]
    owner = allocations.parent
    name = strings.intern(_GPU_ALLOCATOR) if len(owner) else 0
    return owner, Allocations(
        saved.rows[owner],
        np.full(len(owner), name, np.int64),
        allocations.number("alloc_micros"),
        allocations.number("alloc_bytes"),
    )


def _in_groups(groups: Int64Array, n_groups: int) -> tuple[Int64Array, Int64Array]:
    """Places of the members of the first groups, group by group, and where each group begins."""
    order = np.argsort(groups, kind="stable")
    bounds = np.searchsorted(groups[order], np.arange(n_groups + 1))
    return order[: bounds[-1]], bounds


def _split(
    detail: StepDetail,
    owners: Mapping[str, Int64Array],
    step_of_record: Int64Array,
    n_steps: int,
) -> Iterator[StepDetail]:
    """The part of the detail that belongs to the records of each step.

    All rows are put in the order of the steps at once; the part of a step is a view of its rows.
    """
    orders = {name: _in_groups(step_of_record[owner], n_steps) for name, owner in owners.items()}
    order, bounds = orders["memory"]
    moved = np.zeros(len(detail.memory), np.int64)
    moved[order] = np.arange(len(order)) - np.repeat(bounds[:-1], np.diff(bounds))
    outputs = replace(detail.outputs, uses=moved[detail.outputs.uses])
    detail = replace(detail, outputs=outputs)
    parts = {
        name: row_ranges(taken_rows(getattr(detail, name), order), bounds)
        for name, (order, bounds) in orders.items()
    }
    for tables in zip(*parts.values(), strict=True):
        yield StepDetail(**dict(zip(parts, tables, strict=True)))


def _sums(saved: _Records, chosen: Int64Array, part: StepDetail) -> StepRecords:
    """The records of one step; their rows are ascending, as the nodes are read in that order."""
    rows = saved.rows[chosen]
    values = np.zeros((len(MEASURES), len(rows)), np.int64)
    values[0] = saved.run_counts[chosen]
    timed = part.executions
    for measure, kind in ((1, ACCELERATOR), (2, HOST)):
        of_kind = timed.kinds == kind
        place = np.searchsorted(rows, timed.rows[of_kind])
        np.add.at(values[measure], place, timed.duration_micros[of_kind])
    place = np.searchsorted(rows, part.memory.rows)
    for measure, size in enumerate(_SIZES, 3):
        np.add.at(values[measure], place, part.memory.values[size])
    return StepRecords(rows, values, saved.window[:, chosen])
