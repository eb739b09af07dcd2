"""Calls of a GPU's driver, tied to the ops that made them, where no thread holds both.

ROCm's tracer numbers threads as the system does, the runtime as its library of threads does: so
what one thread did is on two lines, and no event of the program is around a call of the driver.
Both name the op, and the two clocks agree: the calls of one line are in events of their op, on one
line of the runtime.
"""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.core.columns.lookup import places_in


def calls_of_ops(timeline: Timeline) -> tuple[Int64Array, Int64Array]:
    """Events of ops on threads, and a call of the driver in each, shape (n,) both.

    A line of calls belongs to the thread whose ops enclose most of them: more than half, and more
    than those of any other thread.
    """
    is_driver = _are_of_driver(timeline)
    if not is_driver.any():
        return no_rows(), no_rows()
    op_names = timeline.stat("hlo_op")
    op_names = op_names.only(op_names.is_text() & is_driver[timeline.lines_of(op_names.events)])
    if not len(op_names):
        return no_rows(), no_rows()
    calls, lines = op_names.events.astype(np.int64), timeline.lines_of(op_names.events)
    number = {op_names.texts[text]: text for text in np.unique(op_names.held).tolist()}
    ops = np.flatnonzero(timeline.named(number.__contains__) & timeline.on_threads)
    threads = timeline.lines_of(ops)
    ops, threads = ops[~is_driver[threads]], threads[~is_driver[threads]]
    named = np.array([number.get(name, -1) for name in timeline.names], np.int64)
    found, most = np.full(len(calls), -1), np.bincount(lines, minlength=len(timeline.lines)) // 2
    for thread in np.unique(threads).tolist():
        around = _around(timeline, ops[threads == thread], named, calls, op_names.values)
        counts = np.bincount(lines[around >= 0], minlength=len(most))
        found[(counts >= most)[lines]] = -1  # two threads with as many: unknown
        is_better = counts > most
        found[is_better[lines]] = around[is_better[lines]]
        most = np.maximum(most, counts)
    return found[found >= 0], calls[found >= 0]


def _are_of_driver(timeline: Timeline) -> BoolArray:
    """Whether each line is a thread that holds calls of a driver only, shape (n lines,)."""
    with_id = timeline.lines_of(timeline.stat("correlation_id").events)
    counts = np.bincount(with_id, minlength=len(timeline.lines))
    is_thread = np.array([line.is_host and not line.is_derived for line in timeline.lines], bool)
    are_calls: BoolArray = is_thread & (counts > 0) & (counts == np.diff(timeline.first))
    return are_calls


def _around(
    timeline: Timeline, ops: Int64Array, named: Int64Array, calls: Int64Array, texts: Int64Array
) -> Int64Array:
    """The op of one thread that is around each call and has the name of its text, or -1."""
    starts = timeline.starts_ps
    times = np.unique(starts[ops])
    keys = named[timeline.kinds[ops]] * len(times) + places_in(times, starts[ops])
    order = np.argsort(keys, kind="stable")
    ops, keys = ops[order], keys[order]
    wanted = texts * len(times) + places_in(times, starts[calls], "right") - 1
    last = places_in(keys, wanted, "right") - 1
    op = ops[last]
    is_around = (last >= 0) & (named[timeline.kinds[op]] == texts) & (
        timeline.ends_of(op) >= timeline.ends_of(calls)
    )  # fmt: skip
    return np.where(is_around, op, -1)
