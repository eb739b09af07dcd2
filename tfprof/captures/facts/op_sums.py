"""Runs of ops of a host, summed by device, op and step: what views need of them."""

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
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.columns.columns import Int64Array, sums_by
from tfprof.columns.frames import StackTable


class SumColumns(NamedTuple):
    """Runs with the same device, op and group; each column has the shape (n,).

    Attributes:
        devices: Place in ``OpSums.devices``.
        ops: Place in ``OpSums.ops``, or of a copy in ``OpSums.copies``, counted on.
        groups: Group; negative for runs that are in none.
        n_runs: How many.
        n_negative: How many of them end before they start.
        micros: Their times, each at least 1 µs.
        starts_micros: First start, since 1970.
        ends_micros: Last end.
        requested_bytes: Allocated in all.
        peak_bytes: Sum of the highest level of each run.
        residual_bytes: Still held when the runs ended.
    """

    devices: Int64Array
    ops: Int64Array
    groups: Int64Array
    n_runs: Int64Array
    n_negative: Int64Array
    micros: Int64Array
    starts_micros: Int64Array
    ends_micros: Int64Array
    requested_bytes: Int64Array
    peak_bytes: Int64Array
    residual_bytes: Int64Array


class OpTotals(NamedTuple):
    """Runs of ops by group, each run once; for what is said of a capture.

    Attributes:
        groups: The groups, ascending.
        n_runs: How many runs of ops each has.
        durations_ps: Their times.
        n_without_op: Kernels that no op explains.
        without_op_ps: Their time.
        n_outside: Allocations that no run of an op made.
        outside_bytes: Their bytes.
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
        """How many runs are in none of some groups, and their part of the time of all."""
        is_outside = ~np.isin(self.groups, groups)
        share = self.durations_ps[is_outside].sum() / max(int(self.durations_ps.sum()), 1)
        return int(self.n_runs[is_outside].sum()), float(share)


class OpStacks(NamedTuple):
    """Call stacks of ops, as ``StackTable`` has them.

    Attributes:
        frames: Frames.
        stacks: Caller's stack and frame of each stack but the empty one.
        of_op: The stack of each op, by its name.
    """

    frames: Sequence[tuple[str, str, int, str, int]]
    stacks: Sequence[tuple[int, int]]
    of_op: Mapping[str, int]


class OpSums(NamedTuple):
    """What ran on a host.

    Attributes:
        devices: Names of devices, without the job.
        ops: The ops.
        copies: Names of copies that no op explains.
        allocators: Names of allocators.
        group_names: Names of the groups that have runs.
        sums: The runs.
        totals: The same in all.
        stacks: Call stacks of ops.
    """

    devices: Sequence[str]
    ops: Sequence[NamedOp]
    copies: Sequence[str]
    allocators: Sequence[str]
    group_names: Mapping[int, str]
    sums: SumColumns
    totals: OpTotals
    stacks: OpStacks


def op_runs(host: Host, job: str = "", *, classic: bool = False) -> RunsByDevice:
    """The runs of ops on the threads and devices of a host; ``job`` stands before the devices."""
    eager, modules = host.eager(classic=classic), module_names(host)
    return runs_by_device(host.timeline, eager, ops_of_programs(host), modules, job)


@fact
def op_sums(host: Host, *, classic: bool = False) -> OpSums:
    """Runs of ops by device, op and group of a host, with what views say of them.

    Durations are rounded to microseconds run by run, and those of 0 count as 1, as in run metadata
    (``ExecStep::AddTimeStats``); negative ones count as 0, but in classic mode as they are.
    """
    timeline, forest = host.timeline, host.forest(classic=classic)
    groups = host.groups(classic=classic)
    ran = op_runs(host, classic=classic)
    memory = op_memory(forest, ran.all.events[: ran.n_on_host])
    numbers, copies = _with_copies(timeline, ran)
    used, place = np.unique(numbers, return_inverse=True)
    n_ops = int((used < len(ran.all.names)).sum())
    group_of = groups.of_event[ran.all.events].astype(np.int64)
    sums = _sums(timeline, ran, place.astype(np.int64), group_of, memory, classic=classic)
    present = np.unique(group_of[group_of >= 0]).tolist()
    return OpSums(
        [block.device for block in ran.blocks],
        [ran.all.names[number] for number in used[:n_ops].tolist()],
        [copies[number - len(ran.all.names)] for number in used[n_ops:].tolist()],
        memory.names,
        {group: groups.names.get(group, "") for group in present},
        sums,
        op_totals(ran, group_of, memory),
        _stacks(*python_stacks(forest, first_runs(ran.parts))),
    )


def op_totals(ran: RunsByDevice, group_of: Int64Array, memory: OpMemory) -> OpTotals:
    """Runs of ops in all.

    Args:
        ran: The runs.
        group_of: The group of each, shape (n,).
        memory: What they allocated.
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
    """Durations of runs in microseconds, as run metadata have them."""
    return np.rint(durations_ps / 1e6).astype(np.int64)


