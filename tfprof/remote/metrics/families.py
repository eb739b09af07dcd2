"""All metrics of a recording, with their names, units and meanings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tfprof.core.version import __version__
from tfprof.remote.flight.observed import Observed
from tfprof.remote.metrics.exposition import Family
from tfprof.remote.metrics.figures import SHARES
from tfprof.remote.metrics.worker_totals import WorkerTotals


@dataclass(frozen=True, slots=True)
class State:
    """What is known of a recording at the moment.

    Attributes:
        created: When counting began, in seconds since 1970.
        workers: Counts by address.
        observed: What the recorder reports, by address.
        has_condition: Whether slow steps are counted.
        n_runs: Runs written.
        n_failed: Runs that could not be written.
        cpu_seconds: CPU time of the recorder; None if it shares a process with the program.
    """

    created: float
    workers: Mapping[str, WorkerTotals]
    observed: Mapping[str, Observed]
    has_condition: bool
    n_runs: int
    n_failed: int
    cpu_seconds: float | None


def families(state: State) -> list[Family]:
    """The metrics; what is not known has no sample."""
    made = [*_of_recorder(state), *_of_steps(state), *_of_figures(state), *_of_recording(state)]
    for family in made:
        family.samples.sort(key=lambda sample: tuple(sample[0].items()))
    return made


def _of_recorder(state: State) -> Iterator[Family]:
    yield Family("tfprof", "info", "the recorder", "", [({"version": __version__}, 1)])
    yield _counter(state, "runs", "runs written", {"": state.n_runs})
    yield _counter(state, "failed_runs", "runs that could not be written", {"": state.n_failed})
    cost = {} if state.cpu_seconds is None else {"": state.cpu_seconds}
    yield _counter(state, "recorder_cpu", "CPU time of the recorder's process", cost, "seconds")


def _of_steps(state: State) -> Iterator[Family]:
    workers = state.workers
    yield Family(
        "tfprof_step_seconds", "histogram",
        "time of steps from the beginning to the end of their mark, without those that snapshots "
        "have cut", "seconds",
        [({"worker": worker, "kind": kind}, times.histogram)
         for worker, totals in workers.items() for kind, times in totals.kinds.items()],
        state.created,
    )  # fmt: skip
    yield Family(
        "tfprof_step_number", "gauge", "number of the latest step that has ended", "",
        [({"worker": worker, "kind": kind}, times.latest)
         for worker, totals in workers.items() for kind, times in totals.kinds.items()
         if times.latest is not None],
    )  # fmt: skip
    yield _counter(
        state, "cut_steps", "steps that snapshots have cut, so that their time is an estimate",
        {worker: totals.n_cut for worker, totals in workers.items()},
    )  # fmt: skip
    slow = {worker: seen.n_slow for worker, seen in state.observed.items()}
    yield _counter(state, "slow_steps", "steps for which the condition of --when held",
                   slow if state.has_condition else {})  # fmt: skip


def _of_figures(state: State) -> Iterator[Family]:
    known = {
        worker: (totals.figures, totals.figures_ns / 1e9)
        for worker, totals in state.workers.items()
        if totals.figures is not None and _is_recorded(state.observed.get(worker))
    }
    for name, about in SHARES.items():
        yield _gauge(name, about, {
            worker: found.shares[name] for worker, (found, _) in known.items()
            if name in found.shares
        })  # fmt: skip
    yield _gauge("step_period_seconds", "time from the start of a step to that of the next, on "
                 "average", {worker: found.period_seconds for worker, (found, _) in known.items()},
                 "seconds")  # fmt: skip
    yield _gauge(
        "peak_memory_bytes",
        "largest memory in use of one allocator",
        {worker: found.peak_bytes for worker, (found, _) in known.items()},
        "bytes",
    )
    yield _gauge("figures_timestamp_seconds", "end of the snapshot that shares, period and memory "
                 "of allocators are taken from, since 1970",
                 {worker: when for worker, (_, when) in known.items()}, "seconds")  # fmt: skip


def _of_recording(state: State) -> Iterator[Family]:
    seen = state.observed
    yield _gauge(
        "recorded",
        "whether the worker is recorded now",
        {worker: int(_is_recorded(one)) for worker, one in seen.items()},
    )
    yield _gauge("program_memory_bytes", "resident memory of the program at the last snapshot",
                 {worker: one.program_bytes for worker, one in seen.items() if not one.trouble},
                 "bytes")  # fmt: skip
    yield _gauge(
        "kept_bytes",
        "bytes of snapshots that are kept now",
        {worker: one.n_bytes for worker, one in seen.items()},
        "bytes",
    )
    yield _counter(
        state,
        "snapshots",
        "snapshots taken",
        {worker: one.n_snapshots for worker, one in seen.items()},
    )
    yield _counter(
        state,
        "unreadable_snapshots",
        "snapshots that could not be read",
        {worker: totals.n_unreadable for worker, totals in state.workers.items()},
    )
    covered = {worker: one.seconds * one.percent / 100 for worker, one in seen.items()}
    yield _counter(state, "observed", "time that snapshots cover", covered, "seconds")
    yield _counter(
        state, "unobserved", "time between the first and the last snapshot that none covers: lost "
        "snapshots, and programs that were gone",
        {worker: max(one.seconds - covered[worker], 0.0) for worker, one in seen.items()},
        "seconds",
    )  # fmt: skip
    costs = {worker: one.overhead for worker, one in seen.items() if one.overhead is not None}
    yield _gauge("overhead", "how much longer steps take while they are recorded, as part of "
                 "their time, as measured at the start",
                 {worker: _part(cost.percent) for worker, cost in costs.items()})  # fmt: skip
    yield _gauge(
        "overhead_plus_minus",
        "half of the 95 % interval of tfprof_overhead",
        {worker: _part(cost.plus_minus) for worker, cost in costs.items()},
    )


def _is_recorded(seen: Observed | None) -> bool:
    return seen is not None and not seen.trouble and seen.n_snapshots > 0


def _part(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def _counter(
    state: State, name: str, about: str, values: Mapping[str, float], unit: str = ""
) -> Family:
    """A counter of each worker, or with the key ``""`` of the recorder."""
    full = f"tfprof_{name}" + (f"_{unit}" if unit else "")
    samples = [({"worker": worker} if worker else {}, value) for worker, value in values.items()]
    return Family(full, "counter", about, unit, [*samples], state.created)


def _gauge(
    name: str, about: str, values: Mapping[str, float | None], unit: str = ""
) -> Family:  # fmt: skip
    samples = [({"worker": worker}, value) for worker, value in values.items() if value is not None]
    return Family(f"tfprof_{name}", "gauge", about, unit, [*samples])
