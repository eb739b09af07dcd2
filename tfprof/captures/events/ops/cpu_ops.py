"""Ops of XLA's programs on threads of the host, with their cost."""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.ops.device_ops import (
    UNKNOWN,
    DeviceOp,
    DeviceOps,
    OpKey,
    merged,
    of_runs,
)
from tfprof.captures.events.ops.gpu_ops import Describe
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.events.timeline.programs import HloKey, hlo_keys
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, sums_by


def cpu_ops(timeline: Timeline, eager: BoolArray, describe: Describe) -> DeviceOps:
    """Ops of compiled programs on the threads of a host, all threads together.

    If a loop's body ran on the thread of the loop, the loop's self time excludes it. The total
    time of a thread is from its first op to its last.

    Args:
        timeline: The events.
        eager: Whether each event ran eagerly, shape (n events,).
        describe: Returns the op of an instruction.
    """
    hlo_op = timeline.stat("hlo_op")
    on_host = timeline.of_lines(lambda line: line.is_host and not line.is_derived)
    events = hlo_op.events[hlo_op.is_text() & on_host[hlo_op.events]].astype(np.int64)
    if not len(events):
        return DeviceOps()
    first = np.searchsorted(events, timeline.first)
    starts, ends = timeline.starts_ps[events], timeline.ends_of(events)
    durations = timeline.durations_ps[events]
    own = durations - nest(first, starts, ends).sums_of_children(durations)
    keys, place = hlo_keys(timeline, events)
    runs, times, own_times, eagerly = (
        sums_by(place, values, len(keys)).tolist()
        for values in (np.ones(len(events), np.int64), durations, own, eager[events])
    )
    ops = [
        of_runs(
            _op(key, describe), runs[row], times[row], own_times[row], is_eager=eagerly[row] > 0
        )
        for row, key in enumerate(keys)
        if key is not None
    ]
    begins = first[:-1][np.diff(first) > 0]
    total = int((np.maximum.reduceat(ends, begins) - starts[begins]).sum())
    return merged([DeviceOps(tuple(ops), total, total - int(own.sum()))])


def _op(key: HloKey, describe: Describe) -> DeviceOp:
    """One run of an instruction; without cost if the capture lacks its program."""
    known = describe(key)
    if known is not None:
        return known
    return DeviceOp(OpKey(key.program_id, key.name, key.module), UNKNOWN, is_known=False)
