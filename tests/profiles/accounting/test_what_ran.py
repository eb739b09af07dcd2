"""Only ops that ran have float operations, wherever TensorFlow has let them run."""

from __future__ import annotations

from typing import Any

import pytest

import tfprof
from tests.graphs.interpreter.programs import FLOAT, Ref, Type, function, graph, node, placeholder
from tfprof.testing.builders import run, stat

T = {"T": Type(FLOAT)}
PRODUCT = 2 * 4 * 4 * 4
MM = node("mm", "MatMul", "x", "x", **T)
X = placeholder("x", 4, 4)


def profiler_of(*nodes: Any, ran: Any, classic: bool = False) -> tfprof.Profiler:
    profiler = tfprof.Profiler(graph(*nodes), classic=classic)
    profiler.add_step(0, run(ran))
    return profiler


def float_ops(profiler: tfprof.Profiler, **options: Any) -> dict[str, int]:
    view = profiler.view("scope", {**tfprof.ProfileOptionBuilder().build(), **options})
    counts = zip(view.names, view.columns["float_ops"].tolist(), strict=True)
    return {name: count for name, count in counts if count}


def both(profiler: tfprof.Profiler) -> dict[str, int]:
    """Float operations of a view; those of ``flops`` are the same."""
    found = float_ops(profiler)
    assert tfprof.flops(profiler).flops == sum(found.values())
    loaded = tfprof.load(profiler.serialize_to_string())
    assert float_ops(loaded) == found
    assert tfprof.flops(loaded).flops == sum(found.values())
    return found


def test_an_op_that_did_not_run_counts_nothing() -> None:
    pruned = node("gradient", "MatMul", "mm", "x", **T)
    profiler = profiler_of(X, MM, pruned, ran={"mm": 1})
    assert both(profiler) == {"mm": PRODUCT}
    assert float_ops(profiler, step=0) == {"mm": PRODUCT}
    assert float_ops(profiler, static_float_ops=True) == {"mm": PRODUCT, "gradient": PRODUCT}
    report = tfprof.flops(profiler)
    (note,) = report.notes
    assert "left out: 1 with float operations" in note
    assert report.by_type == {"MatMul": PRODUCT}
    static = tfprof.flops(profiler, static=True)
    assert (static.flops, static.notes) == (2 * PRODUCT, ())
    assert tfprof.summary(profiler).report.flops == PRODUCT
    assert tfprof.summary(profiler, static=True).report.flops == 2 * PRODUCT


def test_without_runs_the_graph_counts() -> None:
    assert float_ops(tfprof.Profiler(graph(X, MM))) == {"mm": PRODUCT}


def test_an_op_that_ran_in_one_of_the_steps_counts() -> None:
    profiler = profiler_of(X, MM, node("r", "Relu", "x", **T), ran={"mm": 1})
    profiler.add_step(1, run({"r": 1}))
    assert both(profiler) == {"mm": PRODUCT, "r": 16}
    assert float_ops(profiler, step=1) == {"r": 16}


FUSED = [
    MM,
    placeholder("bias", 4),
    node("sum", "BiasAdd", "mm", "bias", **T),
    node("act", "Relu", "sum", **T),
]


def test_ops_that_became_a_part_of_another_kernel_ran() -> None:
    kernel = stat(1, label="act = _FusedMatMul(x, x, bias)")
    assert both(profiler_of(X, *FUSED, ran={"act": kernel})) == {
        "mm": PRODUCT, "sum": 16, "act": 16,
    }  # fmt: skip
    twice = profiler_of(X, *FUSED, ran=[("act", kernel), ("act", kernel)])
    assert float_ops(twice) == {"mm": 2 * PRODUCT, "sum": 2 * 16, "act": 2 * 16}


def test_a_kernel_of_ops_that_branch() -> None:
    """The approximation of Gelu: what comes out of the product is read twice."""
    parts = [
        MM,
        node("cdf", "Erf", "mm", **T),
        node("gelu", "Mul", "mm", "cdf", **T),
    ]
    assert set(both(profiler_of(X, *parts, ran={"gelu": 1}))) == {"mm", "cdf", "gelu"}


@pytest.mark.parametrize(
    "reader",
    [
        node("out", "Merge", "mm", "x", N=2, **T),  # the branch that was not taken
        node("out", "Mystery", "mm"),  # a constant, folded
    ],
    ids=["branch", "constant"],
)
def test_ops_that_no_kernel_takes_up_did_not_run(reader: Any) -> None:
    assert "mm" not in both(profiler_of(X, MM, reader, ran={"out": 1}))


