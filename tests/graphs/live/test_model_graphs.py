"""Live models and functions become graphs, and nothing of the user's changes."""

from __future__ import annotations

import functools
import gc
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tfprof
from tests.remote.programs import Forked
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError
from tfprof.graphs.costs.params import params_report
from tfprof.graphs.live.model_graphs import traced
from tfprof.graphs.live.traced_graph import TracedGraph, TracedLayer
from tfprof.graphs.model.program import Variable
from tfprof.graphs.read import graphdef, library

pytestmark = pytest.mark.tensorflow
tf: Any = None
LIBRARIES = ("keras", "tf_keras")


@pytest.fixture(scope="module", autouse=True)
def _tensorflow() -> None:
    """Import TensorFlow when the first test runs, not when tests are collected."""
    global tf
    tf = pytest.importorskip("tensorflow")


@pytest.fixture(params=LIBRARIES)
def keras(request: Any) -> Any:
    return pytest.importorskip(request.param)


def graph_of(result: TracedGraph | None) -> pb.GraphDef:
    assert result is not None
    return pb.GraphDef.FromString(result.graph)


def node(result: TracedGraph, name: str) -> pb.NodeDef:
    return next(each for each in graph_of(result).node if each.name == name)


def shape_of(each: pb.NodeDef) -> list[int]:
    return [dim.size for dim in each.attr["shape"].shape.dim]


def output_shape(each: pb.NodeDef) -> list[int]:
    return [dim.size for dim in each.attr["_output_shapes"].list.shape[0].dim]


def paths(layer: TracedLayer) -> list[str]:
    return [layer.path, *(path for child in layer.children for path in paths(child))]


def small_model(keras: Any) -> Any:
    layers = keras.layers
    image = keras.Input((8, 8, 3), name="image")
    shared = layers.Dense(4, name="shared")
    net = layers.Conv2D(4, 3, name="conv")(image)
    net = shared(net)
    net = layers.Dense(4, name="shared_1")(net)
    net = shared(net)
    inner = keras.Sequential(
        [layers.Dense(3, name="dense"), layers.BatchNormalization(name="norm")], name="inner"
    )
    net = layers.TimeDistributed(inner, name="times")(net)
    net = layers.Dropout(0.5)(layers.Reshape((-1, 3))(net))
    net = layers.LSTM(2, name="lstm")(net)
    return keras.Model(image, net, name="small")


@functools.cache
def small_traced(keras: Any) -> tuple[Any, TracedGraph]:
    """The model and its graph, for tests that only look at them."""
    model = small_model(keras)
    result = traced(model)
    assert result is not None
    return model, result


def test_a_functional_model(keras: Any) -> None:
    model, result = small_traced(keras)
    assert result.inputs == {"image": "image"}
    assert shape_of(node(result, "image")) == [-1, 8, 8, 3]
    assert result.is_own
    report = params_report(result.variables or ())
    assert report.total == model.count_params()
    assert report.trainable == sum(int(np.prod(w.shape)) for w in model.trainable_weights)
    types = Counter(each.op for each in graph_of(result).node)
    assert types["Conv2D"] == 1
    assert "Placeholder" in types
    assert types["VarHandleOp"] == len(model.weights)


def test_captured_variables_tell_their_shape(keras: Any) -> None:
    _, result = small_traced(keras)
    handles = [each for each in graph_of(result).node if each.op == "VarHandleOp"]
    shapes = {each.attr["shared_name"].s.decode(): shape_of(each) for each in handles}
    kernel = next(name for name in shapes if name.endswith("conv/kernel"))
    assert shapes[kernel] == [3, 3, 3, 4]
    assert {each.attr["dtype"].type for each in handles} == {pb.DataType.DT_FLOAT}


