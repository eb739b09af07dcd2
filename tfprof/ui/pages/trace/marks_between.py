"""Arrows and values of counters between two times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfprof.captures.trace.model import Series, TraceModel
from tfprof.core.columns.columns import BoolArray
from tfprof.core.text.characters import escaped
from tfprof.errors import UsageError
from tfprof.ui.pages.document import column

MOST_ARROWS = 2000
"""Most arrows to draw; the page has the number of all."""


def flows(model: TraceModel, first_ps: int, last_ps: int, tracks: Sequence[int]) -> dict[str, Any]:
    """Arrows that are between two times at least in part, as plain data.

    Returns:
        ``n_flows``, of all; and of those to draw, evenly chosen if there are many, columns
        ``from_track``, ``from_lane``, ``from_ps``, and the same of ``to``.
    """
    arrows = model.flows
    is_shown = np.zeros(len(model.tracks), np.bool_)
    is_shown[list(tracks)] = True
    rows = np.flatnonzero(is_shown[arrows.from_track] & is_shown[arrows.to_track])
    begins, _ = model.times_of(arrows.from_track[rows], arrows.from_place[rows])
    ends, _ = model.times_of(arrows.to_track[rows], arrows.to_place[rows])
    kept: BoolArray = (np.minimum(begins, ends) < last_ps) & (np.maximum(begins, ends) >= first_ps)
    rows, begins, ends = rows[kept], begins[kept], ends[kept]
    n_flows = len(rows)
    if n_flows > MOST_ARROWS:
        chosen = np.linspace(0, n_flows - 1, MOST_ARROWS).astype(np.int64)
        rows, begins, ends = rows[chosen], begins[chosen], ends[chosen]
    made: dict[str, Any] = {"n_flows": n_flows, "n_shown": len(rows)}
    for side, which, where, times in (
        ("from", arrows.from_track[rows], arrows.from_place[rows], begins),
        ("to", arrows.to_track[rows], arrows.to_place[rows], ends),
    ):
        lanes = [
            model.tracks[track].lanes.lane_of(place)
            for track, place in zip(which.tolist(), where.tolist(), strict=True)
        ]
        made[f"{side}_track"], made[f"{side}_lane"] = column(which), column(np.array(lanes))
        made[f"{side}_ps"] = column(times)
    return made


def counters(
    model: TraceModel, first_ps: int, last_ps: int, pixels: int, numbers: Sequence[int]
) -> dict[str, Any]:
    """Values of counters between two times, as plain data.

    Returns:
        ``counters``: of each its ``number`` and ``series``: ``name``, ``unit``, ``n_values`` of
        all its values in the range, and columns ``times``, ``values`` and ``most``: of each pixel
        where there are any, when, the last value and the highest. The value before the range
        stands first.
    """
    made = []
    for number in numbers:
        if not 0 <= number < len(model.counters):
            raise UsageError(f"there is no counter {number} in this trace")
        series = [
            _series(each, first_ps, last_ps, pixels) for each in model.counters[number].series()
        ]
        made.append({"number": number, "series": series})
    return {"t0": first_ps, "t1": last_ps, "counters": made}


def _series(series: Series, first_ps: int, last_ps: int, pixels: int) -> dict[str, Any]:
    low, high = np.searchsorted(series.times_ps, (first_ps, last_ps)).tolist()
    begin = max(low - 1, 0)  # what holds when the range begins
    times, values = series.times_ps[begin:high], series.values[begin:high]
    most = values
    if len(times) > 2 * pixels:
        width = max(1, (last_ps - first_ps) // pixels)
        at = (times - first_ps) // width
        heads = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]]))
        ends = np.append(heads[1:], len(times)) - 1
        most = np.fmax.reduceat(values, heads)
        times, values = times[heads], values[ends]
    return {
        "name": escaped(series.name), "unit": series.unit, "n_values": high - low,
        "times": column(times), "values": column(values), "most": column(most),
    }  # fmt: skip
