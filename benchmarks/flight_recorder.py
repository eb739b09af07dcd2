"""What ``tfprof record`` costs a ResNet-50 that trains on the CPU beside it.

    python benchmarks/flight_recorder.py [PAIRS] [SECONDS]

The program times its steps itself, with and without a recorder in turns; the recorder runs on the
same cores and judges every step. Needs TensorFlow and Keras. With the argument ``--program PORT``
this is the program.
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

BATCH, SIDE = 16, 160
HERE = Path(__file__).resolve()


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
    while True:
        start = time.monotonic()
        with tfprof.capture.step(number):
            float(np.asarray(model.train_on_batch(x, y)).ravel()[0])
        print(time.monotonic(), time.monotonic() - start, flush=True)
        number += 1


def main(pairs: int, seconds: float) -> None:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    steps: list[tuple[float, float]] = []
    environ = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    trained = subprocess.Popen(
        [sys.executable, str(HERE), "--program", str(port)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ,
    )  # fmt: skip

    def read() -> None:
        assert trained.stdout is not None
        steps.extend(tuple(map(float, line.split())) for line in trained.stdout)  # type: ignore[misc]

    threading.Thread(target=read, daemon=True).start()
    try:
        while len(steps) < 5:
            time.sleep(0.1)
        time.sleep(seconds)
        compare(trained.pid, port, steps, pairs, seconds)
    finally:
        trained.kill()


def compare(
    trained: int, port: int, steps: list[tuple[float, float]], pairs: int, seconds: float
) -> None:
    without, recorded, shares, cpu_shares, own_shares = [], [], [], [], []
    for _ in range(pairs):
        plain, plain_cpu = window(trained, steps, seconds)
        with tempfile.TemporaryDirectory() as logdir:
            command = [
                sys.executable, "-m", "tfprof", "record", f"localhost:{port}", "--logdir", logdir,
                "--when", "step_time > 100 * median", "--overhead-check", "0s",
            ]  # fmt: skip
            recorder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            time.sleep(3)  # its imports are no part of it
            before, trained_before = cpu_seconds(recorder.pid), cpu_seconds(trained)
            watched, watched_cpu = window(trained, steps, seconds)
            own = cpu_seconds(recorder.pid) - before
            own_shares.append(100 * own / (cpu_seconds(trained) - trained_before))
            peak = memory(recorder.pid)
            recorder.terminate()
            _, said = recorder.communicate()
        without += plain
        recorded += watched
        shares.append(100 * (statistics.median(watched) / statistics.median(plain) - 1))
        cpu_shares.append(100 * (watched_cpu / plain_cpu - 1))
        print(f"pair: steps {shares[-1]:+.2f} %, CPU time of a step {cpu_shares[-1]:+.2f} %, "
              f"of the recorder {own_shares[-1]:+.2f} %", flush=True)  # fmt: skip
    print(said, end="")
    for name, values in ("without", without), ("recorded", recorded):
        print(f"{name:9} n {len(values):4}  median {1e3 * statistics.median(values):7.1f} ms  "
              f"minimum {1e3 * min(values):7.1f} ms")  # fmt: skip
    for name, values in (
        ("steps", shares), ("CPU time of a step", cpu_shares),
        ("CPU time of the recorder, of the program's", own_shares),
    ):  # fmt: skip
        error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
        print(f"{name}: {statistics.mean(values):+.2f} % (standard error {error:.2f} %), "
              f"median {statistics.median(values):+.2f} %")  # fmt: skip
    print(f"of the shortest steps {100 * (min(recorded) / min(without) - 1):+.2f} %; "
          f"the recorder held {peak} MiB at most")  # fmt: skip


def window(
    trained: int, steps: list[tuple[float, float]], seconds: float
) -> tuple[list[float], float]:
    """Times of the steps of some seconds, and the program's CPU seconds for each."""
    start, before = time.monotonic(), cpu_seconds(trained)
    time.sleep(seconds)
    cpu, end = cpu_seconds(trained) - before, time.monotonic()
    durations = within(steps, start)
    return durations, cpu / (end - start) * statistics.mean(durations)


def cpu_seconds(process: int) -> float:
    """CPU time that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def within(steps: list[tuple[float, float]], start: float) -> list[float]:
    """Times of the steps that lie after a moment."""
    return [took for end, took in list(steps) if end - took >= start]


def memory(process: int) -> int:
    """Most memory that a process has held, MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        program(int(sys.argv[2]))
    else:
        main(int((sys.argv[1:] or ["4"])[0]), float((sys.argv[2:] or ["30"])[0]))
