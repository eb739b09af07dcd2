"""Captures of this process by TensorFlow's profiler."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tests.deadlines import next_line
from tests.remote.programs import Forked
from tfprof.errors import InputError, UsageError

pytestmark = [pytest.mark.tensorflow, pytest.mark.one_engine]
tf: Any = None
CaptureOptions = tfprof.capture.CaptureOptions
LEVELS = CaptureOptions(host_tracer_level=1, python_tracer_level=1, device_tracer_level=0)


@pytest.fixture(scope="module", autouse=True)
def _tensorflow() -> None:
    """Import TensorFlow when the first test runs, not when tests are collected."""
    global tf
    tf = pytest.importorskip("tensorflow")


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    yield
    with pytest.raises(UsageError, match="none is active"):
        tfprof.capture.stop()
    tf.profiler.experimental.start("")
    tf.profiler.experimental.stop(save=False)
    assert [each.name for each in threading.enumerate() if "tfprof" in each.name] == []


def work(n_steps: int = 2, first: int = 0) -> None:
    for number in range(first, first + n_steps):
        with tfprof.capture.step(number):
            _ = tf.ones([8, 8]) @ tf.ones([8, 8])


def steps(run: Any) -> list[str]:
    return [row["stepnum"] for row in tfprof.tools.overview(run).tables["steps"].to_rows()]


def messages(capture: Any) -> list[str]:
    return [note.message for note in capture.notes]


def files(folder: Path) -> list[str]:
    """Captures below a folder."""
    found = [p for p in folder.rglob("*") if p.is_file() and p.name != "capture.json"]
    return sorted(str(p.relative_to(folder)) for p in found)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.005)


def test_a_block_is_a_run_that_every_tool_reads(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path / "logs") as captured:
        assert captured.is_active
        with pytest.raises(UsageError, match="is not over"):
            _ = captured.run
        work(3)
    assert captured.notes == ()
    assert captured.profiler.steps == [0, 1, 2]
    assert captured.folder is not None
    (file,) = files(tmp_path)
    assert file.startswith("logs/plugins/profile/") and file.endswith(".xplane.pb")
    assert captured.folder == (tmp_path / file).parent
    read = tfprof.open_run(tmp_path / "logs")
    assert [each.name for each in read.hosts] == [each.name for each in captured.run.hosts]
    assert steps(read) == ["train 0", "train 1", "train 2"]


def test_start_and_stop_in_memory() -> None:
    capture = tfprof.capture.start()
    work()
    assert tfprof.capture.stop() is capture
    assert capture.stop() is capture  # it is over
    assert (capture.folder, capture.notes) == (None, ())
    assert capture.profiler.steps == [0, 1]
    with pytest.raises(UsageError, match="make a new one"):
        capture.start()


def test_options_take_effect_and_say_so_if_not(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with tfprof.capture(options=LEVELS) as captured:
        work()
    [note] = captured.notes
    assert note.severity == "info"
    assert note.message.startswith("no op of the host was recorded: host_tracer_level=1 records")
    names = set()
    for plane in captured.run.hosts[0].space.planes:
        names.update(plane.event_metadata.names)
    assert any("work" in name for name in names)  # this function, of Python
    assert not any("MatMul" in name for name in names)  # ops are of level 2

    from tfprof.capture import frameworks

    monkeypatch.setattr(frameworks, "_Level", int)  # as TensorFlow's guide does
    with tfprof.capture(options=LEVELS) as captured:
        work()
    assert messages(captured) == [
        "host_tracer_level=1 was requested, and 2 recorded: it was not honoured",
        "device_tracer_level=0 was requested, and 1 recorded: it was not honoured",
        "python_tracer_level=1 was requested, and 0 recorded: it was not honoured",
    ]
    assert [each.levelname for each in caplog.records] == ["WARNING"] * 3


def test_unmarked_steps_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    with tfprof.capture() as captured:
        tf.ones([2])
    (said,) = messages(captured)
    assert said.startswith("no step is marked")
    assert said in caplog.text


def test_names_of_runs(tmp_path: Path) -> None:
    options = CaptureOptions(session_id="mine")
    names = []
    for _ in range(2):
        with tfprof.capture(tmp_path, options) as captured:
            work()
        assert captured.folder is not None
        names.append(captured.folder.name)
    assert names == ["mine", "mine_2"]
    assert "mine_2" in captured.notes[0].message

    other = tmp_path / "plugins" / "profile" / "shared" / "elsewhere.xplane.pb"
    other.parent.mkdir()
    other.write_bytes(next((tmp_path / "plugins/profile/mine").glob("*.pb")).read_bytes())
    with tfprof.capture(tmp_path, CaptureOptions(session_id="shared")) as captured:
        work()
    assert len(captured.run.hosts) == 2  # workers that use one name
    assert len(files(tmp_path)) == 4


def test_a_delay_and_a_duration() -> None:
    options = CaptureOptions(delay=0.05, duration=0.1)
    capture = tfprof.capture.start(options=options)
    assert capture.is_active
    for number in range(100_000):
        work(1, number)
        if not capture.is_active:
            break
    recorded = tfprof.capture.Capture.stop(capture).profiler.steps
    assert recorded and recorded[0] > 0
    assert len(recorded) < number


def test_a_program_that_is_faster_than_the_delay(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path, CaptureOptions(delay=60)) as captured:
        work()
    (said,) = messages(captured)
    assert "before its delay of 60 s was over" in said
    assert files(tmp_path) == []
    with pytest.raises(UsageError, match="has no result"):
        _ = captured.run


def test_something_else_records_when_the_delay_is_over() -> None:
    captured = tfprof.capture.start(options=CaptureOptions(delay=0.01))
    tf.profiler.experimental.start("")
    wait_until(lambda: not captured.is_active)
    with pytest.raises(UsageError, match="is being recorded already"):
        captured.stop()
    tf.profiler.experimental.stop(save=False)


def test_one_capture_at_a_time(tmp_path: Path) -> None:
    with tfprof.capture() as first:
        with pytest.raises(UsageError, match="a capture in memory is active in this process"):
            tfprof.capture.start(tmp_path)
        with pytest.raises(UsageError, match="is being recorded already"), tfprof.trace():
            pass
        work()
    assert first.profiler.steps == [0, 1]

    tf.profiler.experimental.start("")
    with pytest.raises(UsageError, match=r"is being recorded already, by tf\.profiler"):
        tfprof.capture.start(tmp_path)
    tf.profiler.experimental.stop(save=False)  # it went on
    assert files(tmp_path) == []


def test_a_profiler_server_records() -> None:
    from tensorflow.python.profiler.internal import _pywrap_profiler

    session = _pywrap_profiler.ProfilerSession()
    session.start("", {})
    with pytest.raises(UsageError, match="is being recorded already"):
        tfprof.capture.start()
    session.stop()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_in_the_block_passes_and_the_capture_is_saved(
    error: type[BaseException], tmp_path: Path
) -> None:
    captured = tfprof.capture(tmp_path)
    with pytest.raises(error), captured:
        work()
        raise error
    assert captured.profiler.steps == [0, 1]
    assert len(files(tmp_path)) == 1


def test_a_disk_that_becomes_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tfprof.capture.folders.os.rename", full)
    with pytest.raises(InputError, match=r"is lost: .*No space left"), tfprof.capture(tmp_path):
        work()
    captured = tfprof.capture(tmp_path)
    with pytest.raises(ValueError, match="mine"), captured:
        raise ValueError("mine")
    assert "is lost" in captured.notes[-1].message
    assert files(tmp_path) == []
    assert [each.name for each in tmp_path.iterdir()] == ["plugins"]


def test_the_folder_is_deleted_meanwhile(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path / "logs") as captured:
        work()
        (tmp_path / "logs").rmdir()
    assert len(files(tmp_path)) == 1
    assert captured.notes == ()


def test_a_program_that_changes_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with tfprof.capture("logs") as captured:
        work()
        monkeypatch.chdir("elsewhere")
    assert captured.profiler.steps == [0, 1]
    (file,) = files(tmp_path)
    assert file.startswith("logs/")


def test_ctrl_c_while_it_settles(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    capture = tfprof.capture.start()
    with monkeypatch.context() as patched:
        patched.setattr("tfprof.capture.session.settle", interrupted)
        with pytest.raises(KeyboardInterrupt):
            capture.stop()
    assert not capture.is_active


def test_ctrl_c_inside_tensorflows_own_stop(tmp_path: Path) -> None:
    """TensorFlow keeps its session then; each later capture would be refused."""
    from tensorflow.python.profiler import profiler_v2

    class Interrupted:
        def export_to_tb(self) -> None:
            raise KeyboardInterrupt

    capture = tfprof.capture.start(tmp_path)
    profiler_v2._profiler = Interrupted()  # the session itself ends with its last reference
    with pytest.raises(KeyboardInterrupt):
        capture.stop()
    assert not capture.is_active
    assert files(tmp_path) == []


def test_as_a_decorator(tmp_path: Path) -> None:
    @tfprof.capture(tmp_path, CaptureOptions(session_id="run"))
    def train(depth: int) -> int:
        """Trains."""
        work(1)
        return train(depth - 1) + 1 if depth else 0

    function: Any = train
    assert function.capture is None
    assert (train(2), train.__doc__) == (2, "Trains.")
    first = function.capture
    assert train(0) == 0
    assert [each.name for each in (first.folder, function.capture.folder)] == ["run", "run_2"]

    @tfprof.capture()
    async def wait() -> int:
        await asyncio.sleep(0)
        work(1)
        return 5

    assert asyncio.run(wait()) == 5
    waited: Any = wait
    assert waited.capture.profiler.steps == [0]


def test_captures_of_programs_that_end_are_saved(tmp_path: Path) -> None:
    program = Forked(f"""
