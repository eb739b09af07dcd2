"""Keras trainings: the callback, and layers as scopes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.capture.eager.trace import trace
from tfprof.errors import TfprofWarning, UsageError
from tfprof.testing.builders import options

pytestmark = pytest.mark.tensorflow
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


@pytest.fixture(autouse=True)
def _nothing_stays_enabled() -> Iterator[None]:
    yield
    from tensorflow.python.eager import context, execute

    assert context.context().op_callbacks == []
    assert execute.execute is execute.quick_execute
    with pytest.raises(tf.errors.UnavailableError):
        tf.profiler.experimental.stop(save=False)


def small_model(**compile_options: Any) -> Any:
    """Names that TensorFlow's unique scopes garble: ``dense`` becomes ``dense_1``."""
    layers = keras.layers
    block = keras.Sequential(
        [layers.Dense(4, activation="relu", name="dense"), layers.Dense(4, name="dense_1")],
        name="block",
    )
    inputs = keras.Input((8,))
    model = keras.Model(inputs, layers.Dense(2, name="head")(block(inputs)), name="net")
    model.compile("sgd", "mse", **{"jit_compile": False, **compile_options})
    return model


def data(n: int = 16) -> tuple[Any, Any]:
    return np.ones((n, 8), "float32"), np.ones((n, 2), "float32")


def callback(**arguments: Any) -> Any:
    import tfprof.keras

    return tfprof.keras.ProfilerCallback(**arguments)


def rows(profiler: tfprof.Profiler, cmd: str = "scope", **changes: Any) -> dict[str, Any]:
    tree = profiler.view(cmd, options(max_depth=1000, **changes))
    found: dict[str, Any] = {}
    waiting = list(tree.children)
    while waiting:
        node = waiting.pop()
        found[node.name] = node
        waiting.extend(node.children)
    return found


def below(found: dict[str, Any], path: str) -> list[Any]:
    return [node for name, node in found.items() if name.endswith(path)]


def test_layers_are_scopes_of_their_own_names_in_fit_and_predict() -> None:
    model = small_model()
    x, y = data()
    with trace(model) as t:
        model.fit(x, y, batch_size=4, verbose=0)
        t.step()
        model.predict(x, batch_size=4, verbose=0)
    assert t.steps == [0, 1]
    forward = {"block/dense": 8 * 4, "block/dense_1": 4 * 4, "head": 4 * 2}
    for step in t.steps:
        found = rows(t.profiler, step=step)
        for layer, weights in forward.items():
            runs = [
                node
                for node in below(found, f"/net/{layer}/MatMul")
                if "gradient_tape" not in node.name and node.run_count
            ]
            assert [node.run_count for node in runs] == [4]
            assert [node.float_ops for node in runs] == [4 * 2 * 4 * weights]
    gradients = below(rows(t.profiler, step=0), "gradient_tape/net/head/MatMul/MatMul")
    assert [node.run_count for node in gradients] == [4]


def test_the_callback_records_both_ends_of_its_range(tmp_path: Path) -> None:
    model = small_model()
    x, y = data()
    recorder = callback(steps=(3, 6), dir=tmp_path / "new" / "folder")
    assert recorder.profiler is None
    model.fit(x, y, batch_size=4, epochs=2, verbose=0, callbacks=[recorder], validation_data=(x, y))
    assert recorder.profiler.steps == [3, 4, 5, 6]
    for step in recorder.profiler.steps:
        found = rows(recorder.profiler, step=step)
        (product,) = [
            node for node in below(found, "/net/head/MatMul") if "gradient_tape" not in node.name
        ]
        assert product.run_count == 1  # validation is not part of a batch
        assert product.float_ops == 2 * 4 * 4 * 2
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == ["profile_6"]
    saved = tfprof.Profiler.load(tmp_path / "new" / "folder" / "profile_6")
    assert saved.steps == [3, 4, 5, 6]
    trainable = options(
        **tfprof.ProfileOptionBuilder.trainable_variables_parameter() | {"output": "none"}
    )
    assert recorder.profiler.view("scope", trainable).total_parameters == model.count_params()


def test_the_code_view_shows_the_line_of_fit() -> None:
    model = small_model()
    x, y = data()
    recorder = callback(steps=2)
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[recorder])
    code = rows(recorder.profiler, "code")
    mine = [node for name, node in code.items() if name.startswith("test_keras.py:")]
    assert max(node.total_float_ops for node in mine) > 0
    assert not [name for name in code if name.startswith("trace_batches.py")]


