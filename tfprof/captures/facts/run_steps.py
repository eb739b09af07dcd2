"""The steps of a run: found on each host, then aligned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tfprof.captures.events.steps.account import (
    Account,
    Periods,
)
from tfprof.captures.events.steps.code_times import CodeOfSteps, code_times
from tfprof.captures.events.steps.collectives import exposed
from tfprof.captures.events.steps.cut_steps import UNMARKED, cut_steps
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.steps.reference_sweep import as_the_reference_sweeps
from tfprof.captures.events.steps.step_events import (
    StepEvents,
    gpu_step_events,
    host_step_events,
    step_markers,
)
from tfprof.captures.events.steps.step_roots import StepKind
from tfprof.captures.events.steps.step_times import (
    computing,
    marked_spans,
    spans_array,
    step_times,
)
from tfprof.captures.events.timeline.runs import ended_runs
from tfprof.captures.events.tpu.steps import tpu_steps, waiting_for_input
from tfprof.captures.facts.device_work import device_work
from tfprof.captures.facts.host_devices import hosts_with_steps, uses_gpu, uses_tpu
from tfprof.captures.facts.periods import periods_of
from tfprof.captures.facts.step_matching import matched
from tfprof.captures.facts.step_notes import cut_notes, left_out_notes, step_notes
from tfprof.captures.facts.steps import HostSteps, RunSteps
from tfprof.captures.run.fact import fact, fact_by_rules
from tfprof.captures.run.gathered_notes import gathered
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Host, Run
from tfprof.core.columns.columns import Int64Array, concatenate_tables


class _SharedColumns:
    """Shares equal names and groups among hosts; they are equal on most."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._names: dict[tuple[str, ...], Sequence[str]] = {}
        self._groups: dict[bytes, Int64Array] = {}

    def of(self, steps: HostSteps) -> HostSteps:
        """The same steps, with columns that they may share with another host."""
        names = [self._texts.setdefault(name, name) for name in steps.names]
        groups = steps.times.groups
        return replace(
            steps,
            names=self._names.setdefault(tuple(names), names),
            times=replace(
                steps.times, groups=self._groups.setdefault(groups.tobytes(), groups.copy())
            ),
        )


def host_steps(host: Host, core_id: int) -> HostSteps:
    """The steps of a host.

    With GPUs, the reference counts only their events. By default the host's events count, too, as
    they did when the profiler's guide was written.
    """
    return replace(_host_steps(host), core_id=core_id)


def steps_of_host(host: Host) -> list[HostSteps]:
    """All steps of one host, or of each core of its TPUs."""
    return cores_of(host, 0, inner_only=False)


@fact_by_rules
def _host_steps(host: Host) -> HostSteps:
    if host.rules.takes_device_time_alone:
        return _as_the_reference(host)
    groups, periods = host.groups(), periods_of(host)
    events = _step_events(host, periods)
    times = step_times(events, periods.steps)
    names = _names_of(groups, times.groups)
    launched, worked = None, None
    if groups.work is not None:
        launched = groups.launched
        worked = np.unique(groups.of_event[groups.work & ended_runs(host.timeline, groups.work)])
    marked = np.zeros(0, np.int64)
    if groups.kind is not StepKind.CALLED:
        marked = np.unique(step_markers(host.timeline, groups).group)
    return HostSteps(
        host, 0, times, names, groups.kind is StepKind.CALLED,
        calls=groups.calls,
        cut=cut_steps(host.timeline, groups, times, marked, launched, worked),
        without_work=_names_of(groups, marked[~np.isin(marked, times.groups)]),
    )  # fmt: skip


def _as_the_reference(host: Host) -> HostSteps:
    """Steps as in the reference: with GPUs only their part, and no time between steps."""
    timeline, groups, rules = host.timeline, host.groups(), host.rules
    with_gpu = uses_gpu(host)
    if with_gpu:
        events, markers = gpu_step_events(timeline, groups, rules=rules)
    else:
        events = host_step_events(host.forest(), groups, has_device=False, rules=rules)
        markers = step_markers(timeline, groups, rules=rules)
    events = as_the_reference_sweeps(events)
    spans = marked_spans(markers, has_device=with_gpu)
    own = np.array(sorted(spans), np.int64)
    own = own[computing(events, own, has_device=with_gpu)]
    times = step_times(events, Account.of_spans(own, spans_array(spans, own)))
    numbers = times.groups.tolist()
    names = list(map(str, numbers)) if with_gpu else _names_of(groups, times.groups)
    return HostSteps(host, 0, times, names, is_implicit=False)


def _step_events(host: Host, periods: Periods) -> StepEvents:
    """Events of the threads and GPUs of a host in the periods of its steps."""

    def make() -> StepEvents:
        with_gpu = uses_gpu(host)
        forest = host.forest()
        of_host = host_step_events(forest, periods.groups, has_device=with_gpu, periods=periods)
        if with_gpu:
            of_gpus, _ = gpu_step_events(
                host.timeline, periods.groups, together=device_work(host).events
            )
            return concatenate_tables([of_host, of_gpus])
        # The CPU waits for other devices of the job and computes nothing meanwhile.
        waiting = exposed(device_work(host))
        return concatenate_tables([waiting, of_host]) if len(waiting.group) else of_host

    return host.memo.once("step events", make)


