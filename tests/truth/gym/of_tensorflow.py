"""TensorFlow's parts of a drawn program: functions, eager ops, sessions of TensorFlow 1."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf

import tfprof
from tests.truth.gym.clock import Diary
from tests.truth.gym.grammar import Term
from tests.truth.gym.loop import Loop, Making, Parts
from tests.truth.gym.pipelines import SIDE, dataset
from tests.truth.gym.run import addresses, rank
from tfprof.capture import CaptureOptions

N_DEVICES, N_TINY, N_IN_FUNCTION = 2, 60, 4
ASLEEP_S = 0.006

Work = Callable[[Any], Any]


def capture(path: str, term: Term) -> Any:
    """TensorFlow's profiler; its own door takes no options (release 2.21)."""
    if term.host_tracer == Term.host_tracer and not term.python_tracer:
        return tf.profiler.experimental.Profile(path)
    options = CaptureOptions(
        host_tracer_level=term.host_tracer, python_tracer_level=int(term.python_tracer)
    )
    return tfprof.capture(path, options)


def mark(name: str, number: int) -> Any:
    """A step, as the guide to the profiler marks it."""
    return tf.profiler.experimental.Trace(name, step_num=number, _r=1)


def record(term: Term, clock: Diary) -> None:
    """Runs a term of TensorFlow."""
    if term.framework == "session":
        _record_session(term, clock)
        return
    if term.devices == "processes":
        _workers()  # before any op runs
        clock.knows(n_collectives=term.n_steps)
    making = Making(clock, term.input.sleep_ms)
    weights = tf.random.stateless_normal((term.width, term.width), (1, 2)) / term.width**0.5
    parts = Parts(
        _work(term, making, weights, clock),
        lambda result: result.numpy(),
        mark,
        lambda number: tf.fill((SIDE, SIDE), float(number)),
        making,
        evaluate=_evaluation(weights),
        tiny_ops=_tiny_ops,
        copy=_copied,
    )
    traced: list[int] = []
    if "recompile" in term.disturbances:
        parts.changed = _changing(term, weights, traced)
        parts.facts["functions"] = ["train_step", "eval_step", "scaled"]
    if term.input.kind == "tfdata":
        found = dataset(term.input, making, term.n_steps + 1, clock.folder)
        parts.iterate = lambda: iter(found)
    Loop(term, parts, clock).run()
    clock.knows(n_traces=max(0, len(traced) - 1))


def _work(term: Term, making: Making, weights: tf.Tensor, clock: Diary) -> Work:
    if term.input.kind == "in_function":
        return _over_dataset(term, making, weights, clock)
    if term.devices == "mirrored":
        where = [f"CPU:{number}" for number in range(N_DEVICES)]
        return _mirrored(term, weights, tf.distribute.MirroredStrategy(where))
    if term.devices == "processes":
        return _mirrored(term, weights, _workers())
    if term.framework == "eager":
        return _eagerly(term, weights)
    makers = {
        "while": _in_loop, "nested": _nested, "two": _two, "asleep": _asleep, "tiny": _tiny
    }  # fmt: skip
    return makers.get(term.body, _products)(term, making, weights)


def _multiplied(batch: tf.Tensor, weights: tf.Tensor, count: int) -> tf.Tensor:
    found = tf.reduce_sum(batch) * 1e-9 + weights
    for _ in range(count):
        found = tf.tanh(tf.matmul(found, weights))
    return tf.reduce_sum(found)


def _products(term: Term, making: Making, weights: tf.Tensor) -> Work:
    def load(batch: np.ndarray) -> np.ndarray:
        making()
        return batch

    @tf.function(jit_compile=term.body == "compiled")
    def train_step(batch: tf.Tensor) -> tf.Tensor:
        if term.input.kind == "callback":
            batch = tf.ensure_shape(tf.numpy_function(load, [batch], tf.float32), (SIDE, SIDE))
        return _multiplied(batch, weights, term.count)

    return train_step


def _in_loop(term: Term, making: Making, weights: tf.Tensor) -> Work:
    small = weights[:96, :96]

    @tf.function
    def train_step(batch: tf.Tensor) -> tf.Tensor:
        found = tf.reduce_sum(batch) * 1e-9 + small
        for _ in tf.range(10 * term.count):
            found = tf.tanh(tf.matmul(found, small))
        return tf.reduce_sum(found)

    return train_step