def test_layers_know_their_nodes(keras: Any) -> None:
    _, result = small_traced(keras)
    (root,) = result.layers
    assert root.path == root.name == "small"
    assert root.class_name == "Functional"
    assert paths(root)[:7] == [
        "small",
        "small/image",
        "small/conv",
        "small/shared",
        "small/shared_1",
        "small/times",
        "small/times/inner",
    ]
    shared = root.children[2]
    assert shared.output_shapes == ((None, 6, 6, 4),)
    assert [name.rpartition("/")[2] for name in shared.variables] == ["kernel", "bias"]
    assert set(result.layer_of.values()) <= set(paths(root))
    of_type: dict[str, list[str]] = {}
    for each in graph_of(result).node:
        of_type.setdefault(each.op, []).append(result.layer_of.get(each.name, ""))
    assert of_type["Conv2D"] == ["small/conv"]
    # The layer "shared" is used twice, the layer "shared_1" once; scopes do not tell which.
    counts = Counter(of_type["MatMul"])
    assert counts["small/shared"] == 2
    assert counts["small/shared_1"] == 1


def test_variables_of_inner_layers_are_not_the_outer_ones(keras: Any) -> None:
    _, result = small_traced(keras)

    def every(layer: TracedLayer) -> list[str]:
        return [*layer.variables, *(name for child in layer.children for name in every(child))]

    listed = every(result.layers[0])
    assert sorted(listed) == sorted(variable.name for variable in result.variables or ())
    assert len(set(listed)) == len(listed)


def test_a_batch_size_is_traced_in(keras: Any) -> None:
    result = traced(small_model(keras), batch=5)
    assert result is not None
    assert shape_of(node(result, "image")) == [5, 8, 8, 3]
    conv = next(each for each in graph_of(result).node if each.op == "Conv2D")
    assert output_shape(conv) == [5, 6, 6, 4]


def test_another_batch_size_than_the_models_is_refused(keras: Any) -> None:
    inputs = keras.Input((4,), batch_size=2, name="x")
    model = keras.Model(inputs, keras.layers.Dense(3)(inputs))
    result = traced(model)
    assert result is not None
    assert shape_of(node(result, "x")) == [2, 4]
    assert traced(model, batch=2) is not None
    with pytest.raises(UsageError, match=r"batch=3: .* batch size of 2"):
        traced(model, batch=3)


def test_input_shapes_of_a_functional_model(keras: Any) -> None:
    first, second = keras.Input((None, 4), name="a"), keras.Input((2,), name="b", dtype="int32")
    pooled = keras.layers.GlobalAveragePooling1D()(first)
    embedded = keras.layers.Flatten()(keras.layers.Embedding(5, 3)(second))
    model = keras.Model([first, second], keras.layers.Concatenate()([pooled, embedded]))
    for shapes in ([(1, 7, 4), (1, 2)], {"a": (1, 7, 4), "b": (1, 2)}, {"a": (1, 7, 4)}):
        result = traced(model, shapes)
        assert result is not None
        assert result.inputs == {"a": "a", "b": "b"}
        assert shape_of(node(result, "a")) == [1, 7, 4]
        assert node(result, "b").attr["dtype"].type == pb.DataType.DT_INT32
    with pytest.raises(UsageError, match=r"no input 'c'; its inputs are a, b"):
        traced(model, {"c": (1, 2)})
    with pytest.raises(UsageError, match=r"1 shapes for the 2 inputs"):
        traced(model, (1, 7, 4))


def test_inputs_as_a_dict(keras: Any) -> None:
    inputs = {"q": keras.Input((4,), name="q"), "k": keras.Input((4,), name="k")}
    product = keras.layers.Multiply()([inputs["q"], inputs["k"]])
    result = traced(keras.Model(inputs, {"out": keras.layers.Dense(3)(product)}), batch=2)
    assert result is not None
    assert set(result.inputs) == {"q", "k"}
    assert shape_of(node(result, "k")) == [2, 4]


def test_masks_reach_the_layers(keras: Any) -> None:
    model = keras.Sequential(
        [
            keras.Input((6,), dtype="int32", name="tokens"),
            keras.layers.Embedding(10, 4, mask_zero=True),
            keras.layers.LSTM(3),
        ]
    )
    types = {
        each.op
        for holder in (
            graph_of(traced(model)).node,
            *(function.node_def for function in graph_of(traced(model)).library.function),
        )
        for each in holder
    }
    assert "NotEqual" in types


def test_mixed_precision(keras: Any) -> None:
    layer = keras.layers.Dense(3, dtype="mixed_float16")
    model = keras.Sequential([keras.Input((4,)), layer])
    result = traced(model)
    assert result is not None
    matmul = next(each for each in graph_of(result).node if each.op == "MatMul")
    assert matmul.attr["T"].type == pb.DataType.DT_HALF
    assert {variable.dtype for variable in result.variables or ()} == {pb.DataType.DT_FLOAT}


