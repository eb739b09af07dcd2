"""What ran in each step of a host: ops with their runs, self times, products and bytes.

An op counts in the step in whose period it starts (``events/steps/account.py``), also if the
program launched it outside of its marks: a period and the work in it belong together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.executions import host_executions
from tfprof.captures.events.ops.tpu_ops import OPS, OpMetadata, device_spans, first_kind
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.facts.host_devices import has_gpu, uses_tpu
from tfprof.captures.facts.ran_ops import OUTSIDE, Descriptions, RanOp, numbered
from tfprof.captures.facts.run_steps import steps_of_host
from tfprof.captures.facts.steps import HostSteps
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows, sums_by
from tfprof.core.columns.distinct import distinct_rows

PROCESSOR = -1
"""The processor of a host, as a device; hosts on one machine share it."""


@dataclass(frozen=True, eq=False)
class StepWork:
    """Ops in the periods of the steps of a host; one row for each op, step and device.

    Attributes:
        ops: The ops.
        op: Index in ``ops``, shape (n,).
        device: Number of the device on the host, or ``PROCESSOR``, shape (n,).
        group: The step, shape (n,).
        runs: Number of runs, shape (n,).
        self_ps: Self time, shape (n,).
        overlap: Whether the steps overlap, so that no period belongs to one of them.
    """

    ops: Sequence[RanOp]
    op: Int64Array
    device: Int64Array
    group: Int64Array
    runs: Int64Array
    self_ps: Int64Array
    overlap: bool = False


class _Events(NamedTuple):
    """Events of one device that run ops, and the ops that they run.

    Attributes:
        device: Number of the device.
        ops: The ops.
        of_event: Index in ``ops`` of each event, shape (n,).
        starts_ps: Start of each.
        self_ps: Self time of each.
        kinds: Kind of each: one run of an op may be several kernels of different kinds.
        steps: The steps of the device.
    """

    device: int
    ops: list[RanOp]
    of_event: Int64Array
    starts_ps: Int64Array
    self_ps: Int64Array
    kinds: Int64Array
    steps: HostSteps


@fact
def step_work(host: Host) -> StepWork:
    """The ops in the steps of a host, with their costs."""
    describe = Descriptions(host)
    if uses_tpu(host):
        devices = _of_tpu(host, describe)
    elif has_gpu(host):
        devices = _of_gpus(host, describe)
    else:
        devices = _of_cpu(host, describe)
    ops: dict[RanOp, int] = {}
    parts: list[tuple[Int64Array, ...]] = [(no_rows(),) * 5]
    overlap = False
    for each in devices:
        overlap |= _overlap(each.steps)
        parts.append(_rows_of(each, ops))
    op, device, group, runs, self_ps = map(np.concatenate, zip(*parts, strict=True))
    return StepWork(list(ops), op, device, group, runs, self_ps, overlap)


def _rows_of(device: _Events, ops: dict[RanOp, int]) -> tuple[Int64Array, ...]:
    """The columns of ``StepWork`` of a device; enters its ops."""
    place = _steps_at(device.steps, device.starts_ps)
    rows = np.flatnonzero((place >= 0) & (device.of_event >= 0))
    numbers = np.array([ops.setdefault(op, len(ops)) for op in device.ops] or [0], np.int64)
    kernels = distinct_rows([numbers[device.of_event[rows]], place[rows], device.kinds[rows]])
    kernel_ps = sums_by(kernels.place, device.self_ps[rows], len(kernels.counts))
    found = distinct_rows([kernels.values[:, 0], kernels.values[:, 1]])
    runs = np.zeros(len(found.counts), np.int64)
    np.maximum.at(runs, found.place, kernels.counts)
    return (
        found.values[:, 0], np.full(len(runs), device.device, np.int64),
        device.steps.times.groups[found.values[:, 1]], runs,
        sums_by(found.place, kernel_ps, len(runs)),
    )  # fmt: skip


_MOST_OVERLAP = 0.01
"""Rounding, and ops of a TPU that end shortly after their step, overlap less than this share."""


def _overlap(steps: HostSteps) -> bool:
    order = np.argsort(steps.times.start_ps, kind="stable")
    starts, took = steps.times.start_ps[order], steps.times.duration_ps[order]
    overlap_ps = np.maximum((starts + took)[:-1] - starts[1:], 0).sum()
    return bool(overlap_ps > _MOST_OVERLAP * took.sum())


def _steps_at(steps: HostSteps, at_ps: Int64Array) -> Int64Array:
    """Index of the step whose period holds each time; -1 for none, shape (n,)."""
    if not len(steps.times) or not len(at_ps):
        return np.full(len(at_ps), -1, np.int64)
    order = np.argsort(steps.times.start_ps, kind="stable")
    starts = steps.times.start_ps[order]
    ends = starts + steps.times.duration_ps[order]
    row = np.searchsorted(starts, at_ps, side="right") - 1
    is_inside = (row >= 0) & (at_ps < ends[row])
    return np.where(is_inside, order[row], -1)


def _of_cpu(host: Host, describe: Descriptions) -> Iterator[_Events]:
    timeline = host.timeline
    hlo_op = timeline.stat("hlo_op")
    events = hlo_op.events[hlo_op.is_text() & timeline.on_threads[hlo_op.events]].astype(np.int64)
    durations = timeline.durations_ps[events]
    first = np.searchsorted(events, timeline.first)
    nesting = nest(first, timeline.starts_ps[events], timeline.ends_of(events))
    own = durations - nesting.sums_of_children(durations)
    ops, place = describe.of_events(timeline, events)
    [steps] = steps_of_host(host)
    kinds = np.zeros(len(events), np.int64)
    yield _framework_products(host, hlo_op.has(np.arange(len(timeline))), steps)
    yield _Events(PROCESSOR, ops, place, timeline.starts_ps[events], own, kinds, steps)


def _framework_products(host: Host, is_compiled: BoolArray, steps: HostSteps) -> _Events:
    """Products that the framework's own ops computed on threads, outside of compiled programs."""
    timeline = host.timeline
    ran = host_executions(timeline, host.eager())
    products, numbers = numbered([
        RanOp("", op.name, op.type, unknown=OUTSIDE) if _PRODUCT_TYPE.search(op.type) else None
        for op in ran.names
    ])  # fmt: skip
    of_event = np.append(numbers, -1)[ran.ops]
    rows = np.flatnonzero((of_event >= 0) & ~is_compiled[ran.events])
    events = ran.events[rows]
    return _Events(
        PROCESSOR, products, of_event[rows], timeline.starts_ps[events],
        timeline.durations_ps[events], np.zeros(len(rows), np.int64), steps,
    )  # fmt: skip


