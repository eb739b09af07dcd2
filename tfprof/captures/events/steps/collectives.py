"""Collectives of devices, and the computation that overlaps with them.

A device is a GPU, a core of a TPU, or a device of XLA or TensorFlow on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.steps.step_events import DEVICE_COMPUTE, Spent, StepEvents, device_kind
from tfprof.captures.events.steps.step_times import StepTimes, covered_by_kind
from tfprof.captures.events.timeline.collective_names import (
    is_collective_instruction,
    is_collective_op,
)
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.events.timeline.op_names import OpKind
from tfprof.captures.events.timeline.programs import HloKey, hlo_keys
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.rules import OURS
from tfprof.core.columns.columns import (
    BoolArray,
    Int64Array,
    concatenate_tables,
    no_rows,
    taken_rows,
)
from tfprof.core.columns.distinct import distinct_rows


class CollectiveKind(NamedTuple):
    """A kind of collective, the same on all devices.

    Attributes:
        name: Instruction, kernel, or type of an op.
        instance: Number of the op's collective, the same on all workers; -1 without one.
        is_joint: Whether all devices of the job take part, as far as the capture shows.
        module: Name of its program; empty if unknown.
    """

    name: str
    instance: int = -1
    is_joint: bool = True
    module: str = ""


@dataclass(frozen=True, slots=True)
class DeviceSpans:
    """Runs on the devices of a host, each field of shape (n,).

    Attributes:
        device: The device, as an arbitrary number.
        group: Group of its step, -1 without one.
        start_ps: Start of each, on the axis of the host.
        end_ps: End of each.
    """

    device: Int64Array
    group: Int64Array
    start_ps: Int64Array
    end_ps: Int64Array

    def only(self, chosen: BoolArray) -> DeviceSpans:
        """Some of the runs."""
        return taken_rows(self, chosen)


@dataclass(frozen=True, eq=False)
class DeviceWork:
    """Collectives of the devices of a host, and their other computation.

    Attributes:
        kinds: Kinds of collectives.
        which: Kind of each run, shape (n,).
        together: The runs of collectives.
        alone: Computation of single devices, without events that only contain other work.
        events: Places of the runs of collectives in the timeline; empty if unknown.
    """

    kinds: Sequence[CollectiveKind]
    which: Int64Array
    together: DeviceSpans
    alone: DeviceSpans
    events: Int64Array = field(default_factory=no_rows)


def no_work() -> DeviceWork:
    """The work of a host without data on devices."""
    nothing = np.zeros(0, np.int64)
    spans = DeviceSpans(nothing, nothing, nothing, nothing)
    return DeviceWork((), nothing, spans, spans)


def work_of(
    names: Sequence[CollectiveKind | None],
    place: Int64Array,
    spans: DeviceSpans,
    alone: BoolArray,
    events: Int64Array,
) -> DeviceWork:
    """The work in some runs, by their kinds.

    Args:
        names: Kinds; None if it is not a collective.
        place: The kind of each run, ``len(names)`` without one, shape (n,).
        spans: The runs.
        alone: Whether each computes, shape (n,).
        events: Places of the runs in the timeline.
    """
    kinds: dict[CollectiveKind, int] = {}
    number = [-1 if kind is None else kinds.setdefault(kind, len(kinds)) for kind in names]
    which = np.array([*number, -1], np.int64)[place]
    is_together = which >= 0
    return DeviceWork(
        list(kinds), which[is_together], spans.only(is_together),
        spans.only(alone & ~is_together), events[is_together],
    )  # fmt: skip


KindOf = Callable[[HloKey], CollectiveKind | None]
"""Returns the collective of an instruction of XLA; None for other instructions."""


def thread_work(timeline: Timeline, groups: Groups, kind_of: KindOf) -> DeviceWork:
    """Work of the CPU of a host: instructions of XLA and ops of TensorFlow on its threads.

    Empty if the host has no collectives.
    """
    found, of_event = _thread_collectives(timeline, kind_of)
    if not len(of_event.events):
        return no_work()
    is_op = timeline.kind_mask([op.kind in (OpKind.TENSORFLOW, OpKind.JAX) for op in timeline.ops])
    is_op[timeline.stat("hlo_op").events] = True
    events = np.flatnonzero(is_op & timeline.on_threads)
    starts, ends = timeline.starts_ps[events], timeline.ends_of(events)
    device = np.maximum(timeline.stat("device_ordinal").at(events), 0)
    spans = DeviceSpans(device, groups.of_event[events].astype(np.int64), starts, ends)
    nesting = nest(np.searchsorted(events, timeline.first), starts, ends)
    contains = np.zeros(len(events), np.bool_)
    contains[nesting.parents[nesting.parents >= 0]] = True
    place = np.full(len(events), len(found), np.int64)
    place[np.searchsorted(events, of_event.events)] = of_event.place
    return work_of(found, place, spans, ~contains, events)


class _Found(NamedTuple):
    """Events of collectives, ascending, and the kind of each."""

    events: Int64Array
    place: Int64Array


def _thread_collectives(timeline: Timeline, kind_of: KindOf) -> tuple[list[CollectiveKind], _Found]:
    """Collectives on threads: instructions, then ops of TensorFlow with their instances."""
    on_threads = timeline.on_threads
    hlo = timeline.stat("hlo_op").events.astype(np.int64)
    hlo = hlo[on_threads[hlo]]
    keys, place = hlo_keys(timeline, hlo)
    known: dict[CollectiveKind, int] = {}
    number = np.full(len(keys) + 1, -1, np.int64)
    for at, key in enumerate(keys):
        kind = None if key is None else kind_of(key)
        if kind is not None:
            number[at] = known.setdefault(kind, len(known))
    of_hlo = number[place]
    types = [
        op.type if op.kind is OpKind.TENSORFLOW and is_collective_op(op.type) else ""
        for op in timeline.ops
    ]
    ops = np.flatnonzero(timeline.kind_mask([bool(one) for one in types]) & on_threads)
    instances = timeline.stat("instance_key").at(ops, missing=-1)
    rows = distinct_rows([timeline.kinds[ops], instances])
    of_row = np.zeros(len(rows.first), np.int64)
    for row in np.argsort(rows.first).tolist():
        kind, instance = rows.values[row].tolist()
        of_row[row] = known.setdefault(CollectiveKind(types[kind], instance), len(known))
    events = np.concatenate([hlo[of_hlo >= 0], ops])
    places = np.concatenate([of_hlo[of_hlo >= 0], of_row[rows.place]])
    events, first = np.unique(events, return_index=True)
    return list(known), _Found(events, places[first])


def gpu_work(timeline: Timeline, groups: Groups, kind_of: KindOf) -> DeviceWork:
    """Work of the GPUs of a host: kernels that communicate, and kernels that compute."""
    planes = timeline.planes_of_gpus()
    parts = [timeline.device_events(number) for number in planes]
    if not parts:
        return no_work()
    events = np.concatenate(parts)
    device = np.repeat(np.array(planes, np.int64), [len(part) for part in parts])
    spent = np.array([device_kind(name, OURS) for name in timeline.names], np.int64)
    kernels = spent[timeline.kinds[events]]
    keys, place = hlo_keys(timeline, events)
    # XLA has kernels of its own for small collectives, of any name. Names of instructions decide
    # for which of them programs are decoded, which may be large.
    is_compute = np.isin(kernels, DEVICE_COMPUTE)
    is_together = kernels == Spent.DEVICE_COLLECTIVES
    is_nccl = np.zeros(len(keys) + 1, np.bool_)
    is_nccl[place[is_together]] = True
    of_key = [
        kind_of(key)
        if key is not None and (is_nccl[at] or is_collective_instruction(key.name)) else None
        for at, key in enumerate(keys)
    ]  # fmt: skip
    is_of_key = np.array([*(kind is not None for kind in of_key), False], np.bool_)
    is_together |= is_compute & is_of_key[place]
    distinct, which = np.unique(
        np.stack([place, timeline.kinds[events]])[:, is_together],
        axis=1, return_inverse=True,
    )  # fmt: skip
    found: list[CollectiveKind | None] = []
    for at, kind in distinct.T.tolist():
        found.append(of_key[at] or CollectiveKind(timeline.names[kind]))
    of_event = np.full(len(events), len(found), np.int64)
    of_event[is_together] = which.reshape(-1)
    spans = DeviceSpans(
        device, groups.of_event[events].astype(np.int64), timeline.starts_ps[events],
        timeline.ends_of(events),
    )  # fmt: skip
    return work_of(found, of_event, spans, is_compute, events)


def exposed(work: DeviceWork) -> StepEvents:
    """The times in which a host is in a collective and none of its devices computes.

    Returns:
        Pieces of collectives, with their groups, as events of steps.
    """
    together, alone = work.together, work.alone
    n_points = 2 * (len(together.group) + len(alone.group))
    points = np.concatenate([together.start_ps, together.end_ps, alone.start_ps, alone.end_ps])
    together_by, alone_by = np.zeros(n_points, np.int8), np.zeros(n_points, np.int8)
    n_together, n_alone = len(together.group), len(alone.group)
    together_by[:n_together], together_by[n_together : 2 * n_together] = 1, -1
    alone_by[2 * n_together : 2 * n_together + n_alone] = 1
    alone_by[2 * n_together + n_alone :] = -1
    order = np.argsort(points, kind="stable")
    points = points[order]
    is_free = np.cumsum(together_by[order], dtype=np.int32) > 0
    is_free &= np.cumsum(alone_by[order], dtype=np.int32) == 0
    is_free &= np.diff(points, append=points[-1:]) > 0
    begin = np.flatnonzero(is_free)
    starts, ends = points[begin], points[np.minimum(begin + 1, max(n_points - 1, 0))]
    in_order = np.argsort(together.start_ps, kind="stable")
    last = np.searchsorted(together.start_ps[in_order], starts, side="right") - 1
    group = together.group[in_order][last] if n_together else np.zeros(0, np.int64)
    spent = np.full(len(starts), Spent.DEVICE_COLLECTIVES, np.int64)
    return StepEvents(group, spent, starts, ends).only(group >= 0)


class CommunicationTimes(NamedTuple):
    """Times of the steps of a host, ps, each of shape (n devices, n steps).

    Attributes:
        together_ps: Time in collectives.
        exposed_ps: The part of it in which the device did not compute.
    """

    together_ps: Int64Array
    exposed_ps: Int64Array


def communication_times(work: DeviceWork, times: StepTimes) -> CommunicationTimes:
    """Communication time of each device in each step; devices without any are left out.

    Args:
        work: The work of the devices.
        times: The steps, in ascending order of groups.
    """
    devices = np.unique(work.together.device)
    shape = (len(devices), len(times))
    if not len(devices) or not len(times):
        return CommunicationTimes(np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    spans = np.stack([times.start_ps, times.start_ps + times.duration_ps], axis=1)
    spans = np.tile(spans, (len(devices), 1))

    def spent(own: DeviceSpans, kind: int) -> StepEvents:
        known = np.searchsorted(times.groups, own.group).clip(max=len(times) - 1)
        place = np.searchsorted(devices, own.device).clip(max=len(devices) - 1)
        inside = (times.groups[known] == own.group) & (devices[place] == own.device)
        kinds = np.full(len(inside), kind, np.int8)
        return StepEvents(place * len(times) + known, kinds, own.start_ps, own.end_ps).only(inside)

    together = spent(work.together, 0)
    exposed_ps = covered_by_kind(concatenate_tables([together, spent(work.alone, 1)]), spans)
    none = np.zeros(len(spans), np.int64)
    return CommunicationTimes(
        covered_by_kind(together, spans).get(0, none).reshape(shape),
        exposed_ps.get(0, none).reshape(shape),
    )
