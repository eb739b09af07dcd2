"""The options of ``tfprof record`` that say where workers are and what is written."""

import json
import signal

import pytest

pytest.importorskip("grpc")
from tests.remote.conftest import absent, fake_server  # noqa: F401
from tests.remote.flight.fake_sessions import FakeSession, wait_for


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "no worker is given; give one of: HOST:PORT, --workers-from, --slurm, --kubernetes"),
        (["a:1", "--slurm", "here", "--port", "1"], "HOST:PORT and --slurm are given"),
        (["--slurm", "1"], "option --slurm needs --port"),
        (["--slurm", "x", "--port", "1"], "slurm='x' is not the number of a job"),
        (["a:1", "--port", "1"], "option --port is for --slurm and --kubernetes"),
        (["a:1", "--namespace", "x"], "option --namespace is for --kubernetes"),
        (["a:1", "--steps", "9:3"], "option --steps is '9:3'"),
        (["a:1", "--steps", "9:"], "option --steps is '9:'"),
        (["a:1", "--steps", "x"], "'x' is not the number of a step"),
        (["a:1", "--budget", "many"], "option budget='many': 'many' is not one of its limits"),
        (["a:1", "--retain", "0 runs"], "option retain='0 runs'"),
        (["a:1", "--logdir", "nosuch://x"], "fsspec cannot read nosuch://"),
    ],
)
def test_wrong_options(call, tmp_path, monkeypatch, words, text):
    monkeypatch.setenv("TFPROF_OUTBOX", str(tmp_path / "outbox"))
    monkeypatch.delenv("SLURM_JOB_NODELIST", raising=False)
    result = call("record", *words, *([] if "--logdir" in words else ["--logdir", tmp_path]))
    assert result.exit_code == 2 and text in result.stderr, result.stderr


def test_a_list_of_workers_that_is_not_there(call, tmp_path):
    result = call("record", "--workers-from", tmp_path / "none", "--logdir", tmp_path / "logs")
    assert result.exit_code == 3 and "the list of workers cannot be read" in result.stderr
    assert not (tmp_path / "logs").exists()


def test_steps_of_listed_workers(call, fake_server, tmp_path):  # noqa: F811
    fake = FakeSession()
    file = tmp_path / "workers.txt"
    file.write_text(f"{fake_server(**fake.methods()).address}\n")
    words = ["--workers-from", file, "--steps", "3:4", "--interval", "50ms", "--format", "jsonl"]
    limits = ["--budget", "2 runs a day", "--retain", "5 runs"]
    result = call("record", *words, *limits, "--logdir", tmp_path / "logs")
    assert result.exit_code == 0, result.stderr
    (saved,) = map(json.loads, result.stdout.splitlines())
    assert saved["reason"] == "steps 3 to 4" and len(saved["files"]) == 1
    assert "of one CPU core, and holds " in result.stderr


def test_sigterm_writes_what_is_kept(call, fake_server, tmp_path):  # noqa: F811
    import threading

    fake = FakeSession()
    server = fake_server(**fake.methods())

    def end():
        wait_for(lambda: fake.n_snapshots > 2)
        signal.raise_signal(signal.SIGTERM)

    thread = threading.Thread(target=end)
    thread.start()
    words = [server.address, "--interval", "50ms", "--overhead-check", "0s"]
    result = call("record", *words, "--logdir", tmp_path)
    thread.join()
    assert result.exit_code == 0 and "signal SIGTERM" in result.stdout
    assert len(list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))) == 1
