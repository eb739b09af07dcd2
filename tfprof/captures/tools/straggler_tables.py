"""Tables of the tool for stragglers: hosts, steps, how hosts spend steps, and collectives."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.captures.facts.host_work import HostWork
from tfprof.captures.facts.joint_collectives import ClockOffset, JointCollectives
from tfprof.captures.facts.slow_hosts import (
    CAUSES,
    Float64Array,
    SlowHosts,
    compared,
    gains,
    mean_spent,
)
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.table import Cell, Table
from tfprof.core.columns.columns import Int64Array, sums_by

_PS_PER_US = 1e6

HOSTS = timed_by(
    "both",
    shared.HOST,
    amount("works_us", "Works", "us",
           "mean time that it worked in a step: without that in which all its devices were in "
           "collectives and computed nothing"),
    amount("excess_us", "More than others", "us",
           "by how much that exceeds the median of the other hosts"),
    amount("excess_error_us", "±", "us",
           "how far that may be off by noise; empty with too few steps"),
    text("cause", "Most of it",
         "in what it exceeds the median of the other hosts most, if it works longer"),
    amount("step_us", "Step time", "us", "mean duration of its steps"),
    amount("collectives_us", "Collectives", "us",
           "mean time in collectives, on average of its devices"),
    amount("exposed_us", "Exposed", "us", "the same without what a device computed meanwhile"),
    amount("waits_us", "Waits for last", "us",
           "how much longer collectives take it than the host that comes last"),
    count("last_count", "Comes last", "to how many collectives it comes last"),
    amount("clock_us", "Clock ahead", "us",
           "by how much its clock is ahead of that of the first host; empty if unknown"),
    amount("clock_error_us", "±", "us", "how far that may be off"),
)  # fmt: skip
STEPS = timed_by(
    "both",
    shared.STEP,
    amount("least_us", "Fastest host", "us", "time that the fastest host worked"),
    amount("median_us", "Median", "us", "median of the hosts"),
    amount("most_us", "Slowest host", "us", "time that the slowest host worked"),
    text("slowest", "Which", "which that is"),
    amount("gain_us", "Gain", "us", "by how much it exceeds the median of the others"),
    amount("step_us", "Step time", "us", "the longest duration on any host"),
)
SPENT_ON = timed_by(
    "both",
    shared.HOST,
    *(amount(f"{one.key}_us", one.name.capitalize(), "us", one.meaning) for one in CAUSES),
)
WORK = timed_by(
    "both",
    shared.STEP,
    shared.HOST,
    amount("step_us", "Step time", "us", "how long the step took"),
    amount("works_us", "Works", "us",
           "time that the host worked, and did not only wait in collectives"),
    amount("collectives_us", "Collectives", "us", "time in collectives, on average of its devices"),
    amount("exposed_us", "Exposed", "us", "the same without what a device computed meanwhile"),
    amount("waits_us", "Waits for last", "us",
           "how much longer collectives took it than the host that came last"),
)  # fmt: skip
COLLECTIVES = timed_by(
    "both",
    text("name", "Collective", "instruction, kernel or type of op", links=("trace",)),
    count("count", "Runs", "how many the hosts ran together"),
    amount("least_us", "Last host takes", "us",
           "time that it takes the host that comes last, on average"),
    amount("waits_us", "Others wait", "us", "how much longer it takes another host, on average"),
    text("last", "Comes last most often", "host that comes last most often"),
    count("last_count", "So often", "how often it does"),
)  # fmt: skip


MOST_LISTED = 256
"""At most so many hosts have each of their steps listed, the slowest ones."""


@dataclass(frozen=True, eq=False)
class HostComparison:
    """Hosts and their joint work.

    Attributes:
        steps: The steps that they have in common.
        works: The hosts.
        joint: Their collectives.
        clocks: The clock of each host, or empty.
        places: The steps that count for averages.
    """

    steps: RunSteps
    works: Sequence[HostWork]
    joint: JointCollectives
    clocks: Sequence[ClockOffset]
    places: Int64Array

    @cached_property
    def slow(self) -> SlowHosts | None:
        """The comparison of the hosts; None if there is only one host, or no step."""
        return compared(self.works, self.places)

    @cached_property
    def order(self) -> list[int]:
        """The hosts, the slowest first."""
        return list(range(len(self.works))) if self.slow is None else self.slow.order

    @cached_property
    def counting(self) -> JointCollectives:
        """The collectives of the steps that count."""
        return self.joint.only(np.isin(self.joint.step, self.places))

    @cached_property
    def last_counts(self) -> list[int]:
        """Number of collectives at which each host arrives last."""
        counts: list[int] = np.bincount(self.counting.last, minlength=len(self.works)).tolist()
        return counts

    @cached_property
    def waits_ps(self) -> Int64Array:
        """Wait of each host for the last one in each step, shape (n hosts, n steps)."""
        n_steps = self.steps.n_steps
        return np.stack([
            sums_by(self.joint.step, waited, n_steps) for waited in self.joint.waited_ps
        ]) if self.works else np.zeros((0, n_steps), np.int64)  # fmt: skip

    def mean_ps(self, amounts_ps: Int64Array) -> float:
        """Mean over the steps that count; 0 if there are none."""
        return float(amounts_ps[self.places].mean()) if len(self.places) else 0.0


def tables_of(
    found: HostComparison, asked: Sequence[int], chosen: Collection[str]
) -> dict[str, Table]:
    """Make the tables, without empty ones.

    Args:
        found: The hosts.
        asked: Places of the steps to show.
        chosen: Names of the hosts to show.
    """
    shown = [place for place in found.order if found.works[place].name in chosen]
    listed = sorted(shown[:MOST_LISTED])
    every = (
        Table("hosts", HOSTS, [_host(found, place) for place in shown], title="Hosts"),
        Table("steps", STEPS, _steps(found, asked), title="Steps over all hosts"),
        Table("spent", SPENT_ON, [_spent(found, place) for place in shown],
              title="What a step is spent on"),
        Table("work", WORK, _work(found, asked, listed),
              title="Steps of all hosts"),
        Table("collectives", COLLECTIVES, _collectives(found), title="Collectives of all hosts"),
    )  # fmt: skip
    return {table.name: table for table in every if len(table)}


def _us(amount_ps: float) -> float:
    return float(amount_ps) / _PS_PER_US


def _host(found: HostComparison, place: int) -> tuple[Cell, ...]:
    work, slow = found.works[place], found.slow
    excess: tuple[Cell, ...] = (None, None, None)
    if slow is not None:
        interval = slow.interval_ps(place)
        cause, more_ps = slow.causes(place)[0]
        is_longer = more_ps > 0 and slow.excess_ps(place) > 0
        excess = (
            _us(slow.excess_ps(place)),
            None if interval is None else _us(interval.high - interval.mid),
            cause.name if is_longer else "",
        )
    clock = found.clocks[place] if found.clocks else None
    ahead: tuple[Cell, ...] = (None, None)
    if clock is not None and clock.ahead_ns is not None:
        ahead = (clock.ahead_ns / 1000, clock.error_ns / 1000)
    is_joint = len(found.joint) > 0
    return (
        work.name, _us(found.mean_ps(work.own_ps)), *excess, _us(found.mean_ps(work.duration_ps)),
        _us(found.mean_ps(work.shared.together_ps)), _us(found.mean_ps(work.shared.exposed_ps)),
        _us(found.mean_ps(found.waits_ps[place])) if is_joint else None,
        found.last_counts[place] if is_joint else None, *ahead,
    )  # fmt: skip


def _steps(found: HostComparison, asked: Sequence[int]) -> list[tuple[Cell, ...]]:
    if len(found.works) < 2 or not asked:
        return []
    places = np.array(asked, np.int64)
    own = np.stack([work.own_ps[places] for work in found.works]).astype(np.float64)
    columns: list[Float64Array] = [
        own.min(axis=0), np.median(own, axis=0), own.max(axis=0), gains(own),
        found.steps.slowest_ps()[places].astype(np.float64),
    ]  # fmt: skip
    names = [found.works[place].name for place in np.argmax(own, axis=0).tolist()]
    shown = found.steps.shown_names
    return [
        (shown[at], _us(least), _us(middle), _us(most), name, _us(gain), _us(took))
        for at, name, least, middle, most, gain, took in zip(
            asked, names, *(column.tolist() for column in columns), strict=True
        )
    ]


def _spent(found: HostComparison, place: int) -> tuple[Cell, ...]:
    work = found.works[place]
    if not len(found.places):
        return (work.name, *([0.0] * len(CAUSES)))
    return (work.name, *(_us(amount) for amount in mean_spent(work, found.places).tolist()))


def _work(
    found: HostComparison, asked: Sequence[int], listed: Sequence[int]
) -> list[tuple[Cell, ...]]:
    """Each step of some hosts, step by step."""
    is_joint = len(found.joint) > 0
    by_host: list[list[tuple[Cell, ...]]] = []
    for place in listed:
        work = found.works[place]
        columns = (
            work.duration_ps, work.own_ps, work.shared.together_ps, work.shared.exposed_ps,
            found.waits_ps[place],
        )  # fmt: skip
        amounts = (np.stack(columns, axis=1)[list(asked)] / _PS_PER_US).tolist()
        by_host.append([
            (found.steps.shown(at, work.step_names[at]), work.name, *own[:-1],
             own[-1] if is_joint else None)
            for at, own in zip(asked, amounts, strict=True)
        ])  # fmt: skip
    return [row for rows in zip(*by_host, strict=True) for row in rows]


def _collectives(found: HostComparison) -> list[tuple[Cell, ...]]:
    """Collectives by name, those with the longest waits first; times are means."""
    joint = found.counting
    numbers: dict[str, int] = {}
    number = np.array([numbers.setdefault(kind.name, len(numbers)) for kind, _ in joint.kinds],
                      np.int64)  # fmt: skip
    n_waiting = np.maximum(joint.is_there.sum(axis=0) - 1, 1)
    waits = joint.waited_ps.sum(axis=0) / n_waiting
    last = joint.last
    rows: list[tuple[Cell, ...]] = []
    for name, at in numbers.items():
        own = number == at
        counts = np.bincount(last[own], minlength=len(found.works))
        most = int(np.argmax(counts))
        rows.append((
            name, int(own.sum()), _us(float(joint.least_ps[own].mean())),
            _us(float(waits[own].mean())), found.works[most].name, int(counts[most]),
        ))  # fmt: skip
    return sorted(rows, key=lambda row: (-float(row[1] or 0) * float(row[3] or 0), str(row[0])))