def test_an_op_with_a_reader_elsewhere_is_not_part_of_a_kernel() -> None:
    more = node("more", "Relu", "mm", **T)
    profiler = profiler_of(X, *FUSED, more, ran={"act": 1, "more": 1})
    assert both(profiler) == {"act": 16, "more": 16}


def test_elementwise_ops_alone_make_no_kernel() -> None:
    parts = [node("a", "Tanh", "x", **T), node("b", "Relu", "a", **T)]
    assert both(profiler_of(X, *parts, ran={"b": 1})) == {"b": 16}


def test_the_body_of_a_call_runs_under_its_name() -> None:
    square = function("square", {"x": FLOAT}, {"y": ("mm:product:0", FLOAT)}, MM)
    calls = [
        node(name, "PartitionedCall", "x", Tin=[FLOAT], Tout=[FLOAT], f=Ref("square"))
        for name in ("call", "net/call", "never")
    ]
    inner = {f"{name}/mm": stat(1, label=f"{name}/mm = MatMul(x)") for name in ("call", "net/call")}
    profiler = profiler_of(X, *calls, square, ran=inner)
    assert both(profiler) == {"call": PRODUCT, "net/call": PRODUCT}


def test_a_product_that_took_a_transposition_over() -> None:
    name = "net/ArithmeticOptimizer/FoldTransposeIntoMatMul_mm"
    product = node("net/mm", "MatMul", "x", "x", **T)
    profiler = profiler_of(X, product, ran={name: stat(1, label=f"{name} = MatMul(x, x)")})
    assert both(profiler) == {"net/mm": PRODUCT}


def test_ops_in_a_program_of_xla_count_as_the_graph_says() -> None:
    name = "cluster_0_1/xla_run"
    profiler = profiler_of(X, MM, ran={name: stat(1, label=f"{name} = _XlaRun(x)")})
    assert both(profiler) == {"mm": PRODUCT}


def test_classic_counts_what_never_ran() -> None:
    log = tfprof.OpLogProto()
    for name in ("mm", "never"):
        log.log_entries.add(name=name, float_ops=7)
    never = node("never", "MatMul", "x", "x", **T)
    for classic, expected in ((True, 14), (False, 7)):
        profiler = tfprof.Profiler(graph(X, MM, never), log, classic=classic)
        profiler.add_step(0, run({"mm": 1}))
        assert profiler.view("scope").total_float_ops == expected


def test_what_only_a_run_has_named_is_the_same_after_saving() -> None:
    ran = {
        "mm": stat(1),
        "_arg_x_0_0": stat(1, label="_arg_x_0_0 = _Arg()"),
        "_retval_mm_0_0": stat(1, label="_retval_mm_0_0 = _Retval(mm)"),
    }
    profiler = profiler_of(X, MM, ran=ran)
    loaded = tfprof.load(profiler.serialize_to_string())
    for each in (profiler, loaded, profiler.merge(loaded)):
        report = tfprof.flops(each)
        assert (report.uncounted, report.coverage) == ({}, 1.0)


@pytest.mark.tensorflow
def test_a_session_with_optimizations() -> None:
    """A convolution with bias and activation, a pruned gradient, and a product in a function."""
    import numpy as np
    import tensorflow as tf

    tf1 = tf.compat.v1
    live = tf.Graph()
    with live.as_default():
        x = tf1.placeholder(tf.float32, [None, 8, 8, 3])
        weights = tf1.get_variable("w", [3, 3, 3, 4])
        bias = tf1.get_variable("b", [4])
        net = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, weights, 1, "SAME"), bias))
        product = tf.function(lambda a: a @ tf.ones([256, 5]))(tf.reshape(net, [-1, 256]))
        tf.gradients(product, [weights])
        metadata = tf1.RunMetadata()
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(
                product,
                {x: np.zeros((2, 8, 8, 3), np.float32)},
                options=tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE),
                run_metadata=metadata,
            )
    profiler = tfprof.Profiler(live.as_graph_def(add_shapes=True))
    profiler.add_step(0, metadata)
    outputs = 2 * 8 * 8 * 4
    expected = 2 * outputs * 27 + 2 * outputs + 2 * 2 * 256 * 5
    assert sum(float_ops(profiler).values()) == expected
    assert tfprof.flops(profiler).flops == expected
    assert tfprof.flops(profiler, static=True).flops > expected
