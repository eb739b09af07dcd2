"""Captures that are interrupted, forked, or dated by a clock that was put back."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tests.capture.fakes import STEPS, Fake
from tfprof.capture import session
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import event, host, line, xspace

CaptureOptions = tfprof.capture.CaptureOptions


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    made = Fake()
    monkeypatch.setattr(session, "framework_of", lambda name: made)
    monkeypatch.setattr(session, "settle", lambda: None)
    yield made
    assert not made.records
    with pytest.raises(UsageError, match="none is active"):
        tfprof.capture.stop()


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def first_then(real: Callable[..., Any]) -> Callable[..., Any]:
    def interrupted(*arguments: Any, **options: Any) -> None:
        real(*arguments, **options)
        raise KeyboardInterrupt

    return interrupted


def at_once(*arguments: Any, **options: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("is_late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "place", ["settle", "kept", "notes_on", "write_record", "Fake.end", "os.rename", "json.dumps"]
)
def test_ctrl_c_inside_the_save(
    place: str, is_late: bool, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes = {
        "Fake.end": (fake, "end"),
        "os.rename": (sys.modules["tfprof.capture.folders"].os, "rename"),
        "json.dumps": (sys.modules["tfprof.captures.facts.arrival"].json, "dumps"),
    }
    owner, name = homes.get(place, (session, place))
    capture = tfprof.capture.start(tmp_path)
    with monkeypatch.context() as patched:
        real = getattr(owner, name)
        patched.setattr(owner, name, first_then(real) if is_late else at_once)
        with pytest.raises(KeyboardInterrupt):
            capture.stop()
    if place == "Fake.end" and not is_late:
        fake.end(save=False)  # the real ones give their session up themselves
    assert not capture.is_active
    is_saved = place in ("notes_on", "write_record", "json.dumps") or (
        is_late and place in ("kept", "os.rename")
    )
    is_recorded = is_late and place == "write_record"
    run = "plugins/profile/2026_01_01_00_00_00"
    assert files(tmp_path) == [
        *([f"{run}/capture.json"] if is_recorded else []),
        *([f"{run}/worker.xplane.pb"] if is_saved else []),
    ]
    assert {each.name for each in tmp_path.iterdir()} <= {"plugins"}  # no staging folder
    with tfprof.capture(tmp_path) as again:
        pass
    assert again.run.hosts[0].name == "worker"


def test_a_clock_that_is_put_back(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that have the same time keep apart, and waiting does not depend on that clock."""
    folders = []
    for day in (2, 1, 0):
        monkeypatch.setattr(time, "time", lambda day=day: 86400.0 * day)
        monkeypatch.setattr(time, "time_ns", lambda day=day: 86400 * day * 10**9)
        capture = tfprof.capture.start(tmp_path, CaptureOptions(duration=0.01))
        assert capture._timer is not None
        capture._timer.join(10)
        assert not capture.is_active
        assert capture.stop().folder is not None
        folders.append(capture.folder.name if capture.folder else "")
    assert folders == [f"2026_01_01_00_00_00{number}" for number in ("", "_2", "_3")]
    assert len(files(tmp_path)) == 6


def test_events_of_a_clock_that_jumps_are_reported(fake: Fake, tmp_path: Path) -> None:
    broken = xspace(host(line(*STEPS, event("work", 300, 5))))
    broken.planes[0].lines[0].events[2].duration_ps = -1
    fake.space = broken
    with tfprof.capture(tmp_path) as captured:
        pass
    assert any("durations are negative" in note.message for note in captured.notes)
    assert captured.run.hosts[0].groups().names


PROGRAM = """
import os, sys
import tfprof
from tests.capture.fakes import Fake
from tfprof.capture import session

fake = Fake()
session.framework_of = lambda name: fake

def leave():
    sys.exit(0)

def stop():
    captured.stop()
    os._exit(captured.folder is not None)

def start_another():
    tfprof.capture.start().stop()

with tfprof.capture({folder!r}, tfprof.capture.CaptureOptions({options})) as captured:
    for do in (leave, stop, start_another):
        child = os.fork()
        if child == 0:
            assert not captured.is_active
            do()
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert captured.is_active and os.listdir({folder!r}) == []
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("options", ["", "duration=600", "delay=600"])
def test_a_child_leaves_the_capture_to_its_parent(options: str, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    program = PROGRAM.format(folder=str(logs), options=options)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = "plugins/profile/2026_01_01_00_00_00"
    whole = [f"{run}/capture.json", f"{run}/worker.xplane.pb"]
    assert files(logs) == ([] if "delay" in options else whole)


@pytest.mark.parametrize("options", [{}, {"delay": 600}, {"duration": 600}], ids=str)
def test_a_program_that_ends_during_a_capture(
    options: dict[str, Any], fake: Fake, tmp_path: Path
) -> None:
    capture = tfprof.capture.start(tmp_path, CaptureOptions(**options))
    capture._at_exit()  # as atexit calls it
    assert not capture.is_active
    assert len(files(tmp_path)) == (0 if "delay" in options else 2)


def test_a_program_without_framework_gets_none_imported() -> None:
    program = (
        "import sys, tfprof\n"
        "with tfprof.capture() as captured:\n"
        "    for number in range(3):\n"
        "        with tfprof.capture.step(number):\n"
        "            pass\n"
        "print([name for name in ('tensorflow', 'jax', 'keras') if name in sys.modules])\n"
        "print([*captured.run.hosts[0].groups().names.values()])\n"
        "for note in captured.notes:\n"
        "    print(note.message)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    imported, steps, *notes = done.stdout.splitlines()
    assert (imported, steps) == ("[]", "['train 0', 'train 1', 'train 2']")
    [note] = [note for note in notes if "neither" in note]
    assert "import the framework before" in note.lower()
