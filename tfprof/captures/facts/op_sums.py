"""Runs of ops of a host, summed by device, op and step, as input of views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.device_ops import WITHOUT_OP
from tfprof.captures.events.ops.device_runs import RunsByDevice, runs_by_device
from tfprof.captures.events.ops.op_memory import OpMemory, allocator_uses, op_memory
from tfprof.captures.events.ops.op_runs import NamedOp, copy_name, first_runs
from tfprof.captures.events.steps.python_stacks import python_stacks
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.facts.hlo_programs import module_names
from tfprof.captures.facts.host_op_db import ops_of_programs
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.captures.rules import Rules
from tfprof.captures.run.fact import fact_by_rules
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array, sums_by
from tfprof.core.columns.frames import StackTable


class SumColumns(NamedTuple):
    """Runs with the same device, op and group; each column has the shape (n,).

    Attributes:
        devices: Index in ``OpSums.devices``.
        ops: Index in ``OpSums.ops``; for copies, ``len(ops)`` plus the index in ``OpSums.copies``.
        groups: Index in ``OpSums.groups``.
        n_runs: Number of runs.
        n_negative: Number of runs that end before they start.
        micros: Total time, each run at least 1 µs.
        after_micros: First start, relative to that of the group (``OpSums.groups``).
        gaps_micros: From the first start to the last end, minus ``micros``: 0 for single runs.
        requested_bytes: Total allocated bytes.
        peak_bytes: Sum of the highest level of each run.
        residual_bytes: Bytes still held when the runs ended.
    """

    devices: Int64Array
    ops: Int64Array
    groups: Int64Array
    n_runs: Int64Array
    n_negative: Int64Array
    micros: Int64Array
    after_micros: Int64Array
    gaps_micros: Int64Array
    requested_bytes: Int64Array
    peak_bytes: Int64Array
    residual_bytes: Int64Array


class OpGroups(NamedTuple):
    """Groups of runs, each column of shape (n groups,).

    Attributes:
        numbers: Their numbers, ascending; a negative number is for runs outside all groups.
        names: Their names.
        starts_micros: Their first starts, in µs since 1970.
    """

    numbers: Int64Array
    names: Sequence[str]
    starts_micros: Int64Array


class OpTotals(NamedTuple):
    """Runs of ops by group, each run only once; for statements about a capture.

    Attributes:
        groups: The groups, ascending.
        n_runs: Number of runs of ops in each group.
        durations_ps: Total time of these runs.
        n_without_op: Number of kernels without an op.
        without_op_ps: Their total time.
        n_outside: Number of allocations outside all runs of ops.
        outside_bytes: Their total bytes.
    """

    groups: Int64Array
    n_runs: Int64Array
    durations_ps: Int64Array
    n_without_op: int
    without_op_ps: int
    n_outside: int
    outside_bytes: int

    @property
    def is_in_groups(self) -> bool:
        """Whether any op ran in a group."""
        return bool((self.n_runs[self.groups >= 0] > 0).any())

    def outside(self, groups: Sequence[int]) -> tuple[int, float]:
        """Number of runs outside some groups, and their part of the total time."""
        is_outside = ~np.isin(self.groups, groups)
        share = self.durations_ps[is_outside].sum() / max(int(self.durations_ps.sum()), 1)
        return int(self.n_runs[is_outside].sum()), float(share)


class OpStacks(NamedTuple):
    """Call stacks of ops, in the form of ``StackTable``.

    Attributes:
        frames: Frames.
        stacks: Caller's stack and frame of each stack except the empty one.
        of_op: The stack of each op, by name.
    """

    frames: Sequence[tuple[str, str, int, str, int]]
    stacks: Sequence[tuple[int, int]]
    of_op: Mapping[str, int]


class OpSums(NamedTuple):
    """All runs on a host.

    Attributes:
        devices: Names of devices, without the job.
        ops: The ops.
        copies: Names of copies without an op.
        allocators: Names of allocators.
        groups: The groups that have runs, as columns.
        sums: The runs, summed.
        totals: The runs in total.
        stacks: Call stacks of ops.
    """

    devices: Sequence[str]
    ops: Sequence[NamedOp]
    copies: Sequence[str]
    allocators: Sequence[str]
    groups: OpGroups
    sums: SumColumns
    totals: OpTotals
    stacks: OpStacks


def op_runs(host: Host, job: str = "") -> RunsByDevice:
    """The runs of ops on the threads and devices of a host; ``job`` precedes the device names."""
    modules = module_names(host)
    return runs_by_device(host.timeline, host.eager(), ops_of_programs(host), modules, job)


@fact_by_rules
def op_sums(host: Host) -> OpSums:
    """Runs of ops by device, op and group of a host, with the data that views show.

    Durations are rounded to microseconds run by run, and 0 becomes 1, as in run metadata
    (``ExecStep::AddTimeStats``); negative ones become 0, unless the rules keep them.
    """
    timeline, forest, groups = host.timeline, host.forest(), host.groups()
    ran = op_runs(host)
    memory = op_memory(forest, ran.all.events[: ran.n_on_host])
    numbers, copies = _with_copies(timeline, ran)
    used, place = np.unique(numbers, return_inverse=True)
    n_ops = int((used < len(ran.all.names)).sum())
    group_of = groups.of_event[ran.all.events].astype(np.int64)
    starts = run_starts_micros(timeline, ran.all.events)
    numbers_of_groups, groups_of = np.unique(group_of, return_inverse=True)
    first = np.full(len(numbers_of_groups), np.iinfo(np.int64).max)
    np.minimum.at(first, groups_of, starts)
    names = [groups.names.get(group, "") for group in numbers_of_groups.tolist()]
    return OpSums(
        [block.device for block in ran.blocks],
        [ran.all.names[number] for number in used[:n_ops].tolist()],
        [copies[number - len(ran.all.names)] for number in used[n_ops:].tolist()],
        memory.names,
        OpGroups(numbers_of_groups, names, first),
        _sums(ran, place, groups_of, starts - first[groups_of], memory, rules=host.rules),
        op_totals(ran, group_of, memory),
        _stacks(*python_stacks(forest, first_runs(ran.parts, timeline.starts_ps))),
    )


def op_totals(ran: RunsByDevice, group_of: Int64Array, memory: OpMemory) -> OpTotals:
    """Totals of the runs of ops.

    Args:
        ran: The runs.
        group_of: The group of each run, shape (n,).
        memory: Their allocations.
    """
    runs = ran.all
    is_op = runs.ops >= 0
    is_kernel = [op.name.startswith(f"{WITHOUT_OP}/") for op in runs.names]
    without = np.array([*is_kernel, False], np.bool_)[runs.ops]
    groups, place = np.unique(group_of[is_op], return_inverse=True)
    return OpTotals(
        groups,
        np.bincount(place, minlength=len(groups)),
        sums_by(place, runs.durations_ps[is_op], len(groups)),
        int(without.sum()),
        int(runs.durations_ps[without].sum()),
        memory.n_outside,
        memory.outside_bytes,
    )


def run_micros(durations_ps: Int64Array) -> Int64Array:
    """Durations of runs in microseconds, rounded as in run metadata."""
    return np.rint(durations_ps / 1e6).astype(np.int64)


def run_starts_ns(timeline: Timeline, events: Int64Array) -> Int64Array:
    """Starts of events, in nanoseconds since 1970."""
    starts: Int64Array = timeline.space.base_ns + timeline.starts_ps[events] // 1000
    return starts


def run_starts_micros(timeline: Timeline, events: Int64Array) -> Int64Array:
    """The same in microseconds; at least 1, as 0 stands for a missing start."""
    return np.maximum(run_starts_ns(timeline, events) // 1000, 1)


def _with_copies(timeline: Timeline, ran: RunsByDevice) -> tuple[Int64Array, list[str]]:
    """The op of each run, and the names of copies, which are numbered after the ops."""
    numbers, names = ran.all.ops.copy(), dict[str, int]()
    copies = np.flatnonzero(numbers < 0)
    kinds, place = np.unique(timeline.kinds[ran.all.events[copies]], return_inverse=True)
    of_kind = [names.setdefault(copy_name(timeline.names[k]), len(names)) for k in kinds.tolist()]
    numbers[copies] = np.array(of_kind or [0], np.int64)[place] + len(ran.all.names)
    return numbers, list(names)


def _sums(
    ran: RunsByDevice,
    ops: IntArray,
    groups: IntArray,
    after_micros: Int64Array,
    memory: OpMemory,
    *,
    rules: Rules,
) -> SumColumns:
    """Sum runs with the same device, op and group; a run may be on several devices.

    Args:
        ran: The runs.
        ops: The op of each run, including copies, shape (n,).
        groups: The group of each run.
        after_micros: The start of each run.
        memory: Their allocations.
        rules: Whether negative durations count.
    """
    n_runs, runs = len(ran.all), np.concatenate([block.runs for block in ran.blocks])
    if not len(runs):
        return SumColumns(*[runs] * len(SumColumns._fields))
    devices = np.repeat(np.arange(len(ran.blocks)), [len(block.runs) for block in ran.blocks])
    order = np.lexsort((groups[runs], ops[runs], devices))
    runs, devices = runs[order], devices[order]
    ops, groups, starts = ops[runs], groups[runs], after_micros[runs]
    changes = np.any([np.diff(key) != 0 for key in (devices, ops, groups)], axis=0)
    first = np.flatnonzero(np.append(True, changes))
    micros = run_micros(ran.all.durations_ps[runs])
    counted = np.where(micros == 0, 1, micros)
    counted = counted if rules.keeps_negative_times else np.maximum(counted, 0)
    uses = allocator_uses(memory, memory.runs)
    sizes = [
        sums_by(uses.runs, of_use, n_runs)[runs]
        for of_use in (uses.total_bytes, uses.peak_bytes, uses.live_bytes)
    ]
    total_micros = np.add.reduceat(counted, first)
    first_starts = np.minimum.reduceat(starts, first)
    spans = np.maximum.reduceat(starts + counted, first) - first_starts
    return SumColumns(
        devices[first],
        ops[first],
        groups[first],
        np.diff(np.append(first, len(runs))),
        np.add.reduceat((micros < 0).astype(np.int64), first),
        total_micros,
        first_starts,
        spans - total_micros,
        *(np.add.reduceat(size, first) for size in sizes),
    )


def _stacks(table: StackTable, of_op: Mapping[str, int]) -> OpStacks:
    frames = [
        (f.file, f.function, f.line_number, f.line_text, f.function_start_line)
        for f in table.frames.values
    ]
    return OpStacks(frames, table.rows.values[1:], dict(of_op))
