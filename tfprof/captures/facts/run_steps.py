"""The steps of a run: found on each host, then aligned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tfprof.captures.events.steps.code_times import CodeTime, code_times
from tfprof.captures.events.steps.collectives import exposed
from tfprof.captures.events.steps.cut_steps import UNMARKED, cut_steps
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.steps.host_code import own_code
from tfprof.captures.events.steps.reference_sweep import as_the_reference_sweeps
from tfprof.captures.events.steps.step_events import (
    Markers,
    StepEvents,
    gpu_step_events,
    host_step_events,
    joined,
)
from tfprof.captures.events.steps.step_roots import StepKind
from tfprof.captures.events.steps.step_times import step_times
from tfprof.captures.events.tpu.steps import tpu_steps, waiting_for_input
from tfprof.captures.facts.device_work import device_work
from tfprof.captures.facts.host_devices import hosts_with_steps, uses_gpu, uses_tpu
from tfprof.captures.facts.step_matching import matched
from tfprof.captures.facts.step_notes import cut_notes, left_out_notes, step_notes
from tfprof.captures.facts.steps import HostSteps, RunSteps, SharedColumns
from tfprof.captures.run.fact import fact
from tfprof.captures.run.gathered_notes import gathered
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Host, Run
from tfprof.columns.columns import Int64Array, concatenate_tables


def host_steps(host: Host, core_id: int, *, classic: bool) -> HostSteps:
    """The steps of a host.

    With GPUs the reference counts their events alone. By default the host's events count, too, as
    they did when the profiler's guide was written.
    """
    return replace(_host_steps(host, classic=classic), core_id=core_id)


def steps_of_host(host: Host) -> list[HostSteps]:
    """All steps of a host by itself, or of each core of its TPUs."""
    return cores_of(host, 0, classic=False, inner_only=False)


@fact
def _host_steps(host: Host, *, classic: bool = False) -> HostSteps:
    groups = host.groups(classic=classic)
    with_gpu = uses_gpu(host, classic=classic)
    parts = []
    marked = np.zeros(0, np.int64)
    if not (with_gpu and classic):
        of_host, markers = _host_step_events(host, with_gpu, classic=classic)
        if groups.kind is not StepKind.CALLED:
            marked = np.unique(markers.group)
        parts.append((of_host, markers))
    if with_gpu:
        parts.append(gpu_step_events(host.timeline, groups, classic=classic))
    elif not classic:
        parts[0] = _with_exposed(host, parts[0])
    events, markers = joined(parts)
    events = as_the_reference_sweeps(events) if classic else events
    times = step_times(events, markers, has_device=with_gpu, classic=classic)
    numbers = times.groups.tolist()
    names = [groups.names.get(group, str(group)) for group in numbers]
    if with_gpu and classic:
        names = list(map(str, numbers))
    if classic:
        return HostSteps(host, 0, times, names, is_implicit=False)
    return HostSteps(
        host, 0, times, names, groups.kind is StepKind.CALLED,
        calls=groups.calls,
        cut=cut_steps(host.timeline, groups, times, marked),
        without_work=_names_of(groups, marked[~np.isin(marked, times.groups)]),
    )  # fmt: skip


def _host_step_events(host: Host, has_device: bool, *, classic: bool) -> tuple[StepEvents, Markers]:
    """Events of steps on the threads of a host, which several facts are made of."""
    return host.memo.once(
        ("host step events", has_device, classic),
        lambda: host_step_events(
            host.forest(classic=classic),
            host.groups(classic=classic),
            has_device=has_device,
            classic=classic,
        ),
    )


def _with_exposed(host: Host, part: tuple[StepEvents, Markers]) -> tuple[StepEvents, Markers]:
    """With the time in which the CPU waits for other devices of the job, and computes nothing."""
    waiting = exposed(device_work(host))
    if not len(waiting.group):
        return part
    return concatenate_tables([part[0], waiting]), part[1]


@fact
def host_code_times(host: Host) -> dict[int, list[CodeTime]]:
    """Time that each step of a host spent in the program's own code, by group, the most first."""
    forest, known = host.forest(), host.groups()
    with_gpu = uses_gpu(host, classic=False)
    busy, markers = _host_step_events(host, with_gpu, classic=False)
    if with_gpu:
        of_gpus = gpu_step_events(host.timeline, known, classic=False)
        busy, _ = joined([(busy, markers), of_gpus])
    is_code = own_code(forest.timeline, known)
    is_code[[root for root in known.roots.values() if root >= 0]] = False
    groups = _host_steps(host).times.groups
    return code_times(forest, known.of_event, np.flatnonzero(is_code), busy, groups)


