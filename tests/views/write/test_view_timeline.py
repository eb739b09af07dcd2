"""Timelines as we draw them: everything that ran, to the nanosecond."""

from __future__ import annotations

import dataclasses
import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.options.output import Output
from tfprof.options.parse import parse_options
from tfprof.testing.builders import CPU, GPU, graph, op, options, run, run_on, stat
from tfprof.views.result import ViewTree
from tfprof.views.write.view_timeline.drawn import Track, track_order, tracks_of
from tfprof.views.write.view_timeline.lossless import MOST_ARROWS_INTO
from tfprof.views.write.view_timeline.outputs import (
    options_of_step,
    path_of_step,
    view_to_timelines,
)

from .trace_format import Event, validate

pytestmark = pytest.mark.slow

METHODS = {
    "graph": "profile_graph",
    "scope": "profile_name_scope",
    "op": "profile_operations",
    "code": "profile_python",
}
STREAM = f"{GPU}/stream:all"
INT64 = 2**63


def at(start: int, micros: int, *, start_nanos: int = 0, nanos: int = 0) -> pb.NodeExecStats:
    """An execution with nanoseconds, if given."""
    made = stat(micros, start=start)
    made.all_start_nanos, made.op_end_rel_nanos = start_nanos, nanos
    return made


def profiler_of(nodes: pb.GraphDef, *steps: pb.RunMetadata, **more: Any) -> tfprof.Profiler:
    profiler = tfprof.Profiler(nodes, **more)
    for step, run_meta in enumerate(steps):
        profiler.add_step(step, run_meta)
    return profiler


def timeline(
    profiler: tfprof.Profiler, folder: Path, view: str = "graph", **changes: Any
) -> list[Event]:
    """The events of the one file that a view gives; they are found to be right."""
    path = folder / "trace.json"
    every = "steps=all," if changes.pop("every_step", False) else ""
    output = f"timeline:{every}outfile={path}"
    getattr(profiler, METHODS[view])(options(output=output, **changes))
    assert [found.name for found in folder.iterdir()] == ["trace.json"]
    return validate(path.read_bytes())


def names_of(events: list[Event], kind: str) -> dict[int, str]:
    key = "tid" if kind == "thread_name" else "pid"
    return {e[key]: e["args"]["name"] for e in events if e["name"] == kind and e["ph"] == "M"}


def regions(events: list[Event]) -> list[tuple[Any, ...]]:
    """Process, thread, name, start and duration of all that ran, in the order of the file."""
    processes, threads = names_of(events, "process_name"), names_of(events, "thread_name")
    return [
        (processes[e["pid"]], threads[e["tid"]], e["name"], e["ts"], e["dur"])
        for e in events
        if e["ph"] == "X" and e["cat"] != "step"
    ]


def arrows(events: list[Event]) -> list[tuple[Any, ...]]:
    """Category, and the start and end of each arrow as (thread, time)."""
    threads = names_of(events, "thread_name")
    ends: dict[int, list[Event]] = {}
    for event in events:
        if event["ph"] in "sf":
            ends.setdefault(event["id"], []).append(event)
    return [
        (start["cat"], *((threads[e["tid"]], e["ts"]) for e in (start, end)))
        for start, end in ends.values()
    ]


def test_every_execution_is_drawn_in_lanes(tmp_path: Path) -> None:
    executions = [
        ("a", stat(10, start=1000)),
        ("b", stat(4, start=1000)),  # an equal start: the original loses it
        ("a", stat(3, start=1004)),
        ("c", stat(0, start=1010)),  # at least 1 µs, as everywhere
        ("c", stat(5, start=0)),  # never started
    ]
    profiler = profiler_of(graph(op("a"), op("b"), op("c")), run(executions))
    device = CPU.lower()
    assert regions(timeline(profiler, tmp_path)) == [
        (device, "ops", "a", 0, 10),
        (device, "ops", "c", 10, 1),
        (device, "ops (2)", "b", 0, 4),
        (device, "ops (2)", "a", 4, 3),
    ]


