"""Jobs of real workers, of which the last one is slower or is not: are the statements true?

python -m tests.truth.gym_stragglers [--job FRAMEWORK-WORKERS-KIND ...] [--folder F] [--again]

Each job is one program in several processes: ``MultiWorkerMirroredStrategy`` of TensorFlow, or JAX
with collectives of gloo. Who is named as slow by ``stragglers`` must be the last worker if it was
made to be slow, and a step must take as much less as was promised once it no longer is; or the
answer must leave it open.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

KINDS = ("alike", "own", "input", "between", "once")
"""What the last worker does: the same as the others; code of its own that takes longer; input that
takes longer, in the step or before it; 100 ms in one single step."""

JOBS = [f"tensorflow-2-{kind}" for kind in KINDS] + [
    f"jax-{n_workers}-{kind}"
    for n_workers, kinds in ((2, KINDS), (3, ("own", "once")), (4, ("own", "alike")))
    for kind in kinds
]

N_STEPS = 24
_N_WARM = 3
_USUAL_S, _LONG_S, _ONCE_S = 0.019, 0.036, 0.1
_SLOW_STEP = 15
_TOLERANCE = 0.25
"""By which part of it a gain may be off, or by its interval if that is wider."""

_LEADS = 0.05
"""By which part of a usual step workers differ that do the same."""

_TIMEOUT_S = 120
_TRIES = 3


@dataclass(frozen=True)
class Job:
    """A job.

    Attributes:
        framework: ``tensorflow`` or ``jax``.
        n_workers: How many processes.
        kind: What the last one does.
    """

    framework: str
    n_workers: int
    kind: str

    @classmethod
    def of(cls, name: str) -> Job:
        """The job of a name, as ``jax-3-own``."""
        framework, n_workers, kind = name.split("-")
        return cls(framework, int(n_workers), kind)

    def __str__(self) -> str:
        return f"{self.framework}-{self.n_workers}-{self.kind}"

    def load_s(self, rank: int) -> float:
        """How long a worker takes to make a batch."""
        is_slow = self.kind in ("input", "between") and rank == self.n_workers - 1
        return _LONG_S if is_slow else _USUAL_S

    def own_s(self, rank: int, number: int) -> float:
        """How long a worker spends in code of its own in a step."""
        if rank < self.n_workers - 1:
            return 0.0
        if self.kind == "once" and number == _SLOW_STEP:
            return _ONCE_S
        return _LONG_S - _USUAL_S if self.kind == "own" else 0.0


# Workers


def _tensorflow(job: Job, rank: int, ports: list[int], folder: Path) -> None:
    phase = [job]
    workers = [f"127.0.0.1:{port}" for port in ports]
    task = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}}
    os.environ.update(TF_CONFIG=json.dumps(task))
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()

    def load(number: Any) -> Any:
        time.sleep(phase[-1].load_s(rank))
        return number

    def batch(number: Any) -> Any:
        loaded = tf.ensure_shape(tf.numpy_function(load, [number], tf.int64), ())
        return tf.ones((256, 256)) * tf.cast(loaded, tf.float32)

    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.map_parallelization = False
    options.experimental_optimization.inject_prefetch = False
    data = tf.data.Dataset.range(10**6).map(batch).with_options(options)
    batches = iter(strategy.distribute_datasets_from_function(lambda context: data))

    def replica(batch: Any) -> Any:
        found = tf.tanh(batch @ batch) / 256.0
        return tf.distribute.get_replica_context().all_reduce("sum", found)

    @tf.function
    def whole(batch: Any) -> Any:
        return strategy.run(replica, args=(batch,))

    def marked(number: int) -> AbstractContextManager[Any]:
        return tf.profiler.experimental.Trace("train", step_num=number, _r=1)

    _run(phase, rank, lambda: next(batches), lambda batch: whole(batch).numpy(), marked,
         lambda: tf.profiler.experimental.Profile(str(folder)), folder)  # fmt: skip


def _jax(job: Job, rank: int, ports: list[int], folder: Path) -> None:
    phase = [job]
    os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{ports[0]}", job.n_workers, rank)
    split = NamedSharding(Mesh(np.array(jax.devices()), ("workers",)), PartitionSpec("workers"))

    @jax.jit
    @jax.shard_map(mesh=split.mesh, in_specs=(PartitionSpec("workers"),), out_specs=PartitionSpec())
    def exchanged(batch: Any) -> Any:
        return jax.lax.psum(jnp.tanh(batch), "workers")

    own = np.ones((8, 400), np.float32)

    def load() -> Any:
        with jax.profiler.TraceAnnotation("load"):
            time.sleep(phase[-1].load_s(rank))
        return own

    def whole(batch: Any) -> None:
        exchanged(jax.make_array_from_process_local_data(split, batch)).block_until_ready()

    def marked(number: int) -> AbstractContextManager[Any]:
        return jax.profiler.StepTraceAnnotation("train", step_num=number)

    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    _run(phase, rank, load, whole, marked,
         lambda: jax.profiler.trace(str(folder), profiler_options=options), folder)  # fmt: skip


def _run(
    phase: list[Job], rank: int, fetch: Callable[[], Any], whole: Callable[[Any], Any],
    marked: Callable[[int], AbstractContextManager[Any]],
    recording: Callable[[], AbstractContextManager[Any]], folder: Path,
) -> None:  # fmt: skip
    """The loop of a worker; what it measures of itself is written beside its capture.

    The last of ``phase`` is what workers do now: first the job, then the same with workers alike.
    """

    [job] = phase

    def step_ms(count: int) -> float:
        begin = time.perf_counter()
        for number in range(count):
            batch = fetch() if job.kind == "between" else None
            with marked(number):
                batch = fetch() if batch is None else batch
                time.sleep(phase[-1].own_s(rank, number))
                whole(batch)
        return 1e3 * (time.perf_counter() - begin) / count

    step_ms(_N_WARM)
    with recording():
        slow_ms = step_ms(N_STEPS)
    phase.append(replace(job, kind="alike"))
    step_ms(_N_WARM)
    truth = {"step_ms": slow_ms, "step_ms_when_alike": step_ms(N_STEPS)}
    (folder / "truth.json").write_text(json.dumps(truth), "utf-8")
    others = [folder.parent / str(one) / "truth.json" for one in range(job.n_workers)]
    until = time.monotonic() + _TIMEOUT_S / 4
    while not all(one.is_file() for one in others) and time.monotonic() < until:
        time.sleep(0.05)  # who leaves first takes its server from the others
    os._exit(0)  # and servers that shut down at once complain about each other


# Jobs


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def recorded(job: Job, folder: Path) -> list[Path]:
    """Run a job; the captures of its workers.

    A worker that a signal ends, as TensorFlow does now and then where a profile stops while its
    pipeline calls Python, is not our fault: such a job runs once more.

    Raises:
        RuntimeError: A worker failed.
    """
    for _ in range(_TRIES):
        failed = _tried(job, folder)
        if not failed:
            return captures(job, folder)
        if failed[0] > 0:
            break
    raise RuntimeError(f"{job}: a worker ended with {failed[0]}\n{failed[1][-2000:]}")


def _tried(job: Job, folder: Path) -> tuple[int, str] | None:
    """Run a job; how a worker ended, and its complaints, if it did not end well."""
    shutil.rmtree(folder / str(job), ignore_errors=True)
    ports = _free_ports(job.n_workers)
    inherited = {k: v for k, v in os.environ.items() if k not in ("TF_CONFIG", "XLA_FLAGS")}
    environment = {
        **inherited, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }  # fmt: skip
    children = []
    for rank in range(job.n_workers):
        own = folder / str(job) / str(rank)
        own.mkdir(parents=True)
        words = ["--worker", str(rank), "--job", str(job), "--ports", *map(str, ports)]
        children.append(
            subprocess.Popen(
                [sys.executable, "-m", "tests.truth.gym_stragglers", *words, "--folder", str(own)],
                env=environment, stderr=subprocess.PIPE, text=True,
            )
        )  # fmt: skip
    try:
        ended = [(child.communicate(timeout=_TIMEOUT_S)[1], child.returncode) for child in children]
    finally:
        for child in children:
            child.kill()
    # One that a signal ended makes the others fail.
    return min(((code, complaint) for complaint, code in ended if code), default=None)


def captures(job: Job, folder: Path) -> list[Path]:
    """The captures of a job that ran, one of each worker."""
    found = []
    for rank in range(job.n_workers):
        [made] = (folder / str(job) / str(rank)).rglob("plugins/profile/*/*.xplane.pb")
        copy = folder / str(job) / f"worker{rank}.xplane.pb"
        shutil.copy(made, copy)
        found.append(copy)
    return found


def judged(job: Job, paths: list[Path]) -> tuple[str, str]:
    """``right``, ``FALSE`` or ``unknown``, and the statement."""
    import tfprof

    claims = tfprof.tools.stragglers(tfprof.open_run([str(path) for path in paths])).claims
    said = " ".join(claim.text for claim in claims if claim.metric in (
        "straggler_excess", "late_step", "last_count"))  # fmt: skip
    last = f"worker{job.n_workers - 1}"
    first = claims[0]
    is_named = "is the slowest" in first.text
    once = [claim for claim in claims if claim.metric == "late_step"]
    planted = [one for one in once if one.subject == last and "train 15" in one.text]
    if job.kind == "once":
        right = bool(planted) and _is_near(planted[0].value, 1e3 * _ONCE_S, 0.0)
        return ("right" if right else "FALSE"), said
    if job.kind == "alike":
        # Even so the leader of a job has less to do than those that ask it, by a little.
        leads_ms = _LEADS * 1e3 * _USUAL_S
        return ("FALSE" if is_named and (first.low or 0.0) > leads_ms else "right"), said
    truth = json.loads((paths[-1].parent / str(job.n_workers - 1) / "truth.json").read_text())
    gain_ms = truth["step_ms"] - truth["step_ms_when_alike"]
    if not is_named:
        return ("unknown" if "differ too much" in first.text else "FALSE"), said
    margin = (first.high or 0.0) - (first.value or 0.0)
    right = first.subject == last and _is_near(first.value, gain_ms, margin)
    said = f"{gain_ms:.3f} ms less in truth. {said}"
    return ("right" if right else "FALSE"), said


def _is_near(value: float | None, truth: float, margin: float) -> bool:
    return value is not None and abs(value - truth) <= max(_TOLERANCE * truth, margin)


def outcomes(names: list[str], folder: Path, *, again: bool = False) -> Iterator[tuple[str, ...]]:
    """The job, its result, and the statement, for each name."""
    for name in names:
        job = Job.of(name)
        paths = captures(job, folder) if again else recorded(job, folder)
        yield (name, *judged(job, paths))


def main() -> int:
    """Run jobs, and say how many answers are right; 1 if one is false."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--job", nargs="*", default=JOBS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--again", action="store_true", help="ask about what --folder has")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--ports", type=int, nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker is not None:
        [job] = map(Job.of, given.job)
        run = _tensorflow if job.framework == "tensorflow" else _jax
        run(job, given.worker, given.ports, given.folder)
        return 0
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as made:
        for name, verdict, said in outcomes(
            given.job, given.folder or Path(made), again=given.again
        ):
            counts[verdict] += 1
            print(f"{verdict:8} {name:20} {said}", flush=True)
    print(dict(counts))
    return 1 if counts["FALSE"] else 0


if __name__ == "__main__":
    sys.exit(main())
