"""Find the bottleneck of a Keras training, remove it, and measure again; needs TensorFlow.

The input is slow on purpose: reading an example takes 2 ms, one after the other. TensorFlow's
profiler captures an epoch, and tfprof says what its steps waited for. Then the examples are read in
parallel, kept in memory, and prefetched.

python examples/slow_input.py
"""

import tempfile
import time
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

import tfprof

EXAMPLES, BATCH = 160, 16


def read(number):
    """An example from a slow disk."""
    time.sleep(0.002)
    return np.full(64, number, np.float32), np.float32(number % 2)


def read_example(number):
    """The same as an op of the input pipeline."""
    features, label = tf.numpy_function(read, [number], (tf.float32, tf.float32))
    return tf.ensure_shape(features, [64]), tf.ensure_shape(label, [])


def slow_input():
    """One example after the other, while the model waits."""
    return tf.data.Dataset.range(EXAMPLES).map(read_example).batch(BATCH)


def fast_input():
    """Several examples at once, kept for the next epoch, in batches that are made ahead."""
    numbers = tf.data.Dataset.range(EXAMPLES)
    examples = numbers.map(read_example, num_parallel_calls=tf.data.AUTOTUNE).cache()
    return examples.batch(BATCH).prefetch(tf.data.AUTOTUNE)


class Steps(keras.callbacks.Callback):
    """Marks each batch as a step; Keras 3 does not do so by itself."""

    def on_train_batch_begin(self, batch, logs=None):
        """A step begins before its input is requested."""
        self.step = tf.profiler.experimental.Trace("train", step_num=batch, _r=1)
        self.step.__enter__()

    def on_train_batch_end(self, batch, logs=None):
        """It ends when the batch has been trained on."""
        self.step.__exit__(None, None, None)


def captured(dataset, folder: Path) -> tfprof.tools.Run:
    """Train an epoch to warm up, capture another, and read what was captured."""
    model = keras.Sequential([keras.layers.Dense(64, "relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(dataset, shuffle=False, verbose=0)
    with tf.profiler.experimental.Profile(str(folder)):
        model.fit(dataset, shuffle=False, verbose=0, callbacks=[Steps()])
    return tfprof.open_run(folder)


def report(run: tfprof.tools.Run) -> tuple[float, float]:
    """Say how much of the steps is waiting, and for what; time and waiting of a step in ms."""
    print(tfprof.tools.input_pipeline(run).verdict[0])
    for advice in tfprof.tools.advice(run):
        if advice.rule == "input-pipeline/bound":
            print(advice.message)
            print("Held up by:", advice.evidence["op"])
    steps = tfprof.tools.pod(run).table("workers")
    duration, waiting = (sum(steps.column(name)) for name in ("total_us", "infeed_us"))
    return duration / len(steps) / 1000, waiting / len(steps) / 1000


def main() -> None:
    """Capture the slow training and the faster one."""
    with tempfile.TemporaryDirectory() as folder:
        before, waited = report(captured(slow_input(), Path(folder, "slow")))
        print()
        after, waits = report(captured(fast_input(), Path(folder, "fast")))
        print(f"A step took {before:.1f} ms, and takes {after:.1f} ms now.")
        print(f"It waited {waited:.1f} ms for input, and waits {waits:.1f} ms now.")
        if after < before / 2:
            print("The training is more than twice as fast.")


if __name__ == "__main__":
    main()
