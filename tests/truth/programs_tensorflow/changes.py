"""A program and what became of it: the same again, a dearer op, other scopes, a slower input."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from tests.truth.own_clock import OwnClock
from tests.truth.programs_tensorflow.parts import batches, program, train

_N_STEPS = 8


def _sleeping(
    clock: OwnClock, scope: str, sleeps_ms: tuple[float, ...]
) -> Callable[[tf.Tensor], tf.Tensor]:
    """Ops that take as long whatever else the machine does, each in a scope of its own."""

    def op(sleep_ms: float) -> Callable[[np.ndarray], np.ndarray]:
        def sleep(column: np.ndarray) -> np.ndarray:
            time.sleep(sleep_ms / 1e3)
            return column

        return sleep

    @tf.function
    def train_step(batch: tf.Tensor) -> tf.Tensor:
        found = batch[:, :1]
        for number, sleep_ms in enumerate(sleeps_ms):
            with tf.name_scope(f"{scope}_{number}"):
                found = tf.numpy_function(op(sleep_ms), [found], tf.float32, name="work")
                found = tf.ensure_shape(found, (64, 1))
        return tf.reduce_sum(found)

    return train_step


@program
def change_none(clock: OwnClock) -> None:
    """Two ops of 5 ms."""
    train(clock, batches(clock, _N_STEPS + 1, 0.1), _N_STEPS, _sleeping(clock, "layer", (5, 5)))


@program
def change_none_again(clock: OwnClock) -> None:
    """The same."""
    change_none(clock)


@program
def change_dearer_op(clock: OwnClock) -> None:
    """The second takes 20 ms."""
    train(clock, batches(clock, _N_STEPS + 1, 0.1), _N_STEPS, _sleeping(clock, "layer", (5, 20)))


@program
def change_renamed(clock: OwnClock) -> None:
    """The scopes have other names, and the second op takes 20 ms."""
    train(clock, batches(clock, _N_STEPS + 1, 0.1), _N_STEPS, _sleeping(clock, "block", (5, 20)))


@program
def change_slower_input(clock: OwnClock) -> None:
    """Each batch takes 30 ms."""
    train(clock, batches(clock, _N_STEPS + 1, 30), _N_STEPS, _sleeping(clock, "layer", (5, 5)))


@program
def change_only_input(clock: OwnClock) -> None:
    """Each batch takes 30 ms, and the ops take no time: as long as with them."""
    train(clock, batches(clock, _N_STEPS + 1, 30), _N_STEPS, _sleeping(clock, "layer", (0, 0)))


@program
def change_branches(clock: OwnClock) -> None:
    """Two branches at once, of 30 and of 15 ms."""
    train(clock, batches(clock, _N_STEPS + 1, 0.1), _N_STEPS, _branches((30, 15)))


@program
def change_shorter_branch(clock: OwnClock) -> None:
    """The first branch takes 3 ms: the other one decides."""
    train(clock, batches(clock, _N_STEPS + 1, 0.1), _N_STEPS, _branches((3, 15)))


def _branches(sleeps_ms: tuple[float, ...]) -> Callable[[tf.Tensor], tf.Tensor]:
    """Ops that need nothing of each other, and their sum."""

    def op(sleep_ms: float) -> Callable[[np.ndarray], np.ndarray]:
        def sleep(column: np.ndarray) -> np.ndarray:
            time.sleep(sleep_ms / 1e3)
            return column

        return sleep

    @tf.function
    def train_step(batch: tf.Tensor) -> tf.Tensor:
        found = []
        for number, sleep_ms in enumerate(sleeps_ms):
            with tf.name_scope(f"branch_{number}"):
                made = tf.numpy_function(
                    op(sleep_ms), [batch[:, :1]], tf.float32, stateful=False, name="work"
                )
                found.append(tf.ensure_shape(made, (64, 1)))
        return tf.reduce_sum(tf.add_n(found))

    return train_step
