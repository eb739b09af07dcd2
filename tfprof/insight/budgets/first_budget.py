"""A first budget from a run: its costs, plus some room."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tfprof.core.columns.intervals import FEWEST, interval_of, mean_of
from tfprof.core.text.characters import escaped
from tfprof.insight.budgets.budget import Limit
from tfprof.insight.budgets.measure import measure
from tfprof.insight.budgets.measurement import Missing
from tfprof.insight.budgets.metrics import METRICS, Metric
from tfprof.insight.budgets.quantities import BYTES, FLOPS, SHARE, SHARES, TIME, Bound, shown
from tfprof.insight.budgets.subject import Subject

STATIC_ROOM, TIME_ROOM, SHARE_ROOM = 0.05, 0.2, 0.1
"""Allowed growth: of exact numbers and times as a share of the value, of shares in absolute
terms."""

_EVENTS = ("traces", "retraces", "compilations")
_UNITS = {
    FLOPS.name: (("TFLOPs", 1e12), ("GFLOPs", 1e9), ("MFLOPs", 1e6), ("FLOPs", 1.0)),
    BYTES.name: (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)),
    TIME.name: (("s", 1e6), ("ms", 1e3), ("us", 1.0)),
    **{each.name: (("%", 0.01),) for each in SHARES},
}
_COUNTS = (("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))


def first_budget(subject: Subject) -> str:
    """A budget that a run meets, as TOML; comments list the metrics that it does not hold."""
    lines = [
        f"# What one run cost, and some room above: {STATIC_ROOM:.0%} for exact numbers,",
        f"# {TIME_ROOM:.0%} for times and {100 * SHARE_ROOM:.0f} points for shares, above the "
        "interval of their mean.",
    ]
    for limit in first_limits():
        metric = limit.metric
        lines += ["", f"# {metric.about}", *_lines(limit, subject)]
    return "\n".join(lines) + "\n"


def first_limits() -> list[Limit]:
    """The metrics that a first budget limits, still without bounds."""
    chosen = [metric for metric in METRICS.values() if not metric.needs_pattern]
    return [Limit(metric, Bound("", 0.0)) for metric in chosen]


def _lines(limit: Limit, subject: Subject) -> Iterator[str]:
    metric, found = limit.metric, measure(subject, limit)
    if isinstance(found, Missing):
        yield f"# {metric.name}: {escaped(found.reason)}"
    elif found.is_timed and len(found.values) < FEWEST:
        yield (
            f"# {metric.name}: {shown(found.value, metric.dimension)} in one step; times need "
            "several"
        )
    else:
        most = found.value
        if found.is_timed:
            interval = interval_of(mean_of(found.values))
            most = max(interval.low if metric.dimension.is_floor else interval.high, 0.0)
        text = limit_text(_with_room(most, metric), metric)
        yield f'{metric.name} = "{text}"  # was {shown(found.value, metric.dimension)}'


def _with_room(amount: float, metric: Metric) -> float:
    if metric.name in _EVENTS:
        return amount
    if metric.dimension.is_floor:
        return amount * (1 - TIME_ROOM)
    if metric.dimension is SHARE:
        return min(amount + SHARE_ROOM, 1.0)
    return amount * (1 + (TIME_ROOM if metric.is_timed else STATIC_ROOM))


def limit_text(amount: float, metric: Metric) -> str:
    """A limit of three digits that an amount meets, such as ``<= 12.4 GB``.

    Args:
        amount: In the unit of the metric, from 0.
        metric: What is limited.
    """
    units = _UNITS.get(metric.dimension.name, _COUNTS)
    unit, size = next(((u, s) for u, s in units if amount >= s), units[-1])
    number = amount / size
    is_whole = size == 1.0 and metric.dimension is not TIME
    digits = 0 if is_whole or not number else max(2 - math.floor(math.log10(number)), 0)
    # What is already round stays so, whatever its last bit says.
    rounding = math.floor if metric.dimension.is_floor else math.ceil
    rounded = rounding(round(number * 10**digits, 6)) / 10**digits
    return f"{metric.dimension.sign} {rounded:.{digits}f} {unit}".rstrip()
