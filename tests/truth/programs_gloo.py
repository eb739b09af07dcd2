"""Four JAX processes that exchange over gloo, of which the last one comes late.

python -m tests.truth.programs_gloo FOLDER

Each leaves its capture and its own measurements in a folder of its rank.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.truth.own_clock import OwnClock

N_WORKERS = 4
N_STEPS = 8
SLEEP_S = 0.03
TIMEOUT_S = 120


def main(folder: Path) -> None:
    """Run all workers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.truth.programs_gloo", str(folder), str(port)]
    workers = [subprocess.Popen([*command, str(rank)]) for rank in range(N_WORKERS)]
    ended = [worker.wait(timeout=TIMEOUT_S) for worker in workers]
    assert not any(ended), ended


def work(folder: Path, port: str, rank: int) -> None:
    """Be one worker."""
    os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", N_WORKERS, rank)
    mesh = Mesh(np.array(jax.devices()), ("workers",))
    split = PartitionSpec("workers")

    @jax.jit
    @jax.shard_map(mesh=mesh, in_specs=(split,), out_specs=PartitionSpec())
    def exchanged(own: jax.Array) -> jax.Array:
        return jax.lax.psum(own, "workers")

    own = np.ones((1, 4096), np.float32)
    whole = jax.make_array_from_process_local_data(NamedSharding(mesh, split), own)
    clock = OwnClock(folder / str(rank), jax.profiler.trace)
    clock.folder.mkdir(parents=True)
    for _ in range(3):
        exchanged(whole).block_until_ready()
    with clock.recording():
        for number in range(N_STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                if rank == N_WORKERS - 1:
                    with clock.span("late"):
                        time.sleep(SLEEP_S)
                with clock.span("exchange"):
                    exchanged(whole).block_until_ready()
    clock.write()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(Path(sys.argv[1]))
    else:
        work(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