def test_a_training_that_ends_early_leaves_what_was_recorded(tmp_path: Path) -> None:
    model = small_model()
    x, y = data()
    recorder = callback(steps=(2, 100), dir=tmp_path)
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[recorder])
    assert recorder.profiler.steps == [2, 3, 4]
    assert [path.name for path in tmp_path.iterdir()] == ["profile_4"]


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_data_of_unknown_length_make_no_extra_step() -> None:
    model = small_model()
    x, y = data(8)
    recorder = callback(steps=(1, 4))

    def batches() -> Iterator[Any]:
        yield x[:4], y[:4]
        yield x[4:], y[4:]

    model.fit(
        tf.data.Dataset.from_generator(
            batches, output_signature=(tf.TensorSpec([4, 8]), tf.TensorSpec([4, 2]))
        ),
        epochs=2,
        shuffle=False,
        verbose=0,
        callbacks=[recorder],
        validation_data=(x, y),
    )
    assert recorder.profiler.steps == [1, 2, 3, 4]
    for step in recorder.profiler.steps:
        found = rows(recorder.profiler, step=step)
        (product,) = [
            node for node in below(found, "/net/head/MatMul") if "gradient_tape" not in node.name
        ]
        assert product.run_count == 1


def test_a_batch_that_fails_ends_the_recording() -> None:
    model = small_model()
    x, y = data()
    recorder = callback(steps=(1, 100))

    def failing() -> Iterator[Any]:
        yield x[:4], y[:4]
        raise ValueError("broken data")

    dataset = tf.data.Dataset.from_generator(
        failing, output_signature=(tf.TensorSpec([4, 8]), tf.TensorSpec([4, 2]))
    )
    with pytest.raises(Exception, match="broken data"):
        model.fit(dataset, shuffle=False, verbose=0, callbacks=[recorder])
    assert 1 in recorder.profiler.steps


def test_another_callback_that_fails_ends_the_recording() -> None:
    class Failing(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 1:
                raise ZeroDivisionError

    model = small_model()
    x, y = data()
    recorder = callback(steps=(1, 100))
    try:
        model.fit(x, y, batch_size=4, verbose=0, callbacks=[recorder, Failing()])
    except ZeroDivisionError:
        pass
    else:
        pytest.fail("the other callback did not fail")
    assert recorder.profiler.steps == [1, 2]


def test_the_model_gets_its_train_function_back() -> None:
    model = small_model()
    x, y = data()
    model.fit(x, y, verbose=0)
    before = model.train_function
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[callback(steps=(1, 2))])
    assert model.train_function is before


def test_our_problems_are_one_warning_and_the_training_goes_on(tmp_path: Path) -> None:
    model = small_model()
    x, y = data()
    recorder = callback(steps=(1, 3))
    tf.profiler.experimental.start(str(tmp_path))
    try:
        with pytest.warns(TfprofWarning, match="recorded already") as warned:
            history = model.fit(x, y, batch_size=4, verbose=0, callbacks=[recorder])
    finally:
        tf.profiler.experimental.stop(save=False)
    assert len([warning for warning in warned if warning.category is TfprofWarning]) == 1
    assert len(history.history["loss"]) == 1
    assert recorder.profiler is None


def test_a_folder_that_cannot_be_made_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    model = small_model()
    x, y = data()
    recorder = callback(steps=1, dir=tmp_path / "file" / "folder")
    with pytest.warns(TfprofWarning, match="cannot be made"):
        model.fit(x, y, batch_size=4, verbose=0, callbacks=[recorder])
    assert recorder.profiler.steps == [1]


@pytest.mark.parametrize("steps", [0, (0, 3), (4, 3), (1, 2, 3), "ten", (1.5, 2)])
def test_steps_must_be_a_range_of_batches(steps: Any) -> None:
    with pytest.raises(UsageError, match="steps="):
        callback(steps=steps)


def test_eager_trainings_have_layers_as_scopes() -> None:
    model = small_model(run_eagerly=True)
    x, y = data(8)
    recorder = callback(steps=2)
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[recorder])
    found = rows(recorder.profiler)
    assert found["net/block/dense/MatMul"].float_ops == 2 * 4 * 8 * 4


def test_compiled_trainings_are_recorded() -> None:
    model = small_model(jit_compile=True)
    x, y = data()
    recorder = callback(steps=(2, 3))
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[recorder])
    found = rows(recorder.profiler, step=3)
    assert sum(node.exec_micros for node in below(found, "StatefulPartitionedCall")) > 0


def test_without_keras_the_error_names_the_extra() -> None:
    program = (
        "import sys\n"
        "sys.modules['keras'] = sys.modules['tf_keras'] = None\n"
        "import tfprof.keras\n"
        "print('tensorflow' in sys.modules)\n"
        "try:\n"
        "    tfprof.keras.ProfilerCallback\n"
        "except tfprof.MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("False\n")
    assert "pip install 'tfprof[tf]'" in done.stdout


def test_without_tensorflow_the_error_names_the_extra() -> None:
    program = (
        "import sys\n"
        "sys.modules['tensorflow'] = None\n"
        "import tfprof\n"
        "from tfprof.capture.eager.trace import trace\n"
        "try:\n"
        "    trace().__enter__()\n"
        "except tfprof.MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "pip install 'tfprof[tf]'" in done.stdout
