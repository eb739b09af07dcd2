"""``tfprof timeline`` and ``tfprof pprof``: files of views, and those by device."""

import gzip
import json
import subprocess
import sys
from collections import Counter

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import run_on

from .conftest import environment

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def events(path):
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return json.loads(text)["traceEvents"]


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_a_timeline_is_what_the_output_option_writes(call, graph, runs, folder, name):
    done = call("timeline", graph, runs[0], "-o", name)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"note: {name}: open it in chrome://tracing or Perfetto\n"
    assert "layer/y" in {event.get("name") for event in events(folder / name)} | {
        event.get("args", {}).get("name") for event in events(folder / name)
    }
    written = (folder / name).read_bytes()
    call("graph", graph, runs[0], "-output", f"timeline:outfile={name}", "--force")
    assert (folder / name).read_bytes() == written


def test_steps_have_files_of_their_own_unless_they_share_one(call, graph, runs, folder):
    assert call("timeline", graph, *runs).exit_code == 0
    assert call("timeline", graph, *runs, "--every_step", "-o", "all.json").exit_code == 0
    assert call("timeline", graph, *runs, "-step", "1", "-o", "one.json").exit_code == 0
    names = {path.name for path in folder.glob("*.json")}
    assert names == {"timeline_0.json", "timeline_1.json", "all.json", "one.json"}


@pytest.mark.parametrize("view", ["scope", "code"])
def test_flame_charts(call, folder, view):
    assert call("timeline", "--demo", "--view", view, "-o", "f.json.gz").exit_code == 0
    assert any(event["ph"] == "X" for event in events(folder / "f.json.gz"))


def test_by_device_is_the_client_timeline(call, runs, folder):
    assert call("timeline", runs[0], "--view", "device", "-o", "d.json").exit_code == 0
    timeline = tfprof.Timeline(runs[0])
    trace = timeline.analyze_step_stats(show_memory=True).chrome_trace
    assert (folder / "d.json").read_text() == trace.format_to_string(pretty=False)
    assert call("timeline", *runs, "--view", "device", "-o", "x.json.gz").exit_code == 0
    assert sorted(path.name for path in folder.glob("x*")) == ["x_0.json.gz", "x_1.json.gz"]


def test_pprof_of_code_lines(call, folder):
    done = call("pprof", "--demo", "-select", "bytes,micros")
    assert done.exit_code == 0
    assert gzip.decompress((folder / "profile.pb.gz").read_bytes())
    written = (folder / "profile.pb.gz").read_bytes()
    words = ["-select", "bytes,micros", "-output", "pprof:outfile=again.pb.gz"]
    assert call("code", "--demo", *words).exit_code == 0
    assert (folder / "again.pb.gz").read_bytes() == written
    assert "note: profile.pb.gz: open it with pprof -http=: profile.pb.gz\n" in done.stderr
    classic = call("pprof", "--demo", "--classic", "-o", "classic.pb.gz")
    assert "--sample_index=1 <classic.pb.gz>" in classic.stderr


def test_pprof_by_device(call, folder):
    done = call("pprof", "--demo", "--view", "device", "-o", "profiles")
    assert done.exit_code == 0
    (path,) = (folder / "profiles").iterdir()
    assert path.name.startswith("job_localhost_replica_0_task_0_device_CPU_0_")
    assert str(path.relative_to(folder)) in done.stderr


def test_pprof_by_device_into_a_file(call, folder):
    done = call("pprof", "--demo", "--view", "device", "-o", "dev.pb.gz")
    assert done.exit_code == 0
    assert (folder / "dev.pb.gz").is_file()
    profile = pb.Profile.FromString(gzip.decompress((folder / "dev.pb.gz").read_bytes()))
    assert len(profile.sample) > 1000
    assert "note: dev.pb.gz: open it with pprof -http=: dev.pb.gz\n" in done.stderr


def test_pprof_of_several_devices_into_files(call, folder):
    message = run_on({"/cpu:0": {"a": 1}, "/gpu:0": {"b": 2}})
    (folder / "run.pb").write_bytes(message.SerializeToString())
    (folder / "out").mkdir()
    done = call("pprof", "run.pb", "--view", "device", "-o", "out/dev.pb.gz")
    assert done.exit_code == 0
    names = sorted(path.name for path in (folder / "out").iterdir())
    assert names == ["dev_cpu_0.pb.gz", "dev_gpu_0.pb.gz"]
    assert "note: out/dev_gpu_0.pb.gz: open it" in done.stderr


