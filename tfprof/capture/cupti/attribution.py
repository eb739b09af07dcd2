"""Finds the op of each activity of a GPU: the one that the launching thread was in.

A kernel has the correlation id of the call that launched it, the call has a thread and a time, and
the profiler of TensorFlow or JAX recorded which op each of its threads was in (``threads.py`` has
the names of threads in both). A thread without a line is identified by its launches, with the line
whose ops contain nearly all of them; otherwise an op counts that runs alone at the time, on any
thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from tfprof.capture.cupti.host_ops import HostOps
from tfprof.capture.cupti.records import Activity, Api, Records

Way = Literal["thread", "likely thread", "time", "none"]
"""How an op was found, best first: its line is that of the thread; most of the thread's launches
lie in ops of the line; no other op ran when it was launched; or not at all."""

_MOSTLY = 0.9


class Attributed(NamedTuple):
    """The op of an activity, empty without one, and how it was found."""

    op: str
    way: Way


class LineOfThread(NamedTuple):
    """The framework profiler's line for a thread, and how it was identified."""

    thread: int
    way: Way


def attributed(
    records: Records, activities: Sequence[Activity], lines: Mapping[int, HostOps]
) -> list[Attributed]:
    """The op of each activity.

    Args:
        records: Their session, for its calls.
        activities: Some of its activities.
        lines: Ops of the host by thread.
    """
    found: dict[int, Attributed] = {}
    known = lines_of_threads(records, activities, lines)
    others = []
    for thread, calls in _launches(records, activities).items():
        line = known.get(thread)
        if line is None:
            others += calls
            continue
        for call, place in zip(calls, lines[line.thread].around(_moments(calls)), strict=True):
            if place >= 0:
                found[call.correlation] = Attributed(lines[line.thread].names[place], line.way)
    for call, op in _alone(others, lines):
        found[call.correlation] = Attributed(op, "time")
    nothing = Attributed("", "none")
    return [found.get(one.correlation, nothing) for one in activities]


def lines_of_threads(
    records: Records, activities: Sequence[Activity], lines: Mapping[int, HostOps]
) -> dict[int, LineOfThread]:
    """The line of each thread that launched something; threads without one are left out."""
    found = {}
    for thread, calls in _launches(records, activities).items():
        if thread in lines:
            found[thread] = LineOfThread(thread, "thread")
            continue
        moments = _moments(calls)
        n_inside = {line: int((ops.around(moments) >= 0).sum()) for line, ops in lines.items()}
        most, *others = sorted(n_inside.values(), reverse=True) or [0]
        if most >= _MOSTLY * len(calls) and (not others or others[0] < most):
            line = max(n_inside, key=n_inside.__getitem__)
            found[thread] = LineOfThread(line, "likely thread")
    return found


def _launches(records: Records, activities: Sequence[Activity]) -> dict[int, list[Api]]:
    """Calls that launched something, by thread, each once."""
    launches = records.launches()
    wanted = dict.fromkeys(one.correlation for one in activities if one.correlation in launches)
    of_thread: defaultdict[int, list[Api]] = defaultdict(list)
    for correlation in wanted:
        of_thread[launches[correlation].thread].append(launches[correlation])
    return of_thread


def _moments(calls: Sequence[Api]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([call.start_ns for call in calls], np.int64)


def _alone(calls: Sequence[Api], lines: Mapping[int, HostOps]) -> list[tuple[Api, str]]:
    """The calls while one op alone ran, whatever thread it was on, and that op."""
    if not calls:
        return []
    names: list[set[str]] = [set() for _ in calls]
    for ops in lines.values():
        for call, place in enumerate(ops.around(_moments(calls)).tolist()):
            if place >= 0:
                names[call].add(ops.names[place])
    return [(calls[n], next(iter(ran))) for n, ran in enumerate(names) if len(ran) == 1]
