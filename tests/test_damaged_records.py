"""Small files that tfprof writes for itself: damaged ones, with any numbers, are as none."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from tfprof.capture.launched.requests import REQUEST, request_of
from tfprof.captures.run.hang_record import HANG_NAME, Frame, Hang, Rank, Thread, hang_of
from tfprof.files.hooked_processes import HookedProcess, file_name, processes, write_process
from tfprof.files.measured_peaks import FOLDER, MeasuredPeaks, read_peaks, write_peaks
from tfprof.remote.flight.retention import WRITER, _written_at

pytestmark = pytest.mark.one_engine

HUGE = 10**400
DEEP = "[" * 100_000


@pytest.mark.parametrize("line", ["Infinity", "1e999"])
def test_a_hang_with_a_line_beyond_any_number(tmp_path: Path, line: str) -> None:
    thread = Thread("main", (Frame("f", "a.py", 77),), is_main=True)
    rank = Rank("a:1", 0, 5, "stands", 1.0, threads=(thread,))
    text = Hang(2.0, 1.0, None, (rank,), (0,), "it is alone").to_json()
    (tmp_path / HANG_NAME).write_text(text)
    assert hang_of(tmp_path) is not None
    (tmp_path / HANG_NAME).write_text(text.replace("77", line))
    assert hang_of(tmp_path) is None


def test_a_process_with_a_number_beyond_any(tmp_path: Path) -> None:
    process = HookedProcess(os.getpid(), socket.gethostname())
    write_process(tmp_path, process)
    path = tmp_path / file_name(process.host, process.pid)
    assert [one.is_alive for one in processes(tmp_path)] == [True]
    path.write_text(path.read_text().replace(str(os.getpid()), str(2**40), 1))
    assert processes(tmp_path) == ()


@pytest.mark.parametrize("text", [DEEP, json.dumps({"time": HUGE, "run": "a"})])
def test_requests(tmp_path: Path, text: str) -> None:
    (tmp_path / REQUEST).write_text(text)
    assert request_of(tmp_path) == (0.0, "")


@pytest.mark.parametrize("text", [DEEP, json.dumps({"writer": WRITER, "time": HUGE})])
def test_the_time_of_a_run(text: str) -> None:
    assert _written_at(text.encode()) is None


@pytest.mark.parametrize("rate", [DEEP, str(HUGE)])
def test_peaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rate: str) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    path = write_peaks(MeasuredPeaks("m", "p", 2, "now", {"fp32": 1e12}, 77.0, "numpy"))
    assert read_peaks("m") is not None
    path.write_text(path.read_text().replace("77.0", rate))
    assert read_peaks("m") is None
