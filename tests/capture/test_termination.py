"""SIGTERM during a capture: it is saved, and the process ends as it would have."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tfprof
from tests.deadlines import at_most

pytestmark = [
    pytest.mark.one_engine,
    pytest.mark.skipif(os.name != "posix", reason="signals of POSIX"),
]

PROGRAM = """
import os, signal, sys, threading, time
import tfprof
{before}
{capture}
for number in range(3):
    with tfprof.capture.step(number):
        time.sleep(0.001)
{after}
print("ready", flush=True)
time.sleep(60)
print("slept")
"""
START = "tfprof.capture.start(sys.argv[1])"


def ended(
    tmp_path: Path, before: str = "", capture: str = START, after: str = ""
) -> tuple[int, str]:
    """The exit code of the program, which gets SIGTERM, and what it printed."""
    text = PROGRAM.format(before=before, capture=capture, after=after)
    with subprocess.Popen(
        [sys.executable, "-c", text, str(tmp_path)], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as program:  # fmt: skip
        assert program.stdout is not None
        with at_most(program):
            printed = program.stdout.readline()
            program.terminate()
            printed += program.stdout.read()
        return program.wait(timeout=30), printed


def steps(tmp_path: Path) -> list[str]:
    [host] = tfprof.open_run(tmp_path).hosts
    return list(host.groups().names.values())


def test_the_capture_is_saved_and_the_process_ends_by_the_signal(tmp_path: Path) -> None:
    assert ended(tmp_path) == (-signal.SIGTERM, "ready\n")
    assert steps(tmp_path) == ["train 0", "train 1", "train 2"]
    assert [path.name for path in tmp_path.iterdir()] == ["plugins"]


def test_a_signal_while_the_capture_is_saved_waits_for_that(tmp_path: Path) -> None:
    """It comes in the middle of the save, in the thread that saves."""
    before = (
        "from tfprof.capture import session\n"
        "kept = session.kept\n"
        "def slow(*arguments):\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    time.sleep(0.1)\n"
        "    return kept(*arguments)\n"
        "session.kept = slow\n"
    )
    assert ended(tmp_path, before, after="tfprof.capture.stop()")[0] == -signal.SIGTERM
    assert steps(tmp_path) == ["train 0", "train 1", "train 2"]


def test_the_programs_own_handler_stays(tmp_path: Path) -> None:
    own = "signal.signal(signal.SIGTERM, lambda *_: (print('own', flush=True), os._exit(7)))"
    assert ended(tmp_path, before=own) == (7, "ready\nown\n")
    assert ended(tmp_path, after=own) == (7, "ready\nown\n")
    ignored = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    after = "assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN; os._exit(8)"
    assert ended(tmp_path, before=ignored, after=after)[0] == 8


def test_nothing_stays_behind(tmp_path: Path) -> None:
    handler = signal.getsignal(signal.SIGTERM)
    options = tfprof.capture.CaptureOptions(framework="none", gpu_tracer="cupti")
    with tfprof.capture(options=options):
        pass
    assert signal.getsignal(signal.SIGTERM) is handler


def test_a_capture_of_another_thread_changes_no_handler(tmp_path: Path) -> None:
    capture = f"""
thread = threading.Thread(target=lambda: {START})
thread.start()
thread.join()
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
"""
    assert ended(tmp_path, capture=capture) == (-signal.SIGTERM, "ready\n")
    assert not list(tmp_path.glob("plugins/profile/*"))
