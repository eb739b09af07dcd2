"""Cost of ``tfprof.capture``: for a step without a recording, and for stopping the profiler.

The second is the time of ``Capture.stop`` (save, read, check) over that of TensorFlow's own
``stop`` on the same work, in turns in one process.

    python benchmarks/capture_overhead.py --megabytes 50
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf

import tfprof

IDLE_MICROS, STOP_SHARE = 1.0, 0.1
CALLS = 200_000
BYTES_PER_STEP = 2_400


def micros_per_call(function: Callable[[], Any], repeat: int) -> float:
    """The best of several rounds: what else the machine does only ever adds."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(CALLS):
            function()
        best = min(best, time.perf_counter() - start)
    return best / CALLS * 1e6


def idle(repeat: int) -> None:
    """Prints the cost of markers and the callback in a program without a recording."""

    def nothing() -> None:
        pass

    def marked() -> None:
        with tfprof.capture.step(1):
            pass

    callback = tfprof.capture.KerasCallback(batches=None)
    callback.set_model(keras.Sequential([keras.Input([2]), keras.layers.Dense(1)]))

    def batch() -> None:
        callback.on_train_batch_begin(1)
        callback.on_train_batch_end(1)

    plain = micros_per_call(nothing, repeat)
    for name, function in (("a step", marked), ("a batch with the callback", batch)):
        micros = micros_per_call(function, repeat) - plain
        print(f"not recorded, {name}: {micros:.2f} µs (goal: {IDLE_MICROS} µs)")
    with tempfile.TemporaryDirectory() as folder, tfprof.capture.every(folder, every=10**9):
        micros = micros_per_call(marked, repeat) - plain
        print(f"between windows, a step: {micros:.2f} µs (goal: {IDLE_MICROS} µs)")


@tf.function
def work(x: tf.Tensor) -> tf.Tensor:
    for _ in range(60):
        x = tf.tanh(x) + 1.0
    return x


def steps(count: int) -> None:
    x = tf.ones([4, 4])
    for number in range(count):
        with tfprof.capture.step(number):
            work(x)


def stopped(start: Callable[[str], Callable[[], Any]], count: int) -> tuple[float, int]:
    """Seconds of a stop, and bytes of the capture."""
    folder = tempfile.mkdtemp()
    try:
        stop = start(folder)
        steps(count)
        before = time.perf_counter()
        stop()
        seconds = time.perf_counter() - before
        return seconds, next(Path(folder).rglob("*.xplane.pb")).stat().st_size
    finally:
        shutil.rmtree(folder)


def tensorflow_starts(folder: str) -> Callable[[], Any]:
    tf.profiler.experimental.start(folder)
    return tf.profiler.experimental.stop


def tfprof_starts(folder: str) -> Callable[[], Any]:
    return tfprof.capture.start(folder).stop


def stops(megabytes: float, repeat: int) -> None:
    """Prints how long stops take, TensorFlow's and ours."""
    steps(3)
    count = max(1, int(megabytes * 1e6 / BYTES_PER_STEP))
    stopped(tensorflow_starts, count)
    rounds = [
        (stopped(tensorflow_starts, count), stopped(tfprof_starts, count)) for _ in range(repeat)
    ]
    for theirs, ours in rounds:
        print(f"  TensorFlow {theirs[0]:.3f} s, tfprof {ours[0]:.3f} s: {ours[0] / theirs[0]:.3f}")
    theirs, ours = (min(each) for each in zip(*rounds, strict=True))
    print(
        f"stop of {ours[1] / 1e6:.0f} MB, the shortest of {repeat}: TensorFlow {theirs[0]:.3f} s, "
        f"tfprof {ours[0]:.3f} s, {ours[0] / theirs[0] - 1:+.1%} (goal: {STOP_SHARE:+.0%})"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=50.0)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    idle(args.repeat)
    stops(args.megabytes, args.repeat)
    return 0


if __name__ == "__main__":
    sys.exit(main())
