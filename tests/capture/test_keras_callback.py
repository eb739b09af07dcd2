"""The Keras callback: every batch is a step, some are captured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.errors import TfprofWarning, UsageError

pytestmark = [pytest.mark.tensorflow, pytest.mark.one_engine]
tf: Any = None
keras: Any = None
np: Any = None


@pytest.fixture(scope="module", autouse=True)
def _tensorflow() -> None:
    """Import TensorFlow when the first test runs, not when tests are collected."""
    global tf, keras, np
    tf = pytest.importorskip("tensorflow")
    keras = pytest.importorskip("keras")
    np = pytest.importorskip("numpy")


def callback(*arguments: Any, **named: Any) -> Any:
    return tfprof.capture.KerasCallback(*arguments, **named)


def fit(*callbacks: Any, data: Any = None, **options: Any) -> Any:
    model = keras.Sequential([keras.Input([4]), keras.layers.Dense(2)])
    model.compile("sgd", "mse", jit_compile=False, **options)
    if data is None:
        data = tf.data.Dataset.from_tensors((np.ones([4, 4]), np.ones([4, 2]))).repeat(8)
    return model, lambda epochs=1: model.fit(
        data, epochs=epochs, shuffle=False, verbose=0, callbacks=list(callbacks)
    )


def test_the_range_is_captured_step_by_step(tmp_path: Path) -> None:
    one = callback(tmp_path, batches=(3, 5))
    assert one.capture is None
    _, run = fit(one)
    run()
    assert one.capture.notes == ()
    assert one.capture.profiler.steps == [3, 4, 5]
    assert tfprof.open_profile(tmp_path).steps == [3, 4, 5]


def test_several_batches_in_one_execution_are_a_step() -> None:
    one = callback(batches=(1, 2))
    _, run = fit(one, steps_per_execution=4)
    run()
    assert one.capture.profiler.steps == [1, 2]


def test_batches_are_marked_for_captures_that_start_elsewhere() -> None:
    _, run = fit(callback(batches=None))
    with tfprof.capture() as captured:
        run(epochs=2)
    assert captured.notes == ()
    assert captured.profiler.steps == list(range(1, 17))


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_the_attempt_that_finds_the_end_of_data_ends_there() -> None:
    def batches() -> Any:
        for _ in range(3):
            yield np.ones([4, 4], "float32"), np.ones([4, 2], "float32")

    shapes = (tf.TensorSpec([4, 4]), tf.TensorSpec([4, 2]))
    data = tf.data.Dataset.from_generator(batches, output_signature=shapes)
    one = callback(batches=(2, 20))
    model, run = fit(one, data=data)
    model.make_train_function()
    own = model.train_function
    run()
    assert one.capture.profiler.steps == [2, 3, 4]
    assert model.train_function is own  # which was watched for its end


def test_a_training_that_fails_saves_its_capture(tmp_path: Path) -> None:
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 3:
                raise KeyError("mine")

    one = callback(tmp_path, batches=(2, 20))
    _, run = fit(one, Stop())
    with pytest.raises(KeyError, match="mine") as caught:
        run()
    del caught
    assert not one.capture.is_active
    assert one.capture.profiler.steps == [2, 3, 4]


def test_errors_are_warnings_and_the_training_goes_on(tmp_path: Path) -> None:
    one = callback(tmp_path, batches=1)
    _, run = fit(one)
    with tfprof.capture() as captured, pytest.warns(TfprofWarning, match="nothing is captured"):
        run()
    assert captured.profiler.steps == list(range(1, 9))
    assert not one.capture.is_active


def test_the_run_is_handed_over_with_its_first_batch(tmp_path: Path) -> None:
    received = []
    one = callback(tmp_path, batches=(3, 5), on_run=lambda *given: received.append(given))
    _, run = fit(one)
    run()
    assert received == [(one.capture.run, 3)]


@pytest.mark.parametrize("wrong", [0, (3, 2), "3", (1, 2, 3)])
def test_wrong_ranges(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"^batches="):
        callback(batches=wrong)
