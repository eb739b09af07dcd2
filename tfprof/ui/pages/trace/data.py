"""Answers to requests of the viewer, by path and parameters, as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tfprof.captures.trace.model import TraceModel
from tfprof.errors import UsageError
from tfprof.ui.pages.document import to_json
from tfprof.ui.pages.trace import details, marks_between, search, spent, tiles

Params = Mapping[str, str]

_MOST_PIXELS = 20_000
_MOST_PS = 1 << 62


def trace_data(model: TraceModel, path: str, params: Params) -> bytes:
    """An answer about a trace.

    Args:
        model: The trace.
        path: The request: ``tiles``, ``event``, ``range``, ``events``, ``search``, ``find``,
            ``flows`` or ``counters``.
        params: ``t0`` and ``t1`` are times in ps; ``tracks`` and ``counters`` are numbers,
            ``0-3,7``, or ``all``.

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


def _range(model: TraceModel, params: Params) -> dict[str, Any]:
    return spent.names_in_range(model, *_times(params), _tracks(model, params))


def _events(model: TraceModel, params: Params) -> dict[str, Any]:
    return spent.events_in_range(
        model, *_times(params), _tracks(model, params), params.get("text", "")
    )


def _search(model: TraceModel, params: Params) -> dict[str, Any]:
    return search.search(model, params.get("text", ""), regex=_is_set(params, "regex"))


def _find(model: TraceModel, params: Params) -> dict[str, Any]:
    return search.find(
        model,
        params.get("text", ""),
        regex=_is_set(params, "regex"),
        start_ps=_number(params, "t0", 0),
        event_id=params.get("id", ""),
        backwards=_is_set(params, "backwards"),
    )


def _flows(model: TraceModel, params: Params) -> dict[str, Any]:
    return marks_between.flows(model, *_times(params), _tracks(model, params))


def _counters(model: TraceModel, params: Params) -> dict[str, Any]:
    pixels = min(max(_number(params, "pixels", 1000), 1), _MOST_PIXELS)
    numbers = _numbers(params.get("counters", "all"), len(model.counters), "counter")
    return marks_between.counters(model, *_times(params), pixels, numbers)


_ANSWERS: Final[Mapping[str, Callable[[TraceModel, Params], dict[str, Any]]]] = {
    "tiles": _tiles,
    "event": _event,
    "range": _range,
    "events": _events,
    "search": _search,
    "find": _find,
    "flows": _flows,
    "counters": _counters,
}


def _is_set(params: Params, name: str) -> bool:
    return params.get(name, "") in ("1", "true")


def _times(params: Params) -> tuple[int, int]:
    first, last = _number(params, "t0"), _number(params, "t1")
    if last < first:
        raise UsageError(f"t1={last} is before t0={first}")
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
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UsageError(f"{part!r} is not a number of a {what}")
        begin, end = int(first), int(last or first)
        if not begin <= end < size:
            raise UsageError(f"there is no {what} {part} in this trace; it has {size}")
        numbers.update(dict.fromkeys(range(begin, end + 1)))
    return list(numbers)
