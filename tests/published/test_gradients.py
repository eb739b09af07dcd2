"""Training steps: the gradient of each product and convolution, and the optimizer's part.

A product has two gradients, one by each factor, each with as many multiply-adds as itself: by the
input, ``dx = dy · wᵀ``, and by the weights, ``dw = xᵀ · dy``, sum over the same indices as
``y = x · w``; so do those of a convolution. The gradient by the images is not needed, so the first
layer has one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import tfprof
from tests.published.derivations import Work, conv, dense
from tests.published.models import BATCH, ENCODER, MODELS, UNET
from tfprof.graphs.interpreter.tally import OpRow
from tfprof.graphs.reports.report import FlopsReport

pytestmark = [pytest.mark.tensorflow, pytest.mark.models]


@pytest.fixture(params=["keras", "tf_keras"])
def keras(request: Any) -> Any:
    pytest.importorskip("tensorflow")
    return pytest.importorskip(request.param)


def many_layers(keras: Any) -> Any:
    layers = keras.layers
    image = keras.Input((8, 8, 6), name="image")
    x = layers.Conv2D(4, 3, padding="same")(image)
    x = layers.DepthwiseConv2D(3)(x)
    x = layers.SeparableConv2D(6, 3, padding="same")(x)
    x = layers.Conv2D(6, 3, strides=2, padding="same")(x)
    x = layers.Conv2DTranspose(5, 2, strides=2)(x)
    x = layers.Conv3DTranspose(4, 2)(layers.Reshape((6, 6, 5, 1))(x))
    x = layers.Conv3D(2, 3)(x)
    x = layers.Conv1D(8, 3)(layers.Reshape((5 * 5, 4 * 2))(x))
    x = layers.MultiHeadAttention(2, 4)(x, x)
    return keras.Model(image, layers.Dense(3)(layers.Flatten()(x)))


class Step:
    """A training step of a model; keeps the model alive."""

    def __init__(self, model: Any, optimizer: Any) -> None:
        import tensorflow as tf

        self.model, self.optimizer = model, optimizer
        optimizer.build(model.trainable_variables)

        @tf.function
        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        (spec,) = (tf.TensorSpec([BATCH, *each.shape[1:]], each.dtype) for each in model.inputs)
        self.function = step.get_concrete_function(spec)

    @property
    def n_params(self) -> int:
        return sum(math.prod(variable.shape) for variable in self.model.trainable_variables)

    @property
    def n_variables(self) -> int:
        return len(self.model.trainable_variables)

    def report(self) -> FlopsReport:
        report = tfprof.flops(self.function)
        assert report.coverage == 1
        assert report.uncounted == {}
        assert report.notes == ()
        return report


def gradients_of(report: FlopsReport) -> dict[str, list[OpRow]]:
    """Ops with multiply-adds in the gradient of each op that has any, by the name of that op."""
    products = [row for row in report.ops if row.macs]
    backward = [row for row in products if row.node.name.startswith("gradient_tape/")]
    found: dict[str, list[OpRow]] = {}
    for row in products:
        if row not in backward:
            # Of some, such as Einsum, the gradients are in the scope that the op is in.
            for scope in (row.node.name, row.node.name.rpartition("/")[0]):
                found[row.node.name] = [
                    each
                    for each in backward
                    if each.node.name.rpartition("/")[0] == f"gradient_tape/{scope}"
                    and family(each) == family(row)
                ]
                if found[row.node.name]:
                    break
    return found


def family(row: OpRow) -> str:
    """``Conv2D`` of ``Conv2D`` and of its gradients."""
    return re.sub(r"(Backprop(Input|Filter))?(V\d)?$", "", row.node.kind.op)


def test_each_product_has_two_gradients_that_cost_as_much(keras: Any) -> None:
    report = Step(many_layers(keras), keras.optimizers.SGD()).report()
    rows = {row.node.name: row for row in report.ops}
    gradients = gradients_of(report)
    assert Counter(family(rows[name]) for name in gradients) == {
        "Conv2D": 5,  # with the second of SeparableConv2D, Conv2DTranspose, and Conv1D
        "DepthwiseConv2dNative": 2,
        "Conv3D": 2,
        **PRODUCTS[keras.__name__],
    }
    first = next(name for name in gradients if rows[name].inputs[0].shape == (BATCH, 8, 8, 6))
    for name, found in gradients.items():
        assert len(found) == (1 if name == first else 2), name
        assert {row.macs for row in found} == {rows[name].macs}, name
        assert {row.phase.value for row in found} == {"backward"}
    assert {row.phase.value for name, row in rows.items() if name in gradients} == {"forward"}
    forward = sum(rows[name].macs for name in gradients)
    assert report.macs == 3 * forward - rows[first].macs


PRODUCTS = {
    # Attention: four projections, two products. A dense layer.
    "keras": {"BatchMatMul": 4, "Einsum": 2, "MatMul": 1},
    "tf_keras": {"Einsum": 6, "MatMul": 1},
}


def test_the_gradients_of_a_grouped_convolution() -> None:
    keras = pytest.importorskip("keras")
    layers = keras.layers
    convs = [layers.Conv2D(6, 3, padding="same", groups=groups) for groups in (2, 3)]
    model = keras.Sequential([keras.Input((8, 8, 4)), *convs])
    step = Step(model, keras.optimizers.SGD())
    macs = tfprof.flops(step.function, convention="macs").by_phase
    # On a CPU, Keras calls a function for them. The gradient of that is a function, too, which has
    # the gradient by the images whether or not its caller wants it.
    forward = sum(BATCH * 8 * 8 * 6 * 3 * 3 * depth for depth in (4 // 2, 6 // 3))
    assert macs["forward"] == forward
    assert macs["backward"] == 2 * forward
    assert step.report().macs == 3 * forward


@pytest.mark.parametrize(
    ("make", "forward", "first"),
    [
        (MODELS["U-Net"][0], UNET, Work(BATCH * 16 * 16 * 4 * 3 * 3 * 3)),
        # Three projections of the output of a norm: its scale needs their gradient.
        (MODELS["transformer encoder"][0], ENCODER, Work()),
    ],
    ids=["U-Net", "transformer encoder"],
)
def test_a_step_does_three_times_the_products(
    make: Callable[[Any], Any], forward: Work, first: Work
) -> None:
    keras = pytest.importorskip("keras")
    report = Step(make(keras), keras.optimizers.SGD()).report()
    assert report.macs == 3 * forward.macs - first.macs
    assert report.by_phase["forward"] >= forward.flops


def of_loop(gates: int, inputs: int = 4, units: int = 5, steps: int = 7) -> Work:
    """Forward, and backward by both kernels and by the state, but not by the inputs."""
    return Work(steps * BATCH * gates * units * (2 * inputs + 3 * units))


STACKED = 2 * of_loop(4) + 2 * 3 * Work(7 * BATCH * 3 * 3 * (5 + 5 + 3))
CONV_LSTM = 3 * 4 * (2 * conv(BATCH * 4**3, (3, 3), 2) + 3 * conv(BATCH * 4**3, (3, 3), 4))

RECURRENT: dict[str, tuple[Callable[[Any], list[Any]], tuple[int, ...], Work]] = {
    "SimpleRNN": (lambda L: [L.SimpleRNN(5)], (7, 4), of_loop(1)),
    "LSTM": (lambda L: [L.LSTM(5, return_sequences=True)], (7, 4), of_loop(4)),
    "LSTM with dropout": (
        lambda L: [L.LSTM(5, dropout=0.5, recurrent_dropout=0.5)], (7, 4), of_loop(4),
    ),
    "GRU": (lambda L: [L.GRU(5)], (7, 4), of_loop(3)),
    # The state of the first step is a constant.
    "LSTM unrolled": (
        lambda L: [L.LSTM(5, unroll=True)], (7, 4), of_loop(4) + Work(-BATCH * 4 * 5 * 5),
    ),
    "stacked": (
        lambda L: [L.Bidirectional(L.LSTM(5, return_sequences=True)), L.Bidirectional(L.GRU(3))],
        (7, 4), STACKED,
    ),
    "ConvLSTM2D": (lambda L: [L.ConvLSTM2D(4, 3)], (3, 6, 6, 2), CONV_LSTM),
    "TimeDistributed": (
        lambda L: [L.TimeDistributed(L.Dense(5)), L.TimeDistributed(L.Dense(2))],
        (7, 4), 2 * dense(7 * BATCH, 4, 5) + 3 * dense(7 * BATCH, 5, 2),
    ),
}  # fmt: skip
"""Layers, shape of what goes in, multiply-adds of a step."""


@pytest.mark.parametrize("name", RECURRENT)
def test_the_gradients_of_loops(name: str) -> None:
    keras = pytest.importorskip("keras")
    make, shape, expected = RECURRENT[name]
    model = keras.Sequential([keras.Input(shape), *make(keras.layers)])
    step = Step(model, keras.optimizers.SGD())
    assert step.report().macs == expected.macs
    forward = tfprof.flops(model, batch=BATCH).macs
    macs = tfprof.flops(step.function, convention="macs").by_phase
    assert macs["forward"] == forward
    assert macs["backward"] == expected.macs - forward


def test_parts_of_a_step_are_distinguished(keras: Any) -> None:
    model = MODELS["U-Net"][0](keras)
    step = Step(model, keras.optimizers.SGD())
    report = step.report()
    alone = tfprof.flops(model, batch=BATCH)
    loss = BATCH * 16 * 16 - 1  # the sum of all pixels
    assert report.by_phase["forward"] == alone.flops + loss
    macs = tfprof.flops(step.function, convention="macs").by_phase
    assert macs["forward"] == UNET.macs
    assert macs["backward"] == 2 * UNET.macs - BATCH * 16 * 16 * 4 * 3 * 3 * 3
    assert macs["optimizer"] == 0


OPTIMIZERS = {
    # w -= rate · g; that of tf_keras has a momentum, if only of 0: m = -g · rate + m · β; w += m
    ("keras", "SGD"): (2, 0),
    ("tf_keras", "SGD"): (4 + 1, 0),
    # Mean m += (g - m) · (1 - β); mean of squares v += (g² - v) · (1 - β'); w -= m · a / (√v + ε),
    # a = rate · √(1 - β'ᵗ) / (1 - βᵗ) for each variable.
    ("keras", "Adam"): (3 + 4 + 5, 7),
    ("tf_keras", "Adam"): (3 + 4 + 5, 7),
    # v = ρ v + (1 - ρ) g²; w -= rate · g / √(v + ε), or w += -(rate · g · rsqrt(v + ε))
    ("keras", "RMSprop"): (4 + 5, 0),
    ("tf_keras", "RMSprop"): (4 + 7, 0),
}
"""Operations for each parameter, and for each variable."""


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop"])
def test_optimizers_do_their_rule_for_each_parameter(name: str, keras: Any) -> None:
    per_parameter, per_variable = OPTIMIZERS[keras.__name__, name]
    step = Step(many_layers(keras), getattr(keras.optimizers, name)())
    expected = per_parameter * step.n_params + per_variable * step.n_variables
    assert step.report().by_phase["optimizer"] == expected


@pytest.mark.parametrize(("nesterov", "per_parameter"), [(False, 4), (True, 7)])
def test_momentum(nesterov: bool, per_parameter: int) -> None:
    keras = pytest.importorskip("keras")
    # m = β m - rate · g; w += m, or w += β m - rate · g once more.
    optimizer = keras.optimizers.SGD(0.1, momentum=0.9, nesterov=nesterov)
    step = Step(many_layers(keras), optimizer)
    assert step.report().by_phase["optimizer"] == per_parameter * step.n_params


def test_keras_own_train_step(keras: Any) -> None:
    import tensorflow as tf

    layers = keras.layers
    model = keras.Sequential([keras.Input((5,)), layers.Dense(4, "tanh"), layers.Dense(3)])
    model.compile(keras.optimizers.Adam(), "mse", metrics=["mae"])
    specs = [tf.TensorSpec((BATCH, 5)), tf.TensorSpec((BATCH, 3))]
    model.optimizer.build(model.trainable_variables)
    step = tf.function(lambda x, y: model.train_step((x, y))).get_concrete_function(*specs)
    report = tfprof.flops(step, convention="macs")
    forward = dense(BATCH, 5, 4) + dense(BATCH, 4, 3)
    assert report.by_phase["forward"] == forward.macs
    assert report.by_phase["backward"] == 2 * forward.macs - BATCH * 5 * 4
    assert report.coverage == 1
    n_params = 5 * 4 + 4 + 4 * 3 + 3
    assert tfprof.flops(step).by_phase["optimizer"] == 12 * n_params + 7 * 4


TF1_OPTIMIZERS: dict[str, tuple[tuple[Any, ...], int, int]] = {
    "GradientDescentOptimizer": ((0.1,), 2, 0),
    "MomentumOptimizer": ((0.1, 0.9), 4, 0),  # m = β m + g; w -= rate · m
    # As above, in one op; afterwards, both powers of β are multiplied by β.
    "AdamOptimizer": ((0.1,), 12, 2),
}
"""Arguments; operations for each parameter; operations besides."""


@pytest.mark.parametrize("resource", [True, False])
@pytest.mark.parametrize("name", TF1_OPTIMIZERS)
def test_a_graph_of_tensorflow_1(name: str, resource: bool) -> None:
    tf = pytest.importorskip("tensorflow")
    v1 = tf.compat.v1
    arguments, per_parameter, besides = TF1_OPTIMIZERS[name]
    graph = tf.Graph()
    with graph.as_default():
        image = v1.placeholder(tf.float32, [None, 8, 8, 3], name="image")
        kernel = v1.get_variable("kernel", [3, 3, 3, 4], use_resource=resource)
        weights = v1.get_variable("weights", [8 * 8 * 4, 5], use_resource=resource)
        net = tf.nn.relu(tf.nn.conv2d(image, kernel, 1, "SAME"))
        logits = tf.matmul(tf.reshape(net, [-1, 8 * 8 * 4]), weights)
        getattr(v1.train, name)(*arguments).minimize(tf.reduce_sum(logits))
    report = tfprof.flops(graph, batch=BATCH, convention="macs")
    conv, product = BATCH * 8 * 8 * 4 * 3 * 3 * 3, BATCH * 8 * 8 * 4 * 5
    assert report.by_phase["forward"] == conv + product
    # TensorFlow 1 has the gradient by the images in its graph, too, though no run asks for it.
    assert report.by_phase["backward"] == 2 * conv + 2 * product
    assert report.coverage == 1
    n_params = 3 * 3 * 3 * 4 + 8 * 8 * 4 * 5
    optimizer = tfprof.flops(graph, batch=BATCH).by_phase["optimizer"]
    assert optimizer == per_parameter * n_params + besides
