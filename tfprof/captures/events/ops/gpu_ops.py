"""Time of ops on GPUs: instructions of programs, ops of the framework, and other kernels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.device_ops import (
    UNKNOWN,
    WITHOUT_OP,
    DeviceOp,
    DeviceOps,
    OpKey,
    merged,
    of_runs,
)
from tfprof.captures.events.ops.executions import UNKNOWN_MODULE, count_runs, launching_runs
from tfprof.captures.events.ops.found_by import found_by
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.timeline.graph_kernels import WHOLE_GRAPH
from tfprof.captures.events.timeline.op_names import parse_op_name
from tfprof.captures.events.timeline.programs import HloKey, hlo_keys
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.rules import OURS, Rules
from tfprof.core.columns.columns import BoolArray, Int64Array, sums_by
from tfprof.core.columns.distinct import distinct_rows

Describe = Callable[[HloKey], DeviceOp | None]
"""The instruction of an event → the op with the cost of one run; None if the program is not in
the capture."""


def gpu_ops(
    forest: Forest, eager: BoolArray, describe: Describe, *, rules: Rules = OURS
) -> DeviceOps:
    """Ops of the GPUs of a host (``xplane_to_op_metrics_db.cc``).

    An instruction may be several kernels: it ran as often as the one with the most runs. Events
    without a known instruction count for the framework's op that launched them; several kernels of
    one run of it count as one run.

    Args:
        forest: The events, with links to their launches.
        eager: Whether each event ran eagerly, shape (n events,).
        describe: Returns the op of an instruction.
        rules: Whether each kernel counts as a run.
    """
    timeline = forest.timeline
    launched_by = np.zeros(0, np.int64) if rules.counts_kernels_as_runs else launching_runs(forest)
    parts = []
    for number in timeline.planes_of_gpus():
        events = timeline.events_of_plane(number)
        if len(events):
            by = None if rules.counts_kernels_as_runs else launched_by[events]
            parts.append(_ops_of_plane(timeline, events, eager, describe, by))
    return merged(parts)


def _ops_of_plane(
    timeline: Timeline,
    events: Int64Array,
    eager: BoolArray,
    describe: Describe,
    launched_by: Int64Array | None,
) -> DeviceOps:
    are_runs = launched_by is None
    described = _instructions(timeline, events, describe)
    durations = timeline.durations_ps[events]
    ops = _runs_of_instructions(timeline, events, described, durations, eager, are_runs)
    unknown = described.place < 0
    has_op = _has_text(timeline, "tf_op", events, {"", *(() if are_runs else (UNKNOWN_MODULE,))})
    ops += _framework_ops(timeline, events, unknown & has_op, durations, eager, launched_by)
    if not are_runs:
        ops += _other_kernels(timeline, events, unknown & ~has_op, durations, eager)
    busy = sum(op.self_ps for op in ops)
    span = int(timeline.ends_of(events).max() - timeline.starts_ps[events].min())
    total = max(span, busy)  # streams run side by side
    return DeviceOps(tuple(ops), total, total - busy)


class _Described(NamedTuple):
    """Instructions of events: places in ``ops``, -1 without one, shape (n,)."""

    place: Int64Array
    ops: Sequence[DeviceOp]


def _instructions(timeline: Timeline, events: Int64Array, describe: Describe) -> _Described:
    keys, place = hlo_keys(timeline, events)
    ops: dict[OpKey, tuple[int, DeviceOp]] = {}
    numbers = []
    for key in keys:
        op = None if key is None else describe(key)
        if op is None:
            numbers.append(-1)
            continue
        number, _ = ops.setdefault(op.key, (len(ops), op))
        numbers.append(number)
    return _Described(np.array(numbers, np.int64)[place], [op for _, op in ops.values()])


def _runs_of_instructions(
    timeline: Timeline,
    events: Int64Array,
    described: _Described,
    durations: Int64Array,
    eager: BoolArray,
    are_runs: bool,
) -> list[DeviceOp]:
    rows = np.flatnonzero(described.place >= 0)
    if not len(rows):
        return []
    place = described.place[rows]
    size = len(described.ops)
    if are_runs:
        runs = np.bincount(place, minlength=size)
    else:
        kernels = distinct_rows([place, timeline.kinds[events[rows]]])
        runs = np.zeros(size, np.int64)
        np.maximum.at(runs, kernels.values[:, 0], kernels.counts)
    times = sums_by(place, durations[rows], size).tolist()
    ran_eagerly = np.bincount(place, eager[events[rows]], minlength=size) > 0
    ways = found_by(timeline, events[rows], place, [True] * size)
    return [
        of_runs(
            replace(op, found_by=ways[number]), int(runs[number]), times[number], times[number],
            is_eager=bool(ran_eagerly[number]),
        )
        for number, op in enumerate(described.ops)
    ]  # fmt: skip


def _framework_ops(
    timeline: Timeline,
    events: Int64Array,
    is_free: BoolArray,
    durations: Int64Array,
    eager: BoolArray,
    launched_by: Int64Array | None,
) -> list[DeviceOp]:
    """Ops of events without a known program: one for each pair of op and kernel."""
    tf_op = timeline.stat("tf_op")
    ops = tf_op.texts_at(events)
    rows = np.flatnonzero(is_free)
    if not len(rows):
        return []
    distinct, first, place, _ = distinct_rows([ops[rows], timeline.kinds[events[rows]]])
    size = len(distinct)
    by = np.full(len(rows), -1) if launched_by is None else launched_by[rows]
    known, unknown = count_runs(place, by, size)
    counts = (known + unknown).tolist()
    runs = np.zeros(size, np.int64)
    if launched_by is not None:
        runs = _runs_of_ops(distinct[:, 0], place, by, unknown)
    times = sums_by(place, durations[rows], size).tolist()
    ran_eagerly = np.bincount(place, eager[events[rows]], minlength=size) > 0
    ways = found_by(timeline, events[rows], place, [True] * size)
    by_key: dict[OpKey, DeviceOp] = {}
    for number in np.argsort(first).tolist():
        text, kind = distinct[number].tolist()
        provenance = tf_op.texts[text]
        parsed = parse_op_name(provenance)
        key = OpKey(None, f"{parsed.name}/{timeline.names[kind]}")
        op = DeviceOp(
            key, parsed.type or UNKNOWN, provenance, occurrences=counts[number],
            op_runs=int(runs[number]), time_ps=times[number], self_ps=times[number],
            normalized_ps=times[number],
            is_eager=bool(ran_eagerly[number]), found_by=ways[number],
        )  # fmt: skip
        by_key[key] = by_key[key].plus(op) if key in by_key else op
    return list(by_key.values())


def _runs_of_ops(
    op_of_part: Int64Array, part: Int64Array, launched_by: Int64Array, unknown: Int64Array
) -> Int64Array:
    """Number of runs of the op of each part, with any part.

    ``op_of_part`` and ``unknown`` (events with an unknown launch) have a row for each part, the
    others for each event.
    """
    ops, of_part = np.unique(op_of_part, return_inverse=True)
    of_part = of_part.reshape(-1)
    runs, _ = count_runs(of_part[part], launched_by, len(ops))
    others = np.zeros(len(ops), np.int64)
    np.maximum.at(others, of_part, unknown)
    run_of: Int64Array = (runs + others)[of_part]
    return run_of


def _has_text(
    timeline: Timeline, name: str, events: Int64Array, unless: Collection[str]
) -> BoolArray:
    """Whether a stat of each event has a text other than ``unless``."""
    stat = timeline.stat(name)
    says = np.array([*(text not in unless for text in stat.texts), False], np.bool_)
    has_text: BoolArray = says[stat.texts_at(events)]
    return has_text


def _other_kernels(
    timeline: Timeline,
    events: Int64Array,
    is_free: BoolArray,
    durations: Int64Array,
    eager: BoolArray,
) -> list[DeviceOp]:
    """Instructions of programs that the capture lacks, and kernels without an op.

    A record of a whole graph counts as a kernel.
    """
    is_kernel = _has_text(timeline, "kernel_details", events, ("",))
    is_kernel |= timeline.stat(WHOLE_GRAPH).has(events)
    rows = np.flatnonzero(is_free)
    keys, place = hlo_keys(timeline, events[rows])
    has_key = np.array([key is not None for key in keys] or [False], np.bool_)[place]
    kept = has_key | is_kernel[rows]
    rows, place = rows[kept], place[kept]
    distinct, _, of_row, n_of = distinct_rows([place, timeline.kinds[events[rows]]])
    size, counts = len(distinct), n_of.tolist()
    times = sums_by(of_row, durations[rows], size).tolist()
    ran_eagerly = np.bincount(of_row, eager[events[rows]], minlength=size) > 0
    has_op = [keys[of_key] is not None for of_key in distinct[:, 0].tolist()]
    ways = found_by(timeline, events[rows], of_row, has_op)
    by_key: dict[OpKey, DeviceOp] = {}
    for number, (of_key, kind) in enumerate(distinct.tolist()):
        key, kernel = keys[of_key], timeline.names[kind]
        unknown = DeviceOp(
            OpKey(None, kernel) if key is None else OpKey(key.program_id, key.name, key.module),
            WITHOUT_OP if key is None else UNKNOWN, is_known=False, found_by=ways[number],
        )  # fmt: skip
        time, is_eager = times[number], bool(ran_eagerly[number])
        op = of_runs(unknown, counts[number], time, time, is_eager=is_eager)
        known = by_key.get(op.key)
        if known is None:
            by_key[op.key] = op
        else:  # an instruction ran as often as its kernel with the most runs
            runs = max(known.occurrences, op.occurrences)
            by_key[op.key] = replace(known.plus(op), occurrences=runs)
    return list(by_key.values())
