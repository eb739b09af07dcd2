"""Runs of the collectives of a host: their steps, who waits for whom, and what is exposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.collectives import DeviceSpans, DeviceWork
from tfprof.captures.events.steps.step_times import StepTimes
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.replica_groups import Groups
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.covered import covered_until
from tfprof.core.columns.distinct import distinct_rows

NO_STEP = -1
"""Index of the step of runs outside of steps."""


class Runs(NamedTuple):
    """Runs of collectives, each field of shape (n,).

    Attributes:
        which: The collective.
        device: Index of the device.
        step: Index of the step, or ``NO_STEP``.
        start_ps: Start; not before that of its step.
        end_ps: End; not after that of its step, nor before ``start_ps``.
    """

    which: Int64Array
    device: Int64Array
    step: Int64Array
    start_ps: Int64Array
    end_ps: Int64Array


def runs_of(spans: DeviceSpans, which: Int64Array, device: Int64Array, steps: StepTimes) -> Runs:
    """The runs of collectives, with the parts of them that are in their steps."""
    start, end = spans.start_ps, spans.end_ps
    if not len(steps):
        return Runs(which, device, np.full(len(which), NO_STEP), start, end)
    step = np.searchsorted(steps.groups, spans.group).clip(max=len(steps) - 1)
    is_in = steps.groups[step] == spans.group
    begin, until = steps.start_ps[step], steps.start_ps[step] + steps.duration_ps[step]
    start = np.where(is_in, np.clip(start, begin, until), start)
    end = np.where(is_in, np.clip(end, start, until), end)
    return Runs(which, device, np.where(is_in, step, NO_STEP), start, end)


class Skew(NamedTuple):
    """How the devices of a host come to collectives.

    Attributes:
        last_ps: For each run, when the last device of its group on the host had begun, shape (n,);
            its own start where that is unknown.
        least_ps: The shortest time that a device of its group took.
        is_known: Whether all these devices are known.
        n_ranks: Devices of a group on the host, by collective, shape (k,); 1 if unknown.
    """

    last_ps: Int64Array
    least_ps: Int64Array
    is_known: BoolArray
    n_ranks: Int64Array


def skew_of(runs: Runs, instance: Int64Array, teams: Sequence[Mapping[int, int] | None]) -> Skew:
    """Compare the devices that are in a run of a collective together.

    Args:
        runs: The runs.
        instance: A number that runs of one execution of a program have in common, shape (n,).
        teams: For each collective the group of each device, by its index; None if unknown.
    """
    n_devices = int(runs.device.max(initial=-1)) + 1
    group_of = np.full((len(teams), max(n_devices, 1)), -1, np.int64)
    for at, team in enumerate(teams):
        for device, number in (team or {}).items():
            group_of[at, device] = number
    order = np.lexsort((runs.start_ps, runs.device, instance, runs.which))
    columns = [runs.which[order], instance[order], runs.device[order]]
    nth = np.empty(len(order), np.int64)
    nth[order] = ordinals(columns)
    group = group_of[runs.which, runs.device]
    together = distinct_rows([runs.which, instance, nth, group])
    place = together.place
    last = np.full(len(together.values), np.iinfo(np.int64).min)
    least = np.full(len(together.values), np.iinfo(np.int64).max)
    np.maximum.at(last, place, runs.start_ps)
    np.minimum.at(least, place, runs.end_ps - runs.start_ps)
    has_team = np.array([team is not None for team in teams], np.bool_)
    most = np.ones(len(teams), np.int64)
    np.maximum.at(most, together.values[:, 0], together.counts)
    is_known = (together.counts == most[together.values[:, 0]])[place] & has_team[runs.which]
    own_ps = runs.end_ps - runs.start_ps
    # Waiting is at most what a run takes longer than the shortest: clocks of devices may differ.
    begun = np.clip(last[place], runs.start_ps, runs.end_ps - least[place])
    return Skew(
        np.where(is_known, begun, runs.start_ps),
        np.where(is_known, least[place], own_ps),
        is_known,
        np.where(has_team, most, 1),
    )


def ordinals(columns: Sequence[Int64Array]) -> Int64Array:
    """Number of equal rows before each row; equal rows must be adjacent."""
    stacked = np.stack(columns)
    is_new = np.ones(stacked.shape[1], np.bool_)
    is_new[1:] = (stacked[:, 1:] != stacked[:, :-1]).any(axis=0)
    rows = np.arange(stacked.shape[1])
    nth: Int64Array = rows - np.maximum.accumulate(np.where(is_new, rows, 0))
    return nth


def teams_of(groups: Groups, ids: Sequence[int], logical: Mapping[int, int]) -> dict[int, int]:
    """The group of each device by its index; empty if the numbers of the devices are unknown.

    Args:
        groups: Groups of devices by the numbers that programs use.
        ids: The devices.
        logical: The number that programs use for each.
    """
    group = {device: at for at, one in enumerate(groups) for device in one}
    known = {at: group.get(logical.get(one, -1), -1) for at, one in enumerate(ids)}
    return {} if -1 in known.values() else known


Exposed = Callable[[Int64Array, Int64Array], Int64Array]
"""From starts and ends of parts of runs, shape (n,), to the time in which nothing is computed."""


def exposed_parts(work: DeviceWork, device: Int64Array, ids: Int64Array) -> Exposed:
    """A function for the exposed time of parts of runs.

    Args:
        work: The work of the devices.
        device: Index of the device of each run.
        ids: The devices.
    """
    alone = work.alone
    own = [alone.only(alone.device == one) for one in ids.tolist()]
    covers = [covered_until(one.start_ps, one.end_ps) for one in own]

    def exposed(start: Int64Array, end: Int64Array) -> Int64Array:
        bare = end - start
        for at, covered in enumerate(covers):
            rows = np.flatnonzero(device == at)
            bare[rows] -= covered(end[rows]) - covered(start[rows])
        return bare

    return exposed


def instances_of(timeline: Timeline, work: DeviceWork, step: Int64Array) -> Int64Array:
    """What runs of one execution of a program have in common: its number, else their step."""
    stat = timeline.stat("run_id")
    has_run = np.isin(work.events, stat.only(stat.is_integer()).events)
    _, number = np.unique(stat.at(work.events), return_inverse=True)
    instance: Int64Array = np.where(has_run, len(work.events) + number.reshape(-1), step)
    return instance
