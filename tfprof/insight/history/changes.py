"""Changes of a series: where they may lie, how large they are, and what changed with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.intervals import (
    CONFIDENCE,
    Interval,
    Mean,
    interval_of,
    mean_of,
    t_quantile,
)
from tfprof.insight.budgets.metrics import METRICS
from tfprof.insight.history.change_points import (
    FEWEST,
    Float64Array,
    change_points,
    exact_changes,
    likely_places,
    without_outliers,
)
from tfprof.insight.history.record import RunRecord
from tfprof.insight.history.series import Series

EXACT = frozenset(("float_operations", "parameters", "ops"))
"""Metrics that depend on the program alone: any difference is a change."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a metric.

    Attributes:
        metric: The metric.
        unit: Its unit.
        place: Place of the first run of the new level in the series.
        first: Earliest place where it may begin, with 95 % probability.
        last: Latest such place.
        before: Level before.
        after: Level after.
        relative: The change as a part of the level before; None if that is 0.
        low: Lower bound of it.
        high: Upper bound.
        runs: Places of the runs on both sides: from, up to, up to.
    """

    metric: str
    unit: str
    place: int
    first: int
    last: int
    before: float
    after: float
    relative: float | None
    low: float | None
    high: float | None
    runs: tuple[int, int, int]

    @property
    def is_worse(self) -> bool:
        """Whether the metric became worse: smaller for utilization, larger for others."""
        return (self.after < self.before) == METRICS[self.metric].dimension.is_floor


def changes_of(series: Series, metric: str) -> list[Change]:
    """The changes of a metric of a series, in order."""
    places, known = series.known(metric)
    values = np.array(known, np.float64)
    find: Callable[[Sequence[float]], list[int]]
    find = exact_changes if metric in EXACT else change_points
    edges = [0, *find(known), len(known)]
    unit = series.unit(metric)
    return [
        _described(metric, unit, places, values, around)
        for around in zip(edges, edges[1:], edges[2:], strict=False)
    ]


def _described(
    metric: str, unit: str, places: Sequence[int], values: Float64Array,
    around: tuple[int, int, int],
) -> Change:  # fmt: skip
    first, place, stop = around
    ends = place, place
    if metric not in EXACT:
        ends = tuple(first + end for end in likely_places(values[first:stop], CONFIDENCE))  # type: ignore[assignment]
    before, after = level_of(values[first:place]), level_of(values[place:stop])
    low, relative, high = _relative(before, after)
    return Change(
        metric, unit, places[place], places[ends[0]], places[ends[1]], before.value, after.value,
        relative, low, high, (places[first], places[place], places[stop - 1] + 1),
    )  # fmt: skip


def level_of(values: Float64Array) -> Mean:
    """The mean of runs of one level; runs far from the others count as less far."""
    if len(values) == 1:
        return Mean(float(values[0]), 0.0, 1.0)
    return mean_of(without_outliers(values).tolist())


def _relative(before: Mean, after: Mean) -> tuple[float | None, float | None, float | None]:
    if not before.value:
        return None, None, None
    low, mid, high = (each / abs(before.value) for each in interval_of(after.minus(before)))
    if math.isclose(low, high):
        return None, mid, None
    return low, mid, high


def levels(series: Series, metric: str, changes: Sequence[Change]) -> list[float]:
    """The level of each run that has a value of the metric."""
    places, values = series.known(metric)
    starts = np.searchsorted(places, [one.place for one in changes])
    parts = np.split(np.array(values, np.float64), starts)
    return [level for part in parts if len(part) for level in [level_of(part).value] * len(part)]


@dataclass(frozen=True, slots=True)
class Expected:
    """What the runs since the last change predict of another run.

    Attributes:
        n_runs: Number of these runs.
        interval: Where the next run lies, with the given probability, and in the middle the level
            of the runs; None if there are too few.
    """

    n_runs: int
    interval: Interval | None


def expected(series: Series, metric: str, confidence: float) -> Expected:
    """What the last level of a series predicts of another run.

    Args:
        series: Earlier runs.
        metric: The metric.
        confidence: How often the next run of the same level lies in the interval.
    """
    places, values = series.known(metric)
    changes = changes_of(series, metric)
    start = changes[-1].place if changes else 0
    own = np.array([v for place, v in zip(places, values, strict=True) if place >= start])
    n = len(own)
    if n and metric in EXACT:
        return Expected(n, Interval(*[float(own[0])] * 3))
    return Expected(n, prediction(own, confidence) if n >= FEWEST // 2 else None)


def prediction(values: Float64Array, confidence: float) -> Interval:
    """Where another value like these lies (Student's prediction interval).

    Outliers count in full: a run may be one of them.

    Args:
        values: At least two values.
        confidence: How often it lies there.
    """
    n, mean = len(values), float(values.mean())
    spread = float(values.std(ddof=1)) * math.sqrt(1 + 1 / n)
    half = t_quantile((1 + confidence) / 2, n - 1) * spread
    return Interval(mean - half, mean, mean + half)


def changed_with(before: RunRecord, after: RunRecord) -> Iterator[str]:
    """What else changed from a run to another: ``jax 0.10.1 → 0.10.2``."""
    for what, one, other in (
        ("machine", before.machine, after.machine),
        ("framework", before.framework, after.framework),
    ):
        if one != other:
            yield f"{what} {one or 'unknown'} → {other or 'unknown'}"
    yield from _differences(before.versions, after.versions)
    yield from _differences(before.labels, after.labels)


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*before, *after}):
        one, other = before.get(name), after.get(name)
        if one != other:
            yield f"{name} {one or 'unknown'} → {other or 'unknown'}"
