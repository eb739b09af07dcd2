"""Small TensorFlow programs that trace and compile in known ways, each with its capture.

python -m tests.captures.tools.tracing_functions FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf

PROGRAMS: dict[str, Callable[[], Callable[[int], Any]]] = {}


def program(made: Callable[[], Callable[[int], Any]]) -> Callable[[], Callable[[int], Any]]:
    """Adds a program; it returns what each of six steps does."""
    PROGRAMS[made.__name__] = made
    return made


@program
def python_numbers() -> Callable[[int], Any]:
    """Traced for each Python number."""

    @tf.function
    def numbered(batch: Any, number: Any) -> Any:
        return tf.reduce_sum(batch * number)

    batch = tf.ones((8, 8))
    return lambda n: numbered(batch, n)


@program
def tensors() -> Callable[[int], Any]:
    """Traced once."""

    @tf.function
    def given(batch: Any, number: Any) -> Any:
        return tf.reduce_sum(batch * number)

    batch, numbers = tf.ones((8, 8)), [tf.constant(float(n)) for n in range(6)]
    return lambda n: given(batch, numbers[n])


@program
def by_xla() -> Callable[[int], Any]:
    """Traced and compiled for each of two shapes."""

    @tf.function(jit_compile=True)
    def compiled(batch: Any) -> Any:
        return tf.reduce_sum(tf.tanh(batch) * 2)

    batches = [tf.ones((8, 8)), tf.ones((16, 8))]
    return lambda n: compiled(batches[n % 2]).numpy()


@program
def by_xla_for_any_size() -> Callable[[int], Any]:
    """Traced once, and compiled for each of two shapes."""

    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec((None, 8), tf.float32)])
    def sized(batch: Any) -> Any:
        return tf.reduce_sum(tf.tanh(batch) * 2)

    batches = [tf.ones((8, 8)), tf.ones((16, 8))]
    return lambda n: sized(batches[n % 2]).numpy()


@program
def ready() -> Callable[[int], Any]:
    """Traced before the capture."""

    @tf.function
    def traced(batch: Any) -> Any:
        return tf.reduce_sum(batch)

    batch = tf.ones((8, 8))
    traced(batch)
    return lambda _: traced(batch)


def main() -> None:
    """Record all."""
    for name, made in PROGRAMS.items():
        work = made()
        tf.profiler.experimental.start(str(Path(sys.argv[1]) / name))
        for number in range(6):
            with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                work(number)
        tf.profiler.experimental.stop()


if __name__ == "__main__":
    main()
