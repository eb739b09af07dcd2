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
        calls: The event that launched each run, shape (n,).
        first: The first event of each.
        last: The one that ends last.
        devices: The device of each, -1 if unknown.
    """

    events: Int64Array
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
    events = np.flatnonzero((runs.of_event >= 0) & (place >= 0))
    of_run = runs.of_event[events]
    is_known = (runs.calls[of_run] >= 0) & (place[runs.calls[of_run]] >= 0)
    events, of_run = events[is_known], of_run[is_known]
    numbers, row = np.unique(of_run, return_inverse=True)
    row = row.reshape(-1)
    starts, ends = timeline.starts_ps[events], timeline.ends_of(events)
    begins, closes = np.lexsort((starts, row)), np.lexsort((ends, row))
    bounds = np.searchsorted(row[begins], np.arange(len(numbers) + 1))
    first, last = events[begins[bounds[:-1]]], events[closes[bounds[1:] - 1]]
    devices = timeline.stat("device_ordinal").at(first, missing=-1)
    in_time = np.argsort(timeline.starts_ps[first], kind="stable")
    calls, first, last = (place[column][in_time] for column in (runs.calls[numbers], first, last))
    return Launched(place[events], calls, first, last, devices[in_time])
