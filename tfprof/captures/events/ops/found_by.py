"""How the ops of kernels were found: by annotation, graph node, name, order, thread …"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tfprof.captures.events.timeline.graph_ops import (
    BY_ANNOTATION,
    BY_LAUNCH,
    BY_NODE,
    FOUND_BY,
    NOT_FOUND,
)
from tfprof.captures.events.timeline.kernel_order import BY_NAME, BY_ORDER
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.distinct import distinct_rows

FoundBy = tuple[str, ...]
"""Ways in which the op of some kernels was found, the most certain first; empty if the capture
holds nothing but annotations."""

WAYS: Final = (
    BY_ANNOTATION, "thread", BY_NODE, BY_NAME, BY_ORDER, "likely thread", "time", BY_LAUNCH,
    NOT_FOUND,
)  # fmt: skip


def united(parts: Iterable[FoundBy]) -> FoundBy:
    """The ways of all parts."""
    ways = {way for part in parts for way in part}
    known = tuple(way for way in WAYS if way in ways)
    return (*known, *sorted(ways.difference(WAYS)))


def found_by(
    timeline: Timeline, events: Int64Array, place: Int64Array, has_op: Sequence[bool] | BoolArray
) -> list[FoundBy]:
    """How the ops of groups of events were found.

    Args:
        timeline: The events.
        events: Places of some of them, shape (n,).
        place: The group of each, shape (n,).
        has_op: Whether the events of each group have an op, shape (k,).

    Returns:
        The ways of each group.
    """
    stat = timeline.stat(FOUND_BY)
    if not len(stat):
        return [()] * len(has_op)
    ways: list[set[str]] = [set() for _ in has_op]
    for group, text in distinct_rows([place, stat.texts_at(events)]).values.tolist():
        otherwise = BY_ANNOTATION if has_op[group] else NOT_FOUND
        ways[group].add(stat.texts[text] if text >= 0 else otherwise)
    return [united([tuple(one)]) for one in ways]
