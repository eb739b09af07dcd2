import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import environment

pytest.importorskip("grpc")
from tests.remote.conftest import absent, fake_server  # noqa: F401


def test_an_address_is_not_a_log_folder(call, fake_server, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    server = fake_server()
    result = call("capture", server.address, "--logdir", "s3://bucket/logs")
    assert result.exit_code == 2
    assert "s3://bucket/logs: files are written into folders of this machine" in result.stderr
    assert not server.requests and not list(tmp_path.iterdir())


def test_all_workers(call, fake_server, tmp_path):  # noqa: F811
    one, other = fake_server(), fake_server()
    words = ["--duration", "10ms", "--logdir", tmp_path, "-python_tracer_level", "1"]
    result = call("capture", f"{one.address},{other.address}", *words)
    assert result.exit_code == 0, result.stderr
    head, *workers, last = result.stdout.splitlines()
    assert head.endswith(": 2 of 2 workers captured")
    assert workers[0].split()[0] == one.address
    assert workers[2].endswith(f"localhost_{other.port}.xplane.pb")
    what = "    no events, no device, no marked steps, no ops, 0 µs covered"
    assert (workers[1], workers[3]) == (what, what)
    assert f"localhost_{one.port}: holds no events: the profiler was stopped" in result.stderr
    assert last == f"next: tfprof overview {tmp_path}"
    assert one.requests[0].opts.python_tracer_level == 1
    assert call(*last.split()[2:]).exit_code == 0


def test_some_workers(call, fake_server, absent, tmp_path):  # noqa: F811
    server = fake_server()
    words = [server.address, absent, "--logdir", tmp_path, "--retries", "0", "--run", "a"]
    result = call("capture", *words, "--format", "json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert [row["address"] for row in data["rows"]] == [server.address, absent]
    assert [bool(row["trouble"]) for row in data["rows"]] == [False, True]
    assert data["next"] == f"tfprof overview {tmp_path}"


def test_no_worker(call, absent, tmp_path):  # noqa: F811
    result = call("capture", absent, "--logdir", tmp_path / "logs", "--retries", "0")
    assert (result.exit_code, result.stdout) == (3, "")
    assert f"{absent}: connection refused" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_next_command_names_a_run_that_is_not_the_latest(call, fake_server, tmp_path):  # noqa: F811
    server = fake_server()
    for run in ("b", "a"):
        result = call("capture", server.address, "--logdir", tmp_path, "--run", run)
    assert result.stdout.splitlines()[-1] == f"next: tfprof overview {tmp_path} --run a"


@pytest.mark.parametrize(
    "words", [["localhost"], ["a:1", "--duration", "x"], ["a:1", "--host-tracer-level", "9"], []]
)
def test_wrong_words(call, tmp_path, words):
    result = call("capture", *words, "--logdir", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert call("capture", "a:1").exit_code == 2  # --logdir is missing


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c(fake_server, tmp_path):  # noqa: F811
    server = fake_server("hang")
    # Python ignores Ctrl-C where it was started with that ignored, as in the background.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from tfprof.cli.main import main; main()"
    )
    command = [sys.executable, "-c", program, "capture", server.address, "--logdir", "logs"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE
    ) as process:
        assert server.asked.wait(30)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors.strip()) == (130, b"")
    assert server.given_up.wait(10)
    assert list(tmp_path.iterdir()) == []


def test_again_and_again_keeps_the_latest(call, fake_server, tmp_path):  # noqa: F811
    server = fake_server()
    words = [server.address, "--for", "10ms", "--logdir", tmp_path, "--every", "20ms"]
    result = call("capture", *words, "--count", "3", "--most-runs", "2")
    assert result.exit_code == 0, result.stderr
    written = [one.split(": ")[0] for one in result.stdout.splitlines() if ": 1 of 1" in one]
    assert len(set(written)) == 3
    assert [Path(folder).is_dir() for folder in written] == [False, True, True]


def test_repeated_captures_without_a_program(call, absent, tmp_path):  # noqa: F811
    words = ["--logdir", tmp_path / "logs", "--retries", "0", "--every", "10ms", "--count", "2"]
    result = call("capture", absent, *words)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.count("connection refused") == 3


@pytest.mark.parametrize(
    "words",
    [
        ["--count", "2"],
        ["--every", "1s", "--run", "a"],
        ["--every", "0s"],
        ["--every", "1s", "--on-server"],
    ],
)
def test_again_and_again_and_what_contradicts_it(call, absent, tmp_path, words):  # noqa: F811
    result = call("capture", absent, "--logdir", tmp_path / "logs", *words)
    assert result.exit_code == 2
