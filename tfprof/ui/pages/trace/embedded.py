"""A trace in a report: every slice if that fits, else merged marks, and a remark."""

from __future__ import annotations

import gzip
import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from tfprof.captures.trace.model import TraceModel, TraceTrack
from tfprof.captures.trace.pyramid import LEVELS, Marks, Pyramid
from tfprof.core.columns.columns import Int64Array, no_rows
from tfprof.core.text.characters import escaped
from tfprof.ui.pages.document import column, to_json
from tfprof.ui.pages.trace.data import trace_data
from tfprof.ui.pages.trace.details import source_of
from tfprof.ui.pages.trace.packing import packed
from tfprof.ui.pages.trace.spent import own_times
from tfprof.ui.pages.trace.tiles import packed_marks

MOST_BYTES: Final = 1_500_000
"""Most bytes of a report for a trace."""

_SHARE_OF_MARKS = 0.85
_LEAST_BYTES = 2.5
"""Lower bound of a mark's bytes in a report, to skip packing marks that cannot fit."""

_NEARLY = 0.95
"""Smallest ratio of the size of marks at one level to that at the level before."""

_IN_TEXT = 4 / 3
"""Bytes of a report for each packed byte: base64."""

_MOST_WITH_DETAILS = 100_000
_MOST_STEPS = 24
_COUNTER_PIXELS = _BUSY_PIXELS = 2000

_EVERY = -1
"""The level at which nothing is merged."""


def trace_documents(
    model: TraceModel, most_bytes: int = MOST_BYTES
) -> Iterator[tuple[str, Mapping[str, str], bytes]]:
    """Documents of a report, so that the viewer works in it: path, parameters and content.

    Args:
        model: The trace.
        most_bytes: Approximate limit on their bytes in a report.
    """
    k, content = _marks(model, most_bytes * _SHARE_OF_MARKS)
    left = most_bytes - _size(content)
    yield "trace/all", {}, content
    if k == _EVERY:
        details = _details(model)
        # Arguments are most of the size; self times, steps and source lines are useful alone.
        for made in (details, details | {"args": None}):
            content = to_json(made)
            if _size(content) <= left:
                left -= _size(content)
                yield "trace/details", {}, content
                break
    for path, params in _asked_at_once(model):
        content = trace_data(model, path, params)
        if _size(content) <= left:
            left -= _size(content)
            yield f"trace/{path}", params, content


def _asked_at_once(model: TraceModel) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Requests of a viewer for the whole trace and for each step."""
    first, last = (str(each) for each in model.range_ps)
    if model.counters:
        yield "counters", {"t0": first, "t1": last, "pixels": str(_COUNTER_PIXELS)}
    if model.tracks:
        yield "busy", {"t0": first, "t1": last, "pixels": str(_BUSY_PIXELS)}
    ranges = [(first, last)]
    if len(model.steps) <= _MOST_STEPS:
        ranges += [(str(step.start_ps), str(step.end_ps)) for step in model.steps]
    for begin, end in ranges:
        yield "range", {"t0": begin, "t1": end}
    yield "events", {"t0": first, "t1": last}
    for begin, end in ranges:
        yield "calls", {"t0": begin, "t1": end}
    if model.tracks:
        yield "busy", {"t0": first, "t1": last, "pixels": str(_BUSY_PIXELS), "tracks": "all"}


def _size(content: bytes) -> int:
    return int(len(gzip.compress(content, 6, mtime=0)) * _IN_TEXT)


def _marks(model: TraceModel, most_bytes: float) -> tuple[int, bytes]:
    """The finest marks that fit, and their level."""
    n_slices = sum(len(track) for track in model.tracks)
    first, last = model.range_ps

    def marks_at(k: int) -> Callable[[TraceTrack, Pyramid], Marks]:
        def marks_of(track: TraceTrack, pyramid: Pyramid) -> Marks:
            if k == _EVERY:
                return pyramid.slices()
            return pyramid.marks(k, first - track.shift_ps, last + 1 - track.shift_ps)

        return marks_of

    def level_of(k: int, bytes_each: float) -> int:
        """The first level from ``k`` at which marks of this size fit."""

        def may_fit(k: int) -> bool:
            n_marks = n_slices if k == _EVERY else _count(model, marks_at(k))
            return bytes_each * n_marks <= most_bytes

        if may_fit(k):  # mostly so; finding more levels costs each lane at each of them
            return k
        return k + 1 + bisect_left(range(k + 1, LEVELS), True, key=may_fit)

    k = level_of(_EVERY, _LEAST_BYTES)
    while k < LEVELS:
        made = packed_marks(model, first, range(len(model.tracks)), marks_at(k))
        n_marks = sum(n for _, _, n in made["rows"])
        content = to_json({"k": k, **made, "remark": _remark(n_slices, n_marks)})
        size = _size(content)
        if size <= most_bytes:
            return k, content
        k = level_of(k + 1, _NEARLY * size / max(n_marks, 1))
    made = packed_marks(model, first, (), marks_at(_EVERY))
    return LEVELS, to_json({"k": LEVELS, **made, "remark": _remark(n_slices, 0)})


def _count(model: TraceModel, marks_of: Any) -> int:
    return sum(len(marks_of(track, each)) for track in model.tracks for each in track.pyramids)


def _remark(n_slices: int, n_marks: int) -> str:
    """A remark on slices that a report merges; empty if it shows each slice."""
    if n_marks >= n_slices:
        return ""
    return (
        f"This report shows {n_slices:,} events as {n_marks:,} marks, so that it can be mailed: "
        "events that are close together are merged, and each mark says how many it is. "
        "“tfprof ui” shows every one of them, with its arguments."
    )


def _details(model: TraceModel) -> dict[str, Any]:
    """Details of each slice other than its time, track by track, and all arrows."""
    own, steps, args, sources = [no_rows()], [], [], []
    is_few = sum(len(track) for track in model.tracks) <= _MOST_WITH_DETAILS
    for track in model.tracks:
        places = np.arange(len(track))
        begin = track.start_ps(0) if len(track) else 0
        until = int((track.starts + track.durations).max(initial=0)) + track.shift_ps
        own.append(own_times(track, places, begin, until)[1])
        if not is_few:
            continue
        found = track.steps(places)
        steps += [found.texts[at] if at >= 0 else "" for at in found.places.tolist()]
        names = [model.names[name] for name in track.names_of(places).tolist()]
        texts = list(track.texts(places))
        args += texts
        sources += _sources(names, texts)
    return {
        "own": packed(np.concatenate(own)),
        "steps": column([escaped(step) for step in steps]) if is_few else None,
        "sources": column(sources) if is_few else None,
        "args": {"texts": list(dict.fromkeys(args)), "at": _places(args)} if is_few else None,
        "flows": {
            name: packed(values)
            for name, values in zip(
                ("from_track", "from_place", "to_track", "to_place"), model.flows, strict=True
            )
        },
    }


def _sources(names: Iterable[str], texts: Iterable[str]) -> list[str]:
    """The source line of each slice; empty for most."""
    known: dict[tuple[str, str], str] = {}
    for pair in zip(names, texts, strict=True):
        if pair not in known:
            known[pair] = escaped(source_of(pair[0], json.loads(pair[1])))
    return [known[pair] for pair in zip(names, texts, strict=True)]


def _places(texts: list[str]) -> dict[str, Any]:
    """The place of each text among the distinct ones."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    at: Int64Array = np.array([numbers[text] for text in texts], np.int64)
    return packed(at)