def _names_of(groups: Groups, chosen: Int64Array) -> Sequence[str]:
    return [groups.names.get(group, str(group)) for group in chosen.tolist()]


MOST_KEPT_WHOLE = 5
"""With more steps, the reference leaves out the first and the last."""


def run_steps(run: Run, *, classic: bool = False, inner_only: bool = False) -> RunSteps:
    """The steps of all hosts, aligned; worked out once.

    Args:
        run: The run.
        classic: As in the reference.
        inner_only: Leave out the first and the last of more than five steps of each host, as the
            reference does in some tools.
    """
    key = ("steps", classic, inner_only)
    return run.memo.once(key, lambda: _run_steps(run, classic, inner_only))


def _run_steps(run: Run, classic: bool, inner_only: bool) -> RunSteps:
    counts, notes = hosts_with_steps(run.hosts, classic=classic)
    shared = SharedColumns()
    left_out: list[Note] = []
    by_host = [
        [shared.of(core) for core in cores_of(host, number, classic=classic, inner_only=inner_only)]
        for number, host in enumerate(run.hosts)
        if counts[number]
    ]
    uses_device = (uses_tpu(h, classic=classic) or uses_gpu(h, classic=classic) for h in run.hosts)
    whole = [cores[0] for cores in by_host]
    if len(by_host) == 1:
        aligned, n_steps = by_host[0], len(whole[0].times)
    else:
        by_host = [_with_markers(cores, notes) for cores in by_host]
        first = [cores[0] for cores in by_host]
        places, alignment, left_out = matched(first, notes, classic=classic)
        n_steps = alignment.n_steps
        aligned = [
            shared.of(steps.slice(slice(begin, begin + n_steps)))
            for number, (place, begin) in enumerate(zip(places, alignment.first, strict=True))
            if number not in alignment.without_steps
            for steps in by_host[place]
        ]
    steps = RunSteps(tuple(aligned), n_steps, any(uses_device), (), classic, tuple(left_out))
    return replace(steps, notes=tuple(gathered([*notes, *step_notes(whole), *cut_notes(steps)])))


def _with_markers(cores: list[HostSteps], notes: list[Note]) -> list[HostSteps]:
    """Without unmarked steps at the ends, which cannot be matched with those of other hosts."""
    first = cores[0]
    is_lacking = np.array(
        [first.cut.get(group) == UNMARKED for group in first.times.groups.tolist()], np.bool_
    )
    if not is_lacking.any():
        return cores
    notes += left_out_notes(first, np.flatnonzero(is_lacking))
    kept = np.flatnonzero(~is_lacking)
    return [steps.slice(slice(int(kept[0]), int(kept[-1]) + 1)) for steps in cores]


def cores_of(host: Host, number: int, *, classic: bool, inner_only: bool) -> list[HostSteps]:
    """The steps of a host, or of each core of a TPU host."""
    if uses_tpu(host, classic=classic):
        cores = _tpu_cores(host, classic=classic)
        return [replace(one, core_id=number * 1000 + one.core_id) for one in cores]
    steps = host_steps(host, number * 1000 + 1, classic=classic)
    if inner_only and len(steps.times) > MOST_KEPT_WHOLE:
        steps = steps.slice(slice(1, len(steps.times) - 1))
    return [steps]


@fact
def _tpu_cores(host: Host, *, classic: bool) -> list[HostSteps]:
    groups = host.groups(classic=classic)
    waiting: dict[int, int] = {}
    marked = np.zeros(0, np.int64)
    if any(root >= 0 for root in groups.roots.values()):
        events, markers = host_step_events(host.forest(classic=classic), groups, has_device=True)
        waiting, marked = waiting_for_input(events), np.unique(markers.group)
    tpu = tpu_steps(host.timeline, groups, waiting, classic=classic)
    without = marked[~np.isin(marked, tpu.groups)]
    return [
        HostSteps(
            host,
            steps.core.id,
            tpu.times(steps, classic=classic),
            tpu.names,
            is_implicit=bool(tpu.program),
            core=steps,
            program=tpu.program,
            cut={} if classic else tpu.cut,
            without_work=() if classic else _names_of(groups, without),
        )
        for steps in tpu.cores
    ]
