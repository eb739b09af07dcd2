"""Run metadata as pprof profiles: complete by default, as TensorFlow's in classic mode."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from typing import Any

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.inputs.profiler import Profiler
from tfprof.profiles.write.device_pprof import device_profiles, encode, file_names
from tfprof.testing.builders import CPU, GPU, graph, op, op_log, run_on, stat, traced

MAIN = "dir/train.py:3:main"
BUILD = "dir/train.py:10:build"
MATMUL = "tf/math.py:40:matmul"
APPLY_OP = "tf/library.py:7:apply_op"
INIT = "tf/ops.py:9:__init__"

GRAPH = graph(op("mm", "MatMul"), op("sum", "Sum"))
LOG = op_log(
    traced("mm", MAIN, BUILD, MATMUL, APPLY_OP, INIT),
    traced("sum", MAIN, APPLY_OP, INIT),
)


def executed(all_end: int, op_start: int, op_end: int, label: str = "") -> pb.NodeExecStats:
    made = stat(op_end, label=label)
    made.all_end_rel_micros = all_end
    made.op_start_rel_micros = op_start
    return made


RUN = run_on(
    {
        CPU: [
            ("_SOURCE", executed(5, 0, 5)),
            ("mm", executed(100, 10, 70)),
            ("mm", executed(50, 5, 25)),
            ("_Recv_3", executed(7, 1, 4, label="_Recv_3 = _Recv()")),
        ],
        GPU: [("sum", executed(30, 2, 22))],
        "/device:GPU:0/stream:all": [("sum:Sum", executed(9, 0, 9))],
        "/idle": [("_SINK", executed(1, 0, 1))],
    }
)


def profiles(run: pb.RunMetadata = RUN, *, classic: bool = False) -> dict[str, pb.Profile]:
    known = Profiler(GRAPH, LOG, classic=classic)._session.profile
    return device_profiles(run, known, classic=classic)


Shown = dict[str, tuple[list[tuple[str, str, int]], list[int], dict[str, str]]]


def shown(profile: pb.Profile) -> Shown:
    """By node: lines from the innermost outward, values, and the other labels."""
    text = profile.string_table
    functions = {f.id: (text[f.name], text[f.filename]) for f in profile.function}
    lines = {
        place.id: (*functions[place.line[0].function_id], place.line[0].line)
        for place in profile.location
    }
    found = {}
    for sample in profile.sample:
        labels = {text[label.key]: text[label.str] for label in sample.label}
        name = labels.pop("node_name")
        found[name] = ([lines[i] for i in sample.location_id], list(sample.value), labels)
    return found


def sample_types(profile: pb.Profile) -> list[tuple[str, str]]:
    text = profile.string_table
    return [(text[kind.type], text[kind.unit]) for kind in profile.sample_type]


def test_repeated_executions_are_summed_at_one_stack() -> None:
    lines, values, labels = shown(profiles()[CPU])["mm"]
    assert values == [2, 150, 60 + 20]
    assert labels == {"op_type": "MatMul", "device": CPU}
    assert lines == [
        ("ops:__init__", "tf/ops.py", 9),
        ("library:apply_op", "tf/library.py", 7),
        ("math:matmul", "tf/math.py", 40),
        ("train:build", "dir/train.py", 10),
        ("train:main", "dir/train.py", 3),
    ]


def test_times_are_microseconds() -> None:
    made = profiles()[CPU]
    assert sample_types(made) == [
        ("count", "count"), ("all_time", "microseconds"), ("op_time", "microseconds"),
    ]  # fmt: skip
    assert made.string_table[made.default_sample_type] == "all_time"


def test_nodes_that_no_line_made_are_there() -> None:
    lines, values, labels = shown(profiles()[CPU])["_Recv_3"]
    assert lines == [("(no call stack)", "", 0)]
    assert values == [1, 7, 3]
    assert labels == {"op_type": "_Recv", "device": CPU}


def test_kernels_stand_at_the_lines_of_their_op() -> None:
    lines, values, labels = shown(profiles()["/device:GPU:0/stream:all"])["sum:Sum"]
    assert lines[-1] == ("train:main", "dir/train.py", 3)
    assert labels["op_type"] == "Sum"
    assert values == [1, 9, 9]


def test_each_device_has_a_profile_of_its_own() -> None:
    made = profiles()
    assert list(made) == [CPU, GPU, "/device:GPU:0/stream:all"]  # the idle one has no ops
    texts = [p.string_table[p.comment[0]] for p in made.values()]
    assert texts[1] == f"Device 2 of 4: {GPU}"
    assert "MatMul" not in made[GPU].string_table
    assert made[GPU].string_table[0] == ""


def test_blocks_of_one_device_are_one_profile() -> None:
    run = run_on({CPU: [("mm", executed(1, 0, 1))]})
    run.step_stats.dev_stats.add().CopyFrom(run.step_stats.dev_stats[0])
    assert shown(profiles(run)[CPU])["mm"][1] == [2, 2, 2]
    assert shown(profiles(run, classic=True)[CPU])["mm"][1] == [1, 1, 1]


def test_classic_shows_calls_outside_of_apply_op() -> None:
    made = profiles(classic=True)
    assert sample_types(made[CPU]) == [
        ("count", "count"), ("all_time", "nanoseconds"), ("op_time", "nanoseconds"),
    ]  # fmt: skip
    found = shown(made[CPU])
    assert set(found) == {"mm"}  # what has no call stack is left out
    lines, values, labels = found["mm"]
    calls = [("matmul", "tf/math.py", 10), ("build", "dir/train.py", 3)]
    assert lines == calls * 2  # once more for each execution
    assert values == [2, 150, 80]
    assert labels == {"op_type": "MatMul"}
    assert [function.start_line for function in made[CPU].function] == [-1, -1]
    # Nothing called apply_op's caller, and stats of kernels have names of their own.
    assert shown(made[GPU]) == {"sum": ([], [1, 30, 20], {"op_type": "Sum"})}
    assert list(made) == [CPU, GPU]


def test_classic_tables_are_shared_by_all_devices() -> None:
    made = profiles(classic=True)
    assert len(made[GPU].function) == len(made[CPU].function) == 2
    shared = list(made[CPU].string_table[:-1])  # without the comment
    assert list(made[GPU].string_table[: len(shared)]) == shared


def test_classic_has_no_locations_where_nothing_calls_apply_op() -> None:
    known = Profiler(GRAPH, op_log(traced("mm", MAIN, BUILD, INIT)), classic=True)._session.profile
    assert shown(device_profiles(RUN, known, classic=True)[CPU])["mm"][0] == []


def test_equal_runs_give_equal_bytes() -> None:
    first, second = (encode(profiles()[CPU]) for _ in range(2))
    assert first == second
    assert pb.Profile.FromString(gzip.decompress(first)) == profiles()[CPU]


def test_file_names() -> None:
    assert file_names([CPU, "/", "a:b", "a_b", "..\\x\0é"], "20240131120000") == [
        "job_localhost_replica_0_task_0_device_CPU_0_20240131120000.pb.gz",
        "_20240131120000.pb.gz",
        "a_b_20240131120000.pb.gz",
        "a_b_2_20240131120000.pb.gz",
        ".._x_é_20240131120000.pb.gz",
    ]


@pytest.mark.skipif(shutil.which("pprof") is None, reason="needs Go's pprof program")
def test_gos_pprof_reads_it(tmp_path: Any) -> None:
    path = tmp_path / "p.pb.gz"
    path.write_bytes(encode(profiles()[CPU]))
    text = subprocess.run(["pprof", "-raw", str(path)], capture_output=True, text=True, check=True)
    assert "train:main" in text.stdout


def test_the_api_gives_profiles_or_writes_files(tmp_path: Any) -> None:
    made = tfprof.pprof_profile(GRAPH, RUN.SerializeToString(), op_log=LOG)
    assert made == profiles()
    files = tfprof.pprof_profile(GRAPH, RUN, tmp_path / "new", op_log=LOG)
    assert sorted(files) == sorted(str(path) for path in (tmp_path / "new").iterdir())
    assert re.search(r"job_localhost_.*_CPU_0_\d{14}\.pb\.gz$", files[0])
    with gzip.open(files[0]) as stream:
        assert pb.Profile.FromString(stream.read()) == made[CPU]


def test_a_run_that_was_not_traced() -> None:
    with pytest.raises(tfprof.EmptyProfileError, match="FULL_TRACE"):
        tfprof.pprof_profile(GRAPH, pb.RunMetadata())
    with pytest.warns(tfprof.TfprofWarning, match="FULL_TRACE"):
        assert tfprof.pprof_profile(GRAPH, pb.RunMetadata(), classic=True) == {}


def test_a_folder_that_can_not_be_made(tmp_path: Any) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(tfprof.InputError, match="cannot be written"):
        tfprof.pprof_profile(GRAPH, RUN, tmp_path / "file" / "below")


@pytest.mark.tensorflow
def test_a_live_graph_through_the_old_names(tmp_path: Any, capsys: Any) -> None:
    from tfprof.compat import pprof_profiler

    v1 = pytest.importorskip("tensorflow").compat.v1
    live = v1.Graph()
    with live.as_default(), v1.Session() as session:
        values = v1.placeholder("float32", [3, 4])
        total = v1.reduce_sum(values, name="total")
        metadata = v1.RunMetadata()
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        session.run(total, {values: [[1.0] * 4] * 3}, options=options, run_metadata=metadata)
    lines, (count, *_), labels = shown(tfprof.pprof_profile(live, metadata)[CPU])["total"]
    assert count == 1
    assert labels["op_type"] == "Sum"
    function = "test_device_pprof:test_a_live_graph_through_the_old_names"
    assert any(name == function and file == __file__ for name, file, _ in lines)

    assert shown(pprof_profiler.get_profiles(live, metadata)[CPU])["total"][0] == []
    (file,) = pprof_profiler.profile(live, metadata, tmp_path)
    assert capsys.readouterr().out == f"Writing profile to {file}...\n"
    assert pprof_profiler.profile(live, metadata) == []
    assert "string_table" in capsys.readouterr().out


class Operation:
    """An op as ``pprof_profiler`` looks at it; call stacks of TensorFlow 1 are lists of tuples."""

    def __init__(self, name: str, kind: str, traceback: list[tuple[Any, ...]]) -> None:
        self.name, self.type, self.traceback = name, kind, traceback


class Operations:
    """All that ``pprof_profiler`` asks of a graph."""

    def get_operations(self) -> list[Operation]:
        frames = [("a/one", 10, "apply_op", "abc"), ("a/two", 12, "my_op", "def")]
        calls = [("a/main", 1, "main", None), ("a/lib", 7, "matmul"), frames[0], frames[1]]
        return [Operation("Add/123", "add", frames), Operation("mm", "MatMul", calls)]


def test_a_graph_with_nothing_but_operations() -> None:
    from tfprof.compat import pprof_profiler

    run = run_on({"deviceA": [("Add/123", executed(4, 3, 5)), ("mm", executed(9, 1, 2))]})
    (made,) = pprof_profiler.get_profiles(Operations(), run).values()
    assert shown(made) == {
        "Add/123": ([], [1, 4, 2], {"op_type": "add"}),
        "mm": ([("matmul", "a/lib", 1)], [1, 9, 1], {"op_type": "MatMul"}),
    }
    (complete,) = tfprof.pprof_profile(Operations(), run).values()
    assert [line[0] for line in shown(complete)["mm"][0]] == [
        "two:my_op", "one:apply_op", "lib:matmul", "main:main",
    ]  # fmt: skip


def test_classic_numbers_strings_as_the_original_does() -> None:
    """Locations and labels of the samples come first, then the sample types."""
    from tfprof.compat import pprof_profiler

    run = run_on({"deviceA": [("Add/123", executed(4, 3, 5))]})
    (made,) = pprof_profiler.get_profiles(Operations(), run).values()
    assert list(made.string_table) == [
        "", "node_name", "Add/123", "op_type", "add", "count", "all_time", "nanoseconds",
        "op_time", "Device 1 of 1: deviceA",
    ]  # fmt: skip
    assert [(kind.type, kind.unit) for kind in made.sample_type] == [(5, 5), (6, 7), (8, 7)]
    assert list(made.comment) == [9]