def step_events(host: Host) -> StepEvents:
    """Events of the threads and GPUs of a host in the periods of its steps, by kind of time."""
    return _step_events(host, periods_of(host))


@fact
def host_code_times(host: Host) -> CodeOfSteps:
    """Time of the program's own code in each step of a host."""
    forest, periods = host.forest(), periods_of(host)
    is_code = periods.is_code.copy()
    is_code[[root for root in periods.groups.roots.values() if root >= 0]] = False
    code = np.flatnonzero(is_code)
    return code_times(
        forest, periods.groups.of_event, code, step_events(host), periods.steps.groups
    )


def _names_of(groups: Groups, chosen: Int64Array) -> list[str]:
    return [groups.names.get(group, str(group)) for group in chosen.tolist()]


MOST_KEPT_WHOLE = 5
"""With more steps, the reference omits the first and the last."""


def run_steps(run: Run, *, inner_only: bool = False) -> RunSteps:
    """The steps of all hosts, aligned; computed once.

    Args:
        run: The run.
        inner_only: Omit the first and the last of more than five steps of each host, as the
            reference does in some tools.
    """
    return run.memo.once(("steps", inner_only), lambda: _run_steps(run, inner_only))


def _run_steps(run: Run, inner_only: bool) -> RunSteps:
    counts, notes = hosts_with_steps(run.hosts)
    shared = _SharedColumns()
    left_out: list[Note] = []
    by_host = [
        [shared.of(core) for core in cores_of(host, number, inner_only=inner_only)]
        for number, host in enumerate(run.hosts)
        if counts[number]
    ]
    uses_device = (uses_tpu(h) or uses_gpu(h) for h in run.hosts)
    whole = [cores[0] for cores in by_host]
    if len(by_host) == 1:
        aligned, n_steps = by_host[0], len(whole[0].times)
    else:
        by_host = [_with_markers(cores, notes) for cores in by_host]
        first = [cores[0] for cores in by_host]
        places, alignment, left_out = matched(first, notes, run.rules)
        n_steps = alignment.n_steps
        aligned = [
            shared.of(steps.slice(slice(begin, begin + n_steps)))
            for number, (place, begin) in enumerate(zip(places, alignment.first, strict=True))
            if number not in alignment.without_steps
            for steps in by_host[place]
        ]
    steps = RunSteps(tuple(aligned), n_steps, any(uses_device), (), tuple(left_out))
    return replace(steps, notes=tuple(gathered([*notes, *step_notes(whole), *cut_notes(steps)])))


def _with_markers(cores: list[HostSteps], notes: list[Note]) -> list[HostSteps]:
    """Drop unmarked steps at the ends, which cannot be matched with steps of other hosts."""
    first = cores[0]
    is_lacking = np.array(
        [first.cut.get(group) == UNMARKED for group in first.times.groups.tolist()], np.bool_
    )
    if not is_lacking.any():
        return cores
    notes += left_out_notes(first, np.flatnonzero(is_lacking))
    kept = np.flatnonzero(~is_lacking)
    return [steps.slice(slice(int(kept[0]), int(kept[-1]) + 1)) for steps in cores]


def cores_of(host: Host, number: int, *, inner_only: bool) -> list[HostSteps]:
    """The steps of a host, or of each core of a TPU host."""
    if uses_tpu(host):
        cores = _tpu_cores(host)
        return [replace(one, core_id=number * 1000 + one.core_id) for one in cores]
    steps = host_steps(host, number * 1000 + 1)
    if inner_only and len(steps.times) > MOST_KEPT_WHOLE:
        steps = steps.slice(slice(1, len(steps.times) - 1))
    return [steps]


@fact_by_rules
def _tpu_cores(host: Host) -> list[HostSteps]:
    groups, rules = host.groups(), host.rules
    waiting: dict[int, int] = {}
    marked = np.zeros(0, np.int64)
    if any(root >= 0 for root in groups.roots.values()):
        events = host_step_events(host.forest(), groups, has_device=True)
        waiting = waiting_for_input(events)
        marked = np.unique(step_markers(host.timeline, groups).group)
    tpu = tpu_steps(host.timeline, groups, waiting, rules=rules)
    without = marked[~np.isin(marked, tpu.groups)]
    return [
        HostSteps(
            host,
            steps.core.id,
            tpu.times(steps, rules=rules),
            tpu.names,
            is_implicit=bool(tpu.program),
            core=steps,
            program=tpu.program,
            cut={} if rules.keeps_all_steps else tpu.cut,
            without_work=() if rules.keeps_all_steps else _names_of(groups, without),
        )
        for steps in tpu.cores
    ]
