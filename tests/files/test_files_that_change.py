"""Files that another process cuts or writes anew while they are read, or later, while in use.

What was read stays what it was; what changed in between is an error of ours. A process that
dies is what these tests are against, so each reader is a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.files.event_files import event_file, run_event
from tfprof.core.progress import NoProgress
from tfprof.core.wire import messages as pb
from tfprof.errors import InputError
from tfprof.files import disk as files
from tfprof.files.disk import file_parts, read_file

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

LARGE = bytes(range(256)) * 8192


def large_capture() -> bytes:
    """A few megabytes: lines of events whose texts are read only on request."""
    plane = pb.XPlane(name="/host:CPU")
    plane.stat_metadata[1].name = "note"
    plane.event_metadata[1].name = "train"
    for number in range(8):
        line = plane.lines.add(id=number, name=f"thread {number}")
        for place in range(2000):
            event = line.events.add(metadata_id=1, offset_ps=place * 10**6, duration_ps=10**5)
            event.stats.add(metadata_id=1, str_value=f"{number}-{place} " + "x" * 150)
    return pb.XSpace(planes=[plane], hostnames=["one"]).SerializeToString()


def in_child(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def changing(tmp_path: Path) -> Iterator[Path]:
    """A capture that another process cuts, and writes anew, as fast as it can."""
    path = tmp_path / "one.xplane.pb"
    path.write_bytes(large_capture())
    program = """
        import sys
        path = sys.argv[1]
        with open(path, "rb") as stream:
            content = stream.read()
        half, odd = content[: len(content) // 2], b"\\xff" * len(content)
        with open(path, "r+b", buffering=0) as stream:
            while True:
                for text in (content, half, b"", odd, content):
                    stream.seek(0)
                    stream.write(text)
                    stream.truncate(len(text))
        """
    writer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), str(path)])
    yield path
    writer.kill()
    writer.wait(timeout=60)


def test_a_capture_that_changes_all_the_time_is_read_or_refused(changing: Path) -> None:
    done = in_child(
        """
        import sys, time
        from tfprof.errors import TfprofError
        from tfprof.inputs.resolve import look_at
        from tfprof.tools import open_run, overview
        read = refused = 0
        end = time.monotonic() + 2  # some hundred times
        while time.monotonic() < end:
            try:
                look_at(sys.argv[1])
                run = open_run(sys.argv[1])
                overview(run)
                for plane in run.hosts[0].space.planes:
                    plane.stat("note").texts
                read += 1
            except TfprofError as error:
                assert str(error).startswith(sys.argv[1]), error
                refused += 1
        print(read + refused)
        """,
        changing,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 5


@pytest.mark.parametrize("change", ["truncate", "rewrite", "delete"])
def test_a_capture_may_change_once_it_is_read(tmp_path: Path, change: str) -> None:
    path = tmp_path / "one.xplane.pb"
    path.write_bytes(large_capture())
    done = in_child(
        """
        import os, sys
        from tfprof.captures.read.xspace import read_xspace
        path, change = sys.argv[1:]
        plane = read_xspace(path).planes[0]
        if change == "truncate":
            os.truncate(path, 0)
        elif change == "delete":
            os.remove(path)
        else:
            with open(path, "r+b") as stream:
                stream.write(b"\\xff" * os.path.getsize(path))
        texts = plane.stat("note").texts[1]
        print(plane.lines.names.all[3], len(texts), texts[2001][:8])
        """,
        path,
        change,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "thread 3 16000 1-1 xxxx\n"


def test_what_is_read_in_parts_may_be_cut(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(LARGE)
    with path.open("rb") as stream:
        parts = file_parts(stream, str(path))
        assert parts[:3] == LARGE[:3]
        os.truncate(path, 1 << 20)
        assert parts[: 1 << 20] == LARGE[: 1 << 20]
        for place in (slice(0, 2 << 20), len(LARGE) - 1):
            with pytest.raises(InputError, match=r"large: became shorter while it was read"):
                parts[place]


def test_a_file_that_is_written_to_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large"
    for change in (lambda: os.truncate(path, 5), lambda: os.utime(path, ns=(1, 1))):
        path.write_bytes(LARGE)

        class Watching(NoProgress):
            changed = False

            def advance(self, n_bytes: int) -> None:
                if not self.changed:
                    self.changed = True
                    change()  # noqa: B023  # called in this turn only

        monkeypatch.setattr(files, "_CHUNK_BYTES", 1 << 18)
        with pytest.raises(InputError, match=r"large: was written to while it was read"):
            read_file(path, Watching())


def test_an_event_file_may_grow_while_it_is_read(tmp_path: Path) -> None:
    """A program that is still running writes on; what it had written is read."""
    path = tmp_path / "events.out.tfevents.1.host"
    run = pb.RunMetadata()
    run.step_stats.dev_stats.add(device="/cpu:0").node_stats.add(node_name="a" * (2 << 20))
    path.write_bytes(event_file(run_event("first", run.SerializeToString(), step=1)))
    done = in_child(
        """
        import os, sys
        from tfprof.files.events import read_events
        from tfprof.files.disk import file_parts
        path = sys.argv[1]
        with open(path, "rb") as stream:
            parts = file_parts(stream, path)
            with open(path, "ab") as other:
                other.write(b"half a record")
            log = read_events(parts)
        print([run.tag for run in log.runs], log.damage or "whole")
        """,
        path,
    )
    assert (done.stdout, done.stderr) == ("['first'] whole\n", "")
