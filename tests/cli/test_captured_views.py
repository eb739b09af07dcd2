"""Views of what the TensorFlow 2 profiler has captured."""

import json

import pytest

import tfprof
from tests.captures.tools.recorded import TUTORIALS
from tfprof.captures.hosts.engines import OneProcess
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import event, host, line, xspace


@pytest.fixture
def capture(tmp_path):
    """One step in which ``layer/y`` runs for 300 µs and ``layer/z`` for 100."""
    calls = [
        event("$train.py:3 main", 0, 10**6), event("train", 10, 9 * 10**5, step_num=5, _r=1),
        event("layer/y:Relu", 100, 300_000), event("layer/z:Abs", 400_000, 100_000),
    ]  # fmt: skip
    folder = tmp_path / "logs" / "plugins" / "profile" / "run1"
    folder.mkdir(parents=True)
    (folder / "w0.xplane.pb").write_bytes(xspace(host(line(*calls))).SerializeToString())
    return tmp_path / "logs"


def places(logs):
    run = logs / "plugins" / "profile" / "run1"
    return logs, run, run / "w0.xplane.pb"


def test_views_of_log_folders_run_folders_and_files(call, capture):
    for place in places(capture):
        result = call("op", place)
        assert (result.exit_code, result.stderr) == (0, "")
        assert "Relu" in result.stdout
        assert "300us" in result.stdout
    assert "layer/y" in call("scope", capture).stdout
    assert "train.py:3:main" in call("code", capture).stdout


def test_outputs(call, capture, tmp_path):
    written = tmp_path / "timeline.json"
    assert call("timeline", capture, "-o", written).exit_code == 0
    (timeline,) = tmp_path.glob("timeline*.json")
    names = {event.get("name") for event in json.loads(timeline.read_text())["traceEvents"]}
    assert {"layer/y", "layer/z"} <= names
    assert call("pprof", capture, "-o", tmp_path / "pprof.gz").exit_code == 0


def test_a_graph_has_more(call, capture, tmp_path):
    graph = pb.GraphDef()
    graph.node.add(name="layer/y", op="Relu")
    graph.node.add(name="layer/unused", op="Neg")
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    for words in ([capture, path], [capture, "--graph_path", path]):
        result = call("scope", *words)
        assert result.exit_code == 0
        assert "layer/y" in result.stdout
    profiler = tfprof.open_profile(capture, path)
    assert profiler.steps == [5]
    assert profiler.coverage == pytest.approx(2 / 3)


def test_run_metadata_do_not_go_together_with_captures(call, capture):
    run_meta = tfprof.demo_files().run_meta
    result = call("op", capture, "--run_meta_path", run_meta)
    assert result.exit_code == 2
    assert "only a graph and a checkpoint go together with it" in result.stderr
    with pytest.raises(tfprof.UsageError, match="only a graph"):
        tfprof.open_profile(capture, run_meta)


def test_the_code_view_says_where_calls_come_from(call, tmp_path):
    path = tmp_path / "w0.xplane.pb"
    path.write_bytes(xspace(host(line(event("layer/y:Relu", 0, 1000)))).SerializeToString())
    result = call("code", path)
    assert result.exit_code == 4
    assert "a capture with the Python tracer" in result.stderr


TWO_WORKERS = TUTORIALS / "two-workers"
MANY = [
    ("scope", "-max_depth", "3"),
    ("op", "--format", "json"),
    ("graph", "-step", "1110"),
    ("info",),
    ("advise",),
    ("timeline", "-step", "1110", "-o", "-"),
]


@pytest.mark.one_engine
@pytest.mark.parametrize("words", MANY, ids=" ".join)
def test_hosts_are_read_one_by_one(call, words):
    command, *others = words
    expected = call(command, TWO_WORKERS, *others)
    assert expected.exit_code == 0
    for engine in (("--engine", "process"), ("--memory", "1G")):
        result = call(command, TWO_WORKERS, *others, *engine)
        assert (result.exit_code, result.stdout_bytes) == (0, expected.stdout_bytes)
        assert result.stderr == expected.stderr


def test_engines_are_for_captures(call):
    result = call("scope", "--demo", "--engine", "process")
    assert result.exit_code == 2
    assert "--engine says how the hosts of a capture are read, and there is no capture" in (
        result.stderr
    )


def test_what_was_read_before_an_interrupt_is_shown(call, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(OneProcess, "parts", interrupt)
    result = call("op", TWO_WORKERS, "--engine", "process")
    assert result.exit_code == 130
    assert "MatMul" in result.stdout
    assert "this is the answer of 1 of 2 hosts. Not read: worker1_6009" in result.stderr