def leaves_and_files(path):
    """Innermost function of each sample, and the files of all others, with how deep stacks are."""
    profile = pb.Profile.FromString(gzip.decompress(path.read_bytes()))
    text = profile.string_table
    functions = {f.id: (text[f.name], text[f.filename]) for f in profile.function}
    lines = {place.id: functions[place.line[0].function_id] for place in profile.location}
    stacks = [[lines[number] for number in sample.location_id] for sample in profile.sample]
    files = {file for stack in stacks for _, file in stack[1:]}
    return Counter(stack[0][0] for stack in stacks), files, max(map(len, stacks))


def test_stacks_are_whole_and_of_the_users_lines(call, folder):
    """The op's type is the leaf; the error handlers of TensorFlow are not in the way."""
    assert call("pprof", "--demo", "-o", "own.pb.gz").exit_code == 0
    assert call("pprof", "--demo", "--show_library_frames", "-o", "all.pb.gz").exit_code == 0
    leaves, files, depth = leaves_and_files(folder / "own.pb.gz")
    assert leaves["Conv2D"] == 53
    assert files == {"resnet50/train.py"}
    all_leaves, all_files, all_depth = leaves_and_files(folder / "all.pb.gz")
    assert all_leaves == leaves
    assert any("tensorflow/" in file for file in all_files)
    assert all_depth > 12 > depth > 5


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["timeline", "GRAPH", "RUN", "RUN1", "-o", "-"], 2, "2 steps make as many files"),
        (["pprof", "RUN", "--view", "device", "-o", "-"], 2, "give the name of a folder or"),
        (["timeline", "--demo", "--view", "op"], 2, "'op'"),
        (["timeline", "GRAPH"], 4, "holds no step"),
        (["timeline", "GRAPH", "--view", "device"], 4, "give the run metadata"),
        (["timeline", "RUN", "--view", "device", "-step", "9"], 2, "there is no such step"),
        (["pprof", "GRAPH", "--view", "device"], 4, "give the run metadata"),
        (["pprof", "RUN", "--view", "device", "-step", "9"], 2, "there is no such step"),
        (["pprof", "GRAPH"], 4, "call stacks"),
    ],
)
def test_what_can_not_be_written(call, graph, runs, folder, words, code, message):
    done = call(
        *({"GRAPH": graph, "RUN": runs[0], "RUN1": runs[1]}.get(word, word) for word in words)
    )
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr
    assert {path.suffix for path in folder.iterdir()} == {".pbtxt"}


def test_files_are_not_overwritten_without_force(call, runs, folder):
    (folder / "timeline.json").write_text("mine")
    assert call("timeline", runs[0]).exit_code == 2
    assert (folder / "timeline.json").read_text() == "mine"
    assert call("timeline", runs[0], "--force").exit_code == 0


@pytest.mark.parametrize(
    "words", [["timeline"], ["timeline", "--view", "device"], ["timeline", "--every_step"]]
)
def test_a_timeline_can_be_piped(call, graph, runs, folder, words):
    assert call(*words, graph, runs[0], "-o", "t.json").exit_code == 0
    piped = call(*words, graph, runs[0], "-o", "-")
    assert (piped.exit_code, piped.stderr) == (0, "")
    assert piped.stdout_bytes == (folder / "t.json").read_bytes()


def test_a_pprof_profile_can_be_piped(call, folder):
    assert call("pprof", "--demo", "-o", "p.gz").exit_code == 0
    piped = call("pprof", "--demo", "-o", "-")
    assert (piped.exit_code, piped.stderr) == (0, "")
    assert piped.stdout_bytes == (folder / "p.gz").read_bytes()


def test_in_the_shell_text_can_be_redirected(call, graph, runs, folder):
    assert call("timeline", graph, runs[0], "-o", "once.json").exit_code == 0
    done = subprocess.run(
        [sys.executable, "-m", "tfprof", graph, runs[0]],
        input="timeline -o - > t.json\npprof --demo -o - > p.gz\n",
        capture_output=True, text=True, encoding="utf-8", env=environment(), check=False,
    )  # fmt: skip
    assert (folder / "t.json").read_bytes() == (folder / "once.json").read_bytes()
    assert done.stderr == (
        "error: the result is binary, which the shell cannot pass on; give -o FILE\n"
    )
    assert not (folder / "p.gz").exists()
