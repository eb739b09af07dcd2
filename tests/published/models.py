"""Small models of well-known kinds, and what one batch of them costs, derived by hand.

Each function takes the ``keras`` module that the model is to be made with.
"""

from __future__ import annotations

from typing import Any

from tests.published.derivations import (
    RSQRT,
    Work,
    conv,
    conv_transpose,
    dense,
    elementwise,
    encoder_block,
    layer_norm,
    lstm_step,
)

BATCH = 2


def block(keras: Any, x: Any, heads: int, hidden: int, causal: bool = False) -> Any:
    """A pre-norm transformer block."""
    layers, width = keras.layers, x.shape[-1]
    normed = layers.LayerNormalization()(x)
    attention = layers.MultiHeadAttention(heads, width // heads)
    x = layers.Add()([x, attention(normed, normed, use_causal_mask=causal)])
    net = layers.Dense(hidden, activation="gelu")(layers.LayerNormalization()(x))
    return layers.Add()([x, layers.Dense(width)(net)])


def encoder(keras: Any, steps: int | None = 6) -> Any:
    x = keras.Input((steps, 8), name="x")
    return keras.Model(x, block(keras, x, heads=2, hidden=16))


ENCODER = encoder_block(BATCH, steps=6, width=8, heads=2, hidden=16)


def decoder(keras: Any, tied: bool) -> Any:
    """GPT: embeddings of tokens and positions, three causal blocks, a norm, logits."""
    layers = keras.layers
    tokens = keras.Input((6,), dtype="int32", name="tokens")
    embedding = layers.ReversibleEmbedding(11, 8) if tied else layers.Embedding(11, 8)
    places = layers.Embedding(6, 8)(keras.ops.arange(6))
    x = layers.Add()([embedding(tokens), keras.ops.expand_dims(places, 0)])
    for _ in range(3):
        x = block(keras, x, heads=2, hidden=32, causal=True)
    x = layers.LayerNormalization()(x)
    logits = embedding(x, reverse=True) if tied else layers.Dense(11, use_bias=False)(x)
    return keras.Model(tokens, logits)


DECODER = (
    elementwise(BATCH * 6 * 8)  # tokens and places
    + 3 * encoder_block(BATCH, steps=6, width=8, heads=2, hidden=32)
    + layer_norm(BATCH * 6, 8)
    + dense(BATCH * 6, 8, 11, bias=False)
)
"""The mask costs nothing: what it hides is computed, and then another value chosen."""


def vit(keras: Any) -> Any:
    """Patches of 4 × 4 pixels of a 16 × 16 image, positions, two blocks, mean, 5 classes."""
    layers = keras.layers
    image = keras.Input((16, 16, 3), name="image")
    patches = layers.Reshape((16, 8))(layers.Conv2D(8, 4, strides=4)(image))
    places = layers.Embedding(16, 8)(keras.ops.expand_dims(keras.ops.arange(16), 0))
    x = layers.Add()([patches, places])
    for _ in range(2):
        x = block(keras, x, heads=2, hidden=16)
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return keras.Model(image, layers.Dense(5)(x))


VIT = (
    conv(BATCH * 4 * 4 * 8, (4, 4), 3)
    + elementwise(BATCH * 16 * 8)
    + 2 * encoder_block(BATCH, steps=16, width=8, heads=2, hidden=16)
    + layer_norm(BATCH * 16, 8)
    + elementwise(BATCH * 8, 15 + 1)
    + dense(BATCH, 8, 5)
)


def unet(keras: Any, size: int | None = 16) -> Any:
    """Two levels down and up, two convolutions each, skip connections, one class."""
    layers = keras.layers

    def double(x: Any, width: int) -> Any:
        for _ in range(2):
            x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        return x

    image = keras.Input((size, size, 3), name="image")
    upper = double(image, 4)
    lower = double(layers.MaxPooling2D(2)(upper), 8)
    x = double(layers.MaxPooling2D(2)(lower), 16)
    for skip, width in ((lower, 8), (upper, 4)):
        x = layers.Conv2DTranspose(width, 2, strides=2)(x)
        x = double(layers.Concatenate()([skip, x]), width)
    return keras.Model(image, layers.Conv2D(1, 1)(x))


def _double(size: int, depth: int, width: int) -> Work:
    n = BATCH * size**2 * width
    return conv(n, (3, 3), depth) + conv(n, (3, 3), width) + 2 * elementwise(n)


UNET = (
    _double(16, 3, 4)
    + elementwise(BATCH * 8**2 * 4, 4)
    + _double(8, 4, 8)
    + elementwise(BATCH * 4**2 * 8, 4)
    + _double(4, 8, 16)
    + conv_transpose(BATCH * 4**2 * 16, (2, 2), BATCH * 8**2 * 8, 8)
    + _double(8, 8 + 8, 8)
    + conv_transpose(BATCH * 8**2 * 8, (2, 2), BATCH * 16**2 * 4, 4)
    + _double(16, 4 + 4, 4)
    + conv(BATCH * 16**2, (1, 1), 4)
)


def tagger(keras: Any, steps: int | None = 7) -> Any:
    """Embedding, two layers of bidirectional LSTMs, a dense layer for each step."""
    layers = keras.layers
    tokens = keras.Input((steps,), dtype="int32", name="tokens")
    x = layers.Embedding(10, 4)(tokens)
    x = layers.Bidirectional(layers.LSTM(5, return_sequences=True))(x)
    x = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x)
    return keras.Model(tokens, layers.Dense(2)(x))


TAGGER = (
    2 * 7 * lstm_step(BATCH, 4, 5) + 2 * 7 * lstm_step(BATCH, 5 + 5, 3) + dense(BATCH * 7, 3 + 3, 2)
)


def convnet(keras: Any) -> Any:
    """Convolution, batch norm in inference, ReLU, mean, a dense layer."""
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((8, 8, 3), name="image"),
            layers.Conv2D(4, 3, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3),
        ]
    )


_N = BATCH * 4 * 4 * 4
_BATCH_NORM = elementwise(4, 1 + RSQRT + 1 + 1 + 1) + elementwise(_N, 2)
"""``r = g · rsqrt(v + e)`` and ``b - m · r`` for each channel, ``x · r + that`` of each element."""
_FUSED_BATCH_NORM = elementwise(4, 1 + RSQRT + 1) + elementwise(_N, 3)
"""``r`` for each channel, ``(x - m) · r + b`` of each element."""


def _convnet(batch_norm: Work) -> Work:
    return (
        conv(_N, (3, 3), 3, bias=False)
        + batch_norm
        + elementwise(_N)
        + elementwise(BATCH * 4, 15 + 1)
        + dense(BATCH, 4, 3)
    )


CONVNET = _convnet(_BATCH_NORM)
CONVNET_OF_TF_KERAS = _convnet(_FUSED_BATCH_NORM)

MODELS = {
    "transformer encoder": (encoder, ENCODER),
    "GPT": (lambda keras: decoder(keras, tied=False), DECODER),
    "GPT with tied embeddings": (lambda keras: decoder(keras, tied=True), DECODER),
    "ViT": (vit, VIT),
    "U-Net": (unet, UNET),
    "LSTM tagger": (tagger, TAGGER),
    "convnet": (convnet, CONVNET),
}
"""Function that makes the model, and the work of one batch, by name."""
