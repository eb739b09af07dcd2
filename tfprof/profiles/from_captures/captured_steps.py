"""A captured run as steps of a profile."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from tfprof.captures.events.ops.device_ops import WITHOUT_OP
from tfprof.captures.events.ops.op_memory import OpMemory, op_memory
from tfprof.captures.events.ops.op_runs import (
    NamedOp,
    OpRuns,
    copy_name,
    devices,
    first_runs,
    gpu_op_runs,
    host_op_runs,
    tpu_op_runs,
)
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.steps.python_stacks import python_stacks
from tfprof.captures.events.timeline.names import GPU_PREFIX
from tfprof.captures.facts.framework import words_for
from tfprof.captures.facts.hlo_programs import module_names
from tfprof.captures.facts.host_op_db import ops_of_programs
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.run.run import Host, Run
from tfprof.columns.columns import Int64Array
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.profiles.from_captures.run_columns import Block, blocks_of, kept, memory_columns
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.runs import RunColumns, StatColumns
from tfprof.text import how_to_capture
from tfprof.text.units import human_memory, milliseconds
from tfprof.text.wording import sentence

_CALLS = re.compile(r"(?:.*/)?(?:Stateful)?PartitionedCall(?:_\d+)?/")
"""Prefix of the name of an op that was inlined from a function."""

_NUMBERED = re.compile(r".*?(-?\d{1,18})", re.DOTALL)


def add_capture(profile: Profile, run: Run, host: str | None = None) -> None:
    """Add the steps of a captured run to a profile, whose ops may be those of a graph.

    Events called ``scope/name:Type`` and kernels become runs of ops. Events count on the device of
    the op's kernels, or on the CPU; kernels count as accelerator time. Hosts are tasks of one job;
    runs of the same op on several hosts add up.

    Args:
        profile: Gets the unknown ops, too.
        run: The run.
        host: Only this host.

    Raises:
        UsageError: There is no such host.
    """
    known = frozenset(profile.ops.name(row) for row in range(len(profile.ops)))
    for task, each in enumerate(run.chosen(host)):
        part = profile if task == 0 else Profile(classic=profile.classic)
        _Capture(part, each, task, known).add(_groups_of_steps(run, each, part.classic))
        if part is not profile:
            profile.add_profile(part)
    for note in run.notes:
        where = f"{note.host}: " if note.host else ""
        profile.notices.add(f"capture-{note.severity}", f"{where}{note.message}")


def _groups_of_steps(run: Run, host: Host, classic: bool) -> Int64Array | None:
    """The groups of a host that are steps, as all tools count them; None if all groups are."""
    own = [one.times.groups for one in run_steps(run).hosts if one.host is host]
    return None if classic or not own else np.unique(np.concatenate(own))


class _Capture:
    """One host's part of a capture; ``known`` are the names of the graph's ops."""

    def __init__(self, profile: Profile, host: Host, task: int, known: frozenset[str]) -> None:
        self._profile, self._host, self._known = profile, host, known
        self._job = f"/job:localhost/replica:0/task:{task}"
        self._timeline = host.timeline
        self._groups = host.groups(classic=profile.classic)
        self._op_of = ops_of_programs(host)

    def add(self, steps_of_host: Int64Array | None) -> None:
        """Add all steps.

        Args:
            steps_of_host: The groups that are steps; None: all groups.
        """
        eager = self._host.eager(classic=self._profile.classic)
        on_host = host_op_runs(self._timeline, eager, self._op_of)
        on_devices = self._device_runs()
        runs = _joined([on_host, *on_devices.values()])
        blocks = blocks_of(self._job, self._timeline, on_host, on_devices)
        steps, group_of = _steps(self._groups, runs, steps_of_host)
        if steps:
            self._add_steps(runs, blocks, steps, group_of, len(on_host))
            self._add_stacks([on_host, *on_devices.values()])
        self._notice(runs, group_of, steps)

    def _device_runs(self) -> dict[int, OpRuns]:
        timeline, modules = self._timeline, module_names(self._host)
        return {
            plane: gpu_op_runs(timeline, plane, self._op_of)
            if timeline.space.planes[plane].name.startswith(GPU_PREFIX)
            else tpu_op_runs(timeline, plane, modules)
            for plane in devices(timeline)
        }

    def _add_steps(
        self,
        runs: OpRuns,
        blocks: Sequence[Block],
        steps: Mapping[int, int],
        group_of: Int64Array,
        n_on_host: int,
    ) -> None:
        name_ids = self._name_ids(runs)
        forest = self._host.forest(classic=self._profile.classic)
        memory = op_memory(forest, runs.events[:n_on_host])
        self._profile.notices.add(
            "memory-outside-ops",
            f"allocations ({human_memory(memory.outside_bytes)}) were made outside of ops, and are "
            "not in the memory of any op; see tfprof memory",
            memory.n_outside,
        )
        block_of = np.repeat(np.arange(len(blocks)), [len(block.runs) for block in blocks])
        stats = np.concatenate([block.runs for block in blocks])
        starts = self._timeline.starts_ps[runs.events[stats]]
        order = np.lexsort((starts, block_of, group_of[stats]))
        block_of, stats = block_of[order], stats[order]
        of_stat = group_of[stats]
        by_group = np.argsort(group_of[memory.runs], kind="stable")
        of_memory = group_of[memory.runs[by_group]]
        for group, step in steps.items():
            first, last = np.searchsorted(of_stat, (group, group + 1))
            counts = np.bincount(block_of[first:last], minlength=len(blocks)).tolist()
            held = slice(*np.searchsorted(of_memory, (group, group + 1)))
            run = self._columns(runs, stats[first:last], name_ids, memory.take(by_group[held]))
            run.devices = [(block.device, n) for block, n in zip(blocks, counts, strict=True) if n]
            self._profile.add_run(step, run)

    def _name_ids(self, runs: OpRuns) -> Int64Array:
        """Name id of each op; names that no graph has become ops."""
        ops = self._profile.ops
        ids = np.full(len(runs.names) + 1, -1, np.int64)
        used = [number for number in np.unique(runs.ops).tolist() if number >= 0]
        # Names with a type come first, to give the op its type.
        for number in sorted(used, key=lambda number: not runs.names[number].type):
            name = self._known_name(runs.names[number].name)
            if ops.row(name) < 0:
                ops.add_run_time_op(name, runs.names[number].type or None)
            ids[number] = ops.names.find(name)
        return ids

    def _known_name(self, name: str) -> str:
        """The name of an op in the graph, without the call that it was inlined from."""
        if name in self._known:
            return name
        calls = _CALLS.match(name)
        inner = name if calls is None else name[calls.end() :]
        return inner if inner in self._known else name.partition(":")[0] or "unknown"

    def _columns(
        self, runs: OpRuns, stats: Int64Array, name_ids: Int64Array, memory: OpMemory
    ) -> RunColumns:
        timeline = self._timeline
        start_nanos = timeline.space.base_ns + timeline.starts_ps[runs.events[stats]] // 1000
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
                start_micros=kept(np.maximum(start_nanos // 1000, 1)),
                duration_micros=kept(np.rint(runs.durations_ps[stats] / 1e6).astype(np.int64)),
                start_nanos=kept(np.maximum(start_nanos, 1000)),
                duration_nanos=kept(nanos),
                temporary_bytes=kept(np.zeros(len(stats), np.int64)),
                persistent_bytes=kept(np.zeros(len(stats), np.int64)),
                allocators=allocators,
                allocations=allocations,
            ),
            allocator_names=list(memory.names),
        )

    def _add_stacks(self, parts: Sequence[OpRuns]) -> None:
        forest = self._host.forest(classic=self._profile.classic)
        stacks, stack_of_op = python_stacks(forest, first_runs(parts))
        names = [self._known_name(name) for name in stack_of_op]
        none: list[Sequence[str]] = [()] * len(names)
        log = OpLogColumns(names, [0] * len(names), none, list(stack_of_op.values()), stacks)
        self._profile.add_op_log(log)

    def _notice(self, runs: OpRuns, group_of: Int64Array, steps: Mapping[int, int]) -> None:
        notices = self._profile.notices
        is_op = runs.ops >= 0
        if not is_op.any():
            notices.add(
                "no-ops",
                "a host captured no op: its events have other names than scope/name:Type "
                f"({how_to_capture.OPS})",
            )
            return
        if not (self._groups.of_event[runs.events[is_op]] >= 0).any():
            notices.add(
                "no-steps",
                "no op is in a marked step: the whole capture is step 0. "
                f"{sentence(words_for([self._host]).mark_steps)}",
            )
        outside = is_op & ~np.isin(group_of, list(steps))
        share = runs.durations_ps[outside].sum() / max(int(runs.durations_ps[is_op].sum()), 1)
        notices.add(
            "outside-of-steps",
            f"runs of ops were in no step ({share:.1%} of the time of all runs); they are left out",
            int(outside.sum()),
        )
        is_kernel = [op.name.startswith(f"{WITHOUT_OP}/") for op in runs.names]
        without = np.array([*is_kernel, False], np.bool_)[runs.ops]
        notices.add(
            "kernels-without-op",
            f"kernels ({milliseconds(runs.durations_ps[without].sum() / 1e9)}) have no op in the "
            f"capture and are in the scope {WITHOUT_OP}",
            int(without.sum()),
        )


def _joined(parts: Sequence[OpRuns]) -> OpRuns:
    """Runs of several parts with one numbering of ops."""
    numbers: dict[NamedOp, int] = {}
    ops = []
    for part in parts:
        of_part = [numbers.setdefault(op, len(numbers)) for op in part.names]
        ops.append(np.array([*of_part, -1], np.int64)[part.ops])
    return OpRuns(
        np.concatenate([part.events for part in parts]),
        np.concatenate(ops),
        np.concatenate([part.durations_ps for part in parts]),
        np.concatenate([part.is_copy for part in parts]),
        tuple(numbers),
    )


def _steps(
    groups: Groups, runs: OpRuns, steps_of_host: Int64Array | None
) -> tuple[dict[int, int], Int64Array]:
    """The number of each step by its group, and the group of each run.

    Where no run is in a step, all are in step 0.
    """
    if not len(runs):
        return {}, np.zeros(0, np.int64)
    group_of = groups.of_event[runs.events].astype(np.int64)
    if steps_of_host is not None:
        group_of[~np.isin(group_of, steps_of_host)] = -1
    if not (group_of >= 0).any():
        return {0: 0}, np.zeros(len(runs), np.int64)
    present = np.unique(group_of[group_of >= 0]).tolist()
    matches = [_NUMBERED.fullmatch(groups.names.get(group, "")) for group in present]
    numbers = [int(match[1]) for match in matches if match is not None]
    if len(set(numbers)) < len(present):
        numbers = present
    return dict(zip(present, numbers, strict=True)), group_of
