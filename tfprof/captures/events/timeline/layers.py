"""Slices of one thread in rows without partial overlaps.

Viewers keep one stack for each row and drop a slice that begins inside another one and ends
after it. Recorders write such slices for asynchronous work.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, Final

import numpy as np

from tfprof.captures.events.timeline.nesting import nest
from tfprof.core.columns.columns import Int64Array

_OPEN: Final = np.iinfo(np.int64).max

_MOST: Final = 1000
"""Most rows of a thread; slices that overlap with more than that go into the last row."""

LayerArray = np.ndarray[Any, np.dtype[np.int32]]


def rows_of(layer: LayerArray | None, n_slices: int) -> Iterator[Int64Array]:
    """Places of the slices of each row, ascending.

    Args:
        layer: The result of ``layers_of``.
        n_slices: Number of slices.
    """
    if layer is None:
        yield np.arange(n_slices)
        return
    order = np.argsort(layer, kind="stable")
    yield from np.split(order, np.cumsum(np.bincount(layer))[:-1])


def layers_of(starts: Int64Array, ends: Int64Array) -> LayerArray | None:
    """The row of each slice; None if one row is enough, which is nearly always the case.

    Each slice goes to the first row in which it is inside the innermost open slice. The loop over
    single slices covers only stretches with overlaps.

    Args:
        starts: Ascending; of equal ones, longer slices first, shape (n,).
        ends: Not before the starts, shape (n,).
    """
    n_slices = len(starts)
    if n_slices < 2 or not (starts[1:] < ends[:-1]).any():
        return None
    behind = nest(np.array([0, n_slices]), starts, ends).ends.astype(np.int64)
    # If all are nested, the first slice after those inside another begins when that one ends.
    next_start = np.append(starts, _OPEN)[behind]
    is_tangled = next_start < ends
    if not is_tangled.any():
        return None
    until = np.maximum.accumulate(ends)
    begins = np.flatnonzero(np.concatenate([[True], starts[1:] >= until[:-1]]))
    bounds = np.append(begins, n_slices)
    stretches = np.unique(np.searchsorted(begins, np.flatnonzero(is_tangled), side="right") - 1)
    layer = np.zeros(n_slices, np.int32)
    for first, last in zip(bounds[stretches].tolist(), bounds[stretches + 1].tolist(), strict=True):
        layer[first:last] = _of_stretch(starts[first:last].tolist(), ends[first:last].tolist())
    return layer


def _of_stretch(starts: list[int], ends: list[int]) -> list[int]:
    stacks: list[list[int]] = []  # ends of open slices, the innermost last
    tops = np.full(8, _OPEN, np.int64)  # the last of each, also of empty rows
    closing: list[tuple[int, int]] = []  # ends of open slices, and their rows
    found = []
    for start, end in zip(starts, ends, strict=True):
        while closing and closing[0][0] <= start:
            number = heappop(closing)[1]
            stack = stacks[number]
            stack.pop()
            tops[number] = stack[-1] if stack else _OPEN
        number = int((tops[: len(stacks) + 1] >= end).argmax())
        number = min(number, _MOST - 1)
        if number == len(stacks):
            stacks.append([])
            if len(stacks) == len(tops):
                tops = np.concatenate([tops, np.full(len(tops), _OPEN, np.int64)])
        stacks[number].append(end)
        tops[number] = end
        heappush(closing, (end, number))
        found.append(number)
    return found