import tensorflow as tf, tfprof, time
tfprof.capture.start({str(tmp_path)!r}, tfprof.capture.CaptureOptions(duration=600))
with tfprof.capture.step(0):
    tf.ones([2]) + 1
print("ready", flush=True)
time.sleep(600)
""")
    try:
        assert next_line(program) == b"ready\n"
        program.send_signal(signal.SIGINT)
    except BaseException:
        program.kill()
        raise
    _, said = program.communicate()
    assert b"KeyboardInterrupt" in said
    assert len(files(tmp_path)) == 1
    assert tfprof.open_profile(tmp_path).steps == [0]


def test_what_arrived_lies_beside_the_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tfprof.capture(tmp_path, CaptureOptions(session_id="run")) as captured:
        work(3)
    folder = tmp_path / "plugins" / "profile" / "run"
    assert len(list(folder.iterdir())) == 2
    record = json.loads((folder / "capture.json").read_text())
    assert (record["version"], record["missing"]) == (1, [])
    assert record["options"]["host_tracer_level"] == 2
    (own,) = record["hosts"]
    assert (own["host"], own["steps"]) == (captured.run.hosts[0].name, 3)
    assert own["ops"] >= 3 and own["kernels"] == own["dropped"] == 0 and own["covered_us"] > 0
    assert own["bytes"] == next(folder.glob("*.xplane.pb")).stat().st_size
    assert [each.name for each in tfprof.open_run(tmp_path).hosts] == [own["host"]]

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("secrets.token_hex", full)
    with tfprof.capture(tmp_path, CaptureOptions(session_id="full")) as captured:
        work()
    assert messages(captured) == ["capture.json could not be written: No space left on device"]
    assert captured.profiler.steps == [0, 1]
