"""Captures that lasted longer, and captures of other steps, made from recorded ones.

The events of a capture come again and again, later each time. Each repetition begins where the one
before it ended, on the same lines, with its own step numbers and its own numbers of what belongs
together (launches and kernels, producers and consumers), so that tools see more steps, not heavier
ones.
"""

from __future__ import annotations

from typing import Any

from tfprof.wire import messages as pb

_STEPS = ("group_id", "step_num", "iter_num", "step_id", "iteration_number")
_PAIRS = ("correlation_id", "_p", "_c", "producer_id", "consumer_id", "context_id", "run_id")
_INT_KINDS = ("int64_value", "uint64_value")

_STEPS_APART, _PAIRS_APART = 10_000, 100_000_000
"""How much larger numbers are in each further repetition; on hosts and devices alike."""


def longer(space: Any, n_bytes: int) -> Any:
    """The capture with its events repeated until it is about that large.

    Args:
        space: An XSpace, which is changed.
        n_bytes: Size to reach; the result may be smaller by one repetition.
    """
    base = pb.XSpace.FromString(space.SerializeToString())
    event_bytes = sum(line.ByteSize() for plane in base.planes for line in plane.lines)
    times = 1 + max(0, n_bytes - base.ByteSize()) // event_bytes
    moments = [
        (line.timestamp_ns * 1000 + event.offset_ps, event.duration_ps)
        for plane in base.planes for line in plane.lines for event in line.events
    ]  # fmt: skip
    first = min(begin for begin, _ in moments)
    span_ps = max(begin + length for begin, length in moments) - first + 10**9
    span_ps += -span_ps % 1000
    for number in range(1, times):
        for plane, old in zip(space.planes, base.planes, strict=True):
            shifts = _shifts(old)
            for line, lines_before in zip(plane.lines, old.lines, strict=True):
                at = len(line.events)
                line.events.extend(lines_before.events)
                for event in line.events[at:]:
                    event.offset_ps += number * span_ps
                    for stat in event.stats:
                        shift = shifts.get(stat.metadata_id)
                        if shift:
                            _add(stat, number * shift)
                if line.duration_ps:
                    line.duration_ps += span_ps
    for plane in space.planes:
        for stat in plane.stats:
            if plane.stat_metadata[stat.metadata_id].name == "profile_stop_time":
                _add(stat, (times - 1) * span_ps // 1000)
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


def _shifts(plane: Any) -> dict[int, int]:
    """By stat: how much larger its values are in each further repetition."""
    names = {key: each.name for key, each in plane.stat_metadata.items()}
    wanted = {key for key, name in names.items() if name in (*_STEPS, *_PAIRS)}
    found = set()
    for line in plane.lines:
        for event in line.events:
            for stat in event.stats:
                if stat.metadata_id in wanted:
                    kind = stat.WhichOneof("value")
                    if kind in _INT_KINDS and getattr(stat, kind) < 1 << 40:
                        found.add(stat.metadata_id)
    return {key: _STEPS_APART if names[key] in _STEPS else _PAIRS_APART for key in found}


def _add(stat: Any, amount: int) -> None:
    kind = stat.WhichOneof("value")
    if kind in _INT_KINDS:
        setattr(stat, kind, getattr(stat, kind) + amount)
