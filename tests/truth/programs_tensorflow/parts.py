"""What the programs are made of: marks, batches, computations."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tests.truth.own_clock import OwnClock, Programs

program = Programs(tf.profiler.experimental.Profile)

N_DEVICES = 2
"""Virtual CPUs, for MirroredStrategy; all else stays on the first."""


def marked(number: int) -> tf.profiler.experimental.Trace:
    """A step, as the guide to the profiler marks it."""
    return tf.profiler.experimental.Trace("train", step_num=number, _r=1)


def batches(
    clock: OwnClock,
    count: int,
    sleep_ms: float,
    *,
    labels: bool = False,
    alone: bool = False,
    **how: Any,
) -> tf.data.Dataset:
    """Batches that each take a while to make; the clock notes how long, as ``made``.

    tf.data makes one batch ahead by itself; ``alone`` keeps it from that.
    """

    def make(number: np.int64) -> np.ndarray:
        with clock.span("made"):
            time.sleep(sleep_ms / 1e3)
            return np.full((64, 64), number, np.float32)

    def batch(number: tf.Tensor) -> Any:
        made = tf.ensure_shape(tf.numpy_function(make, [number], tf.float32), (64, 64))
        return (made, made[:, :1]) if labels else made

    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = not alone
    return tf.data.Dataset.range(count).map(batch, **how).with_options(options)


def products(count: int, width: int = 400) -> Callable[[tf.Tensor], tf.Tensor]:
    """A function that computes for some milliseconds: so many products of matrices in a row."""
    weights = tf.random.stateless_normal((width, width), (1, 2)) / width**0.5

    @tf.function
    def train_step(batch: tf.Tensor) -> tf.Tensor:
        found = tf.reduce_sum(batch) * 1e-9 + weights
        for _ in range(count):
            found = tf.tanh(tf.matmul(found, weights))
        return tf.reduce_sum(found)

    return train_step


def loop_of_products(trips: int, width: int = 128) -> Callable[[tf.Tensor], tf.Tensor]:
    """The same in a while loop: one product in each of its iterations."""
    weights = tf.random.stateless_normal((width, width), (1, 2)) / width**0.5

    @tf.function
    def train_step(batch: tf.Tensor) -> tf.Tensor:
        found = tf.reduce_sum(batch) * 1e-9 + weights
        for _ in tf.range(trips):
            found = tf.tanh(tf.matmul(found, weights))
        return tf.reduce_sum(found)

    return train_step


def asleep(clock: OwnClock, sleep_ms: float) -> Callable[[tf.Tensor], tf.Tensor]:
    """A computation that takes as long whatever else the machine does; noted as ``computed``."""

    def sleep(column: np.ndarray) -> np.ndarray:
        with clock.span("computed"):
            time.sleep(sleep_ms / 1e3)
            return column

    @tf.function
    def train_step(batch: tf.Tensor) -> tf.Tensor:
        return tf.ensure_shape(tf.numpy_function(sleep, [batch[:, :1]], tf.float32), (None, 1))

    return train_step


def train(clock: OwnClock, dataset: tf.data.Dataset, count: int, work: Callable[..., Any]) -> None:
    """A training loop with marked steps, in which the input is waited for."""
    for one in dataset.take(1):
        work(one)
    clock.spans.clear()
    with clock.recording():
        iterator = iter(dataset)
        for number in range(count):
            with clock.step(), marked(number):
                with clock.span("input"):
                    batch = next(iterator)
                work(batch).numpy()
    clock.knows(n_steps=count)
