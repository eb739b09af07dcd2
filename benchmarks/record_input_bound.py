"""Record the input-bound capture of ``tfprof/demo``: a small model that waits for slow images.

    python benchmarks/record_input_bound.py tfprof/demo/input_bound.xplane.pb.xz
    python benchmarks/record_input_bound.py --cached faster-input/worker0.xplane.pb.xz

Needs TensorFlow 2.21. Each image takes two milliseconds to "decode", one at a time and without
``prefetch``, so that most of each step is spent on waiting; with ``--cached``, once only, before
the steps that are recorded. The step is compiled by XLA, and the CPU allocator records what it
hands out. Times differ from run to run, and with the machine.
"""

import argparse
import lzma
import os
import tempfile
from pathlib import Path

os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "true"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf

from tfprof.core.wire import messages as pb

BATCH, STEPS, WARM_UP = 16, 8, 4
DECODE_SECONDS = 0.002


def slow_decode(number):
    """An image, after the time that a large JPEG takes."""
    import time

    time.sleep(DECODE_SECONDS)
    return tf.random.stateless_uniform([32, 32, 3], [int(number), 1]), int(number) % 10


def dataset(is_cached):
    """Batches of images, decoded one after the other, each time or the first time."""

    def decode(number):
        image, label = tf.py_function(slow_decode, [number], [tf.float32, tf.int32])
        return tf.ensure_shape(image, [32, 32, 3]), tf.ensure_shape(label, [])

    images = tf.data.Dataset.range(BATCH * WARM_UP).map(decode, name="decode")
    images = images.cache().repeat() if is_cached else images.repeat()
    return images.batch(BATCH, True)


class Model(tf.Module):
    """Two convolutions and two dense layers."""

    def __init__(self):
        super().__init__()
        shapes = {"conv1": [3, 3, 3, 16], "conv2": [3, 3, 16, 32], "dense": [2048, 64],
                  "logits": [64, 10]}  # fmt: skip
        self.weights = {
            name: tf.Variable(tf.random.stateless_normal(shape, [1, 2]) * 0.05, name=name)
            for name, shape in shapes.items()
        }

    def loss(self, images, labels):
        with tf.name_scope("conv1"):
            hidden = tf.nn.relu(tf.nn.conv2d(images, self.weights["conv1"], 2, "SAME"))
        with tf.name_scope("conv2"):
            hidden = tf.nn.relu(tf.nn.conv2d(hidden, self.weights["conv2"], 2, "SAME"))
        with tf.name_scope("dense"):
            flat = tf.reshape(hidden, [BATCH, -1])
            hidden = tf.nn.relu(flat @ self.weights["dense"])
        with tf.name_scope("logits"):
            logits = hidden @ self.weights["logits"]
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.reduce_mean(losses)


def record(folder, is_cached):
    """Run the program, and profile all but the first steps."""
    model = Model()

    @tf.function(jit_compile=True)
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = model.loss(images, labels)
        weights = list(model.weights.values())
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(0.01 * gradient)
        return loss

    batches = iter(dataset(is_cached))
    for _ in range(WARM_UP + 1):
        train_step(*next(batches))
    tf.profiler.experimental.start(str(folder))
    for step in range(STEPS):
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            train_step(*next(batches))
    tf.profiler.experimental.stop()
    [found] = Path(folder).rglob("*.xplane.pb")
    return found.read_bytes()


def neutral(data, folder):
    """The capture under the name of a host, without paths of the machine that recorded it.

    Paths are in messages inside messages: what replaces them has the same length.
    """
    space = pb.XSpace.FromString(data)
    del space.hostnames[:]
    space.hostnames.append("worker0")
    data = space.SerializeToString(deterministic=True)
    packages = f"{Path(tf.__file__).parent.parent}/".encode()
    shown = b"site-packages/"
    data = data.replace(packages, shown.rjust(len(packages), b"/"))
    return data.replace(folder.encode(), b"/tmp/".ljust(len(folder), b"x"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--cached", action="store_true", help="decode each image once")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as here:
        content = neutral(record(here, chosen.cached), here)
    chosen.file.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
