"""Single layers of Keras 3, counted as their definitions say: multiply-adds and operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.published.checked import B, check
from tests.published.derivations import (
    RSQRT,
    SIGMOID,
    SOFTMAX,
    Work,
    attention,
    conv,
    conv_transpose,
    dense,
    elementwise,
    gru_step,
    layer_norm,
    lstm_step,
)

pytestmark = [pytest.mark.tensorflow, pytest.mark.models]

Layers = Any

CASES: dict[str, tuple[Callable[[Layers], Any], list[tuple[int, ...]], Work]] = {
    "Dense": (lambda L: L.Dense(3, activation="relu"), [(5,)], dense(B, 5, 3) + elementwise(B * 3)),
    "Dense of sequences": (lambda L: L.Dense(3, use_bias=False), [(7, 5)], Work(B * 7 * 5 * 3)),
    "EinsumDense": (
        lambda L: L.EinsumDense("abc,cde->abde", output_shape=(None, 3, 2)),
        [(7, 5)],
        Work(B * 7 * 5 * 3 * 2),
    ),
    "Conv1D": (lambda L: L.Conv1D(4, 3), [(9, 5)], conv(B * 7 * 4, (3,), 5)),
    "Conv1D causal": (
        lambda L: L.Conv1D(4, 3, padding="causal", dilation_rate=2),
        [(10, 5)],
        conv(B * 10 * 4, (3,), 5),
    ),
    "Conv2D": (
        lambda L: L.Conv2D(4, (3, 5), strides=2, padding="same"),
        [(9, 8, 3)],
        conv(B * 5 * 4 * 4, (3, 5), 3),
    ),
    "Conv2D dilated": (  # a window of 3 spans 5
        lambda L: L.Conv2D(4, 3, dilation_rate=2),
        [(10, 8, 3)],
        conv(B * 6 * 4 * 4, (3, 3), 3),
    ),
    "Conv2D dilated and padded": (
        # TensorFlow makes 2 · 2 images of every second pixel. For that it pads 9 rows to 10, and
        # computes a sixth row that it throws away before the bias.
        lambda L: L.Conv2D(4, 3, dilation_rate=2),
        [(9, 8, 3)],
        conv(B * 6 * 4 * 4, (3, 3), 3, bias=False) + elementwise(B * 5 * 4 * 4),
    ),
    "Conv2D grouped": (  # a filter has 6 / 3 channels
        lambda L: L.Conv2D(12, 3, groups=3),
        [(6, 6, 6)],
        conv(B * 4 * 4 * 12, (3, 3), 6 // 3),
    ),
    "Conv3D": (
        lambda L: L.Conv3D(4, (2, 3, 3), use_bias=False),
        [(4, 5, 6, 3)],
        conv(B * 3 * 3 * 4 * 4, (2, 3, 3), 3, bias=False),
    ),
    "DepthwiseConv2D": (
        lambda L: L.DepthwiseConv2D(3, depth_multiplier=2, padding="same"),
        [(6, 6, 3)],
        conv(B * 6 * 6 * 3 * 2, (3, 3), 1),
    ),
    "SeparableConv2D": (  # only the sum of the second convolution has a bias
        lambda L: L.SeparableConv2D(4, 3, depth_multiplier=2),
        [(6, 6, 3)],
        conv(B * 4 * 4 * 3 * 2, (3, 3), 1, bias=False) + conv(B * 4 * 4 * 4, (1, 1), 3 * 2),
    ),
    "Conv1DTranspose": (
        lambda L: L.Conv1DTranspose(4, 3, strides=2, padding="same"),
        [(5, 3)],
        conv_transpose(B * 5 * 3, (3,), B * 10 * 4, 4),
    ),
    "Conv2DTranspose": (
        lambda L: L.Conv2DTranspose(4, 3, strides=2, padding="same"),
        [(5, 6, 3)],
        conv_transpose(B * 5 * 6 * 3, (3, 3), B * 10 * 12 * 4, 4),
    ),
    "Conv3DTranspose": (  # valid: (n - 1) · 2 + 3
        lambda L: L.Conv3DTranspose(2, 3, strides=2),
        [(4, 4, 4, 3)],
        conv_transpose(B * 4**3 * 3, (3, 3, 3), B * 9**3 * 2, 2),
    ),
    "LSTM": (lambda L: L.LSTM(5), [(3, 4)], 3 * lstm_step(B, 4, 5)),
    "LSTM unrolled": (lambda L: L.LSTM(5, unroll=True), [(3, 4)], 3 * lstm_step(B, 4, 5)),
    "GRU": (lambda L: L.GRU(5, return_sequences=True), [(3, 4)], 3 * gru_step(B, 4, 5)),
    "SimpleRNN": (  # tanh(x W + b + h U)
        lambda L: L.SimpleRNN(5),
        [(3, 4)],
        3 * (dense(B, 4, 5) + dense(B, 5, 5) + elementwise(B * 5)),
    ),
    "Bidirectional": (  # concatenated
        lambda L: L.Bidirectional(L.LSTM(5)),
        [(3, 4)],
        2 * 3 * lstm_step(B, 4, 5),
    ),
    "Bidirectional sum": (
        lambda L: L.Bidirectional(L.GRU(5), merge_mode="sum"),
        [(3, 4)],
        2 * 3 * gru_step(B, 4, 5) + elementwise(B * 5),
    ),
    "TimeDistributed": (
        lambda L: L.TimeDistributed(L.Dense(5)),
        [(3, 4)],
        3 * dense(B, 4, 5),
    ),
    "BatchNormalization": (  # x · r + (b - m · r) with r = g · rsqrt(v + e), once for each channel
        lambda L: L.BatchNormalization(),
        [(4, 4, 3)],
        elementwise(3, 1 + RSQRT + 1 + 1 + 1) + elementwise(B * 4 * 4 * 3, 2),
    ),
    "LayerNormalization": (lambda L: L.LayerNormalization(), [(4, 3)], layer_norm(B * 4, 3)),
    "GroupNormalization": (  # moments of 2 groups; r and b - m · r for each channel of a group
        lambda L: L.GroupNormalization(2),
        [(4, 4, 6)],
        elementwise(B * 4 * 4 * 6, 1 + 1 + 2)
        + elementwise(B * 2, 1 + 1 + RSQRT)
        + elementwise(B * 6, 1 + 1 + 1)
        + elementwise(B * 4 * 4 * 6, 2),
    ),
    "Embedding": (lambda L: L.Embedding(10, 4), [(6,)], Work()),
    "UpSampling2D nearest": (lambda L: L.UpSampling2D(3), [(4, 4, 3)], Work()),
    "UpSampling2D bilinear": (  # three interpolations a + (b - a) · t
        lambda L: L.UpSampling2D(2, interpolation="bilinear"),
        [(4, 4, 3)],
        elementwise(B * 8 * 8 * 3, 3 * 3),
    ),
    "MaxPooling2D": (  # 4 comparisons with the maximum so far, which begins at the lowest number
        lambda L: L.MaxPooling2D(2),
        [(6, 6, 3)],
        elementwise(B * 3 * 3 * 3, 4),
    ),
    "AveragePooling2D": (  # 3 sums and a quotient
        lambda L: L.AveragePooling2D(2),
        [(6, 6, 3)],
        elementwise(B * 3 * 3 * 3, 3 + 1),
    ),
    "GlobalAveragePooling2D": (  # 35 sums and a quotient
        lambda L: L.GlobalAveragePooling2D(),
        [(6, 6, 3)],
        elementwise(B * 3, 35 + 1),
    ),
    "Attention": (
        lambda L: lambda q, v: L.Attention()([q, v]),
        [(5, 8), (7, 8)],
        Work(2 * B * 5 * 7 * 8) + elementwise(B * 5 * 7, SOFTMAX),
    ),
    "AdditiveAttention": (  # sum of scale · tanh(q + k) over 8, softmax, product with the values
        lambda L: lambda q, v: L.AdditiveAttention()([q, v]),
        [(5, 8), (7, 8)],
        elementwise(B * 5 * 7, 3 * 8 + (8 - 1) + SOFTMAX) + Work(B * 5 * 7 * 8),
    ),
    "MultiHeadAttention": (
        lambda L: lambda x: L.MultiHeadAttention(2, 4)(x, x),
        [(5, 8)],
        attention(B, 5, 8, 2, 4),
    ),
    "MultiHeadAttention causal": (  # what the mask hides is computed first, and then replaced
        lambda L: lambda x: L.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True),
        [(5, 8)],
        attention(B, 5, 8, 2, 4),
    ),
    "GroupQueryAttention": (  # 4 heads share the keys and values of 2
        lambda L: lambda x: L.GroupQueryAttention(3, 4, 2)(x, x),
        [(5, 8)],
        dense(B * 5, 8, 4 * 3)
        + 2 * dense(B * 5, 8, 2 * 3)
        + Work(2 * B * 4 * 5 * 5 * 3)
        + elementwise(B * 4 * 5 * 5, 1 + SOFTMAX)
        + dense(B * 5, 4 * 3, 8),
    ),
}

IN_TF_KERAS = (
    "Dense", "Conv2D", "Conv2D grouped", "DepthwiseConv2D", "SeparableConv2D", "Conv2DTranspose",
    "Conv3DTranspose", "LSTM", "GRU", "SimpleRNN", "Bidirectional", "Bidirectional sum",
    "Embedding", "UpSampling2D bilinear", "MaxPooling2D", "AveragePooling2D",
    "GlobalAveragePooling2D", "Attention",
)  # fmt: skip
"""Layers that the Keras of TensorFlow 2.15 and older computes in the same way."""


def model_of(keras: Any, name: str) -> Any:
    make, shapes, _ = CASES[name]
    inputs = [keras.Input(shape) for shape in shapes]
    return keras.Model(inputs, make(keras.layers)(*inputs))


@pytest.mark.parametrize("name", CASES)
def test_a_layer_of_keras_3(name: str) -> None:
    keras = pytest.importorskip("keras")
    check(model_of(keras, name), CASES[name][2])


@pytest.mark.parametrize("name", IN_TF_KERAS)
def test_a_layer_of_tf_keras(name: str) -> None:
    keras = pytest.importorskip("tf_keras")
    check(model_of(keras, name), CASES[name][2])


def test_conv_lstm() -> None:
    keras = pytest.importorskip("keras")
    model = keras.Sequential([keras.Input((3, 6, 6, 2)), keras.layers.ConvLSTM2D(4, 3)])
    n = B * 4 * 4 * 4  # valid convolutions of the inputs, same ones of the state
    gates = 4 * (conv(n, (3, 3), 2) + conv(n, (3, 3), 4, bias=False) + elementwise(n))
    step = gates + elementwise(n, 3 * SIGMOID + 1 + 3 + 1 + 1)
    check(model, 3 * step)
