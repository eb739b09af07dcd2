"""Several devices, and sessions of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.truth.own_clock import OwnClock
from tests.truth.programs_tensorflow.parts import N_DEVICES, marked, program


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