def test_frozen_layers_do_not_train(keras: Any) -> None:
    model = small_model(keras)
    model.get_layer("conv").trainable = False
    result = traced(model)
    assert result is not None
    still = [each.name for each in result.variables or () if each.trainable is False]
    assert sum("conv/" in name for name in still) == 2


def subclassed(keras: Any) -> Any:
    class Two(keras.Model):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__(name="two")
            self.first = keras.layers.Dense(3, name="first")
            self.second = keras.layers.Dense(2, name="second")

        def call(self, x: Any, y: Any, training: bool = False) -> Any:
            return {"sum": self.second(self.first(x) + y), "training": training}

    return Two()


def test_an_unbuilt_model_stays_unbuilt(keras: Any) -> None:
    for shapes in ([(None, 4), (None, 3)], {"x": (None, 4), "y": (None, 3)}):
        model = subclassed(keras)
        result = traced(model, shapes)
        assert result is not None
        assert params_report(result.variables or ()).total == (4 * 3 + 3) + (3 * 2 + 2)
        assert paths(result.layers[0]) == ["two", "two/first", "two/second"]
        assert not model.built
        assert not model.first.built
        assert not model.weights
        values = model(tf.ones([2, 4]), tf.ones([2, 3]))
        assert values["sum"].shape == (2, 2)
        assert len(model.weights) == 4


def test_an_unbuilt_sequential(keras: Any) -> None:
    model = keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(2)])
    with pytest.raises(UsageError, match=r"input_shapes"):
        traced(model)
    result = traced(model, (None, 4), batch=3)
    assert result is not None
    assert list(result.inputs) == ["input"]
    assert shape_of(node(result, "input")) == [3, 4]
    assert params_report(result.variables or ()).total == 15 + 8
    assert not model.built
    assert [type(layer).__name__ for layer in model.layers] == ["Dense", "Dense"]
    assert model(tf.ones([1, 5])).shape == (1, 2)


def test_the_default_graph_gets_nothing(keras: Any) -> None:
    models = [keras.Sequential([keras.layers.Dense(3)]), small_model(keras)]
    with tf.Graph().as_default() as graph:
        assert traced(models[0], (None, 4)) is not None
        assert traced(models[1]) is not None
        assert traced(tf.function(lambda x: tf.linalg.inv(x)), (3, 3)) is not None
        assert graph.version == 0
        assert not graph.get_collection("variables")


def test_a_called_model_remembers_its_inputs(keras: Any) -> None:
    class One(keras.Model):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(3)

        def call(self, x: Any) -> Any:
            return self.dense(x)

    model = One()
    model(tf.ones([2, 4]))
    result = traced(model)
    assert result is not None
    (name,) = result.inputs.values()
    assert shape_of(node(result, name)) == [-1, 4]
    assert not result.layers[0].output_shapes or keras.__name__ == "tf_keras"


def test_a_single_layer(keras: Any) -> None:
    result = traced(keras.layers.Dense(3), (5, 4))
    assert result is not None
    assert params_report(result.variables or ()).total == 15


def test_a_model_that_can_not_be_called_says_why(keras: Any) -> None:
    model = subclassed(keras)
    with pytest.raises(UsageError, match=r"model 'two' cannot be called with .*pass") as caught:
        traced(model, (None, 4))
    assert "\x1b" not in str(caught.value)
    assert not model.built


def test_two_traces_are_the_same_bytes(keras: Any) -> None:
    layers = keras.layers
    tokens = keras.Input((6,), dtype="int32", name="tokens")
    net = layers.Embedding(10, 4)(tokens)
    net = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(net)
    net = layers.MultiHeadAttention(2, 4)(net, net)
    net = layers.Conv1D(4, 3, groups=2)(net)
    model = keras.Model(tokens, net)
    first, second = traced(model), traced(model)
    assert first == second


