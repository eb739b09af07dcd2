"""Which op each activity of a GPU belongs to: that which the launching thread was in.

A kernel has the correlation id of the call that launched it, the call has a thread and a time, and
the profiler of TensorFlow or JAX recorded which op each of its threads was in. Its lines are named
by numbers of its own (TensorFlow 2.21 writes 64-bit hashes, not the system's thread ids), so each
CUDA thread is given the line whose ops contain most of its launches, if they contain nearly all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from tfprof.columns.columns import Int64Array
from tfprof.gpu.records import Activity, Api, Records

Way = Literal["thread", "likely thread", "none"]
"""How an op was found: the thread has the number of the line; most of its launches lie in ops of
the line; or not at all."""

_MOSTLY = 0.9


class HostOps(NamedTuple):
    """Ops that a thread of the host was in.

    Attributes:
        starts_ns: When each began, ascending, shape (n,).
        ends_ns: When each ended.
        names: ``name:Type`` of each.
    """

    starts_ns: Int64Array
    ends_ns: Int64Array
    names: Sequence[str]

    def around(self, moments_ns: Int64Array) -> Int64Array:
        """The innermost op around each moment, -1 without one, shape (n moments,).

        Ops that enclose each other begin earlier and end later, so it is the last that began
        before the moment and has not ended; few are open at a time.
        """
        found = np.full(len(moments_ns), -1, np.int64)
        latest = np.searchsorted(self.starts_ns, moments_ns, side="right") - 1
        open_ = np.flatnonzero(latest >= 0)
        while len(open_):
            candidates = latest[open_]
            inside = self.ends_ns[candidates] >= moments_ns[open_]
            found[open_[inside]] = candidates[inside]
            latest[open_] -= 1
            open_ = open_[~inside & (candidates > 0)]
        return found


class Attributed(NamedTuple):
    """The op of an activity, empty without one, and how it was found."""

    op: str
    way: Way


def attributed(
    records: Records, activities: Sequence[Activity], lines: Mapping[int, HostOps]
) -> list[Attributed]:
    """The op of each activity.

    Args:
        records: Their session, for its calls.
        activities: Some of its activities.
        lines: Ops of the host's threads, by the id of their lines.
    """
    launches = records.launches()
    of_thread: defaultdict[int, list[Api]] = defaultdict(list)
    for one in activities:
        call = launches.get(one.correlation)
        if call is not None:
            of_thread[call.thread].append(call)
    ops: dict[int, Attributed] = {}
    for thread, calls in of_thread.items():
        line, way = _line_of(thread, calls, lines)
        if line is None:
            continue
        moments = np.array([call.start_ns for call in calls], np.int64)
        for call, place in zip(calls, lines[line].around(moments).tolist(), strict=True):
            if place >= 0:
                ops[call.correlation] = Attributed(lines[line].names[place], way)
    nothing = Attributed("", "none")
    return [ops.get(one.correlation, nothing) for one in activities]


def _line_of(
    thread: int, calls: Sequence[Api], lines: Mapping[int, HostOps]
) -> tuple[int | None, Way]:
    """The line of a thread: that with its number, or the one that contains its launches."""
    if thread in lines:
        return thread, "thread"
    moments = np.array([call.start_ns for call in calls], np.int64)
    inside = Counter(
        {line: int((ops.around(moments) >= 0).sum()) for line, ops in lines.items()}
    ).most_common(2)
    if not inside or inside[0][1] < _MOSTLY * len(calls):
        return None, "none"
    if len(inside) == 2 and inside[1][1] >= inside[0][1]:  # which of them cannot be told
        return None, "none"
    return inside[0][0], "likely thread"
