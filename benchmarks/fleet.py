"""Who reads the hosts of a run how fast, and in how much memory: one process, several, Dask.

    python benchmarks/many_hosts.py /tmp/hosts16 --hosts 16 --from /tmp/recorded/worker0
    python benchmarks/fleet.py /tmp/hosts16 --tool op-stats --repeat 3
    python benchmarks/fleet.py /tmp/hosts4 /tmp/hosts16 /tmp/hosts64 --engines dask --repeat 1
    python benchmarks/fleet.py /tmp/hosts16 --kill

Each answer is a process of its own. Printed are seconds of the fastest of several rounds (engines
take turns, so that a busy machine is fair to them), how much of it was the start of a cluster,
seconds of the CPU in all processes, the largest memory of the main process, and whether all
answers are the same. ``--kill`` kills a worker of Dask when a third of the hosts is read, and
counts what was read again. One process reads with several threads: ``TFPROF_THREADS=1`` compares
workers with one of themselves.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tfprof import Profiler, tools
from tfprof.captures.hosts.asked import fleet_of
from tfprof.captures.hosts.dask_engine import DaskEngine
from tfprof.captures.hosts.engines import Engine, OneProcess, Processes
from tfprof.captures.parts.condense import HostFile
from tfprof.captures.parts.part import Part, Wanted
from tfprof.captures.run.run import Run

VIEWS = ("scope", "graph", "op", "code")
ENGINES = ("process", "processes", "dask")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("runs", type=Path, nargs="+")
    add("--tool", default="op-stats", help="a tool or a view")
    add("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    add("--workers", type=int, default=2)
    add("--repeat", type=int, default=3)
    add("--kill", action="store_true", help="kill a worker of Dask, and count what is read again")
    add("--alone", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.alone:
        [engine] = asked.engines
        print(json.dumps(measured(asked.runs[0], asked.tool, engine, asked.workers, asked.kill)))
        return
    for run in asked.runs:
        if asked.kill:
            _show_death(run, asked)
        else:
            _show(run, asked)


def answered(name: str, run: Run) -> str:
    """The answer of a tool, or a view."""
    if name in VIEWS:
        return json.dumps(Profiler.from_xspace(run).view(name).to_rows(), default=asdict)
    return json.dumps(getattr(tools, name.replace("-", "_"))(run).to_dict())


def measured(run: Path, tool: str, name: str, workers: int, kill: bool) -> dict[str, Any]:
    """One answer, in this process."""
    began = time.perf_counter()
    engine: OneProcess | Processes | DaskEngine = OneProcess()
    if name != "process":
        engine = (DaskEngine if name == "dask" else Processes)(n_workers=workers)
    with engine if isinstance(engine, DaskEngine) else nullcontext():
        started = time.perf_counter()
        watched = Watched(engine, run, kill)
        fleet = fleet_of(str(run), engine=watched)
        answer = fleet.ask(partial(answered, tool))
        ended = time.perf_counter()
    usage = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "cpu": sum(one.ru_utime + one.ru_stime for one in usage),
        "seconds": ended - began,
        "start": started - began,
        "rss": usage[0].ru_maxrss << 10,
        "part": len(fleet.facts.part.to_bytes()) if fleet.facts else 0,
        "bytes": sum(file.n_bytes for file in fleet.files),
        "hosts": len(fleet.files),
        "lost": watched.n_lost,
        "answer": hashlib.sha256(answer.encode()).hexdigest(),
    }


class Watched:
    """An engine whose worker is killed when a third of the files is read."""

    def __init__(self, engine: Engine, run: Path, kill: bool) -> None:
        self._engine, self._kill = engine, kill
        self.n_lost = 0

    def begun(self, n_files: int) -> AbstractContextManager[None]:
        """As of the engine."""
        return self._engine.begun(n_files)

    def parts(self, files: Sequence[HostFile], wanted: Wanted) -> Iterator[Part]:
        """The parts; one worker dies on the way."""
        n_done = 0
        for part in self._engine.parts(files, wanted):
            yield part
            n_done += len(part.hosts)
            if self._kill and 3 * n_done >= len(files):
                self._kill = False
                self.n_lost = _kill_a_worker(self._engine)


def _kill_a_worker(engine: Engine) -> int:
    """Kill a worker; returns how many files it was reading, or had read and not delivered."""
    assert isinstance(engine, DaskEngine)
    scheduler = engine._client.cluster.scheduler
    worker, pid = next(iter(engine._client.run(os.getpid).items()))
    state = scheduler.workers[worker]
    lost = {task.key for task in (*state.has_what, *state.processing)}
    os.kill(pid, signal.SIGKILL)
    return sum("condensed" in str(key) for key in lost)


def _show(run: Path, asked: argparse.Namespace) -> None:
    best: dict[str, dict[str, Any]] = {}
    for _ in range(asked.repeat):
        for name in asked.engines:
            one = _alone(run, asked, name)
            if name not in best or one["seconds"] < best[name]["seconds"]:
                best[name] = one
    first = next(iter(best.values()))
    print(f"{run}: {asked.tool}, {first['hosts']} hosts, {first['bytes'] / 1e6:,.0f} MB")
    for name, one in best.items():
        print(
            f"  {name:<10}{one['seconds']:7.2f} s, of it {one['start']:.2f} s to start; "
            f"{one['cpu']:.1f} CPU s; {one['rss'] / 1e6:.0f} MB here; "
            f"{first['seconds'] / one['seconds']:.2f} × {next(iter(best))}, without the start "
            f"{first['seconds'] / (one['seconds'] - one['start']):.2f} ×"
        )
    print(f"  parts of all hosts: {first['part'] / 1e3:,.1f} kB, "
          f"{first['part'] / first['bytes']:.4%} of the files")  # fmt: skip
    print(f"  same answer: {len({one['answer'] for one in best.values()}) == 1}")


def _show_death(run: Path, asked: argparse.Namespace) -> None:
    whole = _alone(run, asked, "dask", kill=False)
    killed = _alone(run, asked, "dask", kill=True)
    print(
        f"{run}: without a death {whole['seconds']:.2f} s, with one {killed['seconds']:.2f} s; "
        f"{killed['lost']} of {killed['hosts']} files were lost with the worker; same answer: "
        f"{whole['answer'] == killed['answer']}"
    )


def _alone(run: Path, asked: argparse.Namespace, name: str, kill: bool = False) -> dict[str, Any]:
    words = [sys.executable, __file__, str(run), "--alone", "--engines", name, "--tool", asked.tool]
    words += ["--workers", str(asked.workers), *(["--kill"] if kill else [])]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    if told.returncode:
        raise SystemExit(told.stderr)
    result: dict[str, Any] = json.loads(told.stdout.splitlines()[-1])
    return result


if __name__ == "__main__":
    main()
