"""Pipelines of tf.data, as terms describe them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.truth.gym.grammar import Input
from tests.truth.gym.loop import Making

SIDE = 16
"""A batch is a square of so many rows."""


def dataset(
    given: Input, making: Making, count: int, folder: Path, *, labels: bool = False
) -> tf.data.Dataset:
    """So many batches, made as the term says."""

    def made(number: np.int64) -> np.ndarray:
        making()
        return np.full((SIDE, SIDE), number, np.float32)

    def slow(number: tf.Tensor) -> tf.Tensor:
        return tf.ensure_shape(tf.numpy_function(made, [number], tf.float32), (SIDE, SIDE))

    how = {"num_parallel_calls": given.parallel} if given.parallel > 1 else {}
    found = _SOURCES[given.cost](given, making, count, folder, slow, how)
    if labels:
        found = found.map(lambda one: (one, one[:, :1]))
    if given.cache:
        found = found.cache()
    return found.prefetch(2) if given.prefetch else found


Slow = Callable[[tf.Tensor], tf.Tensor]


def _fast(number: tf.Tensor) -> tf.Tensor:
    return tf.fill((SIDE, SIDE), tf.cast(number, tf.float32))


def _of_nothing(*parts: Any) -> tf.data.Dataset:
    return tf.data.Dataset.range(parts[2]).map(_fast)


def _of_map(
    given: Input, making: Making, count: int, folder: Path, slow: Slow, how: dict[str, int]
) -> tf.data.Dataset:
    return tf.data.Dataset.range(count).map(slow, **how)


def _of_ops(
    given: Input, making: Making, count: int, folder: Path, slow: Slow, how: dict[str, int]
) -> tf.data.Dataset:
    trips = round(4 * given.sleep_ms)

    def computed(number: tf.Tensor) -> tf.Tensor:
        found = tf.fill((96, 96), tf.cast(number, tf.float32) * 1e-9)
        for _ in tf.range(trips):
            found = tf.tanh(found @ found)
        return found[:SIDE, :SIDE]

    return tf.data.Dataset.range(count).map(computed, **how)


def _of_generator(
    given: Input, making: Making, count: int, folder: Path, slow: Slow, how: dict[str, int]
) -> tf.data.Dataset:
    def generated() -> Iterator[np.ndarray]:
        for number in range(count):
            making()
            yield np.full((SIDE, SIDE), number, np.float32)

    return tf.data.Dataset.from_generator(
        generated, output_signature=tf.TensorSpec((SIDE, SIDE), tf.float32)
    )


def _of_interleave(
    given: Input, making: Making, count: int, folder: Path, slow: Slow, how: dict[str, int]
) -> tf.data.Dataset:
    return tf.data.Dataset.range(4).interleave(
        lambda part: tf.data.Dataset.range((count + 3) // 4).map(slow), cycle_length=4
    )


def _of_records(
    given: Input, making: Making, count: int, folder: Path, slow: Slow, how: dict[str, int]
) -> tf.data.Dataset:
    path = str(folder / "batches.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for number in range(count):
            writer.write(str(number).encode())
    records = tf.data.TFRecordDataset(path)
    return records.map(lambda one: slow(tf.strings.to_number(one, tf.int64)), **how)


_SOURCES: dict[str, Callable[..., tf.data.Dataset]] = {
    "none": _of_nothing, "map": _of_map, "native": _of_ops, "generator": _of_generator,
    "interleave": _of_interleave, "tfrecord": _of_records,
}  # fmt: skip
