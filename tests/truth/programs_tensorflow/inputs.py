"""Input pipelines that are slow, and what is done about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tests.truth.own_clock import OwnClock
from tests.truth.programs_tensorflow.parts import batches, marked, products, program, train


@program
def slow_map(clock: OwnClock) -> None:
    """A map that takes 20 ms for each batch, one after the other, in 12 steps."""
    train(clock, batches(clock, 12, 20), 12, products(1, 64))
    clock.knows(slowest="Map")


@program
def slow_map_parallel(clock: OwnClock) -> None:
    """The same with parallel calls."""
    train(clock, batches(clock, 12, 20, num_parallel_calls=4, alone=True), 12, products(1, 64))


@program
def slow_map_parallel_prefetched(clock: OwnClock) -> None:
    """The same with parallel calls, which run ahead by themselves, and a prefetch."""
    dataset = batches(clock, 12, 20, num_parallel_calls=4).prefetch(2)
    train(clock, dataset, 12, products(1, 64))


@program
def slow_map_prefetched(clock: OwnClock) -> None:
    """The same with a prefetch: what the step takes is hidden, what the map takes is not."""
    train(clock, batches(clock, 12, 20).prefetch(2), 12, products(1, 64))
    clock.knows(slowest="Map")


@program
def slow_generator(clock: OwnClock) -> None:
    """A generator that takes 20 ms for each batch."""

    def generate() -> Iterator[np.ndarray]:
        for _ in range(10):
            time.sleep(0.02)
            yield np.ones((4, 4), np.float32)

    signature = tf.TensorSpec((4, 4), tf.float32)
    dataset = tf.data.Dataset.from_generator(generate, output_signature=signature)
    train(clock, dataset, 10, products(1, 64))
    clock.knows(slowest="Generator")


def fused(clock: OwnClock) -> tf.data.Dataset:
    """Map and batch, which tf.data fuses into one that runs ahead by itself; 4 × 5 ms each."""

    def make(number: np.int64) -> np.ndarray:
        time.sleep(0.005)
        return np.full((8, 8), number, np.float32)

    def example(number: tf.Tensor) -> tf.Tensor:
        return tf.ensure_shape(tf.numpy_function(make, [number], tf.float32), (8, 8))

    return tf.data.Dataset.range(48).map(example, num_parallel_calls=1).batch(4)


@program
def fused_map_and_batch(clock: OwnClock) -> None:
    """Twelve steps that wait for a fused MapAndBatch."""
    train(clock, fused(clock), 12, products(1, 64))


@program
def fused_map_and_batch_prefetched(clock: OwnClock) -> None:
    """The same with a prefetch."""
    train(clock, fused(clock).prefetch(2), 12, products(1, 64))


def interleaved(clock: OwnClock, **how: Any) -> tf.data.Dataset:
    """Two copies of a map of 14 ms, one after the other, and a map of 6 ms behind them.

    The clock notes how long their calls took, as ``copies`` and ``behind``.
    """

    def slow(span: str, sleep_ms: float) -> Callable[[tf.Tensor], tf.Tensor]:
        def make(number: np.int64) -> np.ndarray:
            with clock.span(span):
                time.sleep(sleep_ms / 1e3)
                return np.full((8, 8), number, np.float32)

        return lambda number: tf.ensure_shape(
            tf.numpy_function(make, [number], tf.float32), (8, 8)
        )  # fmt: skip

    def copy(number: tf.Tensor) -> tf.data.Dataset:
        return tf.data.Dataset.range(100).map(slow("copies", 14), **how)

    behind = slow("behind", 6)
    dataset = tf.data.Dataset.range(2).interleave(copy, cycle_length=2, num_parallel_calls=None)
    options = tf.data.Options()
    options.threading.private_threadpool_size = 16  # the functions sleep, and hold a thread each
    made = dataset.map(lambda made: behind(tf.cast(made[0, 0], tf.int64)))
    return made.with_options(options)


@program
def interleaved_maps(clock: OwnClock) -> None:
    """Steps that wait for both: 70 % of the time is that of the copies together."""
    train(clock, interleaved(clock), 12, products(1, 64))


@program
def interleaved_maps_parallel(clock: OwnClock) -> None:
    """The same as advised: the copies run ahead."""
    train(clock, interleaved(clock, num_parallel_calls=4), 12, products(1, 64))


@program
def first_epoch_of_cache(clock: OwnClock) -> None:
    """A map of 20 ms whose results a cache keeps, in the epoch that fills the cache."""
    work = products(1, 64)
    work(tf.ones((64, 64)))
    iterator = iter(batches(clock, 10, 20).cache())
    with clock.recording():
        for number in range(10):
            with clock.step(), marked(number):
                work(next(iterator)).numpy()
    clock.knows(n_steps=10)
