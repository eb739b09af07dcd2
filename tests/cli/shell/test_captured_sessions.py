"""Sessions that look at what the TensorFlow 2 profiler has captured."""

import json
from pathlib import Path

import pytest

import tfprof.captures.run.run
from tfprof.cli.program import cli
from tfprof.testing.builders import graph as graph_of
from tfprof.testing.builders import op
from tfprof.testing.xspace_builders import event, host, line, xspace


@pytest.fixture
def logs(tmp_path):
    """Two runs of one host; a step of each has one op, which takes 10 and 30 us."""
    for run, duration_ns in (("first", 10_000), ("second", 30_000)):
        folder = tmp_path / "logs" / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        step = event("train", 0, 100_000, step_num=7, _r=1)
        space = xspace(host(line(step, event("dense/MatMul:MatMul", 10, duration_ns))))
        (folder / "w0.xplane.pb").write_bytes(space.SerializeToString())
    return tmp_path / "logs"


@pytest.fixture
def session(monkeypatch, tmp_path, capfd):
    """What the lines print in a session that was opened with some words."""
    from click.testing import CliRunner

    monkeypatch.chdir(tmp_path)

    def session(*words, lines):
        script = "".join(f"{line}\n" for line in lines)
        done = CliRunner().invoke(cli, [str(word) for word in words], input=script)
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done

    return session


def test_views_and_tools_answer_without_paths(session, logs):
    done = session(logs, lines=["op --format json > op.json", "op-stats --format json > s.json"])
    assert done.exit_code == 0
    (row,) = [r for r in json.loads(Path("op.json").read_text())["rows"] if r["name"] == "MatMul"]
    assert row["exec_micros"] == 30
    stats = json.loads(Path("s.json").read_text())
    assert "dense/MatMul" in json.dumps(stats)


@pytest.mark.parametrize("line", ["info", "tools"])
def test_what_the_capture_holds(session, logs, line):
    done = session("shell", logs, lines=[line])
    assert done.exit_code == 0
    assert "run second" in done.output


def test_advice_is_that_of_captures(session, logs, call):
    once = json.loads(call("advise", logs, "--format", "json").stdout)
    session(logs, lines=["advise --format json > advice.json"])
    assert json.loads(Path("advice.json").read_text()) == once


def test_another_run_and_other_files_can_be_named(session, logs):
    session(
        logs,
        lines=[
            "tools --run first --format json > first.json",
            f"tools {logs}/plugins/profile/first --format json > folder.json",
            "tools --format json > latest.json",
            "op --demo -order_by micros --format csv > demo.csv",
        ],
    )
    assert json.loads(Path("first.json").read_text())["run"] == "first"
    assert json.loads(Path("folder.json").read_text())["run"] == "first"
    assert json.loads(Path("latest.json").read_text())["run"] == "second"
    assert "Conv2D" in Path("demo.csv").read_text()


def test_a_run_is_read_once(session, logs, monkeypatch):
    read, open_run = [], tfprof.captures.run.run.open_run

    def counted(source, *, run=None):
        read.append(run)
        return open_run(source, run=run)

    monkeypatch.setattr("tfprof.captures.run.run.open_run", counted)
    session(logs, lines=["op", "overview", "info", "tools --run first", "tools --run first"])
    assert read == [None, "first"]


def test_a_graph_beside_a_capture(session, logs, tmp_path):
    graph = tmp_path / "graph.pb"
    graph.write_bytes(graph_of(op("dense/MatMul", "MatMul"), op("x", "Relu")).SerializeToString())
    done = session(
        logs, graph, lines=["scope -order_by name --format json > s.json", "tools", "info"]
    )
    assert done.exit_code == 0
    rows = {row["name"]: row for row in json.loads(Path("s.json").read_text())["rows"]}
    assert rows["dense/MatMul"]["exec_micros"] == 30
    assert "x" in rows
    assert "run second" in done.output


def test_a_session_without_a_capture_has_none(session):
    done = session("--demo", lines=["overview"])
    assert done.exit_code == 2
    assert "nothing to read: give a log folder" in done.output
