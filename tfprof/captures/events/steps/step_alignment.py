"""Which steps of several hosts are the same step (``step_intersection.cc``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns.columns import Int64Array


@dataclass(frozen=True, slots=True)
class Alignment:
    """Steps that all hosts have.

    Attributes:
        first: The first of them on each host: a place in its steps.
        n_steps: How many there are.
        chief: The host that the others were compared with.
        without_steps: Hosts that have none at all.
    """

    first: tuple[int, ...]
    n_steps: int
    chief: int
    without_steps: tuple[int, ...]


def align_by_time(starts_ps: Sequence[Int64Array], ends_ps: Sequence[Int64Array]) -> Alignment:
    """Shift the steps of each host so that they overlap most with those of one host.

    That one is the host whose steps span the shortest time. Clocks are taken for the same.

    Args:
        starts_ps: When the steps of each host began, ascending.
        ends_ps: When they ended.
    """
    with_steps = [host for host, starts in enumerate(starts_ps) if len(starts)]
    without = tuple(host for host, starts in enumerate(starts_ps) if not len(starts))
    if not with_steps:
        return Alignment((0,) * len(starts_ps), 0, 0, without)
    chief = min(with_steps, key=lambda host: int(ends_ps[host].max()) - int(starts_ps[host].min()))
    offsets = {
        host: 0
        if host == chief
        else _best_offset(starts_ps[chief], ends_ps[chief], starts_ps[host], ends_ps[host])
        for host in with_steps
    }
    return _common(offsets, [len(starts) for starts in starts_ps], chief, without)


def _best_offset(
    chief_starts: Int64Array, chief_ends: Int64Array, starts: Int64Array, ends: Int64Array
) -> int:
    """Place in the chief's steps less that in a host's steps; the first of equal ones."""
    offsets = [*range(len(chief_starts)), *range(-1, -len(starts), -1)]
    best, most = 0, -1
    for offset in offsets:
        ours = slice(max(0, offset), min(len(chief_starts), len(starts) + offset))
        theirs = slice(ours.start - offset, ours.stop - offset)
        overlap = np.minimum(chief_ends[ours], ends[theirs]) - np.maximum(
            chief_starts[ours], starts[theirs]
        )
        amount = int(np.maximum(overlap, 0).sum())
        if amount > most:
            best, most = offset, amount
    return best


def align_by_number(numbers: Sequence[Int64Array]) -> Alignment | None:
    """Align by the numbers that users gave their steps.

    Args:
        numbers: Ascending numbers of the steps of each host.

    Returns:
        None if some host's numbers are not consecutive, or they share none.
    """
    with_steps = [host for host, own in enumerate(numbers) if len(own)]
    without = tuple(host for host, own in enumerate(numbers) if not len(own))
    if not with_steps or any((np.diff(numbers[host]) != 1).any() for host in with_steps):
        return None
    chief = min(with_steps, key=lambda host: len(numbers[host]))
    offsets = {host: int(numbers[host][0] - numbers[chief][0]) for host in with_steps}
    alignment = _common(offsets, [len(own) for own in numbers], chief, without)
    return alignment if alignment.n_steps else None


def _common(
    offsets: dict[int, int], sizes: Sequence[int], chief: int, without: tuple[int, ...]
) -> Alignment:
    """The range of the chief's steps that every host has."""
    begin = max(max(0, offset) for offset in offsets.values())
    end = min(min(sizes[chief], sizes[host] + offset) for host, offset in offsets.items())
    n_steps = max(0, end - begin)
    first = tuple(
        begin - offsets[host] if host in offsets and n_steps else 0 for host in range(len(sizes))
    )
    return Alignment(first, n_steps, chief, without)
