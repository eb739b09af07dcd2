"""Assigns each moment of a step to one op or kind of time, so that they add up to the step.

See ``shared_time`` for how moments are shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from tfprof.captures.events.ops.op_runs import (
    OpRuns,
    devices,
    gpu_op_runs,
    host_op_runs,
    tpu_op_runs,
)
from tfprof.captures.events.steps.step_events import DEVICE_COMPUTE, Spent
from tfprof.captures.events.timeline.names import GPU_PREFIX
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.facts.hlo_programs import module_names
from tfprof.captures.facts.host_op_db import ops_of_programs
from tfprof.captures.facts.periods import periods_of
from tfprof.captures.facts.run_steps import step_events, steps_of_host
from tfprof.captures.facts.steps import HostSteps, RunSteps
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array
from tfprof.insight.diff.shared_time import Float64Array, Layer, Spans, shared_time
from tfprof.profiles.model.executions import ACCELERATOR, HOST, NO_OP, OTHER
from tfprof.profiles.model.profile import Profile

_HOST_KINDS: Final = (Spent.HOST_COMPUTE, Spent.HOST_CALLBACK, Spent.HOST_TO_HOST)
_DEVICE_KINDS: Final = (*DEVICE_COMPUTE, Spent.DEVICE_COLLECTIVES)

_WITHOUT_OP: Final = {
    Spent.UNKNOWN: "no op",
    Spent.HOST_CODE: "Python and other code of the program",
    Spent.HOST_RUNTIME: "the framework, outside of ops",
    Spent.HOST_CALLBACK: "Python that the graph calls",
    Spent.HOST_COMPUTE: "the framework, outside of ops",
    Spent.HOST_COMPILE: "tracing and compiling",
    Spent.HOST_TO_HOST: "copies within the host",
    Spent.HOST_TO_DEVICE: "copies to devices",
    Spent.HOST_PREPARE: "launching kernels",
    Spent.DEVICE_COLLECTIVES: "collectives",
    Spent.HOST_WAIT_INPUT: "waiting for input",
    Spent.DEVICE_TO_DEVICE: "copies between devices",
    Spent.DEVICE_TO_HOST: "copies to the host",
    Spent.DEVICE_COMPUTE_32: "devices, outside of ops",
    Spent.DEVICE_COMPUTE_16: "devices, outside of ops",
    Spent.DEVICE_WAIT_DEVICE: "devices waiting for each other",
    Spent.DEVICE_WAIT_HOST: "devices waiting for input",
}
"""Kinds of time that belong to no op."""


@dataclass(frozen=True, eq=False)
class Moments:
    """The time of steps by op and by other kinds of time, ms.

    Attributes:
        ops: By the name of the op, each of shape (steps,).
        other: Time that belongs to no op, by kind. Together with the ops it adds up to the steps.
    """

    ops: Mapping[str, Float64Array]
    other: Mapping[str, Float64Array]


# Captures


def moments_of_run(steps: RunSteps) -> Moments:
    """The moments of some steps of a captured run, each on its slowest host."""
    ops: dict[str, Float64Array] = {}
    other: dict[str, Float64Array] = {}
    if not steps.n_steps:
        return Moments(ops, other)
    slowest = np.argmax([one.times.duration_ps for one in steps.hosts], axis=0)
    for number, one in enumerate(steps.hosts):
        rows = np.flatnonzero(slowest == number)
        if len(rows):
            of_host = OfSteps(*moments_of_host(one.host)[_core(one)])
            for found, parts in zip((ops, other), of_host.at(one.times.groups[rows]), strict=True):
                for name, time in parts.items():
                    found.setdefault(name, np.zeros(steps.n_steps))[rows] += time / 1e9
    return Moments(ops, other)


class OfSteps(NamedTuple):
    """The moments of all steps of a host, or of a core of its TPUs; only those that are not 0.

    Attributes:
        groups: The groups of the steps, shape (n_steps,).
        names: Names of ops.
        step: Places of steps, shape (n,).
        op: Op with a part of each, shape (n,).
        time_ps: Its time, shape (n,).
        other_ps: Time that belongs to no op, by kind, each of shape (n_steps,).
    """

    groups: Int64Array
    names: tuple[str, ...]
    step: Int64Array
    op: Int64Array
    time_ps: Float64Array
    other_ps: Mapping[str, Float64Array]

    def at(
        self, groups: Int64Array
    ) -> tuple[Mapping[str, Float64Array], Mapping[str, Float64Array]]:
        """Ops and other time of some steps; ps.

        Args:
            groups: The groups of these steps.
        """
        place = {group: row for row, group in enumerate(self.groups.tolist())}
        rows = [place[group] for group in groups.tolist()]
        row_of = np.full(len(self.groups), -1, np.int64)
        row_of[rows] = np.arange(len(rows))
        whole = np.zeros((len(self.names), len(rows)))
        chosen = row_of[self.step] >= 0
        whole[self.op[chosen], row_of[self.step[chosen]]] = self.time_ps[chosen]
        return (
            dict(zip(self.names, whole, strict=True)),
            {what: time[rows] for what, time in self.other_ps.items()},
        )


def _core(one: HostSteps) -> int:
    """The core that the steps belong to; -1 for those of the host."""
    return -1 if one.core is None else one.core.core.plane


@fact
def moments_of_host(host: Host) -> dict[int, tuple[Any, ...]]:
    """``OfSteps`` of each core of a host's TPUs by its plane, or of the host by -1."""
    return {_core(one): tuple(_of_steps(one)) for one in steps_of_host(host)}


