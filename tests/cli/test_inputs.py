"""Which files a command reads, and what it says of those that it cannot."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import text_format

import tfprof
from tests.files.event_files import event_file, graph_event, run_event
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import event, host, line, xspace

from .conftest import environment

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shut(monkeypatch, tmp_path):
    """A folder that no user can list."""
    path = tmp_path / "shut"
    path.mkdir()
    listed = Path.iterdir

    def iterdir(self):
        if self.name == "shut":
            raise PermissionError(13, "Permission denied", str(self))
        return listed(self)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    return path


READERS = ("op", "info", "advise", "convert", "overview", "tools", "flops", "summary")


@pytest.mark.parametrize("command", READERS)
def test_a_folder_that_can_not_be_listed_is_named(call, shut, command):
    extra = ["-o", "x"] if command == "convert" else []
    done = call(command, shut, *extra)
    assert done.exit_code == 3
    assert done.stderr == (
        f"tfprof: error: {shut}: cannot be read: Permission denied. Check the path\n"
    )


@pytest.mark.parametrize("command", READERS)
def test_a_name_that_no_file_can_have_is_named(call, command):
    name = "n" * 5000
    extra = ["-o", "x"] if command == "convert" else []
    done = call(command, name, *extra)
    assert done.exit_code == 3
    assert done.stderr.startswith(f"tfprof: error: {name}: cannot be read: ")


@pytest.mark.parametrize("command", READERS)
def test_an_empty_name_is_not_a_folder(call, command):
    done = call(command, "", *(["-o", "x"] if command == "convert" else []))
    assert done.exit_code == 2
    assert "'' is not the name of a file" in done.stderr


def test_damaged_files_of_a_folder_are_reported(call, graph, folder):
    whole = Path(graph).read_bytes()
    (folder / "run").mkdir()
    (folder / "run/graph.pbtxt").write_bytes(whole)
    (folder / "run/run_meta.pb.gz").write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\xff???")
    done = call("op", "run")
    assert done.exit_code == 0
    assert done.stderr.startswith("note: not read: run/run_meta.pb.gz: ")
    (folder / "run/graph.pbtxt").unlink()
    done = call("op", "run")
    assert done.exit_code == 4
    assert "run: no file of a run could be read: run/run_meta.pb.gz: " in done.stderr


@pytest.mark.parametrize("option", ["graph_path", "run_meta_path", "op_log_path", "profile_path"])
def test_an_option_names_a_file(call, graph, option):
    done = call("op", f"--{option}", ".")
    assert done.exit_code == 2
    assert f"--{option} .: is a folder; name the file in it" in done.stderr


@pytest.mark.parametrize("option", ["graph_path", "profile_path"])
def test_an_empty_file_is_none_that_was_saved(call, folder, option):
    (folder / "empty").touch()
    for words in (["op", "empty"], ["op", f"--{option}", "empty"], ["flops", "empty"]):
        done = call(*words)
        assert done.exit_code == 3
        assert done.stderr == "tfprof: error: empty: this file is empty. Save it again\n"


def test_a_comma_may_be_part_of_a_name(call, graph, runs, folder):
    Path(runs[0]).rename(folder / "a,b")
    wanted = tfprof.Profiler(graph)
    wanted.add_step(0, folder / "a,b")
    wanted.add_step(1, runs[1])
    for words in (["a,b", runs[1]], [rf"a\,b,{runs[1]}"]):
        paths = [word for path in words for word in ("--run_meta_path", path)]
        done = call("convert", "--graph_path", graph, *paths, "-o", "p", "--force")
        assert done.exit_code == 0
        assert Path("p").read_bytes() == wanted.serialize_to_string()


def test_a_file_that_is_named_twice_is_read_once(call, graph, runs, folder):
    once = call("info", graph, runs[0], "--format", "json")
    twice = call("info", graph, graph, runs[0], runs[0], os.path.relpath(graph), "--format", "json")
    assert (twice.exit_code, twice.stdout) == (0, once.stdout)


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="needs /dev/stdin")
@pytest.mark.parametrize(
    "words",
    [
        ["op", "FILE"],
        ["op", "--graph_path", "FILE"],
        ["flops", "FILE"],
        ["convert", "FILE", "--to", "text", "-o", "-"],
    ],
)
def test_a_dash_is_stdin(call, graph, words):
    named = call(*(graph if word == "FILE" else word for word in words))
    assert named.exit_code == 0
    piped = subprocess.run(
        [sys.executable, "-m", "tfprof", *("-" if word == "FILE" else word for word in words)],
        input=Path(graph).read_text(), capture_output=True, text=True, encoding="utf-8",
        env=environment(), check=False,
    )  # fmt: skip
    assert (piped.returncode, piped.stderr) == (0, named.stderr)
    assert piped.stdout == named.stdout


@pytest.fixture
def capture(folder):
    path = folder / "host.xplane.pb"
    spent = line(event("train", 0, 100, step_num=1, _r=1), event("y:MatMul", 10, 30))
    path.write_bytes(xspace(host(spent)).SerializeToString())
    return path


def test_the_demo_is_read_alone(call, capture):
    for command in ("op", "info", "advise"):
        done = call(command, "--demo", capture)
        assert done.exit_code == 2
        assert f"leave out --demo or {capture}" in done.stderr


def test_flops_takes_the_graph_of_a_profile_and_of_a_folder(call, graph, runs, folder):
    assert call("convert", graph, runs[0], "-o", "profile").exit_code == 0
    (folder / "run").mkdir()
    Path(graph).rename(folder / "run/graph.pbtxt")
    Path(runs[0]).rename(folder / "run/run_meta.pbtxt")
    counted = call("flops", "run/graph.pbtxt", "--format", "json").stdout
    assert '"flops"' in counted
    assert call("flops", "profile", "--format", "json").stdout == counted
    assert call("flops", "run", "--format", "json").stdout == counted
    assert call("summary", "run").exit_code == 0


def test_a_graph_beside_a_capture_is_not_left_out(call, capture, graph):
    assert "XSpace capture" in call("info", capture).stdout
    flag = call("info", capture, "--graph_path", graph, "--format", "json")
    assert flag.stdout == call("info", capture, graph, "--format", "json").stdout
    assert json.loads(flag.stdout)["ops"]["ops"] == 4
    told = call("advise", capture, "--graph_path", graph)
    assert told.stdout == call("advise", capture, graph).stdout
    assert "PeakMemoryChecker" in told.stdout


def test_a_run_folder_has_no_runs_to_choose(call, capture, folder):
    done = call("tools", ".", "--run", "other")
    assert done.exit_code == 2
    assert "there is no run 'other' to choose; leave it out" in done.stderr


def test_errors_on_other_files_name_commands_that_read_them(call, graph):
    done = call("overview", graph)
    assert done.exit_code == 3
    assert "looks like a GraphDef; the views (tfprof op, scope, graph, code)" in done.stderr
    assert "--graph_path" not in done.stderr


def test_of_a_damaged_profile_the_rest_can_be_read(call, graph, runs, folder):
    assert call("convert", graph, *runs, "-o", "profile").exit_code == 0
    (folder / "profile").write_bytes((folder / "profile").read_bytes()[:-3])
    done = call("op", "profile")
    assert done.exit_code == 3
    assert done.stderr.startswith("tfprof: error: profile: truncated ProfileProto message: ")
    assert done.stderr.endswith(" Or read the rest of it with --recover\n")
    rest = call("op", "profile", "--recover")
    assert rest.exit_code == 0
    assert "the profile is cut off or broken" in rest.stderr
    (folder / "cut").write_bytes(b"\x0a\x05")
    assert "--recover" not in call("op", "--graph_path", "cut").stderr


def test_event_files_are_read_by_every_command(call, folder, graph, runs):
    run = text_format.Parse(Path(runs[0]).read_text(), pb.RunMetadata()).SerializeToString()
    message = text_format.Parse(Path(graph).read_text(), pb.GraphDef()).SerializeToString()
    Path("events").write_bytes(event_file(graph_event(message), run_event("t", run, step=7)))
    assert json.loads(call("op", "events", "--format", "json").stdout)["steps"] == [7]
    assert "layer/y" in call("scope", "events").stdout
    assert call("convert", "events", "-o", "saved").exit_code == 0
    assert json.loads(call("op", "saved", "--format", "json").stdout)["steps"] == [7]
    assert call("flops", "events").stdout == call("flops", graph).stdout
    assert "1 traced run and a graph" in call("doctor", "events").stdout
    wrong = call("op", "--graph_path", "events")
    assert wrong.exit_code == 3
    assert "is read if the file is given without a flag" in wrong.stderr