def test_nothing_of_the_users_changes(keras: Any) -> None:
    from tensorflow.python.eager import context

    model = small_model(keras)
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.zeros((4, 8, 8, 3)), np.zeros((4, 2)), verbose=0)
    losses, metrics = list(model.losses), [metric.name for metric in model.metrics]
    weights = model.get_weights()
    attributes = {id(layer): dict(vars(layer)) for layer in model._flatten_layers()}
    names = keras.layers.Dense(1).name
    gc.collect()
    functions = len(context.context().list_function_names())
    with tf.Graph().as_default() as graph:
        traced(model)
        assert graph.version == 0
    gc.collect()
    assert len(context.context().list_function_names()) <= functions
    assert [dict(vars(layer)) for layer in model._flatten_layers()] == list(attributes.values())
    assert list(model.losses) == losses
    assert [metric.name for metric in model.metrics] == metrics
    assert all(map(np.array_equal, weights, model.get_weights()))
    before, after = (int(name.rpartition("_")[2]) for name in (names, keras.layers.Dense(1).name))
    assert after == before + 1
    assert len(model.fit(np.zeros((4, 8, 8, 3)), np.zeros((4, 2)), verbose=0).history) > 1


def test_random_numbers_go_on_as_if_nothing_had_happened(keras: Any) -> None:
    def numbers(look: bool) -> list[Any]:
        keras.utils.set_random_seed(7)
        model = keras.Sequential([keras.layers.Dense(3), keras.layers.Dropout(0.5)])
        if look:
            traced(model, (None, 4))
        eager = tf.random.uniform([3]).numpy()
        after = model(tf.ones([2, 4]), training=True).numpy()
        return [eager, after, keras.layers.Dense(2)(tf.ones([1, 3])).numpy()]

    plain, looked = numbers(False), numbers(True)
    assert all(map(np.array_equal, plain, looked))


def test_a_regularizers_loss_does_not_leak(keras: Any) -> None:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activity_regularizer="l2")])
    before = len(model.losses)
    traced(model)
    assert len(model.losses) == before


def test_seeds_of_a_layer_stay_where_they_are() -> None:
    keras = pytest.importorskip("keras")

    class Noise(keras.layers.Layer):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.seeds = keras.random.SeedGenerator(3)

        def call(self, x: Any) -> Any:
            return x + keras.random.normal((3,), seed=self.seeds)

    layer = Noise()
    before = layer.seeds.state.numpy()
    result = traced(keras.Sequential([keras.Input((3,)), layer]))
    assert result is not None
    assert result.variables == []  # the state of a generator is not a parameter
    assert np.array_equal(layer.seeds.state.numpy(), before)


def test_sparse_inputs(keras: Any) -> None:
    inputs = keras.Input((5,), sparse=True)
    result = traced(keras.Model(inputs, keras.layers.Dense(3)(inputs)))
    assert len(result.inputs if result else ()) == 3  # indices, values, shape


def test_a_function_that_makes_a_variable_goes_on_to_use_it() -> None:
    class Lazy(tf.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.scale: Any = None

        @tf.function  # type: ignore[misc]
        def __call__(self, x: Any) -> Any:
            if self.scale is None:
                self.scale = tf.Variable([1.0, 2.0], name="scale")
            return x * self.scale

    lazy = Lazy()
    result = traced(lazy.__call__, (2,))
    assert result is not None
    assert result.variables == [Variable("scale", (2,), 1, True)]
    assert lazy(tf.constant([3.0, 3.0])).numpy().tolist() == [3.0, 6.0]
    called = traced(lazy.__call__)
    assert called is not None
    assert called.variables == result.variables


def test_another_backend_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    keras = pytest.importorskip("keras")
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    monkeypatch.setattr(keras.config, "backend", lambda: "jax")
    with pytest.raises(UsageError, match=r"Keras runs on jax here.*KERAS_BACKEND=tensorflow"):
        traced(model)


def test_a_function_with_a_signature_is_not_traced_itself() -> None:
    calls = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3], name="x"), tf.TensorSpec([], tf.int32)])
    def power(x: Any, n: Any) -> Any:
        calls.append(1)
        for _ in tf.range(n):
            x = tf.matmul(x, tf.ones([3, 3]))
        return x

    first, second = traced(power), traced(power)
    assert first == second
    assert first is not None
    assert list(first.inputs) == ["x", "n"]
    assert [function.signature.name for function in graph_of(first).library.function] == [
        "while_body",
        "while_cond",
    ]
    assert power.experimental_get_tracing_count() == 0
    bound = traced(power, batch=4)
    assert bound is not None
    assert shape_of(node(bound, "x")) == [4, 3]
    power(tf.ones([1, 3]), 2)
    traces = len(calls)
    known = traced(power)
    assert known is not None
    assert not known.is_own
    assert len(calls) == traces


