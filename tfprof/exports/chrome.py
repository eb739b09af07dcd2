"""A trace as JSON for chrome://tracing, of whatever has one.

Captured runs have their own writer (``captures/trace``), which knows what steps and hosts are; this
one writes traces of other programs again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from tfprof.captures.trace.blocks import Block, Texts, each, micros, quoted
from tfprof.captures.trace.text import HEAD
from tfprof.columns.columns import Int64Array
from tfprof.pages.trace.model import Series, TraceModel, TraceTrack

_AT_ONCE = 1 << 14


def chrome_chunks(model: TraceModel) -> Iterator[bytes]:
    """The content of a ``.json`` file, one event a line."""
    before = HEAD
    for block in _blocks(model):
        if block:
            yield before + block
            before = b",\n"
    yield b"\n]}\n" if before != HEAD else HEAD + b"]}\n"


def _blocks(model: TraceModel) -> Iterator[bytes]:
    yield ",\n".join(_titles(model)).encode()
    names = [quoted(name) for name in model.names]
    for number, track in enumerate(model.tracks):
        for first in range(0, len(track), _AT_ONCE):
            places = np.arange(first, min(first + _AT_ONCE, len(track)))
            yield _slices(number, track, places, names)
    for counter in model.counters:
        for series in counter.series():
            pid = counter.process + 1
            yield ",\n".join(_values(pid, counter.name, series)).encode()
    yield from _arrows(model)


def _titles(model: TraceModel) -> Iterator[str]:
    for pid, name in enumerate(model.processes, 1):
        yield _named("process_name", pid, 0, f'"name":{quoted(name)}')
        yield _named("process_sort_index", pid, 0, f'"sort_index":{pid}')
    for tid, track in enumerate(model.tracks, 1):
        yield _named("thread_name", track.process + 1, tid, f'"name":{quoted(track.name)}')
        yield _named("thread_sort_index", track.process + 1, tid, f'"sort_index":{tid}')


def _named(kind: str, pid: int, tid: int, args: str) -> str:
    return f'{{"ph":"M","name":"{kind}","pid":{pid},"tid":{tid},"args":{{{args}}}}}'


def _at(number: int, track: TraceTrack) -> str:
    return f'"pid":{track.process + 1},"tid":{number + 1}'


def _slices(number: int, track: TraceTrack, places: Int64Array, names: list[str]) -> bytes:
    args = each([text[1:-1] for text in track.texts(places)])
    return Block(
        _at(number, track),
        track.starts[places] + track.shift_ps,
        track.durations[places],
        Texts(track.names_of(places).astype(np.int32), names),
        [args],
        None,
        classic=False,
    ).to_json()


def _values(pid: int, name: str, series: Series) -> Iterator[str]:
    head = f'{{"ph":"C","pid":{pid},"name":{quoted(name)},"ts":'
    key = quoted(series.name)
    for time, value in zip(series.times_ps.tolist(), series.values.tolist(), strict=True):
        if value - value == 0:  # JSON has no infinity
            yield f'{head}{micros(time)},"args":{{{key}:{json.dumps(value)}}}}}'


def _arrows(model: TraceModel) -> Iterator[bytes]:
    flows = model.flows
    sides = (("s", flows.from_track, flows.from_place), ("f", flows.to_track, flows.to_place))
    for phase, tracks, places in sides:
        more = ',"bp":"e"' if phase == "f" else ""
        rows: Sequence[tuple[int, int]] = list(zip(tracks.tolist(), places.tolist(), strict=True))
        for first in range(0, len(rows), _AT_ONCE):
            chunk = rows[first : first + _AT_ONCE]
            lines = []
            for number, (place, at) in enumerate(chunk, first + 1):
                track = model.tracks[place]
                lines.append(
                    f'{{"ph":"{phase}","cat":"flow","name":"flow","id":{number}{more},'
                    f'{_at(place, track)},"ts":{micros(track.start_ps(at))}}}'
                )
            yield ",\n".join(lines).encode()
