"""Traces of other programs in Chrome's JSON, as Perfetto, JAX, PyTorch and xprof write them.

Events that cannot be understood are counted and reported, and the rest is read: crashes cut such
files off, and every program writes its own dialect.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from tfprof.errors import MalformedProfileError

Json = Mapping[str, Any]

_BETWEEN: Final = re.compile(r"[\s,]*")
_MOST_KINDS: Final = 20
_MOST_OF_KIND: Final = 20
"""Kinds of events that are named if they are not shown, and letters of each."""

_WHOLE: Final = re.compile(r"-?[0-9]{1,20}")


class RawSlice(NamedTuple):
    """A slice: microseconds, name and arguments; the duration is infinite if it has no end."""

    start_us: float
    duration_us: float
    name: str
    args: Json


class RawArrow(NamedTuple):
    """An end of an arrow: where and when, and whether it is bound to the slice around it."""

    track: tuple[Any, Any]
    time_us: float
    is_around: bool


class Read(NamedTuple):
    """The content of a trace.

    Attributes:
        slices: By process and thread.
        names: Names of processes, by process; of threads, by process and thread.
        order: Their positions.
        counters: By process, name and series: times and values.
        arrows: By id: where each begins, and where it leads.
        not_understood: Number of events left out, by reason.
        remarks: Further remarks.
    """

    slices: dict[tuple[Any, Any], list[RawSlice]]
    names: dict[Any, str]
    order: dict[Any, float]
    counters: dict[tuple[Any, str, str], list[tuple[float, float]]]
    arrows: dict[Any, tuple[list[RawArrow], list[RawArrow]]]
    not_understood: Tally[str]
    remarks: list[str]


def read_chrome_json(data: bytes, label: str) -> Read:
    """The events of a trace.

    Args:
        data: The content of the file.
        label: What to call it in errors.

    Raises:
        MalformedProfileError: It is not a trace in this format.
    """
    remarks: list[str] = []
    reader = _Reader(remarks)
    for event in _events(data, label, remarks):
        reader.take(event)
    return reader.end()


def _events(data: bytes, label: str, remarks: list[str]) -> Sequence[Any]:
    text = data.decode("utf-8-sig", "replace")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        content = _mended(text)
        if content is None:
            raise MalformedProfileError(f"{label}: no trace in JSON: {error}") from None
        remarks.append("The file is cut off: what stood behind the last whole event is lost.")
    if isinstance(content, dict):
        content = content.get("traceEvents")
    if not isinstance(content, list):
        raise MalformedProfileError(
            f'{label}: JSON, but not a trace: it has no list "traceEvents", and is not a list'
        )
    return content


def _mended(text: str) -> Any:
    """A list of events that has lost its end; None if nothing can be saved."""
    begin = text.find("[", text.find('"traceEvents"') if '"traceEvents"' in text else 0)
    if begin < 0:
        return None
    decoder, events, at = json.JSONDecoder(), [], begin + 1
    try:
        while True:
            at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
            event, at = decoder.raw_decode(text, at)
            events.append(event)
    except (ValueError, RecursionError):
        return events or None


class _Reader:
    """Takes events one by one."""

    def __init__(self, remarks: list[str]) -> None:
        self._read = Read({}, {}, {}, {}, {}, Tally(), remarks)
        self._open: dict[Any, list[RawSlice]] = {}

    def take(self, event: Any) -> None:
        if not isinstance(event, dict) or not event:
            if event != {}:  # xprof ends its lists with an empty one
                self._read.not_understood["is not an object"] += 1
            return
        phase = str(event.get("ph", ""))
        if phase == "M":
            self._name(event)
            return
        take = _PHASES.get(phase)
        if take is None:
            self._read.not_understood[self._unknown(phase)] += 1
            return
        time = _number(event.get("ts"))
        if time is None:
            self._read.not_understood["has no time"] += 1
            return
        take(self, event, time)

    def _unknown(self, phase: str) -> str:
        """Why an event of this kind is left out."""
        if not phase:
            return "has no kind"
        kind = f"is of the kind {phase[:_MOST_OF_KIND]!r}, which is not shown"
        known = self._read.not_understood
        return (
            kind if kind in known or len(known) < _MOST_KINDS else "is of a kind that is not shown"
        )

    def _name(self, event: Json) -> None:
        args = event.get("args")
        if not isinstance(args, dict):
            return
        place = _key(event.get("pid")), _key(event.get("tid"))
        kind = str(event.get("name", ""))
        key: Any = place if kind.startswith("thread") else place[0]
        if kind.endswith("_name") and args.get("name"):
            self._read.names[key] = str(args["name"])
        order = _number(args.get("sort_index"))
        if kind.endswith("sort_index") and order is not None:
            self._read.order[key] = order

    def _add(self, place: tuple[Any, Any], made: RawSlice) -> None:
        self._read.slices.setdefault(place, []).append(made)

    def complete(self, event: Json, time: float) -> None:
        duration = _number(event.get("dur", event.get("tdur", 0)))
        if duration is None or duration < 0:
            self._read.not_understood["takes no time that makes sense"] += 1
            return
        self._add(_place(event), RawSlice(time, duration, _name_of(event), _args_of(event)))
        self._bound(event, time)

    def instant(self, event: Json, time: float) -> None:
        self._add(_place(event), RawSlice(time, 0.0, _name_of(event), _args_of(event)))

    def begin(self, event: Json, time: float) -> None:
        made = RawSlice(time, 0.0, _name_of(event), _args_of(event))
        self._open.setdefault(_place(event), []).append(made)
        self._bound(event, time)

    def end_of_begin(self, event: Json, time: float) -> None:
        self._close(_place(event), event, time)

    def begin_async(self, event: Json, time: float) -> None:
        made = RawSlice(time, 0.0, _name_of(event), _args_of(event))
        self._open.setdefault(_async_key(event), []).append(made)

    def end_async(self, event: Json, time: float) -> None:
        self._close(_async_key(event), event, time)

    def _close(self, key: Any, event: Json, time: float) -> None:
        opened = self._open.get(key)
        if not opened:
            self._read.not_understood["ends what has not begun"] += 1
            return
        begun = opened.pop()
        args = {**begun.args, **_args_of(event)}
        place = key[:2]
        name = begun.name or _name_of(event)
        self._add(place, RawSlice(begun.start_us, max(time - begun.start_us, 0.0), name, args))

    def counter(self, event: Json, time: float) -> None:
        args = event.get("args")
        numbers = {
            str(name): value
            for name, given in (args.items() if isinstance(args, dict) else ())
            if (value := _number(given)) is not None
        }
        if not numbers:
            self._read.not_understood["counts no number"] += 1
        name = _name_of(event) + (f" {event['id']}" if event.get("id") not in (None, "") else "")
        for series, value in numbers.items():
            key = (_key(event.get("pid")), name, series)
            self._read.counters.setdefault(key, []).append((time, value))

    def arrow(self, event: Json, time: float) -> None:
        key = (_key(event.get("id", event.get("bind_id"))), str(event.get("cat", "")))
        ends = self._read.arrows.setdefault((*key, str(event.get("name", ""))), ([], []))
        phase = event["ph"]
        is_around = phase != "f" or event.get("bp") == "e"
        end = RawArrow(_place(event), time, is_around)
        if phase != "s":
            ends[1].append(end)
        if phase == "s":
            ends[0].append(end)

    def _bound(self, event: Json, time: float) -> None:
        """Add arrows that slices define."""
        if "bind_id" not in event:
            return
        ends = self._read.arrows.setdefault((_key(event["bind_id"]), "bound"), ([], []))
        for flag, side in (("flow_out", 0), ("flow_in", 1)):
            if event.get(flag):
                ends[side].append(RawArrow(_place(event), time, is_around=True))

    def end(self) -> Read:
        """All that was read."""
        n_open = 0
        for key, opened in self._open.items():
            for begun in opened:
                n_open += 1
                self._add(key[:2], begun._replace(duration_us=math.inf))
        if n_open:
            are = "event has no end" if n_open == 1 else "events have no end"
            self._read.remarks.append(
                f"{n_open:,} {are} in the file: shown until the last one of all."
            )
        return self._read


_PHASES: Final = {
    "X": _Reader.complete, "B": _Reader.begin, "E": _Reader.end_of_begin,
    "i": _Reader.instant, "I": _Reader.instant, "R": _Reader.instant, "n": _Reader.instant,
    "b": _Reader.begin_async, "e": _Reader.end_async,
    "S": _Reader.begin_async, "F": _Reader.end_async,
    "C": _Reader.counter, "s": _Reader.arrow, "t": _Reader.arrow, "f": _Reader.arrow,
}  # fmt: skip


def _number(value: Any) -> float | None:
    """A finite number, also one that is written as a text."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _key(value: Any) -> Any:
    """A process, thread or id as a key: numbers that are texts are numbers."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    return value if isinstance(value, (int, str)) else str(value) if value is not None else 0


def _place(event: Json) -> tuple[Any, Any]:
    return _key(event.get("pid")), _key(event.get("tid"))


def _async_key(event: Json) -> tuple[Any, ...]:
    category = str(event.get("cat", ""))
    given = event.get("id2") or event.get("id")
    nested = json.dumps(given, sort_keys=True, default=str)
    return (_key(event.get("pid")), f"async {category}".strip(), nested)


def _name_of(event: Json) -> str:
    name = event.get("name")
    return name if isinstance(name, str) else "" if name is None else str(name)


def _args_of(event: Json) -> Json:
    args = event.get("args")
    made = dict(args) if isinstance(args, dict) else {} if args is None else {"args": args}
    if event.get("cat"):
        made.setdefault("cat", event["cat"])
    return made


def arrow_pairs(read: Read) -> Iterator[tuple[RawArrow, RawArrow]]:
    """Arrows from where they begin, along their steps, in order of time."""
    for begins, ends in read.arrows.values():
        chain = sorted([*begins, *ends], key=lambda end: end.time_us)
        if len(begins) == 1:
            yield from pairwise(chain)
        else:  # one end each, or ids that are used again
            starts = sorted(begins, key=lambda end: end.time_us)
            for end in ends:
                before = bisect_right(starts, end.time_us, key=lambda begin: begin.time_us)
                if before:
                    yield starts[before - 1], end
