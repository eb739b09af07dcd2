"""Record two workers that train together: input, compute and collectives in each step.

    python benchmarks/record_two_workers.py FOLDER [--steps 40]

Two processes of ``MultiWorkerMirroredStrategy`` on this machine, each recording itself; the file of
the first one is what ``many_hosts.py`` copies. Needs TensorFlow.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")


class Level:
    """A number that TensorFlow 2.21 does not take for a bool, and then ignores."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def train(folder: str, n_steps: int) -> None:
    """One worker; which one, ``TF_CONFIG`` says."""
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        layers = tf.keras.layers
        model = tf.keras.Sequential(
            [
                layers.Input((16, 16, 1)),
                layers.Conv2D(16, 3, activation="relu"),
                layers.Flatten(),
                layers.Dense(64, activation="relu"),
                layers.Dense(10),
            ]
        )
    weights = model.trainable_variables

    def examples(context):
        data = tf.data.Dataset.range(10**9).map(
            lambda number: (tf.random.uniform((16, 16, 1)), number % 10), num_parallel_calls=2
        )
        return data.batch(32)

    def replica(images, labels):
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(labels, tf.int64), logits)
            )
        gradients = tape.gradient(loss, weights)
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.assign_sub(0.01 * gradient)
        return loss

    @tf.function
    def step(images, labels):
        return strategy.run(replica, (images, labels))

    batches = iter(strategy.distribute_datasets_from_function(examples))
    for _ in range(3):
        step(*next(batches))
    profiler = tf.profiler.experimental
    profiler.start(
        folder,
        profiler.ProfilerOptions(
            host_tracer_level=Level(2), python_tracer_level=Level(0), device_tracer_level=Level(0)
        ),
    )
    for number in range(n_steps):
        with profiler.Trace("train", step_num=number, _r=1):
            step(*next(batches))
    profiler.stop()


def main() -> None:
    """Start both workers, and wait for them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        train(args.folder, args.steps)
        return
    addresses = [f"localhost:{port}" for port in _free_ports(2)]
    workers = [
        subprocess.Popen(
            [sys.executable, __file__, f"{args.folder}/worker{index}",
             "--steps", str(args.steps), "--worker"],
            env={**os.environ, "TF_CONFIG": json.dumps(
                {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
            )},
        )
        for index in range(2)
    ]  # fmt: skip
    sys.exit(max(worker.wait() for worker in workers))


def _free_ports(n: int) -> list[int]:
    listeners = [socket.create_server(("localhost", 0)) for _ in range(n)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


if __name__ == "__main__":
    main()
