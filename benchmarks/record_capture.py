"""Record a large capture: many small training steps on CPU, with tf.data and the Python tracer.

    python benchmarks/record_capture.py FOLDER [--steps 1500] [--python-tracer 1]

1,500 steps make about 2.6 million events and 50 MB. Needs TensorFlow.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")


class Level:
    """A number that TensorFlow 2.21 does not take for a bool, and then ignores."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--python-tracer", type=int, default=1)
    args = parser.parse_args()

    import tensorflow as tf

    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(8, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(10),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.01)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train(images, labels):
        with tf.GradientTape() as tape:
            value = loss(labels, model(images, training=True))
        gradients = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return value

    examples = tf.data.Dataset.range(10**9).map(
        lambda number: (tf.random.uniform((8, 8, 1)), number % 10), num_parallel_calls=2
    )
    batches = iter(examples.batch(16).prefetch(2))
    train(*next(batches))
    profiler = tf.profiler.experimental
    options = profiler.ProfilerOptions(
        host_tracer_level=Level(2),
        python_tracer_level=Level(args.python_tracer),
        device_tracer_level=Level(1),
    )
    profiler.start(args.folder, options)
    for step in range(args.steps):
        with profiler.Trace("train", step_num=step, _r=1):
            train(*next(batches))
    profiler.stop()


if __name__ == "__main__":
    main()
