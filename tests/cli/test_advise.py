import json

import pytest

import tfprof
from tfprof.advisor.registry import BY_DEFAULT

pytestmark = pytest.mark.slow


def test_the_recorded_step(call):
    result = call("advise", "--demo")
    assert result.exit_code == 0
    assert result.stdout.startswith("4 remarks\n\ninfo: ExpensiveOperationChecker\n")
    assert "  line  resnet50/train.py:43 in conv2d\n" in result.stdout
    assert "Nothing to report: AcceleratorUtilizationChecker, " in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_files(call, graph, runs):
    result = call("advise", "--graph_path", graph, "--run_meta_path", ",".join(runs))
    assert result.exit_code == 0
    assert "'MatMul' (20 µs, 100.0 %)" in result.stdout  # 10 µs and 30 µs


@pytest.mark.parametrize(
    "words",
    [
        ["--checkers", "JobChecker,OperationChecker"],
        ["-checkers=OperationChecker", "--checkers", "JobChecker"],
    ],
)
def test_some_checkers(call, graph, words):
    result = call("advise", "--graph_path", graph, "--format", "json", *words)
    data = json.loads(result.stdout)
    assert data["checkers"] == ["JobChecker", "OperationChecker"]
    assert [finding["rule"] for finding in data["findings"]] == ["JobChecker"]


def test_json_names_all_checkers(call, graph):
    data = json.loads(call("advise", "--graph_path", graph, "--format=json").stdout)
    assert data["checkers"] == list(BY_DEFAULT)


def test_library_frames(call):
    words = ["advise", "--demo", "--checkers", "ExpensiveOperationChecker"]
    assert "  line  resnet50/train.py:43" in call(*words).stdout
    shown = call(*words, "--show-library-frames").stdout
    assert "  line  tensorflow/python/" in shown
    assert "  line  resnet50" not in shown


def test_classic_prints_what_the_original_prints(call, capsys):
    result = call("advise", "--demo", "--classic")
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log, classic=True)
    profiler.add_step(0, files.run_meta)
    profiler.advise()
    assert result.stdout == capsys.readouterr().out
    assert result.stdout.startswith("\nAcceleratorUtilizationChecker:\n\nExpensiveOp")
    assert call("advise", "--demo", TFPROF_CLASSIC="1").stdout == result.stdout


@pytest.mark.parametrize("words", [["--format", "json"], ["--show_library_frames"]])
def test_classic_has_neither_json_nor_library_frames(call, words):
    result = call("advise", "--demo", "--classic", *words)
    assert result.exit_code == 2
    assert "--classic prints TensorFlow's text" in result.stderr


def test_to_a_file(call, graph, tmp_path):
    target = tmp_path / "advice.txt"
    words = ["advise", "--graph_path", graph, "-o", target]
    first = call(*words)
    assert (first.exit_code, first.stdout) == (0, "")
    assert target.read_text("utf-8").startswith("Nothing found\n")
    assert call(*words).exit_code == 2
    assert call(*words, "--force", "--checkers", "OperationChecker").exit_code == 0
    assert target.read_text("utf-8").startswith("Nothing found\n")
    assert call("advise", "--graph_path", graph, "-o", "").exit_code == 2


def test_an_unknown_checker(call, graph):
    result = call("advise", "--graph_path", graph, "--checkers", "Nonsense")
    assert result.exit_code == 2
    assert "unknown checker 'Nonsense'. Allowed: Accel" in result.stderr


def test_colour_and_width(call, graph):
    assert "\x1b[" in call("advise", "--graph_path", graph, "--color", "always").stdout
    narrow = call("advise", "--graph_path", graph, "--checkers", "JobChecker", COLUMNS="40").stdout
    assert max(map(len, narrow.splitlines())) <= 40


def test_nothing_to_read(call):
    assert call("advise").exit_code == 2


def test_the_same_twice(process):
    first, second = process("advise", "--demo"), process("advise", "--demo")
    assert first.returncode == 0
    assert first.stdout == second.stdout
