"""Tiles: the visible marks of some tracks in a time range at a zoom level, few for any data.

A tile of level ``k`` holds ``TILE_PIXELS`` pixels of ``2**k`` ps. Slices that are smaller than a
pixel are merged into marks with their number; each slice is in exactly one mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from tfprof.captures.trace.model import TraceModel, TraceTrack
from tfprof.captures.trace.pyramid import LEVELS, Marks, Pyramid
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.characters import escaped
from tfprof.errors import UsageError
from tfprof.ui.pages.trace.packing import packed

TILE_PIXELS: Final = 512
"""Pixels of a tile."""


_MOST_PS: Final = 1 << 62


def tile(model: TraceModel, k: int, number: int, tracks: Sequence[int]) -> dict[str, Any]:
    """A tile as plain data.

    Args:
        model: The trace.
        k: Its level: a pixel is 2**k ps.
        number: Number of the tile in the level: it begins ``number`` times ``TILE_PIXELS`` pixels
            after the trace's time 0.
        tracks: The tracks.

    Raises:
        UsageError: There is no such level or track.
    """
    if not 0 <= k < LEVELS:
        raise UsageError(f"k={k}: zoom levels are 0 to {LEVELS - 1}")
    first = number * (TILE_PIXELS << k)
    if abs(first) > _MOST_PS:
        raise UsageError(f"number={number}: there are no such times")
    made = marks_between(model, k, first, first + (TILE_PIXELS << k), tracks)
    return {"k": k, "number": number, **made}


def marks_between(
    model: TraceModel, k: int, first_ps: int, last_ps: int, tracks: Iterable[int]
) -> dict[str, Any]:
    """The marks of some tracks between two times as plain data.

    Returns:
        ``t0``; ``rows``, triples of track, lane and number of marks; and columns of all marks row
        by row: ``gaps`` since the end of the mark before, in a row's first since ``t0``;
        ``lengths``; ``counts`` of slices; ``names``, places in ``texts``; ``ids``, the first slice
        of each, less the one before in the row; and ``busy``, the time that slices take, of those
        marks that are more than one.
    """

    def marks(track: TraceTrack, pyramid: Pyramid) -> Marks:
        return pyramid.marks(k, first_ps - track.shift_ps, last_ps - track.shift_ps)

    return packed_marks(model, first_ps, tracks, marks)


def packed_marks(
    model: TraceModel,
    first_ps: int,
    tracks: Iterable[int],
    marks_of: Callable[[TraceTrack, Pyramid], Marks],
) -> dict[str, Any]:
    """Marks of the lanes of some tracks as plain data, in the form of ``marks_between``."""
    rows: list[tuple[int, int, int]] = []
    parts: list[Marks] = []
    names: list[Int64Array] = []
    for number in tracks:
        if not 0 <= number < len(model.tracks):
            raise UsageError(f"there is no track {number} in this trace")
        track = model.tracks[number]
        for lane, pyramid in enumerate(track.pyramids):
            marks = marks_of(track, pyramid)
            if len(marks):
                rows.append((number, lane, len(marks)))
                parts.append(replace(marks, starts=marks.starts + track.shift_ps))
                names.append(track.names_of(marks.longest))
    return {"t0": first_ps, "rows": rows, **_columns(model, first_ps, rows, parts, names)}


def _columns(
    model: TraceModel,
    first_ps: int,
    rows: Sequence[tuple[int, int, int]],
    parts: Sequence[Marks],
    names: Sequence[Int64Array],
) -> dict[str, Any]:
    def joined(columns: Iterable[Any]) -> Int64Array:
        return np.concatenate([np.zeros(0, np.int64), *columns])

    starts, lengths, counts, places, busy = (
        joined(getattr(part, name) for part in parts)
        for name in ("starts", "lengths", "counts", "places", "busy")
    )
    heads = np.cumsum([0, *(n for _, _, n in rows)])[:-1]
    ends = starts + lengths
    gaps = starts - np.concatenate([[0], ends[:-1]])[: len(starts)]
    gaps[heads] = starts[heads] - first_ps
    steps = np.diff(places, prepend=0)
    steps[heads] = places[heads]
    distinct, at = np.unique(joined(names), return_inverse=True)
    return {
        "gaps": packed(gaps, signed=True),
        "lengths": packed(lengths),
        "counts": packed(counts),
        "names": packed(at),
        "ids": packed(steps, signed=True),
        "busy": packed(busy[counts > 1]),
        "texts": [escaped(model.names[name]) for name in distinct.tolist()],
    }
