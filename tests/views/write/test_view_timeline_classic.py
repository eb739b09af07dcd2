"""Classic timelines, event by event as the original writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import CPU, GPU, graph, op, options, run, run_on, stat
from tfprof.views.write.view_timeline import outputs
from tfprof.views.write.view_timeline.drawn import first_fit_lanes

C, G, A = CPU.lower(), GPU.lower(), f"{GPU.lower()}/stream:all"


def on_gpu(made: pb.NodeExecStats, in_use: int, *records: tuple[int, int]) -> pb.NodeExecStats:
    memory = made.memory.add(allocator_name="GPU_0_bfc", allocator_bytes_in_use=in_use)
    for micros, size in records:
        memory.allocation_records.add(alloc_micros=micros, alloc_bytes=size)
    return made


def worked_example() -> tfprof.Profiler:
    """A step on a CPU and a GPU with one stream; ``e`` starts when ``d`` does."""
    nodes = (
        op("a"),
        op("s/b", "NoOp", "a"),
        op("s/c", "NoOp", "a", "s/b"),
        op("d", "NoOp", "s/c"),
        op("e"),
    )
    b = on_gpu(stat(5, start=1020, persistent=77), 2_500_000, (1021, 1120), (1300, -1120))
    c = on_gpu(stat(5, start=1200), 1_234_567, (1201, 1_000_000), (1500, -900_000))
    blocks = {
        CPU: [
            ("a", stat(10, start=1000)),
            ("a", stat(5, start=1010)),
            ("d", stat(15, start=1003)),
            ("e", stat(15, start=1003)),
        ],
        GPU: {"s/b": b, "s/c": c},
        f"{GPU}/stream:all": [
            ("s/b", stat(50, start=1030)),
            ("s/c", stat(50, start=1210)),
            ("s/c", stat(20, start=1215)),
        ],
    }
    profiler = tfprof.Profiler(graph(*nodes), classic=True)
    profiler.add_step(0, run_on(blocks))
    return profiler


def process(pid: int, name: str) -> dict[str, Any]:
    return {"args": {"name": name}, "name": "process_name", "ph": "M", "pid": pid}


def region(name: str, pid: int, tid: int, start: int, duration: int) -> dict[str, Any]:
    place = {"pid": pid, "tid": tid, "ts": start}
    return {"args": {"name": name}, "cat": "Op", "dur": duration, "name": name, "ph": "X"} | place


def flow(number: int, name: str, *ends: tuple[int, int, int]) -> list[dict[str, Any]]:
    return [
        {"cat": "DataFlow", "id": number, "name": f"{name}_flow", "ph": phase}
        | {"pid": pid, "tid": tid, "ts": micros}
        for phase, (pid, tid, micros) in zip("st", ends, strict=True)
    ]


def counter(name: str, pid: int, micros: int, args: dict[str, Any]) -> dict[str, Any]:
    place = {"pid": pid, "tid": 0, "ts": micros}
    return {"args": args, "cat": "Memory", "name": name, "ph": "C"} | place


def top(rest: str, *listed: str) -> dict[str, str]:
    args = {f"Top Allocation {place:02d}": "N/A" for place in range(1, 10)}
    args |= {f"Top Allocation {place:02d}": text for place, text in enumerate(listed)}
    return {"Not Displayed": rest, **args}


EXPECTED = [
    process(0, f"Op scheduling threads: {C}"),
    process(1, f"Op scheduling threads: {G}"),
    process(2, f"Op execution threads: {A}"),
    region("a", 0, 0, 1000, 10),
    region("a", 0, 0, 1010, 5),
    region("d", 0, 1, 1003, 15),
    region("s/b", 1, 0, 1020, 5),
    region("s/c", 1, 0, 1200, 5),
    region("s/b", 2, 0, 1030, 50),
    region("s/c", 2, 0, 1210, 50),
    region("s/c", 2, 1, 1215, 20),
    process(3, f"mem usage on:{G}"),
    process(4, f"mem usage on:{G} allocations"),
    *flow(1, "a", (0, 0, 1010), (1, 0, 1020)),
    *flow(2, "a", (0, 0, 1010), (1, 0, 1200)),
    *flow(3, "a", (0, 0, 1015), (1, 0, 1020)),
    *flow(4, "a", (0, 0, 1015), (1, 0, 1200)),
    *flow(5, "s/c", (1, 0, 1205), (0, 1, 1003)),
    counter("Allocated Bytes", 3, 1025, {"Allocator Bytes in Use": 2_500_000}),
    counter("Top Allocations", 4, 1025, top("2.50 MB", "0.001197 MB from s/b")),
    counter("Allocated Bytes", 3, 1205, {"Allocator Bytes in Use": 1_234_567}),
    counter("Top Allocations", 4, 1205, top("0.23 MB", "1 MB from s/c", "0.001197 MB from s/b")),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_graph_timeline_of_the_worked_example(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worked_example().profile_graph(options(step=0, output="timeline:outfile=trace"))
    text = (folder / "trace_0").read_text()
    assert json.loads(text)["traceEvents"] == EXPECTED
    compact = json.dumps({"traceEvents": EXPECTED}, sort_keys=True, separators=(",", ":"))
    assert text == compact + "\n"
    stars = "*" * 54
    assert capsys.readouterr().out == (
        f"generating trace file.\n{G} peak memory: 2.50 MB\n\n{stars}\n"
        "Timeline file is written to trace_0.\n"
        "Open a Chrome browser, enter URL chrome://tracing and load the timeline file.\n"
        f"{stars}\n"
    )


def events_of(profiler: tfprof.Profiler, folder: Path, **changes: Any) -> list[dict[str, Any]]:
    profiler.profile_graph(options(step=0, output="timeline:outfile=trace", **changes))
    events: list[dict[str, Any]] = json.loads((folder / "trace_0").read_text())["traceEvents"]
    return events


def test_no_arrow_leaves_an_input_that_is_not_accounted(folder: Path) -> None:
    nodes = graph(op("a", "Hidden"), op("z", "Seen"), op("b", "Seen", "a"))
    blocks = {CPU: {"a": stat(1, start=1000), "z": stat(1, start=1000)}, GPU: {"b": stat(1)}}
    profiler = tfprof.Profiler(nodes, classic=True)
    profiler.add_step(0, run_on(blocks))
    assert any(e["ph"] == "s" for e in events_of(profiler, folder))
    seen = events_of(profiler, folder, account_type_regexes=["Seen"])
    assert not any(e["ph"] == "s" for e in seen)


def test_samples_closer_than_100_micros_are_not_plotted(folder: Path) -> None:
    ends = (99, 100, 200, 299)
    executions = [("a", on_gpu(stat(9, start=end - 9), end)) for end in ends]
    profiler = tfprof.Profiler(graph(op("a")), classic=True)
    profiler.add_step(0, run(executions, GPU))
    events = events_of(profiler, folder)
    assert [e["ts"] for e in events if e["name"] == "Allocated Bytes"] == [100, 200]


def test_graph_view_without_a_step_writes_each_step_and_answers_with_nothing(folder: Path) -> None:
    profiler = tfprof.Profiler(graph(op("a")), classic=True)
    for step in (3, -2, 1):
        profiler.add_step(step, run({"a": stat(5, start=1000 + step)}))
    with pytest.warns(tfprof.TfprofWarning, match="Must specify -step option"):
        proto = profiler.profile_graph(options(step=-1, output="timeline:outfile=trace"))
    assert sorted(path.name for path in folder.iterdir()) == ["trace_1", "trace_3"]
    assert proto == pb.GraphNodeProto()
    (_, event) = json.loads((folder / "trace_3").read_text())["traceEvents"]
    assert event == region("a", 0, 0, 1003, 5)


def test_scope_timeline_is_a_flame_chart_by_depth(folder: Path) -> None:
    profiler = tfprof.Profiler(graph(op("m/x"), op("m/y"), op("z"), op("idle")), classic=True)
    profiler.add_step(0, run({"m/x": 3, "m/y": 4, "z": 5}))
    proto = profiler.profile_name_scope(options(output="timeline:outfile=trace"))

    def flame(name: str, depth: int, start: int, duration: int) -> dict[str, Any]:
        return region(name, depth, 0, start, duration) | {"args": {"name": name, "op": name}}

    assert json.loads((folder / "trace_-1").read_text())["traceEvents"] == [
        process(0, "Scope:0"),
        flame("_TFProfRoot", 0, 0, 12),
        process(1, "Scope:1"),
        flame("m", 1, 0, 7),
        process(2, "Scope:2"),
        flame("m/x", 2, 0, 3),
        flame("m/y", 2, 3, 4),
        flame("z", 1, 7, 5),
    ]
    assert proto.total_exec_micros == 12


def test_children_that_exceed_their_parent_are_cut(folder: Path) -> None:
    profiler = tfprof.Profiler(graph(op("m/x"), op("m/y"), op("m/z")), classic=True)
    profiler.add_step(0, run({"m/x": 5, "m/y": 4, "m/z": -3}))
    profiler.profile_name_scope(options(output="timeline:outfile=trace"))  # the original aborts
    events = json.loads((folder / "trace_-1").read_text())["traceEvents"]
    assert [(e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"] == [
        ("_TFProfRoot", 0, 6),
        ("m", 0, 6),
        ("m/x", 0, 5),
        ("m/y", 5, 1),
    ]


def test_a_large_file_is_warned_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "LARGE_BYTES", 1000)
    with pytest.warns(tfprof.TfprofWarning, match="min_micros"):
        events_of(worked_example(), folder)


def test_nothing_to_draw_is_an_empty_list(folder: Path) -> None:
    profiler = tfprof.Profiler(graph(op("a")), classic=True)
    profiler.add_step(0, run())
    profiler.profile_graph(options(step=0, output="timeline:outfile=trace"))
    assert (folder / "trace_0").read_bytes() == b'{"traceEvents":[]}\n'


def test_names_are_escaped_as_by_json(folder: Path) -> None:
    name = 'ü/"\\\x01\x7f\u2028層</script>'
    profiler = tfprof.Profiler(graph(op(name)), classic=True)
    profiler.add_step(0, run({name: 1}))
    profiler.profile_graph(options(step=0, output="timeline:outfile=trace"))
    text = (folder / "trace_0").read_text(encoding="ascii")
    assert json.dumps(name) in text
    assert json.loads(text)["traceEvents"][1]["name"] == name


def test_a_lane_is_open_where_its_last_slice_ends() -> None:
    def lanes(*slices: tuple[int, int]) -> list[int]:
        starts, ends = np.array(slices, np.int64).T
        return first_fit_lanes(starts, ends).tolist()

    assert lanes((0, 5), (1, 3), (3, 9), (5, 6), (6, 7)) == [0, 1, 1, 0, 0]
    assert lanes((0, 9), (8, 20), (21, 15), (22, 30), (23, 24)) == [0, 1, 0, 0, 1]


def test_the_op_view_has_none(folder: Path) -> None:
    profiler = worked_example()
    with pytest.warns(tfprof.TfprofWarning, match="op view doesn't support timeline yet"):
        proto = profiler.profile_operations(options(output="timeline:outfile=trace"))
    assert proto == pb.MultiGraphNodeProto(name="_TFProfRoot")
    assert not list(folder.iterdir())
