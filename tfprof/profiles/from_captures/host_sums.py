"""Sums of the ops of a captured host, where its executions are not there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tfprof.captures.facts.op_sums import OpStacks, OpSums
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.frames import Frame, StackTable
from tfprof.profiles.from_captures.captured_ops import (
    CapturedOps,
    StepsOfHost,
    add_notices,
    note_memory_outside,
    set_apart,
    step_numbers,
)
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.summed_steps import SummedRuns, SummedSteps


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
        sums: What ran on it.
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
