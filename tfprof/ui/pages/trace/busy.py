"""When processes and tracks are busy: the share of each pixel in which one of their events runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from tfprof.captures.trace.model import TraceModel
from tfprof.captures.trace.stretches import Stretches
from tfprof.core.columns.columns import Int64Array
from tfprof.ui.pages.trace.packing import packed

SHARES: Final = 10_000
"""The share of a pixel that is busy all the time: in whole numbers, shares are small to send."""


def busy(
    model: TraceModel,
    first_ps: int,
    last_ps: int,
    pixels: int,
    processes: Sequence[int],
    tracks: Sequence[int] = (),
) -> dict[str, Any]:
    """Shares of the time between two times, pixel by pixel, as plain data.

    Args:
        model: The trace.
        first_ps: Begin.
        last_ps: End.
        pixels: How many parts of equal length; their bounds are whole ps.
        processes: The processes.
        tracks: The tracks.

    Returns:
        ``t0``, ``t1``, ``processes`` and ``tracks``: of each with events its ``number`` and
        ``shares``, for each pixel from 0 to ``SHARES``.
    """
    pixels = max(1, min(pixels, last_ps - first_ps))  # none is shorter than a ps
    bounds = np.linspace(first_ps, last_ps, pixels + 1).astype(np.int64)
    return {
        "t0": first_ps,
        "t1": last_ps,
        "processes": _shares_of(model.busy_of, processes, bounds),
        "tracks": _shares_of(model.busy_of_track, tracks, bounds),
    }


def _shares_of(
    busy_of: Callable[[int], Stretches], numbers: Iterable[int], bounds: Int64Array
) -> list[dict[str, Any]]:
    """Shares of those that have events."""
    lengths = np.diff(bounds).clip(min=1)  # a range without length is not busy
    made = []
    for number in numbers:
        stretches = busy_of(number)
        if len(stretches.starts):
            covered = np.diff(_covered_before(*stretches, bounds))
            shares = np.rint(covered / lengths * SHARES).astype(np.int64)
            made.append({"number": number, "shares": packed(shares)})
    return made


def _covered_before(starts: Int64Array, ends: Int64Array, times: Int64Array) -> Int64Array:
    """How much of the time before each of some times is busy, ps."""
    whole = np.concatenate([[0], np.cumsum(ends - starts)])
    n_begun = np.searchsorted(starts, times)
    last = n_begun - 1  # the stretch that has begun last; it may go on
    over = np.where(n_begun > 0, np.maximum(ends[last] - times, 0), 0)
    covered: Int64Array = whole[n_begun] - over
    return covered
