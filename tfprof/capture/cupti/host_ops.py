"""Ops that threads of the host ran, from the framework's profiler."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from tfprof.capture.cupti.threads import thread_of_line
from tfprof.captures.events.ops.executions import host_executions
from tfprof.captures.events.timeline.clocks import unix_base_ns
from tfprof.captures.events.timeline.op_names import OpKind, parse_op_name
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array

_PS = 1000
"""Picoseconds of a nanosecond."""


class HostOps(NamedTuple):
    """Ops that a thread of the host was in.

    Attributes:
        starts_ns: When each began, ascending, shape (n,).
        ends_ns: When each ended.
        names: ``name:Type`` of each.
    """

    starts_ns: Int64Array
    ends_ns: Int64Array
    names: list[str]

    def around(self, moments_ns: Int64Array) -> Int64Array:
        """The innermost op around each moment, -1 without one, shape (n moments,).

        Ops that enclose each other begin earlier and end later, so it is the last that began
        before the moment and has not ended; few are open at a time.
        """
        found = np.full(len(moments_ns), -1, np.int64)
        latest = np.searchsorted(self.starts_ns, moments_ns, side="right") - 1
        reach = np.maximum.accumulate(self.ends_ns) if len(self.ends_ns) else self.ends_ns
        open_ = np.flatnonzero(latest >= 0)
        while len(open_):
            candidates = latest[open_]
            inside = self.ends_ns[candidates] >= moments_ns[open_]
            found[open_[inside]] = candidates[inside]
            # Where no op before the candidate ends late enough, there is none to look for.
            is_hopeless = reach[candidates] < moments_ns[open_]
            latest[open_] -= 1
            open_ = open_[~inside & ~is_hopeless & (candidates > 0)]
        return found


def host_ops(host: Host) -> dict[int, HostOps]:
    """Ops of the threads of a host; those that Python ran eagerly are among them.

    Args:
        host: The host in the framework's capture.

    Returns:
        By thread, as CUPTI names it: the lower 32 bits of its handle.
    """
    timeline = host.timeline
    executions = host_executions(timeline, host.eager())
    is_op = np.array([op.kind is not OpKind.DATASET for op in executions.names] or [False], bool)
    shown = [_shown(op.name, op.type) for op in executions.names]
    kept = is_op[executions.ops] if len(executions.ops) else np.zeros(0, bool)
    events, ops = executions.events[kept], executions.ops[kept]
    zero_ns = unix_base_ns(timeline.axis) or timeline.axis.base_ns
    starts_ns = timeline.starts_ps[events] // _PS + zero_ns
    ends_ns = -(-timeline.ends_of(events) // _PS) + zero_ns
    rows: defaultdict[int, list[int]] = defaultdict(list)
    for row, line in enumerate(timeline.lines_of(events).tolist()):
        rows[thread_of_line(timeline.lines[line].id)].append(row)
    found = {}
    for thread, own in rows.items():
        ordered = np.array(own)[np.argsort(starts_ns[own], kind="stable")]
        names = [shown[op] for op in ops[ordered].tolist()]
        found[thread] = HostOps(starts_ns[ordered], ends_ns[ordered], names)
    return found


def _shown(name: str, type_: str) -> str:
    """An op as ``tf_op`` writes it, so that it is read as the same op."""
    text = f"{name}:{type_}" if type_ else name
    return text if parse_op_name(text).name == name else f"{name}:"
