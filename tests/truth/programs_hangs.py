"""Jobs of several processes, of which the last one stops in a planned way; or none does.

python -m tests.truth.programs_hangs FRAMEWORK N_WORKERS KIND FOLDER

Each process writes ``FOLDER/PID.json`` with its port and its rank, as ``tfprof run`` does, and its
stacks when it receives the signal; then it trains in small steps. It ends when its stdin does.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tfprof.files.hooked_processes import HookedProcess, start_ticks, write_process

STEP_S = 0.02
AT = 60
"""The step in which the last worker stops."""

HANGS = ("lock", "absent", "ended", "queue", "socket", "generator", "stopped", "regex",
         "gil")  # fmt: skip
CLEAN = ("checkpoint", "evaluation", "recompile", "finished")


def main(framework: str, n_workers: int, kind: str, folder: Path) -> None:
    """Run all workers until stdin ends."""
    with started(framework, n_workers, kind, folder):
        sys.stdin.read()


@contextlib.contextmanager
def started(
    framework: str, n_workers: int, kind: str, folder: Path
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The workers of a job, which are killed at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    ports = [_free_port() for _ in range(2 * n_workers)]
    command = [sys.executable, "-m", "tests.truth.programs_hangs", framework, str(n_workers), kind,
               str(folder), *map(str, ports)]  # fmt: skip
    workers = [
        subprocess.Popen([*command, str(rank)], stdin=subprocess.PIPE) for rank in range(n_workers)
    ]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()


def addresses(folder: Path, n_workers: int, seconds: float = 240.0) -> list[str]:
    """The profiler servers of a job, by rank, when all are in training."""
    until = time.monotonic() + seconds
    while len(found := sorted(folder.glob("*.ready"))) < n_workers:
        if time.monotonic() > until:
            raise TimeoutError(f"{len(found)} of {n_workers} workers have begun")
        time.sleep(0.1)
    about = [json.loads(file.with_suffix(".json").read_text()) for file in found]
    return [f"localhost:{each['port']}" for each in sorted(about, key=lambda each: each["rank"])]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _introduce(framework: str, rank: int, folder: Path, port: int) -> Path:
    """Leave what ``tfprof run`` leaves."""
    pid, host, number = os.getpid(), socket.gethostname(), signal.SIGRTMIN + 7
    stacks = folder / f"{pid}.stacks"
    faulthandler.register(number, stacks.open("w"), all_threads=True)
    return write_process(folder, HookedProcess(
        pid, host, rank, port, framework, tuple(sys.argv), started_at=time.time(),
        stacks=str(stacks), signal=number, ticks=start_ticks(pid),
    ))  # fmt: skip


# How the last worker stops


def take_both(first: threading.Lock, second: threading.Lock) -> None:
    """Take two locks, one after the other."""
    with first:
        time.sleep(0.2)
        with second:
            pass


def _deadlock() -> None:
    one, other = threading.Lock(), threading.Lock()
    threading.Thread(target=take_both, args=(other, one), daemon=True, name="saver").start()
    take_both(one, other)


def next_batch(batches: queue.Queue[int]) -> int:
    """Wait for a batch that no thread makes."""
    return batches.get()


def receive() -> bytes:
    """Wait for bytes that are never sent."""
    one, other = socket.socketpair()
    with one, other:
        return one.recv(1)


def lock_twice() -> None:
    """Wait in C for a lock of C, with the lock of Python."""
    library, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(256)
    library.pthread_mutex_lock(lock)
    library.pthread_mutex_lock(lock)


def _stop(kind: str) -> None:
    if kind == "lock":
        _deadlock()
    elif kind == "absent":
        time.sleep(1e6)
    elif kind == "ended":
        os._exit(0)
    elif kind == "queue":
        next_batch(queue.Queue())
    elif kind == "socket":
        receive()
    elif kind == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif kind == "regex":
        re.match(r"(a|a)*b", "a" * 60)
    elif kind == "gil":
        lock_twice()


def _clean(kind: str, number: int, folder: Path) -> None:
    """Work between two steps that makes no step."""
    if kind == "checkpoint" and number % 40 == 39:
        (folder / f"{os.getpid()}.checkpoint").write_bytes(os.urandom(1 << 20))
        time.sleep(2 * STEP_S)
    elif kind == "checkpoint" and number == AT:
        time.sleep(2.5)


def _loop(kind: str, rank: int, last: int, about: Path, step: Callable[[int], None],
          evaluate: Callable[[], None], again: Callable[[], None]) -> None:  # fmt: skip
    import tfprof

    step(0)
    step(1)
    about.with_suffix(".ready").touch()
    limit = AT if kind == "finished" else 10**9
    for number in range(2, limit):
        if number == AT and rank == last and kind in HANGS and kind != "generator":
            about.with_suffix(".stops").touch()
            _stop(kind)
        if number == AT and kind == "evaluation":
            until = time.monotonic() + 10.0
            while time.monotonic() < until:
                evaluate()
        if number == AT and kind == "recompile":
            again()
        _clean(kind, number, about.parent)
        with tfprof.capture.step(number, "train"):
            time.sleep(STEP_S)
            step(number)
    os._exit(0)


def _end_with_stdin() -> None:
    sys.stdin.read()
    os._exit(0)


def work_jax(n_workers: int, kind: str, rank: int, ports: list[int], about: Path) -> None:
    """Be a worker of JAX."""
    os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    import tfprof

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{ports[0]}", n_workers, rank)
    tfprof.capture.serve(ports[n_workers + rank])
    split = NamedSharding(Mesh(np.array(jax.devices()), ("workers",)), PartitionSpec("workers"))

    def exchange(batch: Any, factor: float) -> Any:
        def own(batch: Any) -> Any:
            return jax.lax.psum(jnp.tanh(batch @ batch.T) * factor, "workers")

        return jax.jit(jax.shard_map(own, mesh=split.mesh, in_specs=(PartitionSpec("workers"),),
                                     out_specs=PartitionSpec()))(batch)  # fmt: skip

    def own(batch: Any) -> Any:
        return jax.lax.psum(jnp.tanh(batch @ batch.T), "workers")

    train = jax.jit(jax.shard_map(own, mesh=split.mesh, in_specs=(PartitionSpec("workers"),),
                                  out_specs=PartitionSpec()))  # fmt: skip
    batch = np.ones((64, 64), np.float32)

    def step(number: int) -> None:
        whole = jax.make_array_from_process_local_data(split, batch)
        train(whole).block_until_ready()

    def evaluate() -> None:
        jnp.tanh(jnp.asarray(batch)).block_until_ready()

    def again() -> None:
        whole = jax.make_array_from_process_local_data(split, batch)
        exchange(whole, 2.0).block_until_ready()

    _loop(kind, rank, n_workers - 1, about, step, evaluate, again)


def work_tensorflow(n_workers: int, kind: str, rank: int, ports: list[int], about: Path) -> None:
    """Be a worker of TensorFlow."""
    task = {
        "cluster": {"worker": [f"127.0.0.1:{port}" for port in ports[:n_workers]]},
        "task": {"type": "worker", "index": rank},
    }
    os.environ.update(TF_CONFIG=json.dumps(task))
    import tensorflow as tf

    import tfprof

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    tfprof.capture.serve(ports[n_workers + rank])

    def batches() -> Iterator[Any]:
        number = 0
        while True:
            number += 1
            if kind == "generator" and number == AT and rank == n_workers - 1:
                about.with_suffix(".stops").touch()
                receive()
            yield float(number)

    spec = tf.TensorSpec((), tf.float32)
    data = tf.data.Dataset.from_generator(batches, output_signature=spec).prefetch(2)
    each = iter(strategy.distribute_datasets_from_function(lambda context: data))

    def replica(batch: Any) -> Any:
        found = tf.tanh(tf.ones((64, 64)) * batch) / 256.0
        return tf.distribute.get_replica_context().all_reduce("sum", found)

    @tf.function
    def train(batch: Any) -> Any:
        return strategy.run(replica, args=(batch,))

    @tf.function
    def validate(batch: Any) -> Any:
        return strategy.run(replica, args=(batch * 2.0,))

    def step(number: int) -> None:
        train(next(each)).numpy()

    def evaluate() -> None:
        tf.tanh(tf.ones((64, 64))).numpy()

    def again() -> None:
        validate(next(each)).numpy()

    _loop(kind, rank, n_workers - 1, about, step, evaluate, again)


if __name__ == "__main__":
    name, count, what, where, *rest = sys.argv[1:]
    if not rest:
        main(name, int(count), what, Path(where))
    else:
        *numbers, own_rank = map(int, rest)
        threading.Thread(target=_end_with_stdin, daemon=True).start()
        mine = _introduce(name, own_rank, Path(where), numbers[int(count) + own_rank])
        run = {"jax": work_jax, "tensorflow": work_tensorflow}[name]
        run(int(count), what, own_rank, numbers, mine)
