"""How long a capture waits before the profiler stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfprof.capture import settling

pytestmark = pytest.mark.one_engine


def tasks(folder: Path, *states: str) -> Path:
    for number, state in enumerate(states, start=1):
        (folder / str(number)).mkdir(parents=True)
        (folder / str(number) / "stat").write_text(f"{number} (a) R (b) {state} 1 2 3")
    return folder


def looks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often it looks at the threads of a folder before it stops waiting."""
    waited: list[float] = []
    now = [0.0]

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(settling, "_TASKS", folder)
    monkeypatch.setattr("tfprof.capture.settling.time.sleep", sleep)
    monkeypatch.setattr("tfprof.capture.settling.time.monotonic", lambda: now[0])
    settling.settle()
    return len(waited)


def test_it_waits_for_threads_that_run_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert looks(tasks(tmp_path / "rest", "S", "S"), monkeypatch) == 2
    assert looks(tasks(tmp_path / "run", "S", "R"), monkeypatch) > 40
    assert looks(tmp_path / "another system", monkeypatch) > 40


def test_the_own_thread_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfprof.capture.settling.threading.get_native_id", lambda: 2)
    assert looks(tasks(tmp_path / "run", "S", "R"), monkeypatch) == 2
