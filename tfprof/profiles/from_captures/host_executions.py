"""Executions of ops on a captured host, as runs of a profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tfprof.captures.events.ops.device_runs import Block
from tfprof.captures.events.ops.op_memory import OpMemory, op_memory
from tfprof.captures.events.ops.op_runs import OpRuns, copy_name, first_runs
from tfprof.captures.events.steps.python_stacks import python_stacks
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.facts.op_sums import (
    op_runs,
    op_totals,
    run_micros,
    run_starts_micros,
    run_starts_ns,
)
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array
from tfprof.profiles.from_captures.captured_ops import (
    CapturedOps,
    StepsOfHost,
    add_notices,
    note_memory_outside,
    set_apart,
    step_numbers,
)
from tfprof.profiles.from_captures.memory_columns import kept, memory_columns
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.runs import RunColumns, StatColumns


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
    classic, timeline = profile.classic, host.timeline
    forest, groups = host.forest(classic=classic), host.groups(classic=classic)
    ran = op_runs(host, job, classic=classic)
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
        if steps is None:
            _add_steps(profile, timeline, runs, ran.blocks, ids, memory, group_of * 0, {0: 0})
        else:
            _add_steps(profile, timeline, runs, ran.blocks, ids, memory, group_of, steps)
        ops.add_stacks(*python_stacks(forest, first_runs(ran.parts)))
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
