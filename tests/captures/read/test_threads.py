"""Captures are read in several threads at once; the thread sanitizer watches these tests, too."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import tfprof
from tfprof.captures.read.xspace import read_xspace
from tfprof.core.wire import messages as pb
from tfprof.tools import overview

N_THREADS = 4


def capture() -> bytes:
    """One line of 3000 events of 20 names, each with a number and a text."""
    space = pb.XSpace()
    plane = space.planes.add(name="/host:CPU")
    for key in range(1, 21):
        plane.event_metadata[key].name = f"op/{key}"
    for key, name in ((1, "number"), (2, "text")):
        plane.stat_metadata[key].name = name
    line = plane.lines.add(id=1, name="thread")
    for place in range(3000):
        event = line.events.add(metadata_id=1 + place % 20, offset_ps=10 * place, duration_ps=5)
        event.stats.add(metadata_id=1, double_value=place / 2)
        event.stats.add(metadata_id=2, str_value=f"text {place % 7}")
    return space.SerializeToString()


def columns(data: bytes) -> list[np.ndarray]:
    (plane,) = read_xspace(data).planes
    return [plane.events.offsets_ps, plane.metadata_rows, plane.events.stats.values]


def test_threads_read_the_same_bytes() -> None:
    data = capture()
    alone = columns(data)
    assert alone[0].tolist() == [10 * place for place in range(3000)]
    with ThreadPoolExecutor(N_THREADS) as pool:
        for found in pool.map(columns, [data] * (2 * N_THREADS)):
            for one, other in zip(alone, found, strict=True):
                np.testing.assert_array_equal(one, other)


def test_threads_ask_one_run() -> None:
    """What one of them computes, the others use."""
    run = tfprof.open_run(capture())
    alone = tfprof.open_run(capture())
    with ThreadPoolExecutor(N_THREADS) as pool:
        found = list(pool.map(lambda _: overview(run).to_dict(), range(N_THREADS)))
    assert found == [overview(alone).to_dict()] * N_THREADS
