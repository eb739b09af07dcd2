"""What ``tfprof record`` costs a ResNet-50 that trains on the CPU beside it.

    python benchmarks/flight_recorder.py [ROUNDS] [SECONDS]

The program times its steps itself, the CPU time of all its threads included, without a recorder and
with each of ``WAYS`` in turns; the recorder runs on the same cores and judges every step. Needs
TensorFlow and Keras. With the argument ``--program PORT`` this is the program.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

BATCH, SIDE = 16, 160
HERE = Path(__file__).resolve()

PLAIN = "without"
WAYS: dict[str, list[str]] = {"default": [], "level 1": ["--host-tracer-level", "1"]}
"""Options of the recorder that are compared."""


class Step(NamedTuple):
    """A step, timed by the program; all in seconds, CPU time since the end of the one before."""

    end: float
    wall: float
    cpu: float


def program(port: int) -> None:
    """Train, and write when each step ended and how long it took."""
    import numpy as np
    import tensorflow as tf

    import tfprof

    tf.profiler.experimental.server.start(port)
    model = tf.keras.applications.ResNet50(weights=None, classes=10, input_shape=(SIDE, SIDE, 3))
    model.compile("sgd", "sparse_categorical_crossentropy")
    random = np.random.default_rng(0)
    x = tf.constant(random.random((BATCH, SIDE, SIDE, 3)), tf.float32)
    y = tf.constant(random.integers(0, 10, BATCH))
    number = 0
    cpu_before = time.process_time()
    while True:
        start = time.monotonic()
        with tfprof.capture.step(number):
            float(np.asarray(model.train_on_batch(x, y)).ravel()[0])
        end, cpu = time.monotonic(), time.process_time()
        print(end, end - start, cpu - cpu_before, flush=True)
        cpu_before = cpu
        number += 1


def main(rounds: int, seconds: float) -> None:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    steps: list[Step] = []
    environ = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    trained = subprocess.Popen(
        [sys.executable, str(HERE), "--program", str(port)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ,
    )  # fmt: skip

    def read() -> None:
        assert trained.stdout is not None
        steps.extend(Step(*map(float, line.split())) for line in trained.stdout)

    threading.Thread(target=read, daemon=True).start()
    try:
        while len(steps) < 5:
            time.sleep(0.1)
        time.sleep(seconds)
        compare(trained.pid, port, steps, rounds, seconds)
    finally:
        trained.kill()


def compare(trained: int, port: int, steps: list[Step], rounds: int, seconds: float) -> None:
    """Steps without and with a recorder in turns, and a table of them."""
    windows: dict[str, list[list[Step]]] = {PLAIN: [], **{way: [] for way in WAYS}}
    for number in range(rounds):
        windows[PLAIN].append(window(steps, seconds))
        for way, options in WAYS.items():
            seen, said = recorded(trained, port, steps, seconds, options)
            windows[way].append(seen)
            print(f"round {number}, {way}: {said}", flush=True)
    for field in "wall", "cpu":
        plain = [[getattr(step, field) for step in each] for each in windows[PLAIN]]
        for way, each_round in windows.items():
            values = [[getattr(step, field) for step in each] for each in each_round]
            flat = [1e3 * value for each in values for value in each]
            pairs = [
                statistics.mean(a) / statistics.mean(b) for a, b in zip(values, plain, strict=True)
            ]
            percents = [100 * (pair - 1) for pair in pairs]
            error = statistics.stdev(percents) / len(percents) ** 0.5
            print(
                f"{field:4} {way:8} n {len(flat):4}  minimum {min(flat):7.1f} ms  "
                f"median {statistics.median(flat):7.1f}  mean {statistics.mean(flat):7.1f}"
                + (f"  of rounds {statistics.mean(percents):+.2f} ± {error:.2f} %, "
                   f"median {statistics.median(percents):+.2f} %" if way != PLAIN else "")
            )  # fmt: skip


def recorded(
    trained: int, port: int, steps: list[Step], seconds: float, options: list[str]
) -> tuple[list[Step], str]:
    """Steps of some seconds with a recorder, and what that took."""
    with tempfile.TemporaryDirectory() as logdir:
        command = [
            sys.executable, "-m", "tfprof", "record", f"localhost:{port}", "--logdir", logdir,
            "--when", "step_time > 100 * median", "--overhead-check", "0s", *options,
        ]  # fmt: skip
        recorder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        time.sleep(3)  # its imports do not count
        own_before, before = cpu_seconds(recorder.pid), cpu_seconds(trained)
        seen = window(steps, seconds)
        share = (cpu_seconds(recorder.pid) - own_before) / (cpu_seconds(trained) - before)
        peak = memory(recorder.pid)
        recorder.terminate()
        recorder.communicate()
    return seen, f"the recorder took {100 * share:.2f} % of the program's CPU time, {peak} MiB"


def window(steps: list[Step], seconds: float) -> list[Step]:
    """Steps that lie in the next seconds."""
    start = time.monotonic()
    time.sleep(seconds)
    return [step for step in list(steps) if step.end - step.wall >= start]


def cpu_seconds(process: int) -> float:
    """CPU time that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: int) -> int:
    """Most memory that a process has held, MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        program(int(sys.argv[2]))
    else:
        main(int((sys.argv[1:] or ["6"])[0]), float((sys.argv[2:] or ["30"])[0]))
