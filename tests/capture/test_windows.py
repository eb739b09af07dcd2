"""Windows of steps: of each so many some are captured, the latest runs are kept."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.capture.windows import Windows
from tfprof.errors import UsageError

pytestmark = [pytest.mark.tensorflow, pytest.mark.one_engine]
tf: Any = None


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


def work(first: int, last: int) -> None:
    for number in range(first, last + 1):
        with tfprof.capture.step(number):
            _ = tf.ones([8, 8]) @ tf.ones([8, 8])


def runs(logdir: Path) -> list[str]:
    return sorted(path.name for path in (logdir / "plugins" / "profile").iterdir())


def test_windows_are_runs_of_their_own_and_the_oldest_go(tmp_path: Path) -> None:
    other = tmp_path / "plugins" / "profile" / "step_000000001"
    other.mkdir(parents=True)
    (other / "b.xplane.pb").touch()
    with tfprof.capture.every(tmp_path, every=4, length=2, most_runs=2) as windows:
        work(1, 14)
    assert runs(tmp_path) == ["step_000000001", "step_000000008", "step_000000012"]
    assert [folder.name for folder in windows.folders] == ["step_000000008", "step_000000012"]
    assert tfprof.open_profile(windows.folders[0]).steps == [8, 9]
    assert windows.latest is not None and windows.latest.profiler.steps == [12, 13]
    work(15, 17)  # nothing any more
    assert len(runs(tmp_path)) == 3


def test_an_exception_saves_the_window_and_goes_on(tmp_path: Path) -> None:
    with pytest.raises(KeyError), tfprof.capture.every(tmp_path, every=3, length=2):
        work(1, 2)
        with tfprof.capture.step(3):
            _ = tf.ones([8, 8]) + 1
            raise KeyError
    assert runs(tmp_path) == ["step_000000003"]
    with tfprof.capture.every(tmp_path, every=3, length=2), pytest.raises(UsageError, match="has"):
        tfprof.capture.every(tmp_path)


def test_a_program_that_reaches_no_window(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with tfprof.capture.every(tmp_path / "logs", every=10, length=2) as windows:
        work(1, 9)
    assert caplog.messages == [
        "nothing was captured: 9 steps began, and the first window begins with step 10"
    ]
    windows.stop()
    assert len(caplog.messages) == 1
    assert not (tmp_path / "logs").exists()


def test_size_is_limited_but_the_latest_stays(tmp_path: Path) -> None:
    with tfprof.capture.every(tmp_path, every=3, length=1, most_runs=None, most_bytes=1):
        work(1, 6)
    assert runs(tmp_path) == ["step_000000006"]


def test_another_capture_leaves_windows_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.WARNING, "tfprof"),
        tfprof.capture.every(tmp_path / "windows", every=2, length=1),
        tfprof.capture(tmp_path / "own") as own,
    ):
        work(1, 3)
    assert own.profiler.steps == [1, 2, 3]
    assert "no window at step 2" in caplog.text
    assert list((tmp_path / "windows").rglob("*.xplane.pb")) == []


def test_batches_of_keras(tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")
    model = keras.Sequential([keras.Input([4]), keras.layers.Dense(2)])
    model.compile("sgd", "mse", jit_compile=False)
    data = tf.data.Dataset.from_tensors((tf.ones([4, 4]), tf.ones([4, 2]))).repeat(9)
    callback = tfprof.capture.KerasCallback(tmp_path, every=4, length=2)
    model.fit(data, shuffle=False, verbose=0, callbacks=[callback])
    assert runs(tmp_path) == ["step_000000004", "step_000000008"]
    assert callback.capture.profiler.steps == [8, 9]
    folder = tmp_path / "plugins" / "profile" / "step_000000004"
    assert tfprof.open_profile(folder).steps == [4, 5]
    with pytest.raises(UsageError, match="log folder"):
        tfprof.capture.KerasCallback(every=4)


@pytest.mark.parametrize("wrong", [
    {"every": 0}, {"every": 5, "length": 5}, {"length": 0}, {"most_runs": 0}, {"most_bytes": -1},
    {"options": tfprof.capture.CaptureOptions(duration=1.0)},
])  # fmt: skip
def test_numbers_that_make_no_sense(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        Windows(tmp_path, **wrong)


def test_runs_are_handed_over_and_errors_of_the_receiver_end_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    received = []

    def log(run: Any, number: int) -> None:
        received.append((number, tfprof.tools.overview(run).table("steps").to_rows()))
        raise ConnectionError("the tracker is gone")

    with tfprof.capture.every(tmp_path, every=4, length=2, on_run=log):
        work(1, 10)
    assert [number for number, _ in received] == [4, 8]
    assert all(len(rows) for _, rows in received)
    assert "log: ConnectionError: the tracker is gone; the program goes on" in caplog.text
    assert runs(tmp_path) == ["step_000000004", "step_000000008"]