def run_starts_ns(timeline: Timeline, events: Int64Array) -> Int64Array:
    """Starts of events, in nanoseconds since 1970."""
    starts: Int64Array = timeline.space.base_ns + timeline.starts_ps[events] // 1000
    return starts


def _with_copies(timeline: Timeline, ran: RunsByDevice) -> tuple[Int64Array, list[str]]:
    """The op of each run, and the names of copies, whose numbers follow those of ops."""
    numbers, names = ran.all.ops.copy(), dict[str, int]()
    copies = np.flatnonzero(numbers < 0)
    kinds, place = np.unique(timeline.kinds[ran.all.events[copies]], return_inverse=True)
    of_kind = [names.setdefault(copy_name(timeline.names[k]), len(names)) for k in kinds.tolist()]
    numbers[copies] = np.array(of_kind or [0], np.int64)[place] + len(ran.all.names)
    return numbers, list(names)


def _sums(
    timeline: Timeline,
    ran: RunsByDevice,
    ops: Int64Array,
    group_of: Int64Array,
    memory: OpMemory,
    *,
    classic: bool,
) -> SumColumns:
    """Sums over runs with the same device, op and group; a run may be on several devices."""
    n_runs, runs = len(ran.all), np.concatenate([block.runs for block in ran.blocks])
    devices = np.repeat(np.arange(len(ran.blocks)), [len(block.runs) for block in ran.blocks])
    if not len(runs):
        return SumColumns(*[runs] * len(SumColumns._fields))
    order = np.lexsort((group_of[runs], ops[runs], devices))
    runs, devices = runs[order], devices[order]
    ops, groups = ops[runs], group_of[runs]
    first = np.flatnonzero(
        np.append(True, np.any([np.diff(key) != 0 for key in (devices, ops, groups)], axis=0))
    )
    micros = run_micros(ran.all.durations_ps[runs])
    counted = np.where(micros == 0, 1, micros)
    counted = counted if classic else np.maximum(counted, 0)
    starts = np.maximum(run_starts_ns(timeline, ran.all.events[runs]) // 1000, 1)
    uses = allocator_uses(memory, memory.runs)
    sizes = [
        sums_by(uses.runs, of_use, n_runs)[runs]
        for of_use in (uses.total_bytes, uses.peak_bytes, uses.live_bytes)
    ]

    def summed(values: Int64Array) -> Int64Array:
        sums: Int64Array = np.add.reduceat(values, first)
        return sums

    return SumColumns(
        devices[first],
        ops[first],
        groups[first],
        n_runs=np.diff(np.append(first, len(runs))),
        n_negative=summed((micros < 0).astype(np.int64)),
        micros=summed(counted),
        starts_micros=np.minimum.reduceat(starts, first),
        ends_micros=np.maximum.reduceat(starts + counted, first),
        requested_bytes=summed(sizes[0]),
        peak_bytes=summed(sizes[1]),
        residual_bytes=summed(sizes[2]),
    )


def _stacks(table: StackTable, of_op: Mapping[str, int]) -> OpStacks:
    frames = [
        (f.file, f.function, f.line_number, f.line_text, f.function_start_line)
        for f in table.frames.values
    ]
    return OpStacks(frames, table.rows.values[1:], dict(of_op))