def test_nanoseconds_are_exact(tmp_path: Path) -> None:
    start = 1_600_000_000_000_000
    executions = {
        "a": at(start, 1, start_nanos=start * 1000 + 7, nanos=1250),
        "b": at(start + 2, 1, start_nanos=(start + 2) * 1000 + 500, nanos=40),
        "c": at(start + 9, 3, start_nanos=77, nanos=9_000_000),  # not the same time: no finer
    }
    profiler = profiler_of(graph(op("a"), op("b"), op("c")), run(executions))
    events = timeline(profiler, tmp_path)
    assert [times[3:] for times in regions(events)] == [
        (Decimal("0.007"), Decimal("1.25")),
        (Decimal("2.5"), Decimal("0.04")),
        (9, 3),
    ]
    trace = json.loads((tmp_path / "trace.json").read_bytes())
    assert trace["otherData"]["time_origin_nanos"] == "1600000000000000000"


def test_devices_are_processes_and_streams_their_threads(tmp_path: Path) -> None:
    profiler = profiler_of(
        graph(op("a"), op("b", "NoOp", "a")),
        run_on(
            {
                f"{GPU}/stream:all": {"b": stat(7, start=1005)},
                "/device:GPU:0/stream:10": {"b": stat(7, start=1005)},
                "/device:GPU:0/stream:9": {"b": stat(1, start=1005)},
                "/device:GPU:0/memcpy": {"MEMCPYHtoD": stat(2, start=1002)},
                GPU: {"b": stat(1, start=1003)},
                CPU: {"a": stat(1, start=1000)},
            }
        ),
    )
    events = timeline(profiler, tmp_path)
    gpu = GPU.lower()
    assert regions(events) == [
        (CPU.lower(), "ops", "a", 0, 1),
        (gpu, "kernel launches", "b", 3, 1),
        (gpu, "memcpy", "MEMCPYHtoD", 2, 2),
        (gpu, "stream:9", "b", 5, 1),
        (gpu, "stream:10", "b", 5, 7),
        (gpu, "stream:all", "b", 5, 7),
    ]
    order = [e["args"]["sort_index"] for e in events if e["name"] == "process_sort_index"]
    assert order == sorted(order)


def test_a_stream_stands_alone_where_several_devices_could_be_meant() -> None:
    devices = ["/task:0/device:gpu:0", "/task:1/device:gpu:0"]
    tracks = tracks_of([*devices, "/device:gpu:0/stream:all", "stream:all", "/host:cpu"])
    assert tracks[2:] == [
        Track("/device:gpu:0", "stream:all"),
        Track("stream:all", "stream:all"),
        Track("/host:cpu", "ops"),
    ]


def test_tracks_are_in_the_order_of_their_numbers() -> None:
    digits = "9" * 5000
    names = [f"/device:gpu:0/stream:{n}" for n in (digits, "10", "9", "010", "all")]
    ordered = sorted(tracks_of(names), key=track_order)
    assert [track.thread[7:] for track in ordered] == ["9", "010", "10", digits, "all"]


def test_arrows_lead_from_inputs_and_launches(tmp_path: Path) -> None:
    nodes = graph(
        op("a"), op("b"), op("sum", "AddN", "a", "b", "b:1", "^late"), op("late"), op("k", "X", "b")
    )
    blocks = {
        CPU: {
            "a": stat(10, start=1000),
            "b": stat(4, start=1001),
            "sum": stat(2, start=1010),  # in the lane of a: no arrow from there
            "late": stat(1, start=1011),  # began later: not what the sum waited for
        },
        GPU: {"k": stat(2, start=1012)},
        STREAM: {"k": stat(9, start=1013)},
    }
    events = timeline(profiler_of(nodes, run_on(blocks)), tmp_path)
    last = Decimal("4.999")
    assert arrows(events) == [
        ("data", ("ops (2)", last), ("ops", 10)),
        ("data", ("ops (2)", last), ("kernel launches", 12)),
        ("launch", ("kernel launches", Decimal("13.999")), ("stream:all", 13)),
    ]


