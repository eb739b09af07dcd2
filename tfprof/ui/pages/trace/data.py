"""Answers to requests of the viewer, by path and parameters, as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tfprof.captures.trace.model import TraceModel
from tfprof.core.columns.numerals import whole_number
from tfprof.errors import UsageError
from tfprof.ui.pages.document import to_json
from tfprof.ui.pages.trace import calls, details, marks_between, search, spent, tiles
from tfprof.ui.pages.trace.busy import busy
from tfprof.ui.pages.trace.range_difference import range_difference

Params = Mapping[str, str]

_MOST_PIXELS = 20_000
_MOST_PS = 1 << 62


def trace_data(model: TraceModel, path: str, params: Params) -> bytes:
    """An answer about a trace.

    Args:
        model: The trace.
        path: The request: ``tiles``, ``event``, ``nearest``, ``range``, ``difference``,
            ``calls``, ``events``, ``search``, ``flows``, ``counters`` or ``busy``.
        params: ``t0`` and ``t1`` are times in ps; ``tracks``, ``counters`` and ``processes`` are
            numbers, ``0-3,7``, or ``all``.

    Raises:
        UsageError: There is no such path, or a parameter has no such value.
    """
    answer = _ANSWERS.get(path)
    if answer is None:
        raise UsageError(f"no data {path!r} of a trace; there is: {', '.join(_ANSWERS)}")
    return to_json(answer(model, params))


def _tiles(model: TraceModel, params: Params) -> dict[str, Any]:
    return tiles.tile(
        model, _number(params, "k"), _number(params, "number"), _tracks(model, params)
    )


def _event(model: TraceModel, params: Params) -> dict[str, Any]:
    return details.event(model, params.get("id", ""))


def _nearest(model: TraceModel, params: Params) -> dict[str, Any]:
    [number] = _tracks(model, params)[:1] or [0]
    if not model.tracks:
        raise UsageError("this trace has no tracks")
    return details.nearest(model, number, _number(params, "time"))


def _range(model: TraceModel, params: Params) -> dict[str, Any]:
    return spent.names_in_range(model, *_times(params), _tracks(model, params))


def _calls(model: TraceModel, params: Params) -> dict[str, Any]:
    return calls.calls_in_range(model, *_times(params), _tracks(model, params))


def _difference(model: TraceModel, params: Params) -> dict[str, Any]:
    a_ps, b_ps = _times(params, "a0", "a1"), _times(params)
    return range_difference(model, a_ps, b_ps, _tracks(model, params))


def _events(model: TraceModel, params: Params) -> dict[str, Any]:
    return spent.events_in_range(
        model, *_times(params), _tracks(model, params), params.get("text", "")
    )


def _search(model: TraceModel, params: Params) -> dict[str, Any]:
    return search.search(model, params.get("text", ""), regex=_is_set(params, "regex"))


def _flows(model: TraceModel, params: Params) -> dict[str, Any]:
    return marks_between.flows(model, *_times(params), _tracks(model, params))


def _busy(model: TraceModel, params: Params) -> dict[str, Any]:
    numbers = _numbers(params.get("processes", "all"), len(model.processes), "process")
    tracks = _numbers(params.get("tracks", ""), len(model.tracks), "track")
    return busy(model, *_times(params), _pixels(params), numbers, tracks)


def _counters(model: TraceModel, params: Params) -> dict[str, Any]:
    numbers = _numbers(params.get("counters", "all"), len(model.counters), "counter")
    return marks_between.counters(model, *_times(params), _pixels(params), numbers)


_ANSWERS: Final[Mapping[str, Callable[[TraceModel, Params], dict[str, Any]]]] = {
    "tiles": _tiles,
    "event": _event,
    "nearest": _nearest,
    "range": _range,
    "calls": _calls,
    "difference": _difference,
    "events": _events,
    "search": _search,
    "flows": _flows,
    "counters": _counters,
    "busy": _busy,
}


def _is_set(params: Params, name: str) -> bool:
    return params.get(name, "") in ("1", "true")


def _pixels(params: Params) -> int:
    return min(max(_number(params, "pixels", 1000), 1), _MOST_PIXELS)


def _times(params: Params, begin: str = "t0", end: str = "t1") -> tuple[int, int]:
    first, last = _number(params, begin), _number(params, end)
    if last < first:
        raise UsageError(f"{end}={last} is before {begin}={first}")
    return first, last


def _number(params: Params, name: str, default: int | None = None) -> int:
    text = params.get(name, "")
    if text == "" and default is not None:
        return default
    try:
        number = int(text)
    except ValueError:
        raise UsageError(f"{name}={text!r} is not a whole number") from None
    if abs(number) > _MOST_PS:
        raise UsageError(f"{name}={text}: there are no such times")
    return number


def _tracks(model: TraceModel, params: Params) -> list[int]:
    return _numbers(params.get("tracks", "all"), len(model.tracks), "track")


def _numbers(text: str, size: int, what: str) -> list[int]:
    """Numbers below ``size``: ``0-3,7``, ``all``, or nothing."""
    if text == "all":
        return list(range(size))
    numbers: dict[int, None] = {}
    for part in filter(None, text.split(",")):
        first, dash, last = part.partition("-")
        if whole_number(first, -1) < 0 or (dash and whole_number(last, -1) < 0):
            raise UsageError(f"{part!r} is not a number of a {what}")
        begin, end = whole_number(first), whole_number(last or first)
        if not begin <= end < size:
            raise UsageError(f"there is no {what} {part} in this trace; it has {size}")
        numbers.update(dict.fromkeys(range(begin, end + 1)))
    return list(numbers)
