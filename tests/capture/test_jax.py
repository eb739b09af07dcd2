"""Captures of this process by JAX's profiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.errors import InputError, UsageError

pytestmark = [pytest.mark.jax, pytest.mark.one_engine]
jax: Any = None
OPTIONS = tfprof.capture.CaptureOptions(framework="jax", session_id="run")


@pytest.fixture(scope="module", autouse=True)
def _jax() -> None:
    """Import JAX when the first test runs, not when tests are collected."""
    global jax
    jax = pytest.importorskip("jax")


def work(n_steps: int = 2) -> None:
    for number in range(n_steps):
        with tfprof.capture.step(number):
            jax.block_until_ready(jax.numpy.ones([8, 8]) @ jax.numpy.ones([8, 8]))


def test_a_block_is_a_run(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path, OPTIONS) as captured:
        work()
    assert captured.notes == ()
    assert captured.folder == tmp_path / "plugins" / "profile" / "run"
    (host,) = captured.run.hosts
    assert list(host.groups().names.values()) == ["train 0", "train 1"]


@pytest.mark.tensorflow
def test_where_both_are_loaded_the_other_one_is_named() -> None:
    pytest.importorskip("tensorflow")
    keras = sys.modules.pop("keras", None)  # whose backend would decide
    try:
        with tfprof.capture() as captured:
            work()
        with tfprof.capture(options=OPTIONS) as chosen:
            work()
    finally:
        if keras is not None:
            sys.modules["keras"] = keras
    assert [note.message for note in captured.notes] == [
        "no op of TensorFlow ran while its profiler recorded, and JAX is loaded, too. If the "
        "program computes with JAX, capture with "
        'tfprof.capture("logs", tfprof.capture.CaptureOptions(framework="jax"))'
    ]
    assert chosen.notes == ()


def test_options_and_those_that_jax_does_not_have() -> None:
    options = tfprof.capture.CaptureOptions(
        host_tracer_level=1, python_tracer_level=1, device_tracer_level=0, framework="jax"
    )
    with tfprof.capture(options=options) as captured:
        work()
    (note,) = captured.notes
    assert note.message.endswith("and 1 recorded: JAX has no such option")


def test_one_recording_at_a_time(tmp_path: Path) -> None:
    jax.profiler.start_trace(str(tmp_path))
    with pytest.raises(UsageError, match=r"is being recorded already, by jax\.profiler"):
        tfprof.capture.start(options=OPTIONS)
    jax.profiler.stop_trace()  # it went on


def test_no_session_is_left_if_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = tfprof.capture.start(tmp_path / "logs", OPTIONS)
    (tmp_path / "logs").rmdir()
    (tmp_path / "logs").write_text("")
    with pytest.raises(InputError, match="is lost"):
        capture.stop()
    with tfprof.capture(options=OPTIONS) as captured:
        work()
    assert captured.notes == ()


@pytest.mark.slow
def test_keras_on_jax(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    program = f"""
import keras, numpy as np, tfprof
model = keras.Sequential([keras.Input([4]), keras.layers.Dense(2)])
model.compile("sgd", "mse")
callback = tfprof.capture.KerasCallback({str(tmp_path)!r}, batches=(2, 3))
model.fit(np.ones([32, 4]), np.ones([32, 2]), batch_size=8, verbose=0, callbacks=[callback])
assert callback.capture.notes == (), callback.capture.notes
names = tfprof.tools.overview(callback.capture.run)
print([row["stepnum"] for row in names.tables["steps"].to_rows()])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "KERAS_BACKEND": "jax"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['train 2', 'train 3']"


@pytest.fixture
def session() -> Any:
    """The class of JAX's own sessions, which JAX 0.12 has."""
    if not hasattr(jax.profiler, "ProfileSession"):
        pytest.skip("needs JAX 0.12")
    return jax.profiler.ProfileSession


def test_a_session_of_jax_in_memory_is_a_run(session: Any) -> None:
    with jax.profiler.trace() as traced:
        work(3)
    for source in (traced, traced.profile_data):
        run = tfprof.tools.open_run(source)
        (host,) = run.hosts
        assert list(host.groups().names.values()) == ["train 0", "train 1", "train 2"]
        assert len(tfprof.tools.hlo_stats(run).table())


def test_a_session_that_has_no_data_is_refused(session: Any) -> None:
    idle = session()
    with pytest.raises(UsageError, match="has no data; start"):
        tfprof.tools.open_run(idle)
    with idle, pytest.raises(UsageError, match="still running; stop"):
        tfprof.tools.open_run(idle)


def test_an_older_jax_is_named_as_the_reason() -> None:
    if hasattr(jax.profiler, "export_profile_data"):
        pytest.skip("needs JAX before 0.12")
    data = jax.profiler.ProfileData.from_serialized_xspace(b"")
    with pytest.raises(UsageError, match=r"cannot export a ProfileData; update it to 0\.12"):
        tfprof.tools.open_run(data)
