"""Finds slices by name: their numbers, and the next one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfprof.captures.run.table import Cell, Column, Table
from tfprof.captures.trace.model import TraceModel, Wanted, id_of
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.text.matching import matched
from tfprof.errors import UsageError
from tfprof.ui.pages.blocks_of_results import table_block
from tfprof.ui.pages.trace.details import event

MOST_ROWS = 2000
"""Most names to list: those with the most time."""

_PS_PER_US = 1e6
_COLUMNS = (
    Column("name", "Name", "string"),
    Column("events", "Events"),
    Column("total_us", "Total time", unit="us"),
)


def wanted_names(model: TraceModel, text: str, *, regex: bool = False) -> Wanted:
    """Which short or full names hold a text, in upper or lower case.

    Args:
        model: The trace.
        text: What to look for.
        regex: It is a regular expression.

    Raises:
        UsageError: It is not a valid regular expression, or takes too long.
    """
    fitting = _fitting(text, regex=regex)
    return Wanted(fitting(model.names), fitting(model.long_names))


def _fitting(text: str, *, regex: bool) -> Callable[[Sequence[str]], BoolArray]:
    if not text:
        return lambda names: np.zeros(len(names), np.bool_)
    if regex:
        try:
            pattern = re.compile(text, re.IGNORECASE)
        except re.error as error:
            raise UsageError(f"{text!r} is not a regular expression: {error}") from None
        return lambda names: matched(pattern, names, "search")
    wanted = text.casefold()
    return lambda names: np.array([wanted in name.casefold() for name in names], np.bool_)


def search(model: TraceModel, text: str, *, regex: bool = False) -> dict[str, Any]:
    """How many slices have a name that holds a text, by name, as plain data.

    Returns:
        ``n_events``, ``n_names``, ``total_ps``, and ``table``.
    """
    wanted = wanted_names(model, text, regex=regex)
    counts, totals = np.zeros(len(model.names), np.int64), np.zeros(len(model.names), np.int64)
    for track in model.tracks:
        places = track.named(wanted)
        names = track.names_of(places)
        counts += np.bincount(names, minlength=len(counts))
        np.add.at(totals, names, track.durations[places])
    found = np.flatnonzero(counts)
    found = found[np.lexsort((found, -totals[found]))]
    rows: list[tuple[Cell, ...]] = [
        (model.names[name], int(counts[name]), int(totals[name]) / _PS_PER_US)
        for name in found[:MOST_ROWS].tolist()
    ]
    return {
        "n_events": int(counts.sum()), "n_names": len(found), "total_ps": int(totals.sum()),
        "table": table_block(Table("found", _COLUMNS, rows, title="Found")),
    }  # fmt: skip


def find(
    model: TraceModel, text: str, *, regex: bool = False, start_ps: int, event_id: str = "",
    backwards: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The next slice whose name holds a text, in order of start; behind the last, the first.

    Args:
        model: The trace.
        text: What to look for.
        regex: It is a regular expression.
        start_ps: From when, if there is no slice to start from.
        event_id: The slice to start from.
        backwards: The one before.

    Returns:
        ``n_events`` that match; ``rank`` of the found one from 1; and ``event``, its details, or
        None.
    """
    wanted = wanted_names(model, text, regex=regex)
    number, place = (-1, 0) if not event_id else model.slice_of(event_id)
    at = model.tracks[number].start_ps(place) if event_id else start_ps
    found: list[tuple[int, Int64Array, int, int]] = []  # track, slices, how many before, and till
    for other, track in enumerate(model.tracks):
        places = track.named(wanted)
        if not len(places):
            continue
        starts = track.starts[places] + track.shift_ps
        if other == number:
            before, until = np.searchsorted(places, (place, place + 1)).tolist()
        elif other < number:
            before = until = int(np.searchsorted(starts, at, side="right"))
        else:
            before = until = int(np.searchsorted(starts, at))
        found.append((other, places, before, until))
    n_events = sum(len(places) for _, places, _, _ in found)
    if not n_events:
        return {"n_events": 0, "rank": 0, "event": None}
    chosen = _nearest(model, found, backwards=backwards)
    n_before = sum(each[2] if backwards else each[3] for each in found)
    rank = (n_before - 1 if backwards else n_before) % n_events + 1
    return {"n_events": n_events, "rank": rank, "event": event(model, id_of(*chosen))}


def _nearest(
    model: TraceModel, found: list[tuple[int, Int64Array, int, int]], *, backwards: bool
) -> tuple[int, int]:
    """Track and place of the next slice by start; the first follows the last."""

    def keys(*, wraps: bool) -> list[tuple[int, int, int]]:
        rows = []
        for number, places, before, until in found:
            at = before - 1 if backwards else until
            if wraps:
                at = len(places) - 1 if backwards else 0
            if 0 <= at < len(places):
                place = int(places[at])
                rows.append((model.tracks[number].start_ps(place), number, place))
        return rows

    rows = keys(wraps=False) or keys(wraps=True)
    _, number, place = max(rows) if backwards else min(rows)
    return number, place
