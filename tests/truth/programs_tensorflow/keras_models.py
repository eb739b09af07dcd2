"""Training with Keras 3 and Keras 2."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tests.truth.own_clock import OwnClock
from tests.truth.programs_tensorflow.parts import asleep, batches, program


def fit(clock: OwnClock, model: Any, dataset: Any) -> None:
    """Warm up with an epoch, and record another; a step is a call of Keras' train function."""
    model.fit(dataset, shuffle=False, verbose=0)
    clock.spans.clear()
    train_function = model.train_function

    def timed(iterator: Any) -> Any:
        with clock.step():
            return train_function(iterator)

    model.train_function = timed
    with clock.recording():
        model.fit(dataset, shuffle=False, verbose=0)
    clock.knows(n_steps=len(clock.spans["step"]))


def dense(**how: Any) -> keras.Model:
    """A small Keras 3 model."""
    model = keras.Sequential([keras.layers.Dense(64, "relu"), keras.layers.Dense(1)])
    model.compile("sgd", "mse", **how)
    return model


@program
def keras_fit(clock: OwnClock) -> None:
    """Ten batches of Keras 3 that wait 20 ms each for a map."""
    fit(clock, dense(), batches(clock, 10, 20, labels=True))
    clock.knows(n_batches=10)


def busy_fit(clock: OwnClock, dataset: tf.data.Dataset) -> None:
    """A model whose computation takes as long as a batch takes to make."""
    model = keras.Sequential([keras.layers.Lambda(asleep(clock, 40)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    fit(clock, model, dataset)


@program
def keras_busy_fit(clock: OwnClock) -> None:
    """Eight batches that take 40 ms to make, and 40 ms to compute, one after the other."""
    busy_fit(clock, batches(clock, 8, 40, labels=True, alone=True))


@program
def keras_busy_fit_prefetched(clock: OwnClock) -> None:
    """The same as advised: batches are made while the model computes."""
    busy_fit(clock, batches(clock, 8, 40, labels=True).prefetch(tf.data.AUTOTUNE))


@program
def keras_fit_parallel(clock: OwnClock) -> None:
    """``keras_fit`` with four calls of the map at once."""
    dataset = batches(clock, 10, 20, labels=True, num_parallel_calls=4).prefetch(4)
    fit(clock, dense(), dataset)


@program
def keras_fit_steps_per_execution(clock: OwnClock) -> None:
    """Six executions of four batches, 5 ms of waiting for each batch."""
    model = dense(steps_per_execution=4)
    fit(clock, model, batches(clock, 24, 5, labels=True, alone=True))
    clock.knows(n_batches=24, batches_per_step=4)


@program
def keras_lstm_fit(clock: OwnClock) -> None:
    """Eight batches through an LSTM of 40 time steps: a while loop inside the train function."""
    model = keras.Sequential([keras.layers.LSTM(32, use_cudnn=False), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    features = np.random.default_rng(1).random((8 * 32, 40, 8), np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((features, features[:, 0, :1])).batch(32)
    fit(clock, model, dataset.cache().prefetch(8))
    clock.knows(n_time_steps=40)


@program
def tf_keras_fit(clock: OwnClock) -> None:
    """Eight batches of Keras 2, which marks its steps itself; each waits 20 ms."""
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(64, "relu"), tf_keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    fit(clock, model, batches(clock, 8, 20, labels=True, alone=True))


def many_batches(clock: OwnClock, **how: Any) -> None:
    """120 batches of a model so small that Python takes more time than it does."""
    features = tf.random.stateless_normal((120 * 2, 4), (1, 2))
    dataset = tf.data.Dataset.from_tensor_slices((features, features[:, :1])).batch(2)
    fit(clock, dense(**how), dataset.cache().prefetch(64))


@program
def keras_small_batches(clock: OwnClock) -> None:
    """One batch at a time."""
    many_batches(clock)


@program
def keras_small_batches_together(clock: OwnClock) -> None:
    """What is advised against Python between the batches: ``steps_per_execution``."""
    many_batches(clock, steps_per_execution=20)
    clock.knows(batches_per_step=20)
