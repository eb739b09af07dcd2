"""The walks of an XSpace's lines, natively and in Python: what the reader relies on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfprof.core.wire import messages as pb
from tfprof.core.wire import xspace_pure as _xspace_pure
from tfprof.core.wire.compiled import native_module
from tfprof.core.wire.xspace_lines import ALL_OFFSETS, CHANGED, HEADER, MISFIT

NATIVE = native_module("xspace")
ENGINES = [_xspace_pure] if NATIVE is None else [NATIVE, _xspace_pure]
needs_native = pytest.mark.skipif(NATIVE is None, reason="the extension was not built")

MOST = 1 << 20


def line_bytes(*events: pb.XEvent) -> bytes:
    return bytes(pb.XLine(id=7, name="a", events=events, duration_ps=9).SerializeToString())


def usual(metadata_id: int = 1, offset_ps: int = 300) -> pb.XEvent:
    event = pb.XEvent(metadata_id=metadata_id, offset_ps=offset_ps, duration_ps=2**40)
    event.stats.add(metadata_id=2, int64_value=-1)
    event.stats.add(metadata_id=3, str_value="text")
    return event


class Walk:
    """The columns of one line that begins the data."""

    def __init__(self, engine: Any, data: bytes, size: int, most: int = MOST) -> None:
        self.engine, self.data = engine, memoryview(bytearray(data))
        self.headers, self.ends = np.zeros(HEADER, np.int64), np.zeros(1, np.int64)
        chunks = np.zeros(3 * 100, np.int64)
        n_chunks = engine.split(
            self.data, np.array([0]), np.array([size]), most, self.headers, self.ends, chunks
        )
        self.chunks, self.n_chunks = chunks[: 3 * n_chunks], n_chunks
        self.n_events, self.n_stats = np.zeros((2, n_chunks), np.int64)

    def count(self) -> tuple[int, int, int]:
        places = (self.headers, self.ends, self.n_events, self.n_stats)
        found: tuple[int, int, int] = self.engine.count(
            self.data, self.chunks, 0, self.n_chunks, *places
        )
        self.before = [np.append(0, np.cumsum(n)) for n in (self.n_events, self.n_stats)]
        return found

    def read(self, id_bytes: int = 2, *, has_offsets: bool = False) -> tuple[int, int, int]:
        n_events, n_stats = (int(before[-1]) for before in self.before)
        self.columns = [
            np.zeros(id_bytes * n_events, np.uint8),
            np.zeros(n_events, np.int64),
            np.zeros(0 if has_offsets else n_events, np.uint8),
            np.zeros(n_events, np.int64),
            np.zeros(4 * n_events, np.uint8),
            np.zeros(id_bytes * n_stats, np.uint8),
            np.zeros(n_stats, np.uint8),
            np.zeros(n_stats, np.int64),
        ]
        found: tuple[int, int, int] = self.engine.read(
            self.data, self.chunks, 0, self.n_chunks, *self.before, *self.columns
        )
        return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("behind", [0, 200], ids=["at the end", "with data behind"])
@pytest.mark.parametrize("most", [MOST, 30], ids=["one chunk", "many chunks"])
def test_a_line_is_counted_and_read(engine: Any, behind: int, most: int) -> None:
    data = line_bytes(usual(), pb.XEvent(metadata_id=5, offset_ps=0), usual(4))
    walk = Walk(engine, data + bytes(behind), len(data), most)
    assert walk.count() == (ALL_OFFSETS, 0, -1)
    assert (walk.n_events.sum(), walk.n_stats.sum()) == (3, 4)
    assert walk.read(has_offsets=True) == (0, 0, -1)
    ids, values, _, durations, first, stat_ids, kinds, stat_values = walk.columns
    assert ids.view(np.int16).tolist() == [1, 5, 4]
    assert values.tolist() == [300, 0, 300]
    assert durations.tolist() == [2**40, 0, 2**40]
    assert first.view(np.int32).tolist() == [0, 2, 2]
    assert stat_ids.view(np.int16).tolist() == [2, 3, 2, 3]
    assert kinds.tolist() == [4, 5, 4, 5]
    assert stat_values[0] == -1
    assert bytes(walk.data[stat_values[1] :][:5]) == b"\x04text"
    assert walk.headers[[0, 2]].tolist() == [7, 9]
    assert walk.ends.tolist() == [len(data)]


@pytest.mark.parametrize("engine", ENGINES)
def test_events_without_an_offset_are_noted(engine: Any) -> None:
    data = line_bytes(usual(), pb.XEvent(num_occurrences=4), pb.XEvent(metadata_id=1)) + bytes(200)
    walk = Walk(engine, data, len(data) - 200)
    assert walk.count() == (0, 0, -1)
    assert walk.read() == (0, 0, -1)
    assert walk.columns[2].tolist() == [2, 5, 0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("id_bytes", [1, 2, 4, 8])
def test_ids_that_do_not_fit_are_noted(engine: Any, id_bytes: int) -> None:
    data = line_bytes(usual(2**40)) + bytes(200)
    walk = Walk(engine, data, len(data) - 200)
    walk.count()
    assert walk.read(id_bytes)[0] == (0 if id_bytes == 8 else MISFIT)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("changed", ["event", "stat", "offset"])
def test_data_that_change_between_counting_and_reading_are_noted(engine: Any, changed: str) -> None:
    data = line_bytes(usual(), usual()) + bytes(200)
    walk = Walk(engine, data, len(data) - 200)
    walk.count()
    if changed == "event":  # becomes an unknown field
        walk.data[data.index(b"\x22")] = 15 << 3 | 2
    elif changed == "stat":
        walk.data[data.index(b"\x22", data.index(b"\x22") + 1)] = 15 << 3 | 2
    else:
        walk.data[data.index(b"\x10\xac\x02")] = 5 << 3
    assert walk.read(has_offsets=True)[0] == CHANGED


@needs_native
def test_the_native_walks_check_their_arrays() -> None:
    data = line_bytes(usual())
    walk = Walk(NATIVE, data, len(data))
    walk.count()
    small, none = np.zeros(1, np.int64), np.zeros(0, np.int64)
    start, stop = np.array([0]), np.array([len(data)])
    with pytest.raises(ValueError, match="not in the data"):
        NATIVE.split(walk.data, start, stop + 1, MOST, walk.headers, walk.ends, np.zeros(9, int))
    with pytest.raises(ValueError, match="no room for the lines"):
        NATIVE.split(walk.data, start, stop, MOST, small, walk.ends, np.zeros(9, int))
    with pytest.raises(ValueError, match="no room for the chunks"):
        NATIVE.split(walk.data, start, stop, MOST, walk.headers, walk.ends, none)
    counted = (walk.headers, walk.ends, walk.n_events, walk.n_stats)
    with pytest.raises(ValueError, match="no such chunks"):
        NATIVE.count(walk.data, walk.chunks, 0, 2, *counted)
    with pytest.raises(ValueError, match="a chunk is not in the data"):
        NATIVE.count(walk.data, np.add(walk.chunks, [0, 0, 1]), 0, 1, *counted)
    with pytest.raises(ValueError, match="line is not among"):
        NATIVE.count(walk.data, np.add(walk.chunks, [1, 0, 0]), 0, 1, *counted)
    with pytest.raises(ValueError, match="no room for the counts"):
        NATIVE.count(walk.data, walk.chunks, 0, 1, walk.headers, walk.ends, none, none)
    walk.before[0][-1] = 2
    with pytest.raises(ValueError, match="not in the columns"):
        NATIVE.read(walk.data, walk.chunks, 0, 1, *walk.before, *columns_of(1, 2))


def columns_of(n_events: int, n_stats: int) -> list[Any]:
    of_events = [np.zeros(2 * n_events, np.uint8), np.zeros(n_events, np.int64)]
    of_events += [np.zeros(0, np.uint8), np.zeros(n_events, np.int64)]
    of_stats = [np.zeros(2 * n_stats, np.uint8), np.zeros(n_stats, np.uint8)]
    return [*of_events, np.zeros(4 * n_events, np.uint8), *of_stats, np.zeros(n_stats, np.int64)]
