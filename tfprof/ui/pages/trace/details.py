"""Details of one slice: its arguments, its step, its self time, and its arrows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfprof.captures.trace.model import TraceModel, id_of
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.characters import escaped
from tfprof.ui.pages.trace.spent import own_times

MOST_PARTNERS = 50
"""Most events at the other ends of arrows to list, on each side."""

_SOURCES = ("source", "source_info", "source_line", "code", "file")
_LINE = re.compile(r"(?<![^\s:<>\"'])([^\s:<>\"']+\.(?:py|pyx|cc|cpp|c|h|cu|rs|ipynb)):(\d+)")


def event(model: TraceModel, event_id: str) -> dict[str, Any]:
    """One slice as plain data; times in ps.

    Raises:
        UsageError: There is no such slice.
    """
    number, place = model.slice_of(event_id)
    track = model.tracks[number]
    start, duration = track.start_ps(place), track.duration_ps(place)
    within = track.within(start, start + duration)
    own, n_inside = _own(model, number, place, within)
    arguments = track.arguments(place)
    incoming, outgoing = _partners(model, number, place)
    name = name_of(model, number, place)
    return {
        **_brief(model, number, place),
        "process": escaped(model.processes[track.process]),
        "end": start + duration,
        "self": own,
        "n_inside": n_inside,
        "around": _around(model, number, place),
        "step": escaped(track.step_of(place)),
        "source": escaped(source_of(name, arguments)),
        "args": [[escaped(str(key)), _shown(value)] for key, value in arguments.items()],
        **_listed("incoming", model, incoming),
        **_listed("outgoing", model, outgoing),
    }


def nearest(model: TraceModel, number: int, time_ps: int) -> dict[str, Any]:
    """The innermost slice of a track at a time, as ``event`` gives it.

    Without one, it is the last that begins before or the first after, whichever is nearer.
    """
    track = model.tracks[number]
    around = track.within(time_ps, time_ps + 1)
    if len(around):
        return event(model, id_of(number, int(around[-1])))
    place = int(np.searchsorted(track.starts, time_ps - track.shift_ps))
    beside = [each for each in (place - 1, place) if 0 <= each < len(track)]

    def gap_ps(each: int) -> int:
        start = track.start_ps(each)
        return max(start - time_ps, time_ps - start - track.duration_ps(each))

    return event(model, id_of(number, min(beside, key=gap_ps)))


def _shown(value: Any) -> Any:
    """A value of an argument: numbers as they are, everything else as text."""
    if isinstance(value, (int, float)) or value is None:
        return value
    return escaped(value if isinstance(value, str) else repr(value), keep="\n")


def name_of(model: TraceModel, number: int, place: int) -> str:
    """The name of a slice."""
    return model.names[int(model.tracks[number].names_of(np.array([place]))[0])]


def _brief(model: TraceModel, number: int, place: int) -> dict[str, Any]:
    track = model.tracks[number]
    return {
        "id": id_of(number, place), "name": escaped(name_of(model, number, place)), "track": number,
        "track_name": escaped(track.name), "lane": track.lanes.lane_of(place),
        "start": track.start_ps(place), "duration": track.duration_ps(place),
    }  # fmt: skip


def _own(model: TraceModel, number: int, place: int, within: Int64Array) -> tuple[int, int]:
    """The self time of a slice, and the number of slices inside it."""
    track = model.tracks[number]
    start, duration = track.start_ps(place), track.duration_ps(place)
    if not duration:
        return 0, 0
    _, own = own_times(track, within, start, start + duration)
    at = int(np.searchsorted(within, place))
    behind = within[at + 1 :]
    ends = track.starts[behind] + track.durations[behind]
    n_inside = int((ends <= int(track.starts[place]) + duration).sum())
    return int(own[at]), n_inside


def _around(model: TraceModel, number: int, place: int) -> list[dict[str, Any]]:
    """The slices around one, the outermost first."""
    track = model.tracks[number]
    start, end = track.start_ps(place), track.start_ps(place) + track.duration_ps(place)
    found = track.within(start, max(end, start + 1))
    found = found[found < place]
    ends = track.starts[found] + track.durations[found] + track.shift_ps
    is_around = ends >= end
    return [_brief(model, number, at) for at in found[is_around].tolist()]


def _partners(model: TraceModel, number: int, place: int) -> tuple[list[Any], list[Any]]:
    """Slices with arrows to one, and those that its arrows lead to."""
    flows = model.flows
    into = np.flatnonzero((flows.to_place == place) & (flows.to_track == number))
    out = np.flatnonzero((flows.from_place == place) & (flows.from_track == number))
    return (
        list(zip(flows.from_track[into].tolist(), flows.from_place[into].tolist(), strict=True)),
        list(zip(flows.to_track[out].tolist(), flows.to_place[out].tolist(), strict=True)),
    )


def _listed(side: str, model: TraceModel, found: list[Any]) -> dict[str, Any]:
    listed = [_brief(model, number, place) for number, place in found[:MOST_PARTNERS]]
    return {side: listed, f"n_{side}": len(found)}


def source_of(name: str, arguments: Mapping[str, Any]) -> str:
    """The source line of a slice, ``file.py:12``; empty if unknown."""
    for key in _SOURCES:
        value = arguments.get(key)
        if isinstance(value, str) and (match := _LINE.search(value)):
            return match[0]
    # Python's tracer writes it into the name: `$train.py:12 step`.
    match = _LINE.search(name.removeprefix("$"))
    return match[0] if match else ""
