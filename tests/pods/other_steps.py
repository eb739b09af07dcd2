"""Captures whose steps have other numbers."""

from __future__ import annotations

from typing import Any

from tfprof.core.wire import messages as pb

_STEPS = ("group_id", "step_num", "iter_num", "step_id", "iteration_number")
_MARKED = "step_num"
_INT_KINDS = ("int64_value", "uint64_value")


def consecutive_steps(space: Any) -> Any:
    """The capture with its marked steps numbered from 0, as a program would.

    What is made by repetition has gaps between its numbers.

    Args:
        space: An XSpace, which is changed.
    """
    marked = [
        stat
        for plane in space.planes
        for keys in [{key for key, each in plane.stat_metadata.items() if each.name == _MARKED}]
        for line in plane.lines for event in line.events for stat in event.stats
        if stat.metadata_id in keys and stat.WhichOneof("value") in _INT_KINDS
    ]  # fmt: skip
    values = [getattr(stat, stat.WhichOneof("value")) for stat in marked]
    places = {value: place for place, value in enumerate(sorted(set(values)))}
    for stat, value in zip(marked, values, strict=True):
        setattr(stat, stat.WhichOneof("value"), places[value])
    return space


def other_steps(space: Any, first: int) -> Any:
    """The second half of a capture, its steps numbered otherwise.

    Args:
        space: An XSpace, which is left alone.
        first: What is added to the numbers of its steps.
    """
    changed = pb.XSpace.FromString(space.SerializeToString())
    ends = [
        line.timestamp_ns * 1000 + event.offset_ps
        for plane in changed.planes for line in plane.lines for event in line.events
    ]  # fmt: skip
    middle = (min(ends) + max(ends)) // 2
    for plane in changed.planes:
        steps = {key for key, each in plane.stat_metadata.items() if each.name in _STEPS}
        for line in plane.lines:
            late = [
                event for event in line.events
                if line.timestamp_ns * 1000 + event.offset_ps >= middle
            ]  # fmt: skip
            for event in late:
                for stat in event.stats:
                    if stat.metadata_id in steps:
                        _add(stat, first)
            kept = pb.XLine(events=late)
            del line.events[:]
            line.events.extend(kept.events)
    return changed


def _add(stat: Any, amount: int) -> None:
    kind = stat.WhichOneof("value")
    if kind in _INT_KINDS:
        setattr(stat, kind, getattr(stat, kind) + amount)