def test_a_function_takes_shapes() -> None:
    product = tf.function(lambda a, b: a @ b)
    with pytest.raises(UsageError, match="no input_signature and was not called yet"):
        traced(product)
    spec = tf.TensorSpec([3, 4], tf.float64)
    for shapes in (
        [tf.TensorSpec([2, 3], tf.float64), spec],
        {"a": tf.TensorSpec([2, 3], tf.float64), "b": spec},
    ):
        result = traced(product, shapes)
        assert result is not None
        assert result.inputs == {"a": "a", "b": "b"}
        assert node(result, "a").attr["dtype"].type == pb.DataType.DT_DOUBLE
    result = traced(product, [(2, -1), (3, np.int64(4))])
    assert result is not None
    assert shape_of(node(result, "a")) == [2, -1]
    with pytest.raises(UsageError, match=r"cannot be traced with .*Dimensions must be equal"):
        traced(product, [(2, 3), (4, 5)])
    with pytest.raises(UsageError, match="is not a shape"):
        traced(product, ["2,3", "3,4"])


def test_a_function_that_was_called_once() -> None:
    product = tf.function(lambda a: a @ a)
    product(tf.ones([2, 2], tf.float64))
    result = traced(product)
    assert result is not None
    assert shape_of(node(result, "a")) == [2, 2]
    other = traced(product, (5, 5))  # the type is that of the call
    assert other is not None
    assert node(other, "a").attr["dtype"].type == pb.DataType.DT_DOUBLE
    product(tf.ones([3, 3], tf.float64))
    with pytest.raises(UsageError, match=r"2 signatures \(a: \(2, 2\); a: \(3, 3\)\)"):
        traced(product)
    assert product.experimental_get_tracing_count() == 2


def test_a_concrete_function_and_its_graph() -> None:
    weight = tf.Variable(tf.ones([3, 2]), name="weight")
    concrete = tf.function(lambda x: x @ weight).get_concrete_function(tf.TensorSpec([None, 3]))
    for target in (concrete, concrete.graph):
        result = traced(target, batch=7)
        assert result is not None
        assert not result.is_own
        assert result.variables == [Variable("weight", (3, 2), 1, True)]
        assert result.inputs == {"x": "x"}
        assert "Identity" in result.fetches
        (handle,) = [each for each in graph_of(result).node if each.op == "VarHandleOp"]
        assert shape_of(handle) == [3, 2]
        assert not concrete.graph.finalized


def test_variables_of_equal_names_are_distinguished() -> None:
    first, second = tf.Variable(1.0), tf.Variable([1.0, 2.0])
    concrete = tf.function(lambda: first + second).get_concrete_function()
    result = traced(concrete)
    assert result is not None
    assert [(each.name, each.shape) for each in result.variables or ()] == [
        ("Variable", ()),
        ("Variable_1", (2,)),
    ]


def test_a_training_step(keras: Any) -> None:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(2)])
    optimizer = keras.optimizers.Adam()

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    result = traced(step, [(8, 4), (8, 2)])
    assert result is not None
    report = params_report(result.variables or ())
    assert report.trainable == (4 * 3 + 3) + (3 * 2 + 2)
    assert report.non_trainable == 2 * report.trainable + 2  # moments, iteration, learning rate
    types = Counter(each.op for each in graph_of(result).node)
    assert types["MatMul"] == 2 + 3  # the gradient of the input is not wanted
    first = next(each for each in graph_of(result).node if each.op == "VarHandleOp")
    assert shape_of(first) == [4, 3]
    step(tf.ones([8, 4]), tf.ones([8, 2]))
    called = traced(step)
    assert called is not None
    assert {each.name for each in called.variables or ()} == {row.name for row in report.rows}


