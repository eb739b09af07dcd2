"""Captures of at most 1 MB that are made to hurt: tools, traces and queries answer soon.

As in ``test_hostile_inputs.py``, what once grew with the square would take many times the limit.
"""

from __future__ import annotations

import io
import tracemalloc

import numpy as np
import pytest
from rich.console import Console

from tests.cpu_budget import soon
from tfprof import tools
from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Column, Table
from tfprof.captures.show.tool_text import ToolText
from tfprof.captures.trace.from_run import model_of_run
from tfprof.captures.trace.tracks import ThreadNumbers
from tfprof.core.wire import messages as pb
from tfprof.errors import MalformedProfileError
from tfprof.export.stacks import stacks_of_trace
from tfprof.inputs.opened import opened_run
from tfprof.inputs.profiler import Profiler
from tfprof.sql.catalog import Catalog
from tfprof.testing.builders import options
from tfprof.testing.xspace_builders import event, host, line, plane, xspace
from tfprof.tools import open_run, overview, pod, trace
from tfprof.ui.pages.trace.calls import calls_in_range
from tfprof.views.write.view_timeline.drawn import first_fit_lanes

pytestmark = [pytest.mark.slow, pytest.mark.thorough]


def test_a_capture_of_many_planes_of_devices() -> None:
    space = pb.XSpace()
    for number in range(8_000):
        one = space.planes.add(name=f"/device:TPU:{number}")
        one.event_metadata[1].name = "o"
        one.lines.add(id=1, name="XLA Ops").events.add(metadata_id=1, duration_ps=5)
    with soon():
        found = pod(open_run(space))
    assert any("beyond the 500 planes" in note.message for note in found.notes)


def test_allocators_without_end() -> None:
    memory = plane("/host:CPU", line(*(
        event("MemoryAllocation", number, 1, allocator_name=f"a{number}", bytes_allocated=1,
              allocation_bytes=1)
        for number in range(30_000)
    )))  # fmt: skip
    run = open_run(xspace(memory))
    with soon(2):
        found = overview(run)
        model = model_of_run(run)
    assert found.advice[-1].message.startswith("480 more of the same kind")
    assert any("at most 500 allocators" in note.message for note in tools.memory(run).notes)
    assert len(model.counters) == 500 and model.shown.dropped == 29_500
    ((why, n_events),) = model.shown.left_out
    assert n_events == 29_500 and "an allocator beyond the 500" in why


def test_an_allocator_whose_name_is_a_number() -> None:
    change = event("MemoryAllocation", 0, 1, allocator_name=7, bytes_allocated=1)
    assert model_of_run(open_run(xspace(host(line(change))))).counters == []


def test_threads_without_end() -> None:
    space = xspace(host(*(line(event("a", at, 5), id=at) for at in range(8_000))))
    with soon(6):
        model = model_of_run(open_run(space))
    assert len(model.tracks) == 2000 and model.shown.dropped == 6000
    ((why, n_events),) = model.shown.left_out
    assert n_events == 6000 and "tfprof trace has all" in why


@pytest.mark.parametrize("name", ["/host:CPU", "/device:GPU:0"])
def test_lines_without_end(name: str) -> None:
    """Six bytes each; most of them get no remark."""
    space = pb.XSpace(planes=[pb.XPlane(name=name)])
    for _ in range(150_000):
        space.planes[0].lines.add().events.add()
    with soon(3):
        run = open_run(space)
        size = sum(map(len, trace(run).pieces()))
        tables = Catalog([opened_run(run)]).descriptions
    assert size > 10_000 and tables[0].name == "events"
    assert any("beyond the 10,000 lines" in note.message for note in run.notes)


def kernels(count: int) -> Run:
    """Two bytes each: no name, no time, no duration."""
    space = pb.XSpace(planes=[pb.XPlane(name="/device:GPU:0")])
    space.planes[0].lines.add(name="Stream #1").events.extend([pb.XEvent()] * count)
    return open_run(space)


@pytest.mark.one_engine
def test_the_tables_of_kernels_without_end() -> None:
    catalog = Catalog([opened_run(kernels(480_000))])
    with soon(4):
        names = [table.name for table in catalog.descriptions]
    assert "profile_executions" in names


@pytest.mark.one_engine
def test_the_tables_of_kernels_without_end_are_not_all_in_memory() -> None:
    """A quarter of what fits into 1 MB, and a quarter of the memory: this test takes long."""
    catalog = Catalog([opened_run(kernels(120_000))])
    tracemalloc.start()
    try:
        assert catalog.descriptions
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.one_engine
def test_a_timeline_of_kernels_that_all_overlap() -> None:
    profiler = Profiler.from_xspace(kernels(480_000))
    with soon(4):
        (file,) = profiler.output_files("graph", options(output="timeline:outfile=/nowhere/t.json"))
        n_named = b"".join(file.chunks).count(b'"thread_name"')
    assert n_named == 2001  # rows of the stream and of all streams, and one for steps


@pytest.mark.one_engine
def test_stacks_that_grow_with_the_square() -> None:
    """Kernels that begin at once and take no time are inside each other."""
    assert len(stacks_of_trace(model_of_run(kernels(3000))).nodes) == 3000
    model = model_of_run(kernels(480_000))
    with soon(3), pytest.raises(MalformedProfileError, match="more than 10,000,000 calls"):
        stacks_of_trace(model)


def test_counters_without_end() -> None:
    """Each has one value, of a stat of its own."""
    values = [event(f"kind {n}", n, 0, **{f"stat {n}": n}) for n in range(3000)]
    model = model_of_run(open_run(xspace(host(line(*values, name="_counters_")))))
    with soon(3):
        series = model.counters[0].series()
    found = {one.name: one.values.tolist() for one in series}
    assert found == {f"kind {n}: stat {n}": [n] for n in range(3000)}


@pytest.mark.one_engine
def test_lanes_without_end() -> None:
    starts = np.array([0] * 2000 + [5] * 3, np.int64)
    lanes = first_fit_lanes(starts, starts + 5)
    assert lanes.tolist() == [*range(1000), *[999] * 1000, 0, 1, 2]


def test_numbers_of_threads_that_are_taken() -> None:
    numbers = ThreadNumbers()
    with soon(1):
        taken = [numbers.take(1, tid) for tid in [0] * 20_000 + [*range(1, 20_000)]]
    assert taken == [*range(39_999)]
    assert [numbers.take(1, 2**32 - 1) for _ in range(2)] == [2**32 - 1, 39_999]
    assert numbers.take(2, 0) == 0


@pytest.mark.one_engine
def test_columns_without_end() -> None:
    """SQL may ask for any number of them: ``select 1, 1, …``."""
    columns = tuple(Column(f"c{place}", f"c{place}") for place in range(20_000))
    table = Table("rows", columns, [(1,) * len(columns)])
    console = Console(file=io.StringIO(), width=100)
    with soon(2):
        console.print(ToolText(ToolResult("query", "Query", tables={"rows": table}), "rows"))


@pytest.mark.one_engine
def test_a_flame_graph_of_slices_inside_each_other() -> None:
    """Each level is one slice; only the first 5000 can be rows."""
    model = model_of_run(kernels(40_000))
    [track] = [at for at, one in enumerate(model.tracks) if len(one.starts) == 40_000]
    with soon(3):
        tree = calls_in_range(model, 0, 1, [track])["tree"]
    assert tree["title"] == "What runs inside what"
