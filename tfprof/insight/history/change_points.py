"""Change points: where the level of a series of runs changed.

Hierarchical splitting with a permutation test, as in E-divisive (Matteson and James, 2014, "A
nonparametric approach for multiple change point analysis of multivariate data", JASA 109), in
windows and with a second pass that tests each place again, as in Hunter (Fleming et al., 2023,
ICPE, doi:10.1145/3578244.3583719). What differs is measured in ADR 0048:

* The values are scored by their distance from the median, in units of the median absolute
  deviation, and cut off at 3.5, so that one bad run moves no level (Huber's scores).
* The statistic is the largest t of all splits, each side with at least ``SHORTEST`` runs. Its
  distribution without a change is that of the same scores in random order, so that the level of
  the test holds whatever the distribution of the noise is.
* Neighbouring runs that resemble each other count as fewer: the log likelihood ratio is scaled by
  ``(1 - r) / (1 + r)``, as means in ``core/columns/intervals.py``. Only a correlation beyond its
  own standard error counts.

Random orders are drawn with a fixed seed: the same values have the same change points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

Float64Array = npt.NDArray[np.float64]

SHORTEST: Final = 3
"""Fewest runs on each side of a change."""

FEWEST: Final = 12
"""Fewest runs with which a change differs from chance: of 6 and 6 runs in any order, one in 924
has the 6 smallest first."""

CHANCE: Final = 0.003
"""How often one test finds a change where there is none."""

_WINDOWS: Final = (50, 400)
"""Lengths of the stretches that are searched: short ones find a level that came and went."""

_MOST_ORDERS: Final = 1999
_FIRST_ORDERS: Final = 100
_CUT: Final = 3.5
_NORMAL: Final = 1.4826
"""Standard deviation of a normal distribution, in median absolute deviations."""


def change_points(values: Sequence[float] | Float64Array) -> list[int]:
    """The first places of new levels, in order.

    Args:
        values: Finite numbers, shape (n runs,), in the order of the runs.

    >>> change_points([10.0, 10.2, 9.9, 10.1] * 5 + [11.0, 11.2, 10.9, 11.1] * 2)
    [20]
    """
    series = np.asarray(values, np.float64)
    found: set[int] = set()
    for first, stop in _windows(len(series)):
        found.update(_split(series, first, stop))
    return _confirmed(series, sorted(found))


def exact_changes(values: Sequence[float]) -> list[int]:
    """Places of values that differ from the one before, for numbers without noise."""
    return [place for place in range(1, len(values)) if values[place] != values[place - 1]]


def _windows(n: int) -> Iterator[tuple[int, int]]:
    for length in _WINDOWS:
        for first in range(0, n, length // 2):
            stop = min(first + length, n)
            yield first, stop
            if stop == n:
                break
        if n <= length:
            return


def _split(series: Float64Array, first: int, stop: int) -> Iterator[int]:
    if stop - first < FEWEST:
        return
    chance, place = _test(series[first:stop])
    if chance > CHANCE:
        return
    yield first + place
    yield from _split(series, first, first + place)
    yield from _split(series, first + place, stop)


def _confirmed(series: Float64Array, places: list[int]) -> list[int]:
    """The places that also divide the stretches between their neighbours; the weakest go first."""
    most = _WINDOWS[-1] // 2
    tested: dict[tuple[int, int], tuple[float, int]] = {}
    seen = {tuple(places)}
    while places:
        edges = [0, *places, len(series)]
        best: list[tuple[float, int]] = []
        for before, place, after in zip(edges, edges[1:], edges[2:], strict=False):
            stretch = max(before, place - most), min(after, place + most)
            if stretch not in tested:
                chance, at = _test(series[slice(*stretch)])
                tested[stretch] = chance, stretch[0] + at
            best.append(tested[stretch])
        weakest = max(range(len(best)), key=lambda number: best[number][0])
        if best[weakest][0] > CHANCE:
            del places[weakest]
            continue
        moved = sorted({at for _, at in best})
        if moved == places or tuple(moved) in seen:
            return places
        seen.add(tuple(moved))  # on a slope, places may move back and forth
        places = moved
    return []


def _test(values: Float64Array) -> tuple[float, int]:
    """How often chance alone divides values as well as the best place does, and this place."""
    if len(values) < 2 * SHORTEST:
        return 1.0, 0
    scores = scored(values)
    seen, places = _best(scores[None])
    place = int(places[0])
    if seen[0] <= 0:
        return 1.0, place
    r = _correlation(scores, place)
    wanted = seen[0] * (1 - r) / (1 + r) * (1 - 1e-9)
    # The order of the runs does not matter for the orders that are drawn.
    rng, ordered = np.random.default_rng(0), np.sort(scores)
    drawn = larger = 0
    while drawn < _MOST_ORDERS:
        number = _FIRST_ORDERS if not drawn else min(500, _MOST_ORDERS - drawn)
        orders = rng.permuted(np.broadcast_to(ordered, (number, len(ordered))), axis=1)
        larger += int((_best(orders)[0] >= wanted).sum())
        drawn += number
        if larger > 3 * CHANCE * _MOST_ORDERS:
            break
    return (larger + 1) / (drawn + 1), place


def scored(values: Float64Array) -> Float64Array:
    """Distances from the median, in robust standard deviations, cut off."""
    median, spread = _middle(values)
    if not spread:
        return np.zeros(len(values))
    scores: Float64Array = np.clip((values - median) / spread, -_CUT, _CUT)
    return scores


def without_outliers(values: Float64Array) -> Float64Array:
    """The values, those far from the median no farther than scores are cut off."""
    median, spread = _middle(values)
    kept: Float64Array = np.clip(values, median - _CUT * spread, median + _CUT * spread)
    return kept


def _middle(values: Float64Array) -> tuple[float, float]:
    """The median, and the standard deviation from the median absolute deviation."""
    median = float(np.median(values))
    off = np.abs(values - median)
    # If most are equal, the mean deviation is what there is.
    return median, float(np.median(off)) * _NORMAL or float(off.mean())


def _best(scores: Float64Array) -> tuple[Float64Array, npt.NDArray[np.int64]]:
    """The log likelihood ratio of the best split of each row, and its place.

    Args:
        scores: Shape (orders, n).
    """
    ratio, places = _ratios(scores)
    best = ratio.argmax(axis=1)
    return ratio[np.arange(len(scores)), best], places[best]


def likely_places(values: Float64Array, confidence: float) -> tuple[int, int]:
    """The first and last place where the new level of a stretch with one change may begin.

    These are the ends of the smallest set of places that holds the true one with this probability,
    if all were as likely before (Smith, 1975, Biometrika 62, for normal values of unknown levels
    and deviation).

    Args:
        values: Values of both levels, shape (n runs,).
        confidence: The probability.
    """
    scores = scored(values)
    ratio, places = _ratios(scores[None])
    n = len(scores)
    r = _correlation(scores, int(places[ratio[0].argmax()]))
    weight = (1 - r) / (1 + r)
    log_odds = weight * ratio[0] * (n - 2) / (2 * n) - np.log(places * (n - places)) / 2
    odds = np.exp(log_odds - log_odds.max())
    order = np.argsort(-odds, kind="stable")
    held = np.cumsum(odds[order]) / odds.sum()
    kept = places[order[: int(np.searchsorted(held, confidence)) + 1]]
    return int(kept.min()), int(kept.max())


def _ratios(scores: Float64Array) -> tuple[Float64Array, npt.NDArray[np.int64]]:
    """The log likelihood ratio of each split of each row, and the places of splits."""
    n = scores.shape[1]
    places = np.arange(SHORTEST, n - SHORTEST + 1)
    sums = np.cumsum(scores, axis=1)
    whole = sums[:, -1:]
    left = sums[:, places - 1]
    apart = left / places - (whole - left) / (n - places)
    between = apart**2 * (places * (n - places) / n)
    total = np.einsum("ij,ij->i", scores, scores)[:, None] - whole**2 / n
    within = np.maximum(total - between, 1e-9 * np.maximum(total, 1e-300))
    ratio: Float64Array = n * np.log1p(between / within)
    return ratio, places


def _correlation(scores: Float64Array, place: int) -> float:
    """The correlation of neighbours on both sides of a place, less its standard error; from 0."""
    off = np.concatenate([part - part.mean() for part in (scores[:place], scores[place:])])
    squares = float(off @ off)
    if not squares:
        return 0.0
    n = len(off)
    seen = float(off[1:] @ off[:-1]) / squares
    seen += 2 * (1 + 3 * seen) / n
    return min(max(seen - 1 / math.sqrt(n), 0.0), 0.95)
