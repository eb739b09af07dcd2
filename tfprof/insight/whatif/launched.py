"""Runs of compiled programs on CPU devices: each follows its call and the previous run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.runs import compiled_runs
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array


class Launched(NamedTuple):
    """Runs whose call is known, in order of time.

    Attributes:
        events: All events of these runs, ascending.
        of_events: The run of each of them.
        calls: The event that launched each run, shape (n,).
        first: The first event of each.
        last: The one that ends last.
        devices: The device of each.
    """

    events: Int64Array
    of_events: Int64Array
    calls: Int64Array
    first: Int64Array
    last: Int64Array
    devices: Int64Array


def launched_runs(host: Host, place: Int64Array) -> Launched:
    """The runs of a host.

    Args:
        host: The host.
        place: Index of each of its events among the replayed ones, -1 for others.
    """
    forest = host.forest()
    timeline = forest.timeline
    runs = compiled_runs(timeline, forest.nesting, forest.links)
    # The call of each run among the replayed events; the last one is that of events without a run.
    calls = np.append(np.where(runs.calls >= 0, place[runs.calls], -1), -1)
    events = np.flatnonzero((calls[runs.of_event] >= 0) & (place >= 0))
    numbers, of_run = np.unique(runs.of_event[events], return_inverse=True)
    first, last = np.zeros((2, len(numbers)), np.int64)
    # The first and the last one in time are written last, and stay.
    backwards = np.argsort(timeline.starts_ps[events], kind="stable")[::-1]
    first[of_run[backwards]] = events[backwards]
    forwards = np.argsort(timeline.ends_of(events), kind="stable")
    last[of_run[forwards]] = events[forwards]
    in_time = np.argsort(timeline.starts_ps[first], kind="stable")
    first, last = first[in_time], last[in_time]
    return Launched(
        place[events], np.argsort(in_time)[of_run], calls[numbers[in_time]], place[first],
        place[last], timeline.stat("device_ordinal").at(first),
    )  # fmt: skip
