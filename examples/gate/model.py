"""The model that the example's budget is for."""

from __future__ import annotations

import keras
import numpy as np

BATCH = 64


def build() -> keras.Model:
    """A small classifier, compiled for training."""
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            keras.layers.Conv2D(8, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(10),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def batch(number: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Pixels and labels, the same for the same number."""
    random = np.random.default_rng(number)
    pixels = random.random((BATCH, 28, 28, 1), np.float32)
    return pixels, random.integers(0, 10, BATCH)
