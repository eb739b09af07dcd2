"""Time of a range by what runs inside what: the flame graph of its slices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.trace.lanes import depths
from tfprof.captures.trace.model import TraceModel
from tfprof.core.columns.columns import Int64Array, no_rows
from tfprof.core.text.wording import plural
from tfprof.ui.pages.trace.spent import exact_sums, recorded_tracks, times_within
from tfprof.ui.pages.tree_block import TreeMeasure, tree_block

_PS_PER_US = 1e6

MOST_ROWS: Final = 5000
"""Most rows: those with the most time; each counts what of it was left out."""


class Calls(NamedTuple):
    """Slices by the names around them, columns of shape (n,): the root, then level by level.

    Attributes:
        names: Number of each name, -1 for the root.
        parents: Row of the slices around, -1 for the root.
        times: Time of the slices within the range, ps; of the root that of the outermost.
        counts: Number of slices; of the root that of the outermost.
    """

    names: Int64Array
    parents: Int64Array
    times: Int64Array
    counts: Int64Array


def calls_in_range(
    model: TraceModel, first_ps: int, last_ps: int, tracks: Sequence[int]
) -> dict[str, Any]:
    """Time of a range as a tree of names; of several tracks, recorded ones only, as plain data.

    Returns:
        ``t0``, ``t1``, and ``tree``, a block.
    """
    chosen = recorded_tracks(model, tracks)
    # A row is kept with all above it, so one below as many levels never is, nor its children.
    calls = _joined(*_slices(model, first_ps, last_ps, chosen), MOST_ROWS + 1)
    kept, left_out = _largest(calls, MOST_ROWS)
    inner = exact_sums(calls.parents[1:], calls.times[1:], len(calls.times))
    own = (calls.times - inner).clip(min=0)[kept]
    place = np.full(len(calls.parents) + 1, -1)  # the last one is for the parent of the root
    place[kept] = np.arange(len(kept))
    times = calls.times[kept] / _PS_PER_US
    names = [model.names[number] for number in calls.names[kept][1:].tolist()]
    tree = tree_block(
        [plural(len(chosen), "track"), *names],
        place[calls.parents[kept]],
        [
            TreeMeasure("time", "time", "us", times, own / _PS_PER_US, whole=float(times[0]),
                        meaning="time within the range"),
            TreeMeasure("events", "events", "", calls.counts[kept], is_cost=False,
                        meaning="events that begin, end or go on within the range"),
        ],
        id="calls", title="What runs inside what", primary="time", is_called=True,
        left_out=left_out.tolist(), form="flame",
    )  # fmt: skip
    return {"t0": first_ps, "t1": last_ps, "tree": tree}


def _slices(
    model: TraceModel, first_ps: int, last_ps: int, tracks: Sequence[int]
) -> tuple[Int64Array, Int64Array, Int64Array, Int64Array]:
    """Name, parent, depth and time of the slices of a range, one track after the other."""
    parts = [(no_rows(), no_rows(), no_rows(), no_rows())]
    so_far = 0
    for number in tracks:
        track = model.tracks[number]
        places = track.within(first_ps, last_ps)
        if not len(places):
            continue
        starts = track.starts[places]
        nesting = nest(np.array([0, len(places)]), starts, starts + track.durations[places])
        around = nesting.parents.astype(np.int64)
        parts.append((
            track.names_of(places), np.where(around < 0, -1, around + so_far), depths(nesting),
            times_within(track, places, first_ps, last_ps),
        ))  # fmt: skip
        so_far += len(places)
    names, parents, levels, times = (np.concatenate(each) for each in zip(*parts, strict=True))
    return names, parents, levels, times


def _joined(
    names: Int64Array, parents: Int64Array, levels: Int64Array, times: Int64Array, most_levels: int
) -> Calls:
    """Join slices of the same name that are inside of slices of the same names.

    Args:
        names: Number of the name of each slice, shape (n,).
        parents: The slice around each, -1 without one, shape (n,).
        levels: Slices around each, shape (n,).
        times: Time of each, ps, shape (n,).
        most_levels: Levels of the answer below its root; what lies deeper is left out.
    """
    by_level = np.argsort(levels, kind="stable")
    ends = np.cumsum(np.bincount(levels))[:most_levels].tolist()
    outer = by_level[: ends[0] if ends else 0]
    row_of = np.zeros(len(names), np.int64)
    rows = [(np.array([-1]), np.array([-1]), np.array([times[outer].sum()]),
             np.array([len(outer)]))]  # fmt: skip
    n_names = int(names.max(initial=0)) + 1
    so_far = 1
    for first, last in pairwise([0, *ends]):
        level = by_level[first:last]
        around = np.where(parents[level] < 0, 0, row_of[parents[level]])
        keys, at = np.unique(around * n_names + names[level], return_inverse=True)
        row_of[level] = so_far + at
        sums = exact_sums(at, times[level], len(keys))
        rows.append((keys % n_names, keys // n_names, sums, np.bincount(at, minlength=len(keys))))
        so_far += len(keys)
    return Calls(*(np.concatenate(each) for each in zip(*rows, strict=True)))


def _largest(calls: Calls, most: int) -> tuple[Int64Array, Int64Array]:
    """The rows with the most time whose parents are among them, and children left out of each."""
    is_kept = np.zeros(len(calls.times), np.bool_)
    is_kept[np.argsort(-calls.times, kind="stable")[:most]] = True
    is_kept[0] = True
    for row in np.flatnonzero(is_kept)[1:].tolist():  # parents come before their children
        is_kept[row] = is_kept[calls.parents[row]]
    kept = np.flatnonzero(is_kept)
    lost = calls.parents[1:][~is_kept[1:]]
    return kept, np.bincount(lost, minlength=len(calls.times))[kept]