def test_arrows_in_a_loop_come_from_the_same_iteration(tmp_path: Path) -> None:
    blocks = {
        CPU: [("a", stat(1, start=start)) for start in (1000, 1100, 1200)],
        GPU: [("b", stat(1, start=start)) for start in (1050, 1150, 1250)],
    }
    events = timeline(profiler_of(graph(op("a"), op("b", "NoOp", "a")), run_on(blocks)), tmp_path)
    assert [end[1] for _, _, end in arrows(events)] == [50, 150, 250]
    assert [int(start[1]) for _, start, _ in arrows(events)] == [0, 100, 200]


def test_arrows_into_an_op_from_its_own_last_run(tmp_path: Path) -> None:
    executions = [("a", stat(10, start=1000)), ("a", stat(10, start=1005))]
    events = timeline(profiler_of(graph(op("a", "NoOp", "a")), run(executions)), tmp_path)
    assert arrows(events) == [("data", ("ops", Decimal("9.999")), ("ops (2)", 5))]


def test_what_did_not_run_in_the_step_has_no_arrows(tmp_path: Path) -> None:
    nodes = graph(op("other"), op("never"), op("once"), op("k", "NoOp", "never", "once"))
    first = run({"other": stat(1, start=1000), "once": stat(1, start=1001)})
    second = run_on({CPU: {"other": stat(1, start=2000)}, GPU: {"k": stat(1, start=2001)}})
    events = timeline(profiler_of(nodes, first, second), tmp_path, every_step=True)
    assert arrows(events) == []


def test_of_many_inputs_the_last_to_end_have_arrows(tmp_path: Path) -> None:
    inputs = [f"in{i:02d}" for i in range(20)]
    nodes = graph(*map(op, inputs), op("all", "NoOp", *inputs))
    blocks = {
        CPU: {name: stat(1, start=1000 + i) for i, name in enumerate(inputs)},
        GPU: {"all": stat(1, start=2000)},
    }
    events = timeline(profiler_of(nodes, run_on(blocks)), tmp_path)
    left = sorted(int(start[1]) for _, start, _ in arrows(events))
    assert left == list(range(20 - MOST_ARROWS_INTO, 20))


def test_arguments_tell_type_step_and_memory(tmp_path: Path) -> None:
    used = stat(1, start=1002, memory=(64, 32, 16), temporary=5, persistent=3, outputs=(40,))
    small = stat(1, start=1001, memory=(8, 8, 0))
    first = {"a": stat(1, start=1000), "b": small}
    second = {"a": used, "b": stat(1, start=1009)}
    profiler = profiler_of(graph(op("a", "MatMul"), op("b")), run(first), run(second))
    events = timeline(profiler, tmp_path, every_step=True)
    assert [e["args"] for e in events if e["ph"] == "X" and e["cat"] == "op"] == [
        {"op": "MatMul", "step": 0},
        {"op": "NoOp", "step": 0}
        | {"requested_bytes": 8, "peak_bytes": 8, "residual_bytes": 0, "output_bytes": 0},
        {"op": "MatMul", "step": 1}
        | {"requested_bytes": 72, "peak_bytes": 40, "residual_bytes": 19, "output_bytes": 40},
        {"op": "NoOp", "step": 1},
    ]


def test_steps_are_marked(tmp_path: Path) -> None:
    runs = [run({"a": stat(5, start=start)}) for start in (1000, 1100, 1102)]
    events = timeline(profiler_of(graph(op("a")), *runs), tmp_path, every_step=True)
    threads = names_of(events, "thread_name")
    assert [
        (threads[e["tid"]], e["name"], e["ts"], e["dur"], e["args"])
        for e in events
        if e["ph"] == "X" and e["cat"] == "step"
    ] == [
        ("steps", "step 0", 0, 5, {"step": 0}),
        ("steps", "step 1", 100, 5, {"step": 1}),
        ("steps", "step 2", 102, 5, {"step": 2}),
    ]


