import gzip
import json
import subprocess
import sys

import pytest

from tests.cli.conftest import environment
from tfprof.cli.registry import COMMANDS
from tfprof.testing.builders import graph, op, run


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch, tmp_path):
    """This Python, on a machine without a GPU."""
    from dataclasses import replace

    from tfprof.doctor.environment import Environment

    bare = replace(Environment.current(), root=tmp_path / "nothing", run=lambda command: None)
    monkeypatch.setattr(Environment, "current", lambda: bare)


@pytest.fixture
def sound(tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(graph(op("a", "Relu")).SerializeToString())
    return path


@pytest.fixture
def untraced(tmp_path):
    path = tmp_path / "run_meta.pb"
    path.write_bytes(b"")
    return path


@pytest.fixture
def without_memory(tmp_path):
    """A file with a warning: no execution has a time."""
    path = tmp_path / "no_times.pb.gz"
    message = run({"a": 1})
    message.step_stats.dev_stats[0].node_stats[0].all_start_micros = 0
    path.write_bytes(gzip.compress(message.SerializeToString()))
    return path


def test_a_sound_file(call, sound):
    result = call("doctor", sound)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Packages\n  ✓ tfprof ")
    assert f"\n{sound}\n  ✓ GraphDef: 1 op\n\nAll is well.\n" in result.stdout
    assert "\nNVIDIA GPU\n  – no NVIDIA GPU or driver here" in result.stdout


def test_a_file_that_is_not(call, sound, untraced):
    result = call("doctor", sound, untraced)
    assert result.exit_code == 1
    assert "  ✗ the file is empty\n" in result.stdout
    assert result.stdout.endswith("\n1 error; see the remedies above.\n")
    assert result.stderr == ""


def test_warnings_are_errors_if_one_is_strict(call, without_memory):
    assert call("doctor", without_memory).exit_code == 0
    result = call("doctor", without_memory, "--strict")
    assert result.exit_code == 1
    assert "1 warning; see the remedies above." in result.stdout


def test_json(call, untraced):
    result = call("doctor", untraced, "--format", "json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert data["worst"] == "error"
    assert data["rows"][-1]["area"] == str(untraced)
    assert data["rows"][-1]["message"] == "the file is empty"
    assert set(data["rows"][0]) == {"area", "name", "status", "message", "remedy", "command"}
    assert len(result.stdout.splitlines()) == len(data["rows"]) + 2


@pytest.mark.parametrize(
    "given",
    [("--server", "localhost:1", "-server=127.0.0.1:1"), ("--server", "localhost:1,127.0.0.1:1")],
)
def test_servers(call, given):
    result = call("doctor", *given)
    assert result.exit_code == 1
    assert "✗ localhost:1: connection refused" in result.stdout
    assert "✗ 127.0.0.1:1: connection refused" in result.stdout
    assert "tfprof.capture.serve(1)" in result.stdout


@pytest.mark.parametrize("address", ["localhost", "localhost:http", "http://localhost:80"])
def test_a_wrong_address(call, address):
    result = call("doctor", "--server", address)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "write it as HOST:PORT" in result.stderr


def test_to_a_file(call, sound, tmp_path):
    target = tmp_path / "report.txt"
    assert call("doctor", sound, "-o", target).stdout == ""
    assert "All is well." in target.read_text("utf-8")
    assert call("doctor", sound, "-o", target).exit_code == 2
    assert call("doctor", sound, "-o", target, "--force").exit_code == 0


def test_width_and_colour(call, untraced):
    narrow = call("doctor", untraced, COLUMNS="50").stdout.splitlines()
    whole = (str(untraced), "pip install ")  # commands and paths are for copying
    assert max(len(line) for line in narrow if not any(text in line for text in whole)) <= 50
    assert "\x1b[" in call("doctor", "--color", "always").stdout
    assert "\x1b[" not in call("doctor").stdout


def test_a_terminal_that_has_ascii_only(sound):
    done = subprocess.run(
        [sys.executable, "-m", "tfprof", "doctor", str(sound)],
        capture_output=True, env=environment(PYTHONIOENCODING="ascii"), check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1)
    text = done.stdout.decode("ascii")
    assert "  + GraphDef: 1 op\n" in text
    assert "\\u" not in text


def test_help_is_light(process):
    code = (
        "import sys; from tfprof.cli.program import cli\n"
        "try: cli.main(['doctor', '--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'google.protobuf', 'rich', 'tensorflow') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert "tfprof doctor run_meta.pb graph.pb --server localhost:6009" in done.stdout


def test_it_is_among_the_commands():
    assert "doctor" in COMMANDS