def test_a_graph_of_tensorflow_1() -> None:
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        weight = v1.get_variable("w", [3, 2])
        v1.get_variable("mean", [2], trainable=False)
        v1.train.AdamOptimizer().minimize(tf.reduce_sum(x @ weight))
    version = graph.version
    result = traced(graph)
    assert graph.version == version
    assert result is not None
    assert result.inputs == {"x": "x"}
    assert result.fetches == []
    assert result.variables == [
        Variable("w", (3, 2), 1, True),
        Variable("mean", (2,), 1, False),
    ]
    plain = traced(tf.Graph())
    assert plain is not None
    assert plain.variables is None


def test_functions_of_a_loaded_program(tmp_path: Any) -> None:
    module = tf.Module()
    module.weight = tf.Variable(tf.ones([3, 2]), name="weight")
    module.f = tf.function(
        lambda x: x @ module.weight, input_signature=[tf.TensorSpec([None, 3], name="x")]
    )
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    for target in (loaded.f, loaded.signatures["serving_default"]):
        result = traced(target)
        assert result is not None
        assert [each.shape for each in result.variables or ()] == [(3, 2)]


def test_other_things_are_nothing_live() -> None:
    for target in (b"bytes", "path", None, 3, pb.GraphDef(), tf.constant(1)):
        assert traced(target) is None


V1_MODE = """
import tensorflow as tf, tf_keras
tf.compat.v1.disable_eager_execution()
from tfprof.core.wire import messages as pb
from tfprof.graphs.live.model_graphs import traced
layers = tf_keras.layers
x = layers.Input((4,), name="x")
shared = layers.Dense(4, name="shared")
y = layers.Dropout(0.5, name="dropout")(shared(shared(x)))
model = tf_keras.Model(x, layers.Dense(3, name="last")(y), name="model")
graph = tf.compat.v1.get_default_graph()
tf.constant(1.0, name="elsewhere")
version = graph.version
result = traced(model)
assert graph.version == version
assert result.fetches == ["last/BiasAdd"], result.fetches
assert result.inputs == {"x": "x"}
assert [v.name for v in result.variables][:2] == ["shared/kernel", "shared/bias"]
assert result.layer_of["shared_1/MatMul"] == "model/shared"
assert result.layer_of["dropout/cond"] == "model/dropout"
assert "elsewhere" not in result.layer_of
nodes = {n.name: n.op for n in pb.GraphDef.FromString(result.graph).node}
assert nodes["keras_learning_phase"] == "Identity"
try:
    traced(tf_keras.Sequential([layers.Dense(3)]))
except Exception as error:
    assert "no outputs in a graph yet" in str(error)
else:
    raise SystemExit("no error")
print("done")
"""


def test_without_eager_execution() -> None:
    pytest.importorskip("tf_keras")
    said, errors = Forked(V1_MODE).communicate()
    assert said == b"done\n", errors[-2000:]


@pytest.mark.tensorflow
def test_a_function_whose_variables_are_gone_is_refused() -> None:
    tf = pytest.importorskip("tensorflow")

    def make() -> Any:
        module = tf.Module()
        module.w = tf.Variable(tf.ones([4, 3]))
        return tf.function(lambda x: x @ module.w).get_concrete_function(tf.TensorSpec((2, 4)))

    concrete = make()
    gc.collect()
    with pytest.raises(UsageError, match="keep the model that owns them alive"):
        traced(concrete)


def test_a_model_is_encoded_once_and_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from tensorflow.core.framework import function_pb2, graph_pb2

    keras = pytest.importorskip("keras")
    model = keras.Sequential([keras.Input((8, 4)), keras.layers.LSTM(3), keras.layers.Dense(2)])
    calls: Counter[str] = Counter()

    def count(owner: Any, name: str, label: str) -> None:
        original = getattr(owner, name)

        def counted(*args: Any, **options: Any) -> Any:
            calls[label] += 1
            return original(*args, **options)

        monkeypatch.setattr(owner, name, counted)

    count(tf.Graph, "as_graph_def", "as_graph_def")
    for theirs in (graph_pb2.GraphDef, function_pb2.FunctionDef):
        count(theirs, "SerializeToString", "encoded")
    for ours in (pb.GraphDef, pb.FunctionDef):
        for name in ("FromString", "SerializeToString", "SerializePartialToString"):
            count(ours, name, name)
    count(graphdef, "scan", "read")
    count(library, "scan", "read functions")
    assert tfprof.flops(model, batch=2).flops
    assert calls == {"as_graph_def": 1, "encoded": 1, "read": 1, "read functions": 1}
