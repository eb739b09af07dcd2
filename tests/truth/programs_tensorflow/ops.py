"""Eager ops, functions that are traced again and again, ops that take most of the time."""

from __future__ import annotations

from collections.abc import Iterator

import tensorflow as tf

from tests.truth.own_clock import OwnClock
from tests.truth.programs_tensorflow.parts import marked, program


def small_ops(batch: tf.Tensor) -> tf.Tensor:
    """A hundred ops that take microseconds."""
    for _ in range(50):
        batch = tf.tanh(batch) + 1.0
    return batch


@program
def eager_ops(clock: OwnClock) -> None:
    """Six marked steps of a hundred eager ops."""
    batch = tf.ones((8, 8))
    small_ops(batch)
    with clock.recording():
        for number in range(6):
            with clock.step(), marked(number):
                small_ops(batch).numpy()
    clock.knows(n_steps=6, n_tanh=6 * 50)


@program
def eager_ops_in_function(clock: OwnClock) -> None:
    """The same as advised: in one tf.function."""
    work, batch = tf.function(small_ops), tf.ones((8, 8))
    work(batch)
    with clock.recording():
        for number in range(6):
            with clock.step(), marked(number):
                work(batch).numpy()
    clock.knows(n_steps=6, n_tanh=6 * 50)


@tf.function
def scaled(batch: tf.Tensor, factor: float | tf.Tensor) -> tf.Tensor:
    """A function that is traced anew for each Python number."""
    for _ in range(10):
        batch = tf.tanh(batch) * factor
    return tf.reduce_sum(batch)


def scale(clock: OwnClock, factors: Iterator[float | tf.Tensor]) -> None:
    """Call it with one factor to warm up, and with another in each of eight marked steps."""
    batch = tf.ones((4, 4))
    scaled(batch, next(factors))
    with clock.recording():
        for number in range(8):
            with clock.step(), marked(number):
                scaled(batch, next(factors)).numpy()
    clock.knows(n_steps=8)


@program
def retraced(clock: OwnClock) -> None:
    """A function that is traced in each of eight steps."""
    scale(clock, (1.0 + number for number in range(9)))
    clock.knows(n_traces=8)


@program
def traced_once(clock: OwnClock) -> None:
    """The same as advised: it is given tensors."""
    scale(clock, (tf.constant(1.0 + number) for number in range(9)))
    clock.knows(n_traces=0)


@program
def heavy_product(clock: OwnClock) -> None:
    """One product that takes over 90 % of its function; how much, the program measures."""
    large = tf.random.stateless_normal((1400, 1400), (1, 2))
    vector = tf.ones((64, 64))

    @tf.function
    def step(heavy: tf.Tensor, light: tf.Tensor) -> tf.Tensor:
        product = tf.matmul(heavy, heavy, name="the_heavy_one")
        for _ in range(5):
            light = tf.tanh(light) + 1.0
        return product[0, 0] + light[0, 0]

    @tf.function
    def light_step(light: tf.Tensor) -> tf.Tensor:
        for _ in range(5):
            light = tf.tanh(light) + 1.0
        return light[0, 0]

    step(large, vector), light_step(vector)
    for _ in range(6):
        with clock.span("light"):
            light_step(vector).numpy()
    with clock.recording():
        for number in range(6):
            with clock.step(), marked(number):
                step(large, vector).numpy()
    clock.knows(n_steps=6, n_products=6, heaviest="the_heavy_one")


@program
def jit_compiled(clock: OwnClock) -> None:
    """Eight marked steps of a function that XLA compiles; a product makes most of it."""
    weights = tf.random.stateless_normal((500, 500), (1, 2)) / 500**0.5

    @tf.function(jit_compile=True)
    def compiled_step(batch: tf.Tensor) -> tf.Tensor:
        for _ in range(4):
            batch = tf.tanh(batch @ weights)
        return tf.reduce_sum(batch)

    batch = tf.ones((500, 500))
    compiled_step(batch)
    with clock.recording():
        for number in range(8):
            with clock.step(), marked(number):
                compiled_step(batch).numpy()
    clock.knows(n_steps=8, program="compiled_step", n_products=8 * 4)
