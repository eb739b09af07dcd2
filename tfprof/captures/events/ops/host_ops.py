"""Time of the framework's ops on the threads of a host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.captures.events.ops.executions import (
    ExecutedOp,
    OpOfInstruction,
    host_executions,
    reference_executions,
    runs_of_parts,
)
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.events.timeline.op_names import OpKind
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.rules import OURS, Rules
from tfprof.core.columns.columns import BoolArray, Int64Array, IntArray, no_rows, sums_by

IDLE = "IDLE"


@dataclass(frozen=True, eq=False)
class OpTimes:
    """Ops with their times, in the order of the kinds of their events.

    Attributes:
        ops: The ops, distinct in name, program and mode.
        occurrences: Number of runs of each, shape (n,).
        time_ps: Time from start to end, including nested ops.
        self_ps: Self time.
        is_eager: Whether any run was eager.
        total_ps: Time from the first op to the last of each thread, summed over all threads.
        idle_ps: The part of it that no op covers.
        infeed_ps: Time of enqueues of infeeds, and the time from each to the next on its thread.
    """

    ops: tuple[ExecutedOp, ...]
    occurrences: Int64Array
    time_ps: Int64Array
    self_ps: Int64Array
    is_eager: BoolArray
    total_ps: int
    idle_ps: int
    infeed_ps: tuple[int, int] = (0, 0)

    def __len__(self) -> int:
        return len(self.ops)


@dataclass(frozen=True, slots=True)
class _Spans:
    """Executions of ops, line by line in order of time; ``first`` is the first of each line."""

    first: Int64Array
    event: Int64Array
    op: IntArray
    start_ps: Int64Array
    end_ps: Int64Array


def host_op_times(
    timeline: Timeline,
    eager: BoolArray,
    op_of: OpOfInstruction | None = None,
    *,
    rules: Rules = OURS,
) -> OpTimes:
    """Sum up ops of all threads (``host_threads_op_metrics.cc``).

    ``executions`` defines the runs of ops. Ops of one name are one op if they are in one program
    and in the same mode, eager or not; of several types it has the one with the most time.

    Args:
        timeline: The events.
        eager: Whether each event ran eagerly, shape (n events,).
        op_of: Returns the framework's op of an instruction of a program.
        rules: What counts as a run, and which ops are lost.
    """
    is_lost = rules.ends_ops_with_parent
    if rules.counts_allocations_as_runs:
        runs = reference_executions(timeline)
    else:
        runs = host_executions(timeline, eager, op_of)
    ops = runs.names
    spans = _Spans(
        np.searchsorted(runs.events, timeline.first), runs.events, runs.ops,
        timeline.starts_ps[runs.events], timeline.ends_of(runs.events),
    )  # fmt: skip
    if rules.counts_allocations_as_runs:  # there only ops of TensorFlow can be eager
        eager = eager & timeline.kind_mask([op.kind is OpKind.TENSORFLOW for op in timeline.ops])
    own = spans.end_ps - spans.start_ps
    op, times, ran_eagerly = spans.op, own.copy(), eager[spans.event]
    is_counted = None
    if is_lost:
        is_counted, inside = _by_stack(spans)
        own = (own - inside)[is_counted]
        op, times, ran_eagerly = op[is_counted], times[is_counted], ran_eagerly[is_counted]
    else:
        own -= nest(spans.first, spans.start_ps, spans.end_ps).sums_of_children(times)
    n_ops = len(ops)
    sums = [
        np.bincount(op, minlength=n_ops), sums_by(op, times, n_ops), sums_by(op, own, n_ops),
        np.bincount(op[ran_eagerly], minlength=n_ops),
    ]  # fmt: skip
    total = _extent(spans)
    rank = sums[1] if is_counted is None else _last_ended(spans, is_counted, n_ops)
    chosen, member = _one_of_each_name(ops, sums[0], rank)
    united = [sums_by(member[member >= 0], column[member >= 0], len(chosen)) for column in sums]
    if not is_lost:
        united[0] = _runs(ops, sums[0], member, len(chosen))
    return OpTimes(
        tuple([ops[place] for place in chosen]),
        united[0], united[1], united[2], united[3] > 0,
        total, total - int(own.sum()), _infeeds(spans, ops),
    )  # fmt: skip


def merged_op_times(parts: Sequence[OpTimes]) -> OpTimes:
    """Sum of the ops of several hosts; the type of an op is that on the first of them."""
    places: dict[tuple[str, str, bool], int] = {}
    ops: list[ExecutedOp] = []
    of_part = []
    for part in parts:
        for op in part.ops:
            if places.setdefault(op.identity, len(ops)) == len(ops):
                ops.append(op)
        of_part.append([places[op.identity] for op in part.ops])
    place = np.array([number for numbers in of_part for number in numbers], np.int64)

    def summed(column: Callable[[OpTimes], Int64Array | BoolArray]) -> Int64Array:
        values = [column(part) for part in parts]
        return sums_by(place, np.concatenate([no_rows(), *values]), len(ops))

    begins, distances = ([part.infeed_ps[side] for part in parts] for side in (0, 1))
    return OpTimes(
        tuple(ops),
        summed(lambda part: part.occurrences),
        summed(lambda part: part.time_ps),
        summed(lambda part: part.self_ps),
        summed(lambda part: part.is_eager) > 0,
        sum(part.total_ps for part in parts),
        sum(part.idle_ps for part in parts),
        (sum(begins), sum(distances)),
    )


def _one_of_each_name(
    ops: list[ExecutedOp], occurrences: Int64Array, rank: Int64Array
) -> tuple[list[int], Int64Array]:
    """For each op that occurs, its variant (type) of the highest rank, the first of equal ones.

    Returns:
        These ops, in order of names, and for each op the place of its name, -1 if it does not
        occur.
    """
    places: dict[tuple[str, str, bool], int] = {}
    chosen: list[int] = []
    member = np.full(len(ops), -1, np.int64)
    for op in np.flatnonzero(occurrences > 0).tolist():
        place = places.setdefault(ops[op].identity, len(chosen))
        member[op] = place
        if place == len(chosen):
            chosen.append(op)
        elif rank[op] > rank[chosen[place]]:
            chosen[place] = op
    return chosen, member


def _runs(
    ops: list[ExecutedOp], occurrences: Int64Array, member: Int64Array, size: int
) -> Int64Array:
    """Number of runs of each op, from those of its parts."""
    by_part: list[dict[tuple[str, str], int]] = [{} for _ in range(size)]
    for op, place in enumerate(member.tolist()):
        if place >= 0:
            part = (ops[op].place, ops[op].part)
            known = by_part[place]
            known[part] = known.get(part, 0) + int(occurrences[op])
    runs = [
        runs_of_parts((place, count) for (place, _), count in parts.items()) for parts in by_part
    ]
    return np.array(runs, np.int64)


def _last_ended(spans: _Spans, is_counted: BoolArray, n_ops: int) -> Int64Array:
    """Rank of each op: higher for an earlier first line, then for a later end on that line."""
    rank = np.zeros(n_ops, np.int64)
    line = np.searchsorted(spans.first, np.arange(len(spans.op)), side="right")
    n_lines = len(spans.first)
    # An inner execution ends before the outer one, which has the lower place.
    order = np.lexsort((-np.arange(len(spans.op)), spans.end_ps, -line))
    order = order[is_counted[order]]
    rank[spans.op[order]] = (n_lines - line[order]) * len(spans.op) + np.arange(len(order))
    return rank


def _by_stack(spans: _Spans) -> tuple[BoolArray, Int64Array]:
    """Whether the reference counts each execution, and the time of those directly inside each.

    The reference sorts starts and ends by time alone. An end closes all executions that began after
    its own start; those closed in this way do not count.
    """
    n_spans = len(spans.op)
    is_counted = np.zeros(n_spans, np.bool_)
    inside = np.zeros(n_spans, np.int64)
    durations = (spans.end_ps - spans.start_ps).tolist()
    moments = np.empty(2 * n_spans, np.int64)
    moments[::2], moments[1::2] = spans.start_ps, spans.end_ps
    for begin, end in zip(spans.first[:-1].tolist(), spans.first[1:].tolist(), strict=True):
        order = np.argsort(moments[2 * begin : 2 * end], kind="stable") + 2 * begin
        open_: list[int] = []
        is_open: set[int] = set()
        for moment in order.tolist():
            span, is_end = divmod(moment, 2)
            if not is_end:
                open_.append(span)
                is_open.add(span)
                continue
            if span not in is_open:
                continue
            while (top := open_.pop()) != span:
                is_open.discard(top)
            is_open.discard(span)
            is_counted[span] = True
            if open_:
                inside[open_[-1]] += durations[span]
    return is_counted, inside


def _extent(spans: _Spans) -> int:
    """Time from the first start to the last end of each line, summed."""
    lines = np.flatnonzero(np.diff(spans.first))
    if not len(lines):
        return 0
    begins = spans.first[lines]
    ends = np.maximum.reduceat(spans.end_ps, begins)
    return int((ends - spans.start_ps[begins]).sum())


def _infeeds(spans: _Spans, ops: list[ExecutedOp]) -> tuple[int, int]:
    is_enqueue = np.array(
        [op.kind is OpKind.TENSORFLOW and op.type.startswith("InfeedEnqueue") for op in ops],
        np.bool_,
    )
    if not is_enqueue.any():
        return 0, 0
    chosen = np.flatnonzero(is_enqueue[spans.op])
    line = np.searchsorted(spans.first, chosen, side="right")
    follows = np.flatnonzero(np.diff(line) == 0) + 1
    starts = spans.start_ps[chosen]
    took = spans.end_ps[chosen] - starts
    return int(took[follows - 1].sum()), int((starts[follows] - starts[follows - 1]).sum())
