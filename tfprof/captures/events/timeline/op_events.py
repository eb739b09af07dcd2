"""Tells runs of ops from the program's own code and from bookkeeping."""

from __future__ import annotations

import re

from tfprof.captures.events.timeline.op_names import OpKind
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray

EAGER = re.compile(r"EagerLocalExecute: (_?[A-Z][\w>]*)")
"""A single op that Python runs. Functions have names like ``__inference_…`` here."""


def is_part_of_op(timeline: Timeline) -> BoolArray:
    """Whether each event is on a host's thread and is, or encloses, a run of an op, shape (n,).

    All others are the program's own code or bookkeeping of the runtime.
    """
    by_name = [
        op.kind is not OpKind.UNKNOWN or EAGER.fullmatch(name) is not None
        for name, op in zip(timeline.names, timeline.ops, strict=True)
    ]
    is_op = timeline.kind_mask(by_name)
    instructions, tf_op = timeline.stat("hlo_op"), timeline.stat("tf_op")
    is_op[instructions.events[instructions.is_text()]] = True
    is_op[tf_op.events[tf_op.is_text() & (timeline.durations_ps[tf_op.events] > 0)]] = True
    is_op[timeline.stat("correlation_id").events] = False
    is_op &= timeline.on_threads
    return is_op
