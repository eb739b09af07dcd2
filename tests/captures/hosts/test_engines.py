"""Several processes give the same parts as one process, even if some of them die."""

import multiprocessing
import os
import signal
import subprocess
import sys

import pytest

from tests.captures.parts.recorded_files import WANTED, files
from tfprof.captures.hosts import engines
from tfprof.captures.hosts.engines import OneProcess, Processes, local_engine
from tfprof.captures.parts.part import merge
from tfprof.testing.xspace_builders import event, host, line, xspace

pytestmark = pytest.mark.one_engine

CAPTURES = ("cpu-multi-worker", "gpu-synthetic", "tpu-synthetic", "cpu-no-steps")


def expected():
    return merge(OneProcess().parts(files(*CAPTURES), WANTED)).to_bytes()


def test_processes_give_the_same_and_outlive_a_death():
    killed = []
    parts = []
    for part in Processes(2).parts(files(*CAPTURES), WANTED):
        parts.append(part)
        if not killed:
            killed = multiprocessing.active_children()
            for process in killed:
                os.kill(process.pid, signal.SIGKILL)
    assert killed
    assert merge(parts).to_bytes() == expected()


PROGRAM = """
import multiprocessing.spawn, sys
from tfprof.cli.main import main
if __name__ == "__main__":
    multiprocessing.spawn.set_executable(sys.argv[1])
    sys.argv = ["tfprof", "overview", sys.argv[2], "--engine", "processes"]
    main()
"""


@pytest.mark.skipif(os.name != "posix", reason="starts processes in another way")
def test_a_python_that_cannot_be_started_is_an_error(tmp_path):
    """The pipe to it breaks, which is not a reader of the answer who has gone."""
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("a", "b"):
        space = xspace(host(line(event("a", 0))), hostname=name)
        (runs / f"{name}.xplane.pb").write_bytes(space.SerializeToString())
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py", "program.py", str(runs)], cwd=tmp_path,
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode
    assert done.stdout == ""
    assert "no process can be started that reads hosts" in done.stderr


def test_processes_start_before_the_request():
    engine = Processes(2)
    with engine.begun(len(files(*CAPTURES))):
        assert len(multiprocessing.active_children()) == 2
        assert merge(engine.parts(files(*CAPTURES), WANTED)).to_bytes() == expected()
        assert not multiprocessing.active_children()
    with engine.begun(1), pytest.raises(KeyboardInterrupt):
        assert len(multiprocessing.active_children()) == 1
        raise KeyboardInterrupt
    with engine.begun(0):
        assert not multiprocessing.active_children()


KILLED = """
import os, signal
from tfprof.captures.hosts.engines import Processes, _nothing

if __name__ == "__main__":
    engine = Processes(1)
    with engine.begun(1):
        engine._begun.submit(_nothing).result()
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_processes_end_with_a_parent_that_is_killed(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(KILLED)
    # Its process has the same stdout, and would keep it open.
    done = subprocess.run([sys.executable, str(path)], stdout=subprocess.PIPE, timeout=120)
    assert done.returncode == -signal.SIGKILL


def test_processes_that_die_before_the_request_are_replaced():
    engine = Processes(2)
    with engine.begun(2):
        started = multiprocessing.active_children()
        os.kill(started[0].pid, signal.SIGKILL)  # the executor ends the other one
        for process in started:
            process.join()
        assert merge(engine.parts(files(*CAPTURES), WANTED)).to_bytes() == expected()


def _dies_at_the_gpu(file, wanted):
    if "gpu" in file.path:
        os._exit(9)
    return merge(OneProcess().parts([file], wanted)).to_bytes()


def test_a_file_that_kills_its_process_is_named(monkeypatch):
    monkeypatch.setattr(engines, "_condensed", _dies_at_the_gpu)
    part = merge(Processes(2).parts(files("gpu-synthetic", "cpu-no-steps"), WANTED))
    reported = {host.label: host.error for host in part.hosts.values()}
    assert reported == {"gpu-host-a": engines.KILLED, "worker0": ""}


@pytest.mark.parametrize(
    ("n_files", "n_bytes", "memory", "expected"),
    [
        (1, 1 << 30, None, 1),
        (100, 1 << 10, None, 1),
        (100, 100 << 20, None, os.cpu_count()),
        (100, 100 << 20, 900 << 20, 1),
        (100, 100 << 20, 1 << 40, os.cpu_count()),
    ],
)
def test_as_many_processes_as_pay_and_fit(n_files, n_bytes, memory, expected):
    listed = [engines.HostFile(place, f"{place}.xplane.pb", n_bytes) for place in range(n_files)]
    engine = local_engine(listed, memory)
    assert getattr(engine, "n_workers", 1) == expected
