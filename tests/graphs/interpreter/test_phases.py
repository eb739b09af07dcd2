"""Which part of a step ops belong to."""

import pytest

import tfprof
from tests.graphs.interpreter.programs import FLOAT, Type, graph, node, placeholder, shape
from tfprof.graphs.interpreter.phases import Phase, phase_of, phase_of_function

T = {"T": Type(FLOAT)}


@pytest.mark.parametrize(
    ("name", "op", "phase"),
    [
        ("dense/MatMul", "MatMul", Phase.FORWARD),
        ("up/conv2d_transpose", "Conv2DBackpropInput", Phase.FORWARD),
        ("conv", "Conv2DBackpropFilter", Phase.BACKWARD),
        ("relu", "ReluGrad", Phase.BACKWARD),
        ("norm", "FusedBatchNormGradV3", Phase.BACKWARD),
        ("gradients/dense/mul", "Mul", Phase.BACKWARD),
        ("gradient_tape/net/dense/MatMul", "MatMul", Phase.BACKWARD),
        ("my_gradients_of/mul", "Mul", Phase.FORWARD),
        ("adam/mul", "Mul", Phase.OPTIMIZER),
        ("rm_sprop/mul", "Mul", Phase.OPTIMIZER),
        ("training/Adam_1/mul", "Mul", Phase.OPTIMIZER),
        ("update", "ResourceApplyAdam", Phase.OPTIMIZER),
        ("gradients/x", "ApplyMomentum", Phase.OPTIMIZER),
        ("dense/kernel/Initializer/random_uniform/mul", "Mul", Phase.INITIALIZATION),
        ("dense/kernel_initializer/mul", "Mul", Phase.INITIALIZATION),
        ("adamant/mul", "Mul", Phase.FORWARD),
    ],
)
def test_names_and_types_tell(name, op, phase):
    assert phase_of(name, op, Phase.FORWARD) is phase


def test_what_is_called_from_a_part_belongs_to_it():
    assert phase_of("dense/MatMul", "MatMul", Phase.BACKWARD) is Phase.BACKWARD
    assert phase_of_function("__inference___backward_step_12", Phase.FORWARD) is Phase.BACKWARD
    assert phase_of_function("__backward_step_12", Phase.OPTIMIZER) is Phase.OPTIMIZER
    assert phase_of_function("__inference_step_12", Phase.FORWARD) is Phase.FORWARD


def parts(*nodes):
    report = tfprof.flops(graph(placeholder("x", 4, 4), *nodes))
    return {row["name"]: row["phase"] for row in report.to_rows()}


WEIGHTS = [
    node("w", "VarHandleOp", dtype=Type(FLOAT), shape=shape(4, 4)),
    node("m", "VarHandleOp", dtype=Type(FLOAT), shape=shape(4, 4)),
    node("read", "ReadVariableOp", "w", dtype=Type(FLOAT)),
    node("dense", "MatMul", "x", "read", **T),
    node("gradients/a", "MatMul", "x", "dense", transpose_a=True, **T),
    node("gradients/b", "MatMul", "x", "dense", transpose_a=True, **T),
]


def test_sums_of_gradients_are_backward():
    found = parts(*WEIGHTS, node("AddN", "AddN", "gradients/a", "gradients/b", N=2, **T))
    assert found["AddN"] == "backward"
    assert found["dense"] == "forward"


def test_what_only_changes_variables_by_gradients_is_the_optimizer():
    found = parts(
        *WEIGHTS,
        node("mine/momentum", "ReadVariableOp", "m", dtype=Type(FLOAT)),
        node("mine/kept", "Mul", "mine/momentum", "mine/momentum", **T),
        node("mine/step", "AddV2", "gradients/a", "mine/kept", **T),
        node("mine/assign", "AssignSubVariableOp", "w", "mine/step", dtype=Type(FLOAT)),
        node("metric", "Mul", "dense", "gradients/a", **T),
        node("average", "AssignVariableOp", "m", "dense", dtype=Type(FLOAT)),
    )
    names = ("mine/kept", "mine/step", "mine/assign")
    assert {found[name] for name in names} == {"optimizer"}
    assert found["metric"] == "forward"  # nothing is changed by it
    assert found["average"] == "forward"  # it changes a variable, but not by gradients
    assert found["dense"] == found["read"] == "forward"


@pytest.mark.tensorflow
def test_an_optimizer_may_have_any_name():
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    optimizer = keras.optimizers.Adam(name="my_own")
    optimizer.build(model.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec((8, 4))])
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True)))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    named = keras.optimizers.Adam()
    named.build(model.trainable_variables)
    report = tfprof.flops(step)
    optimizer = named
    usual = tfprof.flops(tf.function(step.python_function, input_signature=[tf.TensorSpec((8, 4))]))
    assert report.by_phase["optimizer"] == usual.by_phase["optimizer"] > 0
    assert report.by_phase == usual.by_phase
