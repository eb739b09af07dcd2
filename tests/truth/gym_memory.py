"""What a program's memory grows by while it is recorded, and with its own profiler alone.

``python -m tests.truth.gym_memory`` runs programs with steps of about 0.5 ms and as many events as
they can make, each under the recorder as it is by default, and once more with the profiler of its
framework alone, started and stopped every 8 s. It fails if the recorder adds more than 512 MB.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.deadlines import SECONDS, next_line

MOST_BYTES = 512_000_000
_WARM_SECONDS, _OWN_SECONDS = 3.0, 8.0


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _tensorflow(is_eager: bool) -> tuple[Callable[[], Any], Any, Callable[[int], None]]:
    import tensorflow as tf

    batch = tf.ones((32, 32))

    def layers() -> Any:
        found = batch
        for _ in range(4 if is_eager else 6):
            found = tf.tanh(tf.linalg.matmul(found, batch) / 32)
        return found

    step = layers if is_eager else tf.function(layers)
    return lambda: step().numpy(), tf.profiler.experimental, tf.profiler.experimental.server.start


def _jax() -> tuple[Callable[[], Any], Any, Callable[[int], None]]:
    import jax
    import jax.numpy as jnp

    batch = jnp.ones((32, 32))
    step = jax.jit(lambda found: jnp.tanh(found @ found / 32) @ found)

    class Profiler:
        start = staticmethod(jax.profiler.start_trace)
        stop = staticmethod(jax.profiler.stop_trace)

    def several() -> None:
        for _ in range(4):
            step(batch).block_until_ready()

    return several, Profiler, jax.profiler.start_server


_MAKERS: dict[str, Callable[[], tuple[Callable[[], Any], Any, Callable[[int], None]]]] = {
    "tf.function": lambda: _tensorflow(is_eager=False),
    "eager": lambda: _tensorflow(is_eager=True),
    "jax": _jax,
}


def program(name: str, port: int, seconds: float, *, is_alone: bool) -> None:
    """Take steps; prints the time of one, and the most memory beyond that of the first seconds."""
    import tfprof

    step, profiler, serve = _MAKERS[name]()
    serve(port)
    number, begin = 0, time.monotonic()
    while time.monotonic() < begin + _WARM_SECONDS:
        step()
        number += 1
    print("ready", 1e3 * _WARM_SECONDS / number, flush=True)
    before = _resident_bytes()
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), over.set()), daemon=True).start()
    most, number, begin = 0, 0, time.monotonic()
    folder, until = "", begin
    while not over.is_set() and time.monotonic() < begin + seconds:
        if is_alone and time.monotonic() >= until:
            if folder:
                profiler.stop()
                most = max(most, _resident_bytes())
                shutil.rmtree(folder)
            folder, until = tempfile.mkdtemp(), time.monotonic() + _OWN_SECONDS
            profiler.start(folder)
        with tfprof.capture.step(number):
            step()
        number += 1
        if number % 1000 == 0:
            most = max(most, _resident_bytes())
    print("grown", max(most, _resident_bytes()) - before, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def grown(name: str, seconds: float, *, is_alone: bool) -> tuple[int, str]:
    """Bytes by which a program has grown, and what is known of its recording."""
    from tests.truth.gym_recorder import environment, free_port
    from tfprof.remote.flight import FlightRecorder

    port = free_port()
    command = [sys.executable, "-m", "tests.truth.gym_memory", "--child", name,
               "--port", str(port), "--seconds", str(seconds)]  # fmt: skip
    child = subprocess.Popen(
        [*command, *(["--alone"] if is_alone else [])], env=environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert child.stdout is not None and child.stdin is not None
    about = f"{float(next_line(child).split()[1]):.2f} ms a step"
    try:
        if is_alone:
            line = next_line(child, seconds + SECONDS)
        else:
            with tempfile.TemporaryDirectory() as folder, FlightRecorder(
                f"localhost:{port}", folder, when="step_time > 100 * median"
            ) as recorder:  # fmt: skip
                line = next_line(child, seconds + SECONDS)
                (seen,) = recorder.observed.values()
            size = seen.n_bytes / max(seen.n_snapshots, 1) / 1e6
            about += (f", {seen.n_snapshots} snapshots of {size:.1f} MB, "
                      f"{seen.interval_seconds:.1f} s apart")  # fmt: skip
    finally:
        child.kill()
        child.wait(timeout=60)
    return int(line.split()[1]), about


def main() -> int:
    """Run all programs; 1 if one has grown too much under the recorder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=40.0, help="of each recording")
    parser.add_argument("--program", action="append", choices=_MAKERS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        program(given.child, given.port, given.seconds, is_alone=given.alone)
    is_too_much = False
    for name in given.program or _MAKERS:
        for is_alone in (True, False):
            n_bytes, about = grown(name, given.seconds, is_alone=is_alone)
            way = "its own profiler, 8 s each" if is_alone else "the recorder"
            print(f"{name:12}  {way:26}  +{n_bytes / 1e6:.0f} MB  ({about})", flush=True)
            is_too_much |= not is_alone and n_bytes > MOST_BYTES
    return int(is_too_much)


if __name__ == "__main__":
    sys.exit(main())