def test_memory_counters_of_all_allocators(tmp_path: Path) -> None:
    def used(start: int, **allocators: int) -> pb.NodeExecStats:
        made = stat(2, start=start)
        for name, bytes_in_use in allocators.items():
            made.memory.add(allocator_name=name, allocator_bytes_in_use=bytes_in_use)
        return made

    executions = [
        ("a", used(1010, cpu=70)),
        ("b", used(1000, cpu=50, mklcpu=9)),
        ("a", used(1020, cpu=70)),  # no change
    ]
    profiler = profiler_of(graph(op("a"), op("b")), run(executions))
    # What is in use does not depend on the ops that are shown.
    events = timeline(profiler, tmp_path, hide_name_regexes=["b"])
    assert [(e["name"], e["ts"], e["args"]) for e in events if e["ph"] == "C"] == [
        ("cpu", 2, {"bytes in use": 50}),
        ("cpu", 12, {"bytes in use": 70}),
        ("mklcpu", 2, {"bytes in use": 9}),
    ]


def test_the_peak_of_an_allocator_names_the_ops_that_held_most(tmp_path: Path) -> None:
    def used(start: int, in_use: int, *records: tuple[int, int]) -> pb.NodeExecStats:
        made = stat(2, start=start)
        memory = made.memory.add(allocator_name="GPU_0_bfc", allocator_bytes_in_use=in_use)
        for micros, size in records:
            memory.allocation_records.add(alloc_micros=micros, alloc_bytes=size)
        return made

    executions = {
        "a": used(1000, 100, (1000, 60), (1030, -60)),
        "b": used(1010, 500, (1010, 400), (1011, -10)),
        "c": used(1020, 90, (1020, 30)),  # after the peak
    }
    profiler = profiler_of(graph(op("a"), op("b"), op("c")), run(executions, GPU))
    events = timeline(profiler, tmp_path)
    (peak,) = [e for e in events if e["ph"] == "i"]
    assert (peak["name"], peak["ts"], peak["args"]["bytes in use"]) == (
        "peak of GPU_0_bfc",
        12,
        500,
    )
    assert list(peak["args"]["held by ops"].items()) == [("b", 390), ("a", 60)]


def test_the_view_chooses_what_is_drawn(tmp_path: Path) -> None:
    executions = {"a": stat(5), "b": stat(50), "_SOURCE": stat(1), "RecvTensor": stat(9)}
    profiler = profiler_of(graph(op("a"), op("b")), run(executions))

    def drawn(**changes: Any) -> set[str]:
        return {region[2] for region in regions(timeline(profiler, tmp_path, **changes))}

    assert drawn() == {"a", "b", "_SOURCE", "RecvTensor"}
    assert drawn(min_micros=10) == {"b"}
    assert drawn(hide_name_regexes=["b"]) == {"a"}
    assert drawn(account_type_regexes=["MatMul"]) == set()


def test_without_a_step_each_has_its_file(tmp_path: Path) -> None:
    profiler = tfprof.Profiler(graph(op("a")))
    for step in (7, -2):
        profiler.add_step(step, run({"a": stat(step + 10)}))
    proto = profiler.profile_graph(options(output=f"timeline:outfile={tmp_path}/t.v1.json.gz"))
    assert proto.total_exec_micros == 12  # the view's own answer: the average
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.v1_-2.json.gz", "t.v1_7.json.gz"]
    events = validate(gzip.decompress((tmp_path / "t.v1_-2.json.gz").read_bytes()))
    assert [region[-1] for region in regions(events)] == [8]
    for path in tmp_path.iterdir():
        path.unlink()
    chosen = timeline(profiler, tmp_path, step=7)
    assert [region[-1] for region in regions(chosen)] == [17]


@pytest.mark.parametrize(
    ("outfile", "expected"),
    [
        ("trace", "trace_3"),
        ("a/trace.json", "a/trace_3.json"),
        ("/x/trace.json.gz", "/x/trace_3.json.gz"),
        ("trace.v2.json", "trace.v2_3.json"),
        ("trace.gz", "trace_3.gz"),
        (".hidden", ".hidden_3"),
    ],
)
def test_path_of_a_step_keeps_the_ending(outfile: str, expected: str) -> None:
    assert path_of_step(outfile, 3) == expected