def _of_steps(one: HostSteps) -> OfSteps:
    host, times = one.host, one.times
    groups = host.groups() if one.core is not None else periods_of(host).groups
    windows = np.stack([times.start_ps, times.start_ps + times.duration_ps], axis=1)
    row_of = np.full(int(groups.of_event.max(initial=-1)) + 2, -1, np.int64)
    known = np.flatnonzero(times.groups < len(row_of) - 1)
    row_of[times.groups[known]] = known
    kinds: Spans | None = None
    layers: list[tuple[OpRuns, tuple[int, ...]]]
    if one.core is not None:
        runs = tpu_op_runs(host.timeline, one.core.core.plane, module_names(host))
        layers = [(runs, ())]
    else:
        op_of = ops_of_programs(host)
        layers = [(_on_device(host, plane), _DEVICE_KINDS) for plane in devices(host.timeline)]
        layers.append((host_op_runs(host.timeline, host.eager(), op_of), _HOST_KINDS))
        kinds = _kinds(host, row_of)
    numbers: dict[str, int] = {}
    spans = []
    for runs, allowed in layers:
        ids = [numbers.setdefault(op.name, len(numbers)) for op in runs.names]
        steps = row_of[groups.of_event]
        spans.append(Layer(_spans(host, runs, np.array([*ids, -1]), steps), allowed))
    shared = shared_time(windows, spans, [len(numbers)] * len(spans), kinds)
    whole = np.sum(shared.by_layer, axis=0)
    other: dict[str, Float64Array] = {}
    for kind, time in shared.rest.items():
        what = _WITHOUT_OP[Spent(kind)]
        other[what] = other.get(what, np.zeros(len(windows))) + time
    step, op = np.nonzero(whole)
    return OfSteps(times.groups, tuple(numbers), step, op, whole[step, op], other)


def _on_device(host: Host, plane: int) -> OpRuns:
    if host.space.planes[plane].name.startswith(GPU_PREFIX):
        return gpu_op_runs(host.timeline, plane, ops_of_programs(host))
    return tpu_op_runs(host.timeline, plane, module_names(host))


def _kinds(host: Host, row_of: Int64Array) -> Spans:
    """The kind of each span of time, as in the step's categories."""
    events = step_events(host)
    rows = row_of[events.group]
    alone = np.full(len(rows), -1)
    return Spans(rows, events.spent, events.start_ps, events.end_ps, alone).only(rows >= 0)


def _spans(host: Host, runs: OpRuns, number: Int64Array, step_of: Int64Array) -> Spans:
    """Runs of ops in periods of steps, with the runs that enclose them."""
    timeline = host.timeline
    order = np.argsort(runs.events, kind="stable")
    events, what = runs.events[order], number[runs.ops[order]]
    starts, ends = timeline.starts_ps[events], timeline.ends_of(events)
    nesting = nest(np.searchsorted(events, timeline.first), starts, ends)
    step = step_of[events]
    spans = Spans(step, what, starts, ends, nesting.parents.astype(np.int64))
    return spans.only((step >= 0) & (what >= 0))


# Profiles


def moments_of_profile(profile: Profile) -> Moments:
    """The moments of all steps of a profile in which ops have times."""
    parts = [part for step in profile.steps.steps if (part := _of_step(profile, step))]
    times = [time for time, _ in parts]
    ran = np.flatnonzero(np.any([time > 0 for time in times], axis=0)) if times else ()
    ops = {
        profile.ops.name(row): np.array([time[row] for time in times])
        for row in (int(row) for row in ran)
    }
    return Moments(ops, {"no op": np.array([rest for _, rest in parts])} if parts else {})


def _of_step(profile: Profile, step: int) -> tuple[Float64Array, float] | None:
    """Time of each op, and time that belongs to no op; ms."""
    runs = profile.steps.details[step].executions
    timed = (runs.start_nanos > 0) & (runs.rows != NO_OP) & (runs.kinds != OTHER)
    if not timed.any():
        return None
    start, rows, kinds = runs.start_nanos[timed], runs.rows[timed], runs.kinds[timed]
    end = start + runs.duration_nanos[timed]
    window = np.array([[start.min(), end.max()]], np.int64)
    layers = []
    for kind in (ACCELERATOR, HOST):
        of_kind = np.flatnonzero(kinds == kind)
        alone = np.zeros(len(of_kind), np.int64)
        layers.append(Layer(Spans(alone, rows[of_kind], start[of_kind], end[of_kind], alone - 1)))
    shared = shared_time(window, layers, [len(profile.ops)] * 2)
    rest: Sequence[Float64Array] = list(shared.rest.values())
    whole: Float64Array = (shared.by_layer[0][0] + shared.by_layer[1][0]) / 1e6
    return whole, float(sum(one.sum() for one in rest)) / 1e6
