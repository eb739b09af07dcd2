"""Pairs of recordings of one program, unchanged and changed: what ``diff`` claims of them.

python -m tests.truth.gym_diff --pairs N [--framework tensorflow|keras|jax] [--folder F] [--again]

Each program is recorded again and again in one process, in turns with itself made slower by 3, 10
and 50 %. Of pairs of the unchanged program at most 5 in 100 may have any claim at all: on the step,
on a category, a part or an op. Of changed ones the step must be longer, by as much as the program's
own clock says.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FRAMEWORKS = ("tensorflow", "keras", "jax")
SLOWER = (0, 3, 10, 50)
"""By how many percent the programs are slower."""

_STEPS = 20
_BASE_MS = 6.0
_CLAIMS = ("longer", "shorter", "appeared", "gone")

Record = Callable[[str, int], None]


def _spin(until_ms: float) -> None:
    until = time.perf_counter() + until_ms / 1e3
    while time.perf_counter() < until:
        pass


def _wait_ms(percent: int) -> float:
    return _BASE_MS * (1 + percent / 100)


def _tensorflow() -> Record:
    import tensorflow as tf

    weights = tf.random.stateless_normal((256, 256), (1, 2)) / 16

    def wait(column: Any, percent: Any) -> Any:
        _spin(_wait_ms(int(percent)))
        return column

    @tf.function
    def step(percent: Any) -> Any:
        found = weights
        for number in range(3):
            with tf.name_scope(f"layer_{number}"):
                found = tf.tanh(tf.matmul(found, weights))
        column = tf.numpy_function(wait, [found[:, :1], percent], tf.float32, name="work")
        return tf.reduce_sum(found) + tf.reduce_sum(column)

    def record(path: str, percent: int) -> None:
        chosen = tf.constant(percent)
        step(chosen)
        with tf.profiler.experimental.Profile(path):
            for number in range(_STEPS):
                with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                    step(chosen).numpy()

    return record


def _keras() -> Record:
    import keras
    import numpy as np
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Dense(128, activation="tanh") for _ in range(3)])
    model.add(keras.layers.Dense(1))
    model.compile("sgd", "mse", jit_compile=False)
    images, labels = np.ones((64 * _STEPS, 64), np.float32), np.ones((64 * _STEPS, 1), np.float32)
    model.fit(images, labels, batch_size=64, verbose=0)

    class Slower(keras.callbacks.Callback):  # type: ignore[misc]
        percent = 0

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            del batch, logs
            _spin(_wait_ms(self.percent))

    def record(path: str, percent: int) -> None:
        slower = Slower()
        slower.percent = percent
        with tf.profiler.experimental.Profile(path):
            model.fit(images, labels, batch_size=64, verbose=0, callbacks=[slower])

    return record


def _jax() -> Record:
    import jax
    import jax.numpy as jnp

    @jax.jit
    def products(batch: Any) -> Any:
        for _ in range(3):
            batch = jnp.tanh(batch @ batch) / 256
        return batch.sum()

    batch = jnp.ones((256, 256))
    products(batch).block_until_ready()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0

    def record(path: str, percent: int) -> None:
        with jax.profiler.trace(path, profiler_options=options):
            for number in range(_STEPS):
                with jax.profiler.StepTraceAnnotation("train", step_num=number):
                    with jax.profiler.TraceAnnotation("work"):
                        _spin(_wait_ms(percent))
                    products(batch).block_until_ready()

    return record


_MAKERS = {"tensorflow": _tensorflow, "keras": _keras, "jax": _jax}


def record_all(framework: str, pairs: int, folder: Path) -> None:
    """Record a program in turns, twice for each pair, and once with each change."""
    record = _MAKERS[framework]()
    record(str(folder / f"{framework}-warm"), 0)
    for number in range(pairs):
        for name, percent in (("a", 0), ("b", 0), *((str(one), one) for one in SLOWER[1:])):
            record(str(folder / f"{framework}-{number}-{name}"), percent)


def claims_of(before: Path, after: Path) -> dict[str, list[str]]:
    """What a comparison claims, by table."""
    import tfprof

    answer = tfprof.diff(str(before), str(after))
    return {
        name: [
            f"{next(iter(row.values()))} {row['verdict']} {row['before_ms']} {row['after_ms']}"
            for row in answer.to_rows(name)
            if row["verdict"] in _CLAIMS
        ]
        for name in answer.tables
    }


def _recorded(framework: str, pairs: int, folder: Path) -> None:
    environment = {
        **os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": "-1",
        "JAX_PLATFORMS": "cpu", "KERAS_BACKEND": "tensorflow",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }  # fmt: skip
    command: list[str | os.PathLike[str]] = [
        sys.executable, "-m", "tests.truth.gym_diff", "--child", "--framework", framework,
        "--pairs", str(pairs), "--folder", folder,
    ]  # fmt: skip
    subprocess.run(command, env=environment, check=True)


def _table(
    framework: str, folder: Path, *, verbose: bool
) -> Iterator[tuple[str, int, Counter[str]]]:
    """For each kind of pair: how many there are, and how many have a claim in which table."""
    numbers = sorted({int(path.name.split("-")[1]) for path in folder.glob(f"{framework}-*-a")})
    for percent in SLOWER:
        counts: Counter[str] = Counter()
        for number in numbers:
            after = "b" if percent == 0 else str(percent)
            found = claims_of(folder / f"{framework}-{number}-a",
                              folder / f"{framework}-{number}-{after}")  # fmt: skip
            counts["any"] += any(found.values())
            counts.update(name for name, claims in found.items() if claims)
            counts["longer"] += any(" longer " in one for own in found.values() for one in own)
            counts["step longer"] += any(
                one.startswith("step longer") for one in found.get("step", ())
            )
            if verbose and percent == 0 and any(found.values()):
                print(f"  {framework} {number}: {found}")
        yield (
            f"A/A {framework}" if not percent else f"+{percent} % {framework}",
            len(numbers),
            counts,
        )


def main() -> int:
    """Record pairs, and print how many have claims; 1 if unchanged ones have too many."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", type=int, default=20, help="of each framework")
    parser.add_argument("--framework", choices=FRAMEWORKS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--again", action="store_true", help="compare what --folder has")
    parser.add_argument("--verbose", action="store_true", help="show claims on unchanged programs")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        record_all(given.framework, given.pairs, given.folder)
        return 0
    n_pairs = n_claims = 0
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made)
        for framework in [given.framework] if given.framework else FRAMEWORKS:
            if not given.again:
                _recorded(framework, given.pairs, folder)
            for what, count, counts in _table(framework, folder, verbose=given.verbose):
                print(f"{what:18} {count:3} pairs: {dict(counts)}", flush=True)
                if what.startswith("A/A"):
                    n_pairs, n_claims = n_pairs + count, n_claims + counts["any"]
    print(f"A/A: {n_claims} of {n_pairs} pairs have a claim")
    return 1 if n_claims > max(0.05 * n_pairs, 1) else 0


if __name__ == "__main__":
    sys.exit(main())