@pytest.mark.parametrize("view", ["scope", "code", "graph"])
def test_without_steps_the_error_says_what_to_do(view: str, tmp_path: Path) -> None:
    profiler = tfprof.Profiler(tfprof.demo_files().graph, tfprof.demo_files().op_log)
    wanted = options(output=f"timeline:outfile={tmp_path}/x")
    with pytest.raises(tfprof.EmptyProfileError, match="add_step"):
        getattr(profiler, METHODS[view])(wanted)
    assert not list(tmp_path.iterdir())


def test_the_op_view_has_no_timeline(tmp_path: Path) -> None:
    profiler = profiler_of(graph(op("a")), run({"a": 1}))
    with pytest.raises(tfprof.UsageError, match="op view doesn't support timeline yet"):
        profiler.profile_operations(options(output=f"timeline:outfile={tmp_path}/x"))


def test_a_step_without_times_is_an_empty_trace(tmp_path: Path) -> None:
    assert timeline(profiler_of(graph(op("a")), run()), tmp_path) == []


def test_scope_view_is_one_nested_chart(tmp_path: Path) -> None:
    profiler = profiler_of(graph(op("m/x"), op("m/y"), op("z")), run({"m/x": 3, "m/y": 4, "z": 5}))
    events = timeline(profiler, tmp_path, "scope")
    assert regions(events) == [
        ("scope view, average", "total time", "_TFProfRoot", 0, 12),
        ("scope view, average", "total time", "m", 0, 7),
        ("scope view, average", "total time", "m/x", 0, 3),
        ("scope view, average", "total time", "m/y", 3, 4),
        ("scope view, average", "total time", "z", 7, 5),
    ]
    (scope,) = [e["args"] for e in events if e["name"] == "m"]
    assert scope == {
        "total_run_count": 2,
        "total_exec_micros": 7,
        "total_cpu_exec_micros": 7,
    }
    (leaf,) = [e["args"] for e in events if e["name"] == "m/x"]  # a total would say the same
    assert leaf == {"run_count": 1, "exec_micros": 3, "cpu_exec_micros": 3}


def test_scope_view_has_a_chart_for_each_step(tmp_path: Path) -> None:
    profiler = profiler_of(graph(op("m/x")), run({"m/x": 3}), run({"m/x": 5}))
    profiler.add_step(-1, run({"m/x": 7}))  # no view can be had of a negative step
    events = timeline(profiler, tmp_path, "scope", every_step=True)
    assert [(region[0], region[-1]) for region in regions(events) if region[2] == "m"] == [
        ("scope view, step 0", 3),
        ("scope view, step 1", 5),
    ]


HOSTILE = 'ü/"\\\x00\x1f\u2028\u202e層</script><!--'


def test_hostile_names_are_text(tmp_path: Path) -> None:
    profiler = profiler_of(
        graph(op(HOSTILE, HOSTILE)),
        run_on({f"{HOSTILE}/device:CPU:0": {HOSTILE: stat(1)}, HOSTILE: {f"{HOSTILE}MEMCPY": 1}}),
    )
    for view in ("graph", "scope"):
        events = timeline(profiler, tmp_path, view)
        assert HOSTILE in {e["name"] for e in events}
        assert b"<" not in (tmp_path / "trace.json").read_bytes()


