"""What ``tfprof record`` with metrics and a watch for hangs costs a program of JAX beside it.

    python benchmarks/agent_overhead.py [PAIRS] [SECONDS]

Two programs, with steps of 1 ms and of 100 ms, time their steps themselves; the recorder runs and
does not, in turns. The table has the mean of the paired differences of the median step, with its
95 % interval, and the memory that the program and the recorder hold. Needs JAX and grpcio.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PROGRAM = """
import sys, time
import jax, jax.numpy as jnp
import tfprof

size, repeat, port = map(int, sys.argv[1:4])
tfprof.capture.serve(port, "jax")
step = jax.jit(lambda x: jax.lax.fori_loop(0, repeat, lambda _, y: jnp.tanh(y @ y), x))
x, number, times = jnp.ones((size, size)), 0, open(sys.argv[4], "w")
while True:
    number += 1
    begin = time.perf_counter()
    with tfprof.capture.step(number):
        step(x).block_until_ready()
    times.write(f"{time.time()} {time.perf_counter() - begin}\\n")
"""
PROGRAMS = {"1 ms": (128, 6), "100 ms": (128, 600)}
_SETTLE_SECONDS = 2.0
_T_95 = {5: 2.571, 7: 2.365, 9: 2.262, 11: 2.201}
"""Student's t by degrees of freedom, two-sided."""


def free_port() -> int:
    with socket.create_server(("localhost", 0)) as taken:
        return int(taken.getsockname()[1])


def resident_mib(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found[1]) / 1024 if found else 0.0


def median_ms(path: Path, begin: float, end: float) -> float:
    steps = np.loadtxt(path, ndmin=2)
    inside = steps[(steps[:, 0] > begin) & (steps[:, 0] < end)]
    return float(np.median(inside[:, 1])) * 1e3


def measured(name: str, pairs: int, seconds: float, folder: Path) -> str:
    port, path = free_port(), folder / f"{name}.txt"
    environment = {
        **os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"
    }  # fmt: skip
    words = [sys.executable, "-c", PROGRAM, *map(str, PROGRAMS[name]), str(port), str(path)]
    program = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
    spans, held = [], []
    try:
        while not path.exists() or path.stat().st_size < 10_000 // (1 + 9 * (name != "1 ms")):
            time.sleep(0.5)
        before = resident_mib(program.pid)
        for _ in range(pairs):
            time.sleep(_SETTLE_SECONDS)
            begin = time.time()
            time.sleep(seconds)
            without = (begin, time.time())
            recorder = subprocess.Popen(
                [sys.executable, "-m", "tfprof", "record", f"localhost:{port}", "--logdir",
                 str(folder / "logs"), "--when", "step_time > 10 * median", "--metrics", "0",
                 "--hang-timeout", "60s", "--overhead-check", "0s", "--budget", "1 run a day"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            time.sleep(3 * _SETTLE_SECONDS)
            begin = time.time()
            time.sleep(seconds)
            spans.append((without, (begin, time.time())))
            held.append(resident_mib(recorder.pid))
            recorder.send_signal(signal.SIGINT)
            recorder.wait()
        after = resident_mib(program.pid)
        time.sleep(1)  # its file is written in blocks
    finally:
        program.kill()
        program.wait()
    both = [tuple(median_ms(path, *span) for span in pair) for pair in spans]
    percent = [100 * (recorded / alone - 1) for alone, recorded in both]
    error = statistics.stdev(percent) / len(percent) ** 0.5 * _T_95.get(len(percent) - 1, 2.1)
    alone = statistics.median(pair[0] for pair in both)
    return (
        f"| {name} | {alone:.2f} ms | {statistics.mean(percent):+.1f} ± {error:.1f} % | "
        f"{before:.0f} → {after:.0f} MiB | {max(held):.0f} MiB |"
    )


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    print("| program | a step | with the recorder | program holds | recorder holds |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS:
            print(measured(name, pairs, seconds, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
