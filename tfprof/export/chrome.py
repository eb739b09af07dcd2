"""Writes any trace as JSON for chrome://tracing.

Captured runs have their own writer (``captures/trace``) with steps and hosts; this one writes
traces of other programs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from tfprof.captures.events.timeline.layers import LayerArray, layers_of, rows_of
from tfprof.captures.trace.blocks import Block, Texts, each, in_whole_ns, micros, one, quoted
from tfprof.captures.trace.model import Series, TraceModel, TraceTrack
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.trace_json import HEAD, blocks, lines_of, metadata_event, whole_trace


def chrome_chunks(model: TraceModel) -> Iterator[bytes]:
    """The content of a ``.json`` file, one event a line, in whole nanoseconds.

    A thread whose slices overlap in part becomes several rows. A trace that begins before 0 is
    moved to begin there, as Perfetto drops earlier events.
    """
    return whole_trace(_Writer(model).blocks(), HEAD, first=b"\n")


class _Writer:
    def __init__(self, model: TraceModel) -> None:
        self._model = model
        self._since_ps = min(model.range_ps[0], 0) // 1000 * 1000
        self._names = [quoted(name) for name in model.names]
        self._layers = [_layers(track) for track in model.tracks]
        self._rows = [
            list(rows_of(layer, len(track)))
            for layer, track in zip(self._layers, model.tracks, strict=True)
        ]
        n_more = np.array([len(rows) - 1 for rows in self._rows], np.int64)
        self._more = len(model.tracks) + 1 + np.cumsum(n_more) - n_more
        """The first number of the added rows of each track."""

    def blocks(self) -> Iterator[bytes]:
        model = self._model
        yield lines_of(self._titles())
        for number, rows in enumerate(self._rows):
            for row, own in enumerate(rows):
                for some in blocks(len(own)):
                    yield self._slices(number, row, own[some])
        for counter in model.counters:
            for series in counter.series():
                pid = counter.process + 1
                yield lines_of(_values(pid, counter.name, series, self._since_ps))
        yield from self._arrows()

    def _titles(self) -> Iterator[str]:
        for pid, name in enumerate(self._model.processes, 1):
            place = f'"pid":{pid},"tid":0'
            yield metadata_event("process_name", place, f'"name":{quoted(name)}')
            yield metadata_event("process_sort_index", place, f'"sort_index":{pid}')
        for number, track in enumerate(self._model.tracks):
            for row in range(len(self._rows[number])):
                place = self._at(number, row)
                name = f"{track.name} (row {row + 1})" if row else track.name
                yield metadata_event("thread_name", place, f'"name":{quoted(name)}')
                yield metadata_event("thread_sort_index", place, f'"sort_index":{number + 1}')

    def _tid(self, number: int, row: int) -> int:
        return number + 1 if not row else int(self._more[number]) + row - 1

    def _at(self, number: int, row: int) -> str:
        pid = self._model.tracks[number].process + 1
        return f'"pid":{pid},"tid":{self._tid(number, row)}'

    def _slices(self, number: int, row: int, places: Int64Array) -> bytes:
        track = self._model.tracks[number]
        args = each([text[1:-1] for text in track.texts(places)])
        starts = track.starts[places] + track.shift_ps - self._since_ps
        return Block(
            one(self._at(number, row), len(places)),
            *in_whole_ns(starts, track.durations[places]),
            Texts(track.names_of(places).astype(np.int32), self._names),
            [args],
            None,
            as_texts=False,
        ).to_json()

    def _arrows(self) -> Iterator[bytes]:
        flows = self._model.flows
        ends = (flows.from_track, flows.from_place, flows.to_track, flows.to_place)
        for some in blocks(len(flows.from_track)):
            rows = zip(*(column[some].tolist() for column in ends), strict=True)
            lines = []
            for number, (source, at, target, to) in enumerate(rows, some.start + 1):
                way, sides = "leads to", [self._end(source, at), self._end(target, to)]
                if sides[1][0] < sides[0][0]:  # arrows lead forward in time
                    way, sides = "comes from", sides[::-1]
                head = f'"cat":"flow","name":"{way}","id":"{number:#x}"'
                lines += [
                    f'{{"ph":"{phase}",{head},{place},"ts":{micros(time)}}}'
                    for phase, (time, place) in zip(("s", 'f","bp":"e'), sides, strict=True)
                ]
            yield lines_of(lines)

    def _end(self, number: int, place: int) -> tuple[int, str]:
        layer = self._layers[number]
        time = self._model.tracks[number].start_ps(place) - self._since_ps
        return time - time % 1000, self._at(number, 0 if layer is None else int(layer[place]))


def _layers(track: TraceTrack) -> LayerArray | None:
    starts, durations = in_whole_ns(track.starts + track.shift_ps, track.durations)
    return layers_of(starts, starts + durations)


def _values(pid: int, name: str, series: Series, since_ps: int) -> Iterator[str]:
    head = f'{{"ph":"C","pid":{pid},"name":{quoted(name)},"ts":'
    key = quoted(series.name)
    for time, value in zip(series.times_ps.tolist(), series.values.tolist(), strict=True):
        if value - value == 0:  # JSON has no infinity
            at = (time - since_ps) // 1000 * 1000
            yield f'{head}{micros(at)},"args":{{{key}:{json.dumps(value)}}}}}'