TIMES = st.one_of(
    st.integers(0, 50),
    st.integers(1_000_000, 1_000_100),
    st.sampled_from([1, -1, INT64 - 1, -INT64, INT64 // 1000, INT64 // 1000 - 1, 2**62]),
)
DEVICES = [CPU, GPU, STREAM, f"{GPU}/stream:1", "/device:GPU:0/memcpy", "", "stream:all", "x"]
OPS = ["a", "s/b", "s/c", "d"]


@st.composite
def runs(draw: st.DrawFn) -> pb.RunMetadata:
    made = pb.RunMetadata()
    made.step_stats.SetInParent()
    for device in draw(st.lists(st.sampled_from(DEVICES), max_size=5)):
        block = made.step_stats.dev_stats.add(device=device)
        for name in draw(st.lists(st.sampled_from([*OPS, "_SOURCE", "late"]), max_size=6)):
            stats = block.node_stats.add(node_name=name)
            stats.all_start_micros = draw(TIMES)
            stats.op_end_rel_micros = draw(TIMES)
            if draw(st.booleans()):
                stats.all_start_nanos = draw(TIMES)
                stats.op_end_rel_nanos = draw(TIMES)
            if draw(st.booleans()):
                memory = stats.memory.add(allocator_name=draw(st.sampled_from(["cpu", "GPU_bfc"])))
                memory.allocator_bytes_in_use = draw(TIMES)
                memory.total_bytes = draw(TIMES)
                memory.allocation_records.add(alloc_micros=draw(TIMES), alloc_bytes=draw(TIMES))
                stats.memory_stats.persistent_memory_size = draw(TIMES)
    return made


NODES = graph(
    op("a", "NoOp", "d"), op("s/b", "NoOp", "a", "a:1"), op("s/c", "NoOp", "a", "s/b"), op("d")
)


@pytest.mark.parametrize("classic", [False, True])
@settings(deadline=None, max_examples=150)
@given(runs(), runs(), st.sampled_from(["graph", "scope"]), st.booleans())
def test_no_run_is_too_odd(
    classic: bool, first: pb.RunMetadata, second: pb.RunMetadata, view: Any, every_step: bool
) -> None:
    profiler = profiler_of(NODES, first, second, classic=classic)
    steps = "steps=all," if every_step and not classic else ""
    wanted = parse_options(options(output=f"timeline:{steps}outfile=trace.json"), classic=classic)
    tree = profiler._session.view(view, wanted)
    trees = [tree]

    def view_of_step(step: int) -> ViewTree:
        trees.append(profiler._session.view(view, options_of_step(tree, step)))
        return trees[-1]

    for file in view_to_timelines(tree, view_of_step):
        data = b"".join(file.chunks)
        if classic:
            assert json.loads(data)["traceEvents"] is not None
        elif view == "scope":
            validate(data)
        else:
            last = trees[-1]
            chosen = [0, 1] if every_step else [last.options.step]
            shown = {*last.op_rows.tolist(), -1}
            tables = [profiler._session.profile.steps.details[step].executions for step in chosen]
            times = [
                start
                for table in tables
                for row, start in zip(table.rows.tolist(), table.start_micros.tolist(), strict=True)
                if start > 0 and row in shown
            ]
            assert len(regions(validate(data))) == len(times)


def test_depth_in_the_graph_hides_nothing(tmp_path: Path) -> None:
    nodes = graph(op("top", "NoOp", "mid"), op("mid", "NoOp", "low"), op("low"))
    profiler = profiler_of(nodes, run({"top": 1, "mid": 1, "low": 1}))
    tree = profiler.view("graph", options(max_depth=2))
    assert list(tree.names) == ["_TFProfRoot", "top"]
    tree = dataclasses.replace(
        tree, options=dataclasses.replace(tree.options, output=Output("timeline", "trace"))
    )
    (file,) = view_to_timelines(
        tree, lambda step: profiler._session.view("graph", options_of_step(tree, step))
    )
    drawn = [region[2] for region in regions(validate(b"".join(file.chunks)))]
    assert sorted(drawn) == ["low", "mid", "top"]


@pytest.mark.parametrize("view", ["graph", "scope", "code"])
def test_the_demo_is_a_right_trace(view: str, tmp_path: Path) -> None:
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)
    events = timeline(profiler, tmp_path, view, step=0, max_depth=10**6)
    drawn = regions(events)
    if view == "graph":
        detail = profiler._session.profile.steps.details[0]
        assert len(drawn) == int((detail.executions.start_micros > 0).sum())
        assert len({(*region[:2], region[3]) for region in drawn}) == len(drawn)
        assert {e["name"] for e in events if e["ph"] == "C"} == {"mklcpu"}
    else:
        assert len(drawn) > 100
    first = (tmp_path / "trace.json").read_bytes()
    timeline(profiler, tmp_path, view, step=0, max_depth=10**6)
    assert (tmp_path / "trace.json").read_bytes() == first
