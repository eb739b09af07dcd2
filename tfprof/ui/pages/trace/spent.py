"""Time of a range: time and self time by name, and the slices of a range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.captures.trace.model import TraceModel, TraceTrack, id_of
from tfprof.core.columns.columns import Int64Array, IntArray, no_rows
from tfprof.ui.pages.blocks_of_results import table_block
from tfprof.ui.pages.document import Block

_PS_PER_US = 1e6

MOST_NAMES = 20_000
"""Most rows of a table of names; the rest is one row."""

MOST_EVENTS = 1000
"""Most slices to list: the longest."""

_PART_BITS = 24
"""Half a thousand million numbers of so many bits are summed without a loss."""

_NAME_COLUMNS = (
    Column("name", "Name", "string"),
    Column("events", "Events"),
    Column("self_us", "Self time", unit="us"),
    Column("total_us", "Total time", unit="us"),
    Column("mean_us", "Average time", unit="us"),
    Column("longest_us", "Longest", unit="us"),
)

_EVENT_COLUMNS = (
    Column("name", "Name", "string"),
    Column("start_us", "Start", unit="us"),
    Column("duration_us", "Duration", unit="us"),
    Column("track", "Track", "string"),
    Column("id", "Event", "string"),
)


def own_times(
    track: TraceTrack, places: Int64Array, first_ps: int, last_ps: int
) -> tuple[Int64Array, Int64Array]:
    """Time and self time of slices within a range.

    Args:
        track: The track.
        places: All of its slices that are in the range, ascending, shape (n,).
        first_ps: Begin of the range, in the time of the trace.
        last_ps: Its end.
    """
    starts = track.starts[places]
    parents = nest(np.array([0, len(places)]), starts, starts + track.durations[places]).parents
    times = times_within(track, places, first_ps, last_ps)
    inner = np.flatnonzero(parents >= 0)
    inside = exact_sums(parents[inner], times[inner], len(places))
    # Slices that overlap only in part may together be longer than the one around them.
    return times, np.maximum(times - inside, 0)


def times_within(track: TraceTrack, places: Int64Array, first_ps: int, last_ps: int) -> Int64Array:
    """Time of slices within a range, shape (n,): ``own_times`` without the self times."""
    starts = track.starts[places] + track.shift_ps
    ends = starts + track.durations[places]
    times: Int64Array = np.minimum(ends, last_ps) - np.maximum(starts, first_ps)
    clipped: Int64Array = np.maximum(times, 0)  # for a few slices, clip takes three times as long
    return clipped


def recorded_tracks(model: TraceModel, tracks: Sequence[int]) -> Sequence[int]:
    """The recorded ones of some tracks; all of them if none is recorded."""
    return [number for number in tracks if not model.tracks[number].is_derived] or tracks


def exact_sums(at: IntArray, values: Int64Array, size: int) -> Int64Array:
    """Sums of values from 0, each added at its place, shape (size,).

    Doubles, in which NumPy sums fast, are exact for parts of the numbers.
    """
    sums = np.zeros(size, np.int64)
    highest = int(values.max(initial=0))
    for shift in range(0, highest.bit_length(), _PART_BITS):
        part = (values >> shift) & ((1 << _PART_BITS) - 1)
        sums += np.bincount(at, part, size).astype(np.int64) << shift
    return sums


def names_in_range(
    model: TraceModel, first_ps: int, last_ps: int, tracks: Sequence[int]
) -> dict[str, Any]:
    """Time by name within a range, as plain data.

    Of several tracks, only recorded ones count: derived ones (steps, scopes, ops) would count the
    same time again.

    Returns:
        ``t0``, ``t1``; ``n_events``; ``busy_ps``, the own time of all together; and ``table``.
    """
    spent = spent_by_name(model, first_ps, last_ps, tracks)
    return {
        "t0": first_ps, "t1": last_ps, "n_events": int(spent.counts.sum()),
        "busy_ps": int(spent.own.sum()), "table": table_block(_table_of_names(model, spent)),
    }  # fmt: skip


class Spent(NamedTuple):
    """Time by name, columns of shape (n names,), ps.

    Attributes:
        counts: Number of slices.
        own: Self time.
        totals: Time.
        longest: Time of the longest slice.
    """

    counts: Int64Array
    own: Int64Array
    totals: Int64Array
    longest: Int64Array


def spent_by_name(model: TraceModel, first_ps: int, last_ps: int, tracks: Sequence[int]) -> Spent:
    """Time of each name of the trace within a range; of several tracks, recorded ones only."""
    names, times, own = [no_rows()], [no_rows()], [no_rows()]
    for number in recorded_tracks(model, tracks):
        track = model.tracks[number]
        places = track.within(first_ps, last_ps)
        if not len(places):
            continue
        total, mine = own_times(track, places, first_ps, last_ps)
        names.append(track.names_of(places))
        times.append(total)
        own.append(mine)
    all_names, all_times, all_own = (np.concatenate(each) for each in (names, times, own))
    size = len(model.names)
    longest = np.zeros(size, np.int64)
    np.maximum.at(longest, all_names, all_times)
    return Spent(
        np.bincount(all_names, minlength=size),
        exact_sums(all_names, all_own, size),
        exact_sums(all_names, all_times, size),
        longest,
    )


def _table_of_names(model: TraceModel, spent: Spent) -> Table:
    counts, owned, totals, longest = spent
    found = np.flatnonzero(counts)
    by_self = found[np.lexsort((found, -totals[found], -owned[found]))]
    shown, rest = by_self[:MOST_NAMES], by_self[MOST_NAMES:]
    columns = [column[shown].tolist() for column in (counts, owned, totals, longest)]
    texts = [model.names[number] for number in shown.tolist()]
    rows = [_name_row(*row) for row in zip(texts, *columns, strict=True)]
    if len(rest):
        rows.append(
            _name_row(
                f"{len(rest):,} other names",
                int(counts[rest].sum()),
                int(owned[rest].sum()),
                int(totals[rest].sum()),
                int(longest[rest].max()),
            )
        )
    return Table("names", _NAME_COLUMNS, rows, title="Time by name")


def _name_row(name: str, count: int, own: int, total: int, longest: int) -> tuple[Cell, ...]:
    micros = (own / _PS_PER_US, total / _PS_PER_US, total / count / _PS_PER_US)
    return (name, count, *micros, longest / _PS_PER_US)


def events_in_range(
    model: TraceModel, first_ps: int, last_ps: int, tracks: Sequence[int], text: str = ""
) -> dict[str, Any]:
    """The slices of a range, the longest if there are many, in order of time, as plain data.

    Returns:
        ``n_events``, of all; and ``table``.
    """
    which, where = [no_rows()], [no_rows()]
    wanted = text.lower()
    is_named = np.array([wanted in name.lower() for name in model.names], np.bool_)
    for number in tracks:
        track = model.tracks[number]
        places = track.within(first_ps, last_ps)
        if wanted and len(places):
            places = places[is_named[track.names_of(places)]]
        which.append(np.full(len(places), number))
        where.append(places)
    tracks_of, places_of = np.concatenate(which), np.concatenate(where)
    table = listed_events(model, tracks_of, places_of)
    return {"n_events": len(places_of), "n_listed": table["n_rows"], "table": table}


def listed_events(model: TraceModel, tracks: Int64Array, places: Int64Array) -> Block:
    """A table of some slices, the longest if there are many, in order of time.

    Args:
        model: The trace.
        tracks: The track of each slice, shape (n,).
        places: Its place there, shape (n,).
    """
    starts, durations = model.times_of(tracks, places)
    longest = _longest(durations)
    order = longest[np.lexsort((places[longest], tracks[longest], starts[longest]))]
    rows: list[tuple[Cell, ...]] = []
    columns = (tracks, places, starts, durations)
    for number, place, start, duration in zip(*(c[order].tolist() for c in columns), strict=True):
        track = model.tracks[number]
        name = model.names[int(track.names_of(np.array([place]))[0])]
        times = (start / _PS_PER_US, duration / _PS_PER_US)
        rows.append((name, *times, track.name, id_of(number, place)))
    return _events_block(len(places), rows)


def _longest(durations: Int64Array) -> Int64Array:
    """Places of the longest events, of equal ones the first."""
    if len(durations) <= MOST_EVENTS:
        return np.arange(len(durations))
    least = np.partition(durations, -MOST_EVENTS)[-MOST_EVENTS]
    longer = np.flatnonzero(durations > least)
    return np.append(longer, np.flatnonzero(durations == least)[: MOST_EVENTS - len(longer)])


def _events_block(n_events: int, rows: Sequence[tuple[Cell, ...]]) -> Block:
    title = f"{n_events:,} event{'' if n_events == 1 else 's'}"
    if len(rows) < n_events:
        title = f"The longest {len(rows):,} of {title}"
    return table_block(Table("events", _EVENT_COLUMNS, rows, title=title))
