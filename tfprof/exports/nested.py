"""Slices as begins and ends, in the order that viewers with a stack for each track want."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.nesting import nest
from tfprof.columns.columns import BoolArray, Int64Array
from tfprof.pages.trace.lanes import Lanes

_PS_PER_NS = 1000


class Marks(NamedTuple):
    """Begins and ends of slices, columns of shape (n marks,).

    Attributes:
        slices: Place of the slice of each.
        is_end: Whether it ends there.
        times_ns: When, in the time of the track.
    """

    slices: Int64Array
    is_end: BoolArray
    times_ns: Int64Array


def marks_of(starts_ps: Int64Array, durations_ps: Int64Array) -> Marks:
    """Begins and ends in order: what is inside ends first, and instants have no end.

    Args:
        starts_ps: Ascending; of equal ones, longer slices first, shape (n,). None overlaps another
            one only in part.
        durations_ps: Shape (n,).
    """
    n_slices = len(starts_ps)
    ends_ps = starts_ps + durations_ps
    behind = nest(np.array([0, n_slices]), starts_ps, ends_ps).ends.astype(np.int64)
    # Each begin stands behind the ends of all that was over before it.
    closed = np.cumsum(np.bincount(behind, minlength=n_slices + 1))
    slices = np.empty(2 * n_slices, np.int64)
    is_end = np.ones(2 * n_slices, np.bool_)
    begins = np.arange(n_slices) + closed[:n_slices]
    slices[begins] = np.arange(n_slices)
    is_end[begins] = False
    slices[is_end] = n_slices - 1 - np.argsort(behind[::-1], kind="stable")
    times = starts_ps[slices]
    times[is_end] = ends_ps[slices[is_end]]
    kept = ~(is_end & (durations_ps[slices] == 0))
    return Marks(slices[kept], is_end[kept], times[kept] // _PS_PER_NS)


def layers(starts_ps: Int64Array, durations_ps: Int64Array, lanes: Lanes) -> Iterator[Int64Array]:
    """Places of slices, in parts in which none overlaps another one only in part.

    Nearly always one part. Only stretches in which something overlaps are looked at slice by
    slice: each goes to the first part in which it is inside the innermost open slice.

    Args:
        starts_ps: As for ``marks_of``.
        durations_ps: Shape (n,).
        lanes: The lanes of the track, which know whether anything overlaps.
    """
    n_slices = len(starts_ps)
    if not lanes.n_tangled:
        yield np.arange(n_slices)
        return
    ends_ps = starts_ps + durations_ps
    until = np.maximum.accumulate(ends_ps)
    begins = np.flatnonzero(np.concatenate([[True], starts_ps[1:] >= until[:-1]]))
    layer = np.zeros(n_slices, np.int32)
    for first, last in zip(begins.tolist(), [*begins[1:].tolist(), n_slices], strict=True):
        if last - first > 2 or (last - first == 2 and ends_ps[last - 1] > ends_ps[first]):
            layer[first:last] = _layers_of_stretch(
                starts_ps[first:last].tolist(), ends_ps[first:last].tolist()
            )
    for number in range(int(layer.max()) + 1):
        yield np.flatnonzero(layer == number)


def _layers_of_stretch(starts: list[int], ends: list[int]) -> list[int]:
    stacks: list[list[int]] = []  # ends of open slices, the innermost last
    found = []
    for start, end in zip(starts, ends, strict=True):
        number = 0
        while number < len(stacks):
            stack = stacks[number]
            while stack and stack[-1] <= start:
                stack.pop()
            if not stack or end <= stack[-1]:
                break
            number += 1
        else:
            stacks.append([])
        stacks[number].append(end)
        found.append(number)
    return found
