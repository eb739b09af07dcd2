"""Records the captures of this folder: workers of one job, on the CPU of one machine.

python tests/data/stragglers/record.py [NAME ...]

Each job is ``NAME.json``, what the workers know of themselves, and a file
``NAME.workerN.xplane.pb.xz`` for each; those of ``input`` are the demo ``slow-worker``. They run on
one machine, so that their clocks are one clock.
"""

from __future__ import annotations

import json
import lzma
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DEMO = HERE.parents[2] / "tfprof" / "demo" / "tutorials" / "slow-worker"
N_STEPS = 16
SLEEP_S = 0.03

JOBS: dict[str, tuple[str, int, str]] = {
    "input": ("jax", 3, "the last worker sleeps 30 ms in `load`"),
    "compute": ("jax", 2, "the last worker computes twice as much"),
    "alike": ("jax", 2, "all do the same"),
    "tensorflow": ("tensorflow", 2, "the last worker sleeps 30 ms in `load`"),
}
"""The framework, the number of workers, and what they do."""


def record(name: str) -> None:
    framework, n_workers, about = JOBS[name]
    with tempfile.TemporaryDirectory() as folder:
        ports = free_ports(n_workers)
        words = [name, str(n_workers), ",".join(map(str, ports)), folder]
        workers = [
            subprocess.Popen([sys.executable, __file__, "--worker", str(rank), *words])
            for rank in range(n_workers)
        ]
        for worker in workers:
            if worker.wait(timeout=120):
                raise SystemExit(f"{name}: a worker ended with {worker.returncode}")
        known = {"about": about, "framework": framework, "workers": []}
        for rank in range(n_workers):
            own = Path(folder, str(rank))
            known["workers"].append(json.loads((own / "truth.json").read_text("utf-8")))
            [capture] = own.rglob("*.xplane.pb")
            packed = lzma.compress(capture.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
            capture_of(name, rank).write_bytes(packed)
            print(f"{name}.worker{rank}: {len(packed):,} bytes")
    (HERE / f"{name}.json").write_text(json.dumps(known, indent=1) + "\n", "utf-8")


def capture_of(name: str, rank: int) -> Path:
    if name == "input":
        return DEMO / f"worker{rank}.xplane.pb.xz"
    return HERE / f"{name}.worker{rank}.xplane.pb.xz"


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def work(rank: int, name: str, n_workers: int, ports: list[int], folder: Path) -> None:
    folder.mkdir()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})  # so that they disturb each other less
    is_last = rank == n_workers - 1
    run = run_jax if JOBS[name][0] == "jax" else run_tensorflow
    sleeps = is_last and "sleeps" in JOBS[name][2]
    times = run(rank, n_workers, ports, folder, sleeps, 2 if is_last and name == "compute" else 1)
    own = {key: [round(1e3 * each, 3) for each in values] for key, values in times.items()}
    (folder / "truth.json").write_text(json.dumps(own), "utf-8")


def run_jax(
    rank: int, n_workers: int, ports: list[int], folder: Path, sleeps: bool, n_local: int
) -> dict[str, list[float]]:
    os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{ports[0]}", n_workers, rank)
    mesh = Mesh(np.array(jax.devices()), ("workers",))
    split = NamedSharding(mesh, PartitionSpec("workers"))

    @jax.jit
    def local(batch: Any) -> Any:
        for _ in range(6):
            batch = jnp.tanh(batch @ batch) / 400
        return batch

    @jax.jit
    @jax.shard_map(mesh=mesh, in_specs=(PartitionSpec("workers"),), out_specs=PartitionSpec())
    def exchanged(batch: Any) -> Any:
        return jax.lax.psum(batch, "workers")

    own = np.random.default_rng(rank).random((400, 400), np.float32)

    def step(times: dict[str, list[float]]) -> None:
        with timed(times, "load"), jax.profiler.TraceAnnotation("load"):
            if sleeps:
                time.sleep(SLEEP_S)
        with timed(times, "compute"):
            found = own
            for _ in range(n_local):
                found = local(found).block_until_ready()
        with timed(times, "exchange"):
            whole = jax.make_array_from_process_local_data(split, np.asarray(found)[:8])
            exchanged(whole).block_until_ready()

    for _ in range(3):
        step({})
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    times: dict[str, list[float]] = {}
    jax.profiler.start_trace(str(folder), profiler_options=options)
    for number in range(N_STEPS):
        with timed(times, "step"), jax.profiler.StepTraceAnnotation("train", step_num=number):
            step(times)
    jax.profiler.stop_trace()
    return times


def run_tensorflow(
    rank: int, n_workers: int, ports: list[int], folder: Path, sleeps: bool, n_local: int
) -> dict[str, list[float]]:
    addresses = [f"127.0.0.1:{port}" for port in ports]
    task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": rank}}
    os.environ.update(TF_CONFIG=json.dumps(task), TF_CPP_MIN_LOG_LEVEL="3")
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    batch = tf.ones([256, 256])

    def replica(batch: Any) -> Any:
        found = tf.tanh(batch @ batch) / 256.0
        return tf.distribute.get_replica_context().all_reduce("sum", found)

    @tf.function
    def whole(batch: Any) -> Any:
        return strategy.run(replica, args=(batch,))

    def step(times: dict[str, list[float]]) -> None:
        with timed(times, "load"), tf.profiler.experimental.Trace("load"):
            if sleeps:
                time.sleep(SLEEP_S)
        with timed(times, "exchange"):
            whole(batch).numpy()

    for _ in range(3):
        step({})
    times: dict[str, list[float]] = {}
    with tf.profiler.experimental.Profile(str(folder)):
        for number in range(N_STEPS):
            marked = tf.profiler.experimental.Trace("train", step_num=number, _r=1)
            with timed(times, "step"), marked:
                step(times)
    return times


class timed:
    """Adds the seconds of a block to a list."""

    def __init__(self, times: dict[str, list[float]], name: str) -> None:
        self.into = times.setdefault(name, [])

    def __enter__(self) -> None:
        self.began = time.perf_counter()

    def __exit__(self, *exception: object) -> None:
        self.into.append(time.perf_counter() - self.began)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        rank, job, count, of_job, where = sys.argv[2:]
        work(int(rank), job, int(count), [*map(int, of_job.split(","))], Path(where, rank))
    else:
        for wanted in sys.argv[1:] or JOBS:
            record(wanted)
