"""Small files that tfprof has written itself, which others may have changed since."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from fuzz.case import Question
from fuzz.questions.read_formats import each
from tfprof.capture.launched.requests import REQUEST, request_of
from tfprof.captures.hlo.call_costs import costs_of_text
from tfprof.captures.run.capture_record import notes_at_capture
from tfprof.captures.run.hang_record import HANG_NAME, hang_of
from tfprof.files.hooked_processes import processes
from tfprof.files.measured_peaks import FOLDER, read_peaks
from tfprof.files.run_folder import RECORD_NAME
from tfprof.remote.flight.limits import Limits
from tfprof.remote.flight.retention import Retention
from tfprof.remote.hangs.stacks import py_spy_stacks


def _in_folder(name: str, ask: Callable[[Path], object]) -> Callable[[bytes], None]:
    """The content as a file of this name in a folder."""

    def asked(data: bytes) -> None:
        path = Path.cwd() / "folder" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        try:
            ask(Path.cwd() / "folder")
        finally:
            path.unlink()
            for folder in (path.parent, Path.cwd() / "folder"):
                if folder.exists():
                    folder.rmdir()

    return asked


def _hang(folder: Path) -> None:
    found = hang_of(folder)
    if found is not None:
        each(lambda: found.summary, found.to_json)


def _processes(folder: Path) -> None:
    for one in processes(folder):
        _ = str(one), one.is_here, one.is_alive, one.address


def _peaks(folder: Path) -> None:
    with mock.patch.dict(os.environ, {FOLDER: str(folder)}):
        read_peaks("a")


def _kept(folder: Path) -> None:
    said: list[str] = []
    Retention(Limits(runs=1), folder, said.append).apply()


def _costs(data: bytes) -> None:
    costs_of_text(data.decode("utf-8", "replace"))


def _py_spy(data: bytes) -> None:
    try:
        py_spy_stacks(data.decode("utf-8", "replace"))
    except ValueError:  # its own error, for who reads the output of py-spy
        return


def _question(name: str, ask: Callable[[bytes], object]) -> Question:
    return Question(name, frozenset({"records"}), ask, "readers", of_bytes=True)


QUESTIONS = (
    _question("read a hang", _in_folder(HANG_NAME, _hang)),
    _question("read a capture's record",
              _in_folder(RECORD_NAME, lambda folder: notes_at_capture(folder, "a"))),
    _question("read processes", _in_folder("a-5.json", _processes)),
    _question("read a request", _in_folder(REQUEST, request_of)),
    _question("read peaks", _in_folder("a.json", _peaks)),
    _question("read a recorder's record", _in_folder(f"run/{RECORD_NAME}", _kept)),
    _question("read costs", _costs),
    _question("read stacks of py-spy", _py_spy),
)  # fmt: skip
