"""TensorFlow programs that know the truth about themselves.

python -m tests.truth.programs_tensorflow FOLDER [NAME ...]

Each is a function of its own clock; what it does before ``recording`` is warming up. Sleeps of some
20 ms make most of the time, so that a busy machine changes shares little.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
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

    tf.data makes one batch ahead without being asked to; ``alone`` keeps it from that.
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


# Keras


@program
def keras_fit(clock: OwnClock) -> None:
    """Ten batches of Keras 3 that wait 20 ms each for a map."""
    fit(clock, dense(), batches(clock, 10, 20, labels=True))
    clock.knows(n_batches=10)


def busy_fit(clock: OwnClock, dataset: tf.data.Dataset) -> None:
    """A model whose computation takes as long as a batch takes to make."""
    model = keras.Sequential([keras.layers.Lambda(asleep(clock, 25)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    fit(clock, model, dataset)


@program
def keras_busy_fit(clock: OwnClock) -> None:
    """Ten batches that take 25 ms to make, and 25 ms to compute, one after the other."""
    busy_fit(clock, batches(clock, 10, 25, labels=True, alone=True))


@program
def keras_busy_fit_prefetched(clock: OwnClock) -> None:
    """The same as advised: batches are made while the model computes."""
    busy_fit(clock, batches(clock, 10, 25, labels=True).prefetch(tf.data.AUTOTUNE))


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


# Custom loops


@program
def marked_loop(clock: OwnClock) -> None:
    """Marked steps that wait for a map of 20 ms, and then compute for 10 ms."""
    train(clock, batches(clock, 10, 20), 10, asleep(clock, 10))


@program
def marked_loop_with_prefetch(clock: OwnClock) -> None:
    """The same as advised: batches are made ahead, four at a time."""
    dataset = batches(clock, 10, 20, num_parallel_calls=4).prefetch(tf.data.AUTOTUNE)
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


# Eager ops, tracing, ops


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
    large = tf.random.stateless_normal((900, 900), (1, 2))
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


# Input pipelines


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


# Devices and sessions


@program
def mirrored(clock: OwnClock) -> None:
    """Six marked steps on two virtual CPUs, one product on each."""
    strategy = tf.distribute.MirroredStrategy([f"CPU:{n}" for n in range(N_DEVICES)])
    with strategy.scope():
        weights = tf.Variable(tf.random.stateless_normal((400, 400), (1, 2)) / 20)

    def replica_step() -> tf.Tensor:
        change = tf.matmul(weights, weights)
        return tf.distribute.get_replica_context().all_reduce("sum", tf.reduce_sum(change))

    @tf.function
    def train_step() -> tf.Tensor:
        return strategy.reduce("mean", strategy.run(replica_step), axis=None)

    train_step()
    with clock.recording():
        for number in range(6):
            with clock.step(), marked(number):
                train_step().numpy()
    clock.knows(n_steps=6, n_products=6 * N_DEVICES)


class SessionGraph:
    """A graph of TensorFlow 1: a placeholder, four products and a sum."""

    def __init__(self) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.batch = tf.compat.v1.placeholder(tf.float32, (700, 700), "batch")
            found = self.batch
            for number in range(4):
                found = tf.matmul(found, self.batch, name=f"product_{number}")
            self.loss = tf.reduce_sum(found, name="loss")
        self.value = np.full((700, 700), 1e-3, np.float32)

    def run(self, session: Any, **how: Any) -> None:
        """One run of all of it."""
        session.run(self.loss, {self.batch: self.value}, **how)


@program
def session_capture(clock: OwnClock) -> None:
    """Ten runs of a session of TensorFlow 1 while the profiler of TensorFlow 2 records."""
    model = SessionGraph()
    with tf.compat.v1.Session(graph=model.graph) as session:
        model.run(session)
        with clock.recording():
            for _ in range(10):
                with clock.step():
                    model.run(session)
    clock.knows(n_steps=10, n_products=10 * 4)


@program
def session_metadata(clock: OwnClock) -> None:
    """Five runs of a session, each with its RunMetadata."""
    model, v1 = SessionGraph(), tf.compat.v1
    clock.path.mkdir()
    (clock.path / "graph.pb").write_bytes(model.graph.as_graph_def().SerializeToString())
    options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
    with v1.Session(graph=model.graph) as session:
        model.run(session, options=options, run_metadata=v1.RunMetadata())
        for number in range(5):
            metadata = v1.RunMetadata()
            with clock.step():
                model.run(session, options=options, run_metadata=metadata)
            (clock.path / f"run_{number}.pb").write_bytes(metadata.SerializeToString())
    clock.knows(n_steps=5, products_per_step=4)


@program
def session_profile_context(clock: OwnClock) -> None:
    """Twelve runs of a session in tfprof's ProfileContext, which traces four of them."""
    import tfprof

    model = SessionGraph()
    with (
        tfprof.ProfileContext(str(clock.path), trace_steps=range(6, 10), dump_steps=[10]),
        tf.compat.v1.Session(graph=model.graph) as session,
    ):
        for _ in range(12):
            with clock.step():
                model.run(session)
    clock.knows(traced=[6, 7, 8, 9], products_per_step=4)


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    virtual = [tf.config.LogicalDeviceConfiguration() for _ in range(N_DEVICES)]
    tf.config.set_logical_device_configuration(cpu, virtual)
    program.main()