def _nested(term: Term, making: Making, weights: tf.Tensor) -> Work:
    @tf.function
    def inner(batch: tf.Tensor) -> tf.Tensor:
        return _multiplied(batch, weights, (term.count + 1) // 2)

    @tf.function
    def train_step(batch: tf.Tensor) -> tf.Tensor:
        return inner(batch) + inner(batch + 1.0)

    return train_step


def _two(term: Term, making: Making, weights: tf.Tensor) -> Work:
    first = _products(term, making, weights)

    @tf.function
    def apply_update(loss: tf.Tensor) -> tf.Tensor:
        return _multiplied(loss, weights, 1)

    return lambda batch: apply_update(first(batch))


def _asleep(term: Term, making: Making, weights: tf.Tensor) -> Work:
    def compute(batch: np.ndarray) -> np.ndarray:
        time.sleep(ASLEEP_S)
        return batch[:1, :1]

    @tf.function
    def train_step(batch: tf.Tensor) -> tf.Tensor:
        return tf.ensure_shape(tf.numpy_function(compute, [batch], tf.float32), (1, 1))

    return train_step


def _eagerly(term: Term, weights: tf.Tensor) -> Work:
    if term.body == "products":
        return lambda batch: _multiplied(batch, weights, term.count)
    return lambda batch: _many_small(batch, term.count)


def _many_small(batch: tf.Tensor, count: int) -> tf.Tensor:
    for _ in range(40 * count):
        batch = tf.tanh(batch) + 1.0
    return tf.reduce_sum(batch)


def _tiny(term: Term, making: Making, weights: tf.Tensor) -> Work:
    @tf.function
    def train_step(batch: tf.Tensor) -> tf.Tensor:
        return _many_small(batch, term.count)

    return train_step


def _over_dataset(term: Term, making: Making, weights: tf.Tensor, clock: Diary) -> Work:
    found = dataset(term.input, making, N_IN_FUNCTION, clock.folder)
    clock.knows(batches_per_step=N_IN_FUNCTION)

    @tf.function
    def train_step(_: tf.Tensor) -> tf.Tensor:
        loss = tf.constant(0.0)
        for batch in found:
            loss += _multiplied(batch, weights, term.count)
        return loss

    return train_step


@cache
def _workers() -> tf.distribute.Strategy:
    """All processes that train together."""
    cluster = {"cluster": {"worker": addresses()}, "task": {"type": "worker", "index": rank()}}
    os.environ["TF_CONFIG"] = json.dumps(cluster)
    return tf.distribute.MultiWorkerMirroredStrategy()


def _mirrored(term: Term, weights: tf.Tensor, strategy: tf.distribute.Strategy) -> Work:
    def replica_step(batch: tf.Tensor) -> tf.Tensor:
        loss = _multiplied(batch, weights, term.count)
        return tf.distribute.get_replica_context().all_reduce("sum", loss)

    @tf.function
    def train_step(batch: tf.Tensor) -> tf.Tensor:
        return strategy.reduce("mean", strategy.run(replica_step, (batch,)), axis=None)

    return train_step


def _evaluation(weights: tf.Tensor) -> Work:
    @tf.function
    def eval_step(batch: tf.Tensor) -> tf.Tensor:
        return _multiplied(batch, weights, 1)

    return eval_step


def _changing(term: Term, weights: tf.Tensor, traced: list[int]) -> Callable[[Any, int], Any]:
    """A function that is traced anew for each Python number."""

    @tf.function(jit_compile=term.body == "compiled")
    def scaled(batch: tf.Tensor, factor: float) -> tf.Tensor:
        traced.append(1)
        for _ in range(10):
            batch = tf.tanh(batch) * factor
        return tf.reduce_sum(batch)

    scaled(tf.ones((SIDE, SIDE)), 0.5)
    return lambda batch, number: scaled(batch, 1.0 + number)


def _tiny_ops() -> None:
    found = tf.ones((8, 8))
    for _ in range(N_TINY):
        found = tf.tanh(found) + 1.0


_LARGE = np.ones((1024, 1024), np.float32)


def _copied() -> None:
    tf.constant(_LARGE)


def _record_session(term: Term, clock: Diary) -> None:
    making = Making(clock, term.input.sleep_ms)
    v1, graph = tf.compat.v1, tf.Graph()
    with graph.as_default():
        batch = v1.placeholder(tf.float32, (SIDE, SIDE), "batch")
        weights = tf.random.stateless_normal((term.width, term.width), (1, 2)) / term.width**0.5
        loss = _multiplied(batch, weights, term.count)
    with v1.Session(graph=graph) as session:
        parts = Parts(
            lambda value: session.run(loss, {batch: value}),
            lambda result: result,
            mark,
            lambda number: np.full((SIDE, SIDE), number, np.float32),
            making,
        )
        Loop(term, parts, clock).run()
