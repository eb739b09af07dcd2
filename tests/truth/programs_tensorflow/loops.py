"""Training loops with steps that are marked, and with steps that are not."""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

from tests.truth.own_clock import OwnClock
from tests.truth.programs_tensorflow.parts import (
    asleep,
    batches,
    loop_of_products,
    marked,
    products,
    program,
    train,
)


@program
def marked_loop(clock: OwnClock) -> None:
    """Marked steps that wait for a map of 30 ms, and then compute for 10 ms."""
    train(clock, batches(clock, 10, 30), 10, asleep(clock, 10))


@program
def marked_loop_with_prefetch(clock: OwnClock) -> None:
    """The same as advised: batches are made ahead, four at a time."""
    dataset = batches(clock, 10, 30, num_parallel_calls=4).prefetch(tf.data.AUTOTUNE)
    train(clock, dataset, 10, asleep(clock, 10))


@program
def unmarked_loop(clock: OwnClock) -> None:
    """Twelve calls of a tf.function, and nothing that marks them."""
    work, batch = products(6), tf.ones((4, 4))
    work(batch)
    with clock.recording():
        for _ in range(12):
            with clock.step():
                work(batch).numpy()
    clock.knows(n_steps=12, n_products=12 * 6)


@program
def marked_while(clock: OwnClock) -> None:
    """Six marked steps of one call each, with a while loop of 40 iterations in it."""
    work, batch = loop_of_products(40), tf.ones((4, 4))
    work(batch)
    with clock.recording():
        for number in range(6):
            with clock.step(), marked(number):
                work(batch).numpy()
    clock.knows(n_steps=6, n_products=6 * 40)


@program
def unmarked_while(clock: OwnClock) -> None:
    """Six calls with a while loop of 40 iterations, and nothing that marks them."""
    work, batch = loop_of_products(40), tf.ones((4, 4))
    work(batch)
    with clock.recording():
        for _ in range(6):
            with clock.step():
                work(batch).numpy()
    clock.knows(n_steps=6, n_products=6 * 40)


@program
def marks_over_calls(clock: OwnClock) -> None:
    """Five marked steps of four calls each, as when gradients are accumulated: marks win."""
    work, batch = products(2), tf.ones((4, 4))
    work(batch)
    with clock.recording():
        for number in range(5):
            with clock.step(), marked(number):
                for _ in range(4):
                    work(batch).numpy()
    clock.knows(n_steps=5, n_products=5 * 4 * 2)


@program
def nested_functions(clock: OwnClock) -> None:
    """Eight calls of a function that calls another three times: Python calls the outer one."""
    inner = products(2)

    @tf.function
    def outer(batch: tf.Tensor) -> tf.Tensor:
        return inner(batch) + inner(2 * batch) + inner(3 * batch)

    batch = tf.ones((4, 4))
    outer(batch)
    with clock.recording():
        for _ in range(8):
            with clock.step():
                outer(batch).numpy()
    clock.knows(n_steps=8, n_products=8 * 3 * 2)


@program
def python_in_step(clock: OwnClock) -> None:
    """Marked steps that sleep 20 ms of Python in a mark of their own, ``load_batch``."""
    work, batch = products(3), tf.ones((4, 4))
    work(batch)
    with clock.recording():
        for number in range(8):
            with clock.step(), marked(number):
                with clock.span("load_batch"), tf.profiler.experimental.Trace("load_batch"):
                    time.sleep(0.02)
                work(batch).numpy()
    clock.knows(n_steps=8)


@program
def slow_first_step(clock: OwnClock) -> None:
    """Ten steps of some milliseconds; the first waits 150 ms for its input, the others do not."""
    waits = iter([0.15] + [0.0] * 20)

    def make(number: np.int64) -> np.ndarray:
        time.sleep(next(waits))
        return np.full((4, 4), number, np.float32)

    def batch(number: tf.Tensor) -> tf.Tensor:
        return tf.ensure_shape(tf.numpy_function(make, [number], tf.float32), (4, 4))

    work = products(6)
    work(tf.ones((4, 4)))
    iterator = iter(tf.data.Dataset.range(10).map(batch))
    with clock.recording():
        for number in range(10):
            with clock.step(), marked(number):
                with clock.span("input"):
                    one = next(iterator)
                work(one).numpy()
    clock.knows(n_steps=10)


@program
def single_step(clock: OwnClock) -> None:
    """One marked step that waits 60 ms for its input: too little to judge by."""
    train(clock, batches(clock, 1, 60), 1, products(3))


@program
def no_steps(clock: OwnClock) -> None:
    """Eager ops while the profiler runs: nothing is a step, nothing is an input."""
    one = tf.ones((300, 300))
    tf.matmul(one, one)
    with clock.recording():
        for _ in range(20):
            with clock.span("op"):
                one = tf.matmul(one, one) / 300.0
        one.numpy()
    clock.knows(n_steps=0, n_products=20)
