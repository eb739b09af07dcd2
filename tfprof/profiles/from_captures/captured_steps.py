"""A captured run as steps of a profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from tfprof.captures.events.ops.device_runs import Block
from tfprof.captures.events.ops.op_memory import OpMemory, allocator_uses, op_memory
from tfprof.captures.events.ops.op_runs import OpRuns, copy_name, first_runs
from tfprof.captures.events.steps.python_stacks import python_stacks
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.facts.op_sums import (
    OpStacks,
    OpSums,
    op_runs,
    op_sums,
    op_totals,
    run_micros,
    run_starts_micros,
    run_starts_ns,
)
from tfprof.captures.facts.run_steps import run_steps, steps_of_host
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.rules import OURS
from tfprof.captures.run.run import Host, Run
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.compact import CompactColumn
from tfprof.core.columns.frames import Frame, StackTable
from tfprof.profiles.from_captures.captured_ops import (
    CapturedOps,
    StepsOfHost,
    add_notices,
    note_memory_outside,
    numbered,
    set_apart,
    step_numbers,
)
from tfprof.profiles.model.executions import StepDetail
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.runs import AllocationColumns, AllocatorColumns, RunColumns, StatColumns
from tfprof.profiles.model.steps import SummedRuns, SummedSteps


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
    sizes = (uses.total_bytes, uses.peak_bytes, uses.live_bytes, uses.in_use_bytes)
    micros = (base_ns + memory.start_ps[uses.order] // 1000) // 1000
    allocations = (uses.use_of, micros, memory.sizes[uses.order])
    return (
        AllocatorColumns(*map(kept, (uses.runs, uses.allocators, *sizes))),
        AllocationColumns(*map(kept, allocations)),
    )


def kept(values: Int64Array) -> CompactColumn:
    """A column of a run."""
    return CompactColumn(np.ascontiguousarray(values, np.int64), 0, len(values))


def add_executions(
    profile: Profile,
    host: Host,
    job: str,
    known: frozenset[str],
    of_host: StepsOfHost,
) -> None:
    """Add all executions of ops on a host.

    Args:
        profile: Gets them.
        host: The host.
        job: Stands before the names of its devices.
        known: Names of the graph's ops.
        of_host: Which of its groups are steps.
    """
    timeline, forest, groups = host.timeline, host.forest(), host.groups()
    ran = op_runs(host, job)
    runs = ran.all
    group_of = groups.of_event[runs.events].astype(np.int64)
    memory = op_memory(forest, runs.events[: ran.n_on_host])
    totals = op_totals(ran, group_of, memory)
    present = np.unique(group_of[group_of >= 0]).tolist()
    steps = step_numbers({g: groups.names.get(g, "") for g in present}, of_host)
    if len(runs) and steps != {}:
        ops = CapturedOps(profile, known)
        ids = _name_ids(ops, runs)
        note_memory_outside(profile, totals)
        groups_of_runs, chosen = (group_of * 0, {0: 0}) if steps is None else (group_of, steps)
        _add_steps(profile, timeline, runs, ran.blocks, ids, memory, groups_of_runs, chosen)
        ops.add_stacks(*python_stacks(forest, first_runs(ran.parts, forest.timeline.starts_ps)))
    set_apart(profile, of_host, steps)
    add_notices(profile, host, totals, steps)


def _name_ids(ops: CapturedOps, runs: OpRuns) -> Int64Array:
    """Name id of each op of some runs, and -1 at the end."""
    ids = np.full(len(runs.names) + 1, -1, np.int64)
    used = np.unique(runs.ops[runs.ops >= 0])
    ids[used] = ops.name_ids([runs.names[number] for number in used.tolist()])
    return ids


def _add_steps(
    profile: Profile,
    timeline: Timeline,
    runs: OpRuns,
    blocks: Sequence[Block],
    name_ids: Int64Array,
    memory: OpMemory,
    group_of: Int64Array,
    steps: Mapping[int, int],
) -> None:
    block_of, stats = _in_order(timeline, runs, blocks, group_of)
    of_stat = group_of[stats]
    by_group = np.argsort(group_of[memory.runs], kind="stable")
    of_memory = group_of[memory.runs[by_group]]
    for group, step in steps.items():
        first, last = np.searchsorted(of_stat, (group, group + 1))
        counts = np.bincount(block_of[first:last], minlength=len(blocks)).tolist()
        held = slice(*np.searchsorted(of_memory, (group, group + 1)))
        run = _columns(timeline, runs, stats[first:last], name_ids, memory.take(by_group[held]))
        run.devices = [(block.device, n) for block, n in zip(blocks, counts, strict=True) if n]
        profile.add_run(step, run)


def _in_order(
    timeline: Timeline, runs: OpRuns, blocks: Sequence[Block], group_of: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """The block and the run of each stat: by group, then by block, then by start."""
    block_of = np.repeat(np.arange(len(blocks)), [len(block.runs) for block in blocks])
    stats = np.concatenate([block.runs for block in blocks])
    starts = timeline.starts_ps[runs.events[stats]]
    order = np.lexsort((starts, block_of, group_of[stats]))
    return block_of[order], stats[order]


def _columns(
    timeline: Timeline,
    runs: OpRuns,
    stats: Int64Array,
    name_ids: Int64Array,
    memory: OpMemory,
) -> RunColumns:
    start_nanos = run_starts_ns(timeline, runs.events[stats])
    nanos = np.rint(runs.durations_ps[stats] / 1000).astype(np.int64)
    ids = name_ids[runs.ops[stats]]
    kinds = timeline.kinds[runs.events[stats]]
    copies = [
        (place, copy_name(timeline.names[int(kinds[place])]), "")
        for place in np.flatnonzero(ids < 0).tolist()
    ]
    allocators, allocations = memory_columns(memory, stats, timeline.space.base_ns)
    return RunColumns(
        name_ids=ids,
        unknown=copies,
        stats=StatColumns(
            start_micros=kept(run_starts_micros(timeline, runs.events[stats])),
            duration_micros=kept(run_micros(runs.durations_ps[stats])),
            start_nanos=kept(np.maximum(start_nanos, 1000)),
            duration_nanos=kept(nanos),
            temporary_bytes=kept(np.zeros(len(stats), np.int64)),
            persistent_bytes=kept(np.zeros(len(stats), np.int64)),
            allocators=allocators,
            allocations=allocations,
        ),
        allocator_names=list(memory.names),
    )


def add_sums(
    profile: Profile,
    host: Host,
    sums: OpSums,
    job: str,
    known: frozenset[str],
    of_host: StepsOfHost,
) -> tuple[SummedSteps, list[int]]:
    """Add the ops of a host, as ``add_executions`` does, but no executions.

    Args:
        profile: Gets the ops.
        host: The host.
        sums: Sums of the host.
        job: Stands before the names of its devices.
        known: Names of the graph's ops.
        of_host: Which of its groups are steps.

    Returns:
        The sums of its ops in its steps, and the numbers of these.
    """
    groups = sums.groups
    names_of_groups = dict(zip(groups.numbers.tolist(), groups.names, strict=True))
    present = {group: name for group, name in names_of_groups.items() if group >= 0}
    steps = step_numbers(present, of_host)
    summed, numbers = SummedSteps(), list[int]()
    if len(sums.sums.groups) and steps != {}:
        ops = CapturedOps(profile, known)
        names = np.append(ops.name_ids(sums.ops), np.full(len(sums.copies), -1))
        note_memory_outside(profile, sums.totals)
        summed = profile.sums_of(_in_steps(sums, job, names, steps))
        numbers = [0] if steps is None else list(steps.values())
        ops.add_stacks(_stack_table(sums.stacks), sums.stacks.of_op)
    set_apart(profile, of_host, steps)
    add_notices(profile, host, sums.totals, steps)
    return summed, numbers


def _in_steps(
    sums: OpSums, job: str, names: Int64Array, steps: Mapping[int, int] | None
) -> SummedRuns:
    """The runs that are in steps; all are in step 0 if there are none."""
    columns, groups = sums.sums, sums.groups
    number_of = {} if steps is None else steps
    numbers = np.array([number_of.get(group, 0) for group in groups.numbers.tolist()], np.int64)
    is_step = np.isin(groups.numbers, list(number_of)) | (steps is None)
    chosen = np.flatnonzero(is_step[columns.groups])
    # In the order in which executions come: the first device of an op is its device.
    rank = columns.groups[chosen] * (steps is not None)
    chosen = chosen[np.lexsort((columns.devices[chosen], rank))]
    of_group = columns.groups[chosen]
    starts = groups.starts_micros[of_group] + columns.after_micros[chosen]
    ends = starts + columns.micros[chosen] + columns.gaps_micros[chosen]
    sizes = (columns.requested_bytes, columns.peak_bytes, columns.residual_bytes)
    return SummedRuns(
        [job + device for device in sums.devices],
        names,
        dict(enumerate(sums.copies, len(sums.ops))),
        sums.allocators,
        columns.devices[chosen],
        columns.ops[chosen],
        numbers[of_group],
        columns.n_runs[chosen],
        columns.n_negative[chosen],
        columns.micros[chosen],
        np.stack([starts, ends]),
        np.stack([size[chosen] for size in sizes]),
    )


def _stack_table(stacks: OpStacks) -> StackTable:
    table = StackTable()
    for frame in stacks.frames:
        table.frames.intern(Frame(*frame))
    for row in stacks.stacks:
        table.rows.intern(row)
    return table


def add_capture(profile: Profile, run: Run, host: str | None = None) -> None:
    """Add the steps of a captured run to a profile, whose ops may be those of a graph.

    Events called ``scope/name:Type`` and kernels become runs of ops. Events count on the device of
    the op's kernels, or on the CPU; kernels count as accelerator time. Hosts are tasks of one job;
    runs of the same op in the same step (``run_steps``) add up. For hosts whose events are
    elsewhere, the sums are used; their executions are read on first use.

    Args:
        profile: Gets the unknown ops, too.
        run: The run.
        host: Only this host.

    Raises:
        UsageError: There is no such host.
    """
    known = frozenset(profile.ops.name(row) for row in range(len(profile.ops)))
    run = run.in_mode(classic=profile.classic)
    hosts = run.chosen(host)
    if all(each.has_events for each in hosts):
        _add_executions(profile, run, hosts, known)
    else:
        _add_sums(profile, run, hosts, known)
    for note in run.notes:
        where = f"{note.host}: " if note.host else ""
        profile.notices.add(f"capture-{note.severity}", f"{where}{note.message}")


def _add_executions(
    profile: Profile, run: Run, hosts: Sequence[Host], known: frozenset[str]
) -> None:
    for task, host in enumerate(hosts):
        part = profile if task == 0 else Profile(classic=profile.classic)
        steps = _steps_of(run, hosts, host)
        add_executions(part, host, _job(task), known, steps)
        if part is not profile:
            profile.add_profile(part)


def _add_sums(profile: Profile, run: Run, hosts: Sequence[Host], known: frozenset[str]) -> None:
    classic = profile.classic
    summed, numbers = SummedSteps(), dict[int, None]()
    for task, host in enumerate(hosts):
        part = profile if task == 0 else Profile(classic=classic)
        steps = _steps_of(run, hosts, host)
        sums = op_sums(host)
        own, own_numbers = add_sums(part, host, sums, _job(task), known, steps)
        numbers |= dict.fromkeys(own_numbers)
        rows = np.arange(len(part.ops)) if part is profile else profile.add_ops(part)
        profile.steps.intern(part.steps.strings.values)
        summed = summed.merge(own, rows)
        host.by(OURS).memo.forget()  # sums of a thousand hosts would fill the memory

    @cache
    def details() -> dict[int, StepDetail]:
        """Every execution, from the events of one host after the other."""
        whole = Profile(classic=classic)
        _add_executions(whole, run, hosts, known)
        rows = profile.ops.rows([whole.ops.name(row) for row in range(len(whole.ops))])
        return profile.steps.details_of(whole.steps, rows)

    profile.steps.add_sums(summed.of_steps(numbers), lambda step: details()[step])


def _steps_of(run: Run, hosts: Sequence[Host], host: Host) -> StepsOfHost:
    """The steps of a host, as all tools count them; by the rules of the reference all groups.

    Of several hosts the same step has the number that it has on the first.
    """
    if run.rules.keeps_all_steps:
        return StepsOfHost()
    steps = run_steps(run)
    groups = [one.times.groups for one in steps.hosts if one.host is host]
    if len(hosts) == 1 and not groups and steps.n_steps:
        groups = [one.times.groups for one in steps_of_host(host) if len(one.times)]
    if groups:
        numbers: dict[int, int] = {}
        if len(hosts) > 1:
            of_first = numbered(steps.names, steps.hosts[0].times.groups.tolist())
            for own in groups:
                numbers |= dict(zip(own.tolist(), of_first, strict=True))
        apart = _apart(steps, groups[0])
        return StepsOfHost(np.unique(np.concatenate(groups)), numbers, apart=apart)
    is_left_out = steps.n_steps > 0 and any(len(one.times) for one in steps_of_host(host))
    return StepsOfHost(is_left_out=is_left_out and len(hosts) > 1)


def _apart(steps: RunSteps, groups: Int64Array) -> dict[int, str]:
    """The steps of other kinds than the main one, by group, if these are the steps of a run."""
    if len(groups) != steps.n_steps:
        return {}
    each = zip(groups.tolist(), steps.kinds, steps.is_main.tolist(), strict=True)
    return {group: kind for group, kind, is_main in each if not is_main}


def _job(task: int) -> str:
    return f"/job:localhost/replica:0/task:{task}"
