"""A watch lists what was read, and finds out when a result depends on more than that."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tfprof.files.watched_reads import WatchedReads

pytestmark = pytest.mark.one_engine

LATER_NS = 10_000_000_000
"""As if a watch began so long after the files were written."""


def _watched(work: Callable[[], object], later_ns: int = LATER_NS) -> set[str] | None:
    watch = WatchedReads((f"{Path(os.__file__).parent}/",))
    watch.begin()
    work()
    states = watch.end(time.time_ns() + later_ns)
    return None if states is None else {path for path, state in states.items() if state}


def _connect() -> None:
    with socket.socket() as stream:
        stream.connect_ex(("127.0.0.1", 1))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.write_bytes(b"data")
    return path


def test_opened_files_listed_folders_and_the_folders_around_them(file: Path) -> None:
    around = str(file.parent)
    assert _watched(file.read_bytes) == {str(file), around}
    assert _watched(lambda: os.listdir(around)) == {around}  # noqa: PTH208
    assert _watched(lambda: list(os.scandir(around))) == {around}
    assert _watched(lambda: os.close(os.open(file, os.O_RDONLY))) == {str(file), around}


def test_a_file_that_is_not_there_has_a_state_too(file: Path) -> None:
    def look() -> None:
        with pytest.raises(FileNotFoundError):
            (file.parent / "other").read_bytes()

    def look_and_write() -> None:
        look()
        os.link(file, file.parent / "other")

    assert _watched(look) == {str(file.parent)}
    assert _watched(look_and_write) is None


def test_what_has_just_changed_is_not_trusted(file: Path) -> None:
    assert _watched(file.read_bytes, later_ns=0) is None


@pytest.mark.parametrize(
    "work",
    [
        lambda file: file.write_bytes(b"new"),
        lambda file: file.open("r+b").close(),
        lambda file: subprocess.run([sys.executable, "-c", ""], check=True),
        lambda file: _connect(),
        lambda file: Path("/dev/zero").open("rb").close(),
    ],
    ids=["write", "update", "child", "network", "stream"],
)
def test_more_than_files(file: Path, work: Callable[[Path], object]) -> None:
    assert _watched(lambda: work(file)) is None


def test_nothing_is_seen_after_the_end(file: Path) -> None:
    watch = WatchedReads(())
    watch.begin()
    assert watch.end(0) == {}
    file.read_bytes()
    assert watch.end(0) == {}