_PRODUCT_TYPE = re.compile("MatMul|Conv[123]D|DepthwiseConv|Einsum|LSTM|GRU|RNN")
"""Types of TensorFlow's ops that compute products."""


def _of_gpus(host: Host, describe: Descriptions) -> Iterator[_Events]:
    timeline = host.timeline
    [steps] = steps_of_host(host)
    for number in timeline.planes_of_gpus():
        events = timeline.events_of_plane(number)
        ops, place = describe.of_events(timeline, events)
        yield _Events(
            number, ops, place, timeline.starts_ps[events], timeline.durations_ps[events],
            timeline.kinds[events].astype(np.int64), steps,
        )  # fmt: skip


def _of_tpu(host: Host, describe: Descriptions) -> Iterator[_Events]:
    timeline = host.timeline
    for steps in steps_of_host(host):
        if steps.core is None or steps.core.core.is_sparse:
            continue
        number = steps.core.core.plane
        spans = device_spans(timeline, number, OPS)
        durations = spans.end_ps - spans.start_ps
        own = durations - spans.nesting().sums_of_children(durations)
        kinds, place = np.unique(timeline.kinds[spans.events], return_inverse=True)
        metadata = OpMetadata(timeline.space.planes[number])
        rows = (kinds - first_kind(timeline, number) - 1).tolist()
        ops, numbers = describe.of_metadata([metadata.op(row) for row in rows])
        yield _Events(
            number, ops, numbers[place], spans.start_ps, own,
            timeline.kinds[spans.events].astype(np.int64), steps,
        )  # fmt: skip
