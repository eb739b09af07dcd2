"""The Keras callbacks with Keras 2 (tf_keras), and with Keras 3 on JAX."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.errors import TfprofWarning, UsageError

pytestmark = [pytest.mark.tensorflow, pytest.mark.one_engine]
tf_keras: Any = None
np: Any = None


@pytest.fixture(scope="module", autouse=True)
def _keras_2() -> None:
    """Import Keras 2 when the first test runs, not when tests are collected."""
    global tf_keras, np
    tf_keras = pytest.importorskip("tf_keras")
    np = pytest.importorskip("numpy")


def model() -> Any:
    made = tf_keras.Sequential([tf_keras.Input([4]), tf_keras.layers.Dense(2)])
    made.compile("sgd", "mse", jit_compile=False)
    return made


def fit(callback: Any, trained: Any = None, epochs: int = 1) -> Any:
    inputs, labels = np.ones([32, 4], "float32"), np.ones([32, 2], "float32")
    return (trained or model()).fit(
        inputs, labels, batch_size=4, epochs=epochs, verbose=0, callbacks=[callback]
    )


@pytest.mark.parametrize("batches", [(3, 6), (1, 8), (5, 6)])
def test_keras_2_is_captured_batch_by_batch(tmp_path: Path, batches: tuple[int, int]) -> None:
    """Keras 2 numbers its own marks from 0; those that the capture cuts are made again."""
    callback = tfprof.capture.KerasCallback(tmp_path, batches=batches)
    history = fit(callback)
    assert len(history.history["loss"]) == 1
    assert callback.capture.notes == ()
    steps = list(range(batches[0] - 1, batches[1]))
    assert callback.capture.profiler.steps == steps
    assert tfprof.open_profile(tmp_path).steps == steps
    [host] = callback.capture.run.hosts
    assert list(host.groups().names.values()) == [f"train {number}" for number in steps]


def test_batches_of_keras_2_count_over_epochs_and_windows_repeat(tmp_path: Path) -> None:
    callback = tfprof.capture.KerasCallback(tmp_path, every=6, length=2)
    fit(callback, epochs=2)
    assert callback.capture.profiler.steps == [3, 4]  # of the second epoch, from 0
    runs = tmp_path / "plugins" / "profile"
    assert sorted(run.name for run in runs.iterdir()) == ["step_000000006", "step_000000012"]


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_the_last_attempt_of_keras_2_is_not_a_step() -> None:
    import tensorflow as tf

    def batches() -> Any:
        for _ in range(3):
            yield np.ones([4, 4], "float32"), np.ones([4, 2], "float32")

    shapes = (tf.TensorSpec([4, 4]), tf.TensorSpec([4, 2]))
    data = tf.data.Dataset.from_generator(batches, output_signature=shapes)
    callback = tfprof.capture.KerasCallback(batches=(2, 20))
    trained = model()
    trained.fit(data, verbose=0, callbacks=[callback])
    assert callback.capture.profiler.steps == [1, 2, 3]
    [note] = callback.capture.notes
    assert note.message.startswith("the training ended after batch 3, before the last of")


def test_evaluate_and_predict_of_keras_2_take_the_callback() -> None:
    callback = tfprof.capture.KerasCallback(batches=None)
    trained, inputs = model(), np.ones([8, 4], "float32")
    loss = trained.evaluate(inputs, np.ones([8, 2], "float32"), verbose=0, callbacks=[callback])
    assert loss >= 0
    assert trained.predict(inputs, verbose=0, callbacks=[callback]).shape == (8, 2)


def test_a_range_that_the_training_does_not_reach_is_a_warning(tmp_path: Path) -> None:
    callback = tfprof.capture.KerasCallback(tmp_path / "logs", batches=(10, 15))
    with pytest.warns(TfprofWarning, match=r"ended after batch 8, before the first of .*10, 15"):
        fit(callback)
    assert callback.capture is None
    for other in (
        tfprof.capture.KerasCallback(tmp_path / "logs", every=100),
        tfprof.keras.ProfilerCallback(steps=(10, 20), dir=tmp_path / "logs"),
    ):
        with pytest.warns(TfprofWarning, match="ended after batch 8, before the first of"):
            fit(other)
    assert not (tmp_path / "logs").exists()


def test_keras_2_is_profiled_batch_by_batch() -> None:
    callback = tfprof.keras.ProfilerCallback(steps=(3, 5))
    fit(callback)
    assert callback.profiler.steps == [3, 4, 5]
    assert callback.profiler.report("op").find("MatMul") > 0


def test_the_backend_of_the_model_decides_who_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keras 2 trains with TensorFlow, whatever Keras 3 is set to."""
    keras = pytest.importorskip("keras")
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    callback = tfprof.capture.KerasCallback(batches=(3, 4))
    fit(callback)
    assert callback.capture.profiler.steps == [2, 3]
    monkeypatch.setattr(keras.backend, "backend", lambda: "torch")
    tfprof.capture.KerasCallback(batches=None)  # for models of Keras 2
    monkeypatch.delitem(sys.modules, "tf_keras")
    with pytest.raises(UsageError, match="runs on 'torch'"):
        tfprof.capture.KerasCallback(batches=None)


PROGRAM = """
import sys
import numpy as np, keras, tfprof
model = keras.Sequential([keras.Input([4]), keras.layers.Dense(2)])
model.compile("sgd", "mse")
one = tfprof.capture.KerasCallback(batches=(3, 5))
inputs, labels = np.ones([32, 4], "float32"), np.ones([32, 2], "float32")
model.fit(inputs, labels, batch_size=4, verbose=0, callbacks=[one])
model.evaluate(inputs, labels, verbose=0, callbacks=[one])
model.predict(inputs, verbose=0, callbacks=[one])
print(one.capture.run.hosts[0].groups().names, [note.message for note in one.capture.notes])
print("tensorflow" in sys.modules)
"""


@pytest.mark.jax
def test_keras_3_on_jax_is_captured_without_tensorflow() -> None:
    pytest.importorskip("jax")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, "KERAS_BACKEND": "jax"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    steps = "{0: 'train 3', 1: 'train 4', 2: 'train 5'} []"
    assert done.stdout.splitlines() == [steps, "False"], done.stderr
