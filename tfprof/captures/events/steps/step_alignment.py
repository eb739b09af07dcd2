"""Aligns the steps of several hosts (``step_intersection.cc``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfprof.core.columns.columns import Int64Array, blocks


@dataclass(frozen=True, slots=True)
class Alignment:
    """Steps that all hosts have.

    Attributes:
        first: The first of them on each host: a place in its steps.
        n_steps: Their number.
        chief: The host with which the others are compared.
        without_steps: Hosts without any steps.
        offsets: Place of the first step of each host among those of the chief.
    """

    first: tuple[int, ...]
    n_steps: int
    chief: int
    without_steps: tuple[int, ...]
    offsets: tuple[int, ...]


def align_by_time(starts_ps: Sequence[Int64Array], ends_ps: Sequence[Int64Array]) -> Alignment:
    """Shift the steps of each host so that they overlap most with those of one host.

    That host, the chief, is the one whose steps span the shortest time. The hosts' clocks are
    assumed to agree.

    Args:
        starts_ps: Starts of the steps of each host, ascending.
        ends_ps: Their ends.
    """
    with_steps = [host for host, starts in enumerate(starts_ps) if len(starts)]
    without = tuple(host for host, starts in enumerate(starts_ps) if not len(starts))
    if not with_steps:
        nowhere = (0,) * len(starts_ps)
        return Alignment(nowhere, 0, 0, without, nowhere)
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
    """Place in the chief's steps minus that in a host's steps; the first of equal ones.

    The reference tries every offset, with all steps for each. Here only pairs of overlapping steps
    count, about as many as there are steps: each of them adds to the amount of its offset.
    """
    n_chief, n_host = len(chief_starts), len(starts)
    amounts = np.zeros(n_chief + n_host - 1, np.int64)  # from the offset 1 - n_host on
    for ours, theirs in _overlapping(chief_starts, chief_ends, starts, ends):
        overlap = np.minimum(chief_ends[ours], ends[theirs]) - np.maximum(
            chief_starts[ours], starts[theirs]
        )
        np.add.at(amounts, ours - theirs + n_host - 1, np.maximum(overlap, 0))
    # In the order of the reference: 0, 1, 2, …, then -1, -2, ….
    place = int(np.argmax(np.concatenate([amounts[n_host - 1 :], amounts[: n_host - 1][::-1]])))
    return place if place < n_chief else n_chief - 1 - place


def _overlapping(
    one_starts: Int64Array, one_ends: Int64Array, starts: Int64Array, ends: Int64Array
) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Each pair of spans that overlap once: places in the first columns, and in the second.

    Of two spans that overlap, one begins while the other lasts; if both begin at once, the second.
    """
    for first, second in _beginning_within(one_starts, one_ends, starts, "left"):
        yield first, second
    for second, first in _beginning_within(starts, ends, one_starts, "right"):
        yield first, second


def _beginning_within(
    starts: Int64Array, ends: Int64Array, others: Int64Array, at_start: Literal["left", "right"]
) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Spans, and others that begin within, in blocks.

    Args:
        starts: Starts of the spans.
        ends: Their ends.
        others: Starts of the others.
        at_start: "right" leaves out others that begin together with the span.
    """
    order = np.argsort(others, kind="stable")
    in_order = others[order]
    low = np.searchsorted(in_order, starts, side=at_start)
    counts = np.maximum(np.searchsorted(in_order, ends) - low, 0)
    until = np.cumsum(counts)
    for block in blocks(0, int(until[-1])):
        pair = np.arange(block.start, block.stop)
        span = np.searchsorted(until, pair, side="right")
        yield span, order[low[span] + pair - (until - counts)[span]]


def align_by_number(numbers: Sequence[Int64Array]) -> Alignment | None:
    """Align by the users' numbers of steps.

    Args:
        numbers: Ascending numbers of the steps of each host.

    Returns:
        The alignment; None if the numbers of some host are not consecutive, or the hosts share
        none.
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
    return Alignment(
        first, n_steps, chief, without, tuple(offsets.get(host, 0) for host in range(len(sizes)))
    )
