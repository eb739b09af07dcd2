"""Where TensorFlow's own count is wrong: its answer beside ours, and the right one.

TensorFlow's is that of ``tf.compat.v1.profiler.profile`` for float operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfprof
from tests.published.derivations import Work, attention, conv_transpose, lstm_step
from tfprof.graphs.live.model_graphs import traced

pytestmark = pytest.mark.tensorflow

PRODUCT = 2 * 100**3
"""Of two matrices of 100 × 100."""
N = 100 * 100


def tensorflows_count(graph: Any) -> int:
    """Float operations in the words of TensorFlow."""
    from tensorflow.compat.v1.profiler import ProfileOptionBuilder, profile

    options = ProfileOptionBuilder(ProfileOptionBuilder.float_operation())
    return int(profile(graph, options=options.with_empty_output().build()).total_float_ops)


def both(function: Callable[..., Any], *shapes: Any, batch: int | None = None) -> tuple[int, int]:
    """TensorFlow's count and ours, of the same graph."""
    import tensorflow as tf

    specs = [each if hasattr(each, "dtype") else tf.TensorSpec(each) for each in shapes]
    concrete = tf.function(function).get_concrete_function(*specs)
    report = tfprof.flops(concrete, batch=batch)
    assert report.coverage == 1
    return tensorflows_count(concrete.graph), report.flops


def test_a_product_is_counted_by_both() -> None:
    assert both(lambda x: x @ x, (100, 100)) == (PRODUCT, PRODUCT)


def test_einsum() -> None:
    tf = pytest.importorskip("tensorflow")
    assert both(lambda x: tf.einsum("ij,kj->ik", x, x), (100, 100)) == (0, PRODUCT)
    assert both(lambda x: tf.einsum("bij,bjk->bik", x, x), (8, 10, 10)) == (0, 2 * 8 * 10**3)


def test_while_loop() -> None:
    tf = pytest.importorskip("tensorflow")

    def ten_times(x: Any) -> Any:
        return tf.while_loop(lambda i, y: i < 10, lambda i, y: (i + 1, y @ y), [0, x])

    assert both(ten_times, (100, 100)) == (0, 10 * PRODUCT)


def test_nested_functions() -> None:
    tf = pytest.importorskip("tensorflow")
    square = tf.function(lambda x: x @ x)
    assert both(lambda x: square(x) + square(x), (100, 100)) == (N, 2 * PRODUCT + N)
    fourth = tf.function(lambda x: square(square(x)))
    assert both(lambda x: fourth(x), (100, 100)) == (0, 2 * PRODUCT)


def test_an_unknown_batch() -> None:
    tf = pytest.importorskip("tensorflow")
    weights = tf.ones([100, 100])
    assert both(lambda x: x @ weights, (None, 100), batch=100) == (0, PRODUCT)
    function = tf.function(lambda x: x @ weights).get_concrete_function(tf.TensorSpec((None, 100)))
    assert str(tfprof.flops(function).flops) == f"{2 * 100 * 100:,}·B"


def test_a_conditional() -> None:
    tf = pytest.importorskip("tensorflow")

    def choose(x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x @ x, lambda: x + 1.0)

    condition = (N - 1) + 1
    # Of both branches, ours has the one that costs more; TensorFlow's has the condition alone.
    assert both(choose, (100, 100)) == (condition, condition + PRODUCT)


def test_a_conditional_of_tensorflow_1() -> None:
    tf = pytest.importorskip("tensorflow")
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [100, 100], name="x")
        condition = v1.placeholder(tf.bool, [], name="condition")
        tf.cond(condition, lambda: x @ x, lambda: x + 1.0)
    assert tensorflows_count(graph) == 0
    assert tfprof.flops(graph).flops == PRODUCT


def both_of_layer(make: Callable[[Any, Any], Any], shape: tuple[int, ...]) -> tuple[int, int]:
    """TensorFlow's count and ours, of the graph of a layer for a batch of 8."""
    keras = pytest.importorskip("keras")
    tf = pytest.importorskip("tensorflow")
    x = keras.Input(shape, batch_size=8)
    model = keras.Model(x, make(keras.layers, x))
    result = traced(model)
    assert result is not None
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(tf.compat.v1.GraphDef.FromString(result.graph))
    report = tfprof.flops(model)
    assert report.coverage == 1
    return tensorflows_count(graph), report.flops


def test_lstm() -> None:
    step = lstm_step(8, 16, 64)
    # TensorFlow's has one step, which Keras traces to learn its shapes, and which no run does; of
    # its functions the 4 + 4 + 4 sums and products.
    one_step = 2 * step.macs + 12 * 8 * 64
    found = both_of_layer(lambda layers, x: layers.LSTM(64)(x), (32, 16))
    assert found == (one_step, 32 * step.flops)


def test_attention() -> None:
    work = attention(8, 32, 16, 2, 8)
    products = 2 * Work(8 * 2 * 32 * 32 * 8)
    found = both_of_layer(lambda layers, x: layers.MultiHeadAttention(2, 8)(x, x), (32, 16))
    assert found == (work.flops - products.flops, work.flops)


def test_conv_3d_transpose() -> None:
    bias = 8 * 8**3 * 4
    work = conv_transpose(8 * 6**3 * 2, (3, 3, 3), bias, 4)
    found = both_of_layer(lambda layers, x: layers.Conv3DTranspose(4, 3)(x), (6, 6, 6, 2))
    assert found == (bias, work.flops)
