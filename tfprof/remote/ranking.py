"""The most expensive ops of running programs, measured repeatedly: ``tfprof top``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from tfprof.errors import TfprofError
from tfprof.remote.service import Stop
from tfprof.remote.troubles import shortened
from tfprof.remote.watching import Sample, Watched, watch

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run

MOST_OPS = 100
_LEVEL_OF_OPS = 2
_PS_PER_SECOND = 1e12


@dataclass(frozen=True, slots=True)
class OpTime:
    """An op in a short capture.

    Attributes:
        name: Its name.
        type: Its type.
        where: ``device`` or ``host``.
        occurrences: How often it ran.
        self_ms: Its self time, all occurrences together.
        self_percent: Self time as a share of that of all ops on hosts, or on devices.
    """

    name: str
    type: str
    where: str
    occurrences: int
    self_ms: float
    self_percent: float


@dataclass(frozen=True, slots=True)
class Look:
    """A worker in one short capture; None is unknown.

    Attributes:
        sample: The figures that ``monitor`` also has.
        steps_per_second: Number of steps that begin in a second.
        memory_bytes: Peak memory during the capture, all allocators together.
        ops: The ops with the most self time, those of devices and hosts together; at most 100.
    """

    sample: Sample
    steps_per_second: float | None = None
    memory_bytes: int | None = None
    ops: tuple[OpTime, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data: those of the sample first."""
        own = asdict(self)
        return {**own.pop("sample"), **own}


def top(
    addresses: str | Sequence[str],
    *,
    interval_seconds: float = 2.0,
    count: int | None = None,
    stop: Stop | None = None,
) -> Iterator[list[Look]]:
    """Watch the ops of workers through short captures.

    Args:
        addresses: ``HOST:PORT`` of each worker; commas separate several.
        interval_seconds: From one capture to the next; one takes half of it, at most 1 s.
        count: Number of captures; None for no limit.
        stop: Ends it from another thread.

    Yields:
        One look at each worker, in the order of the addresses.

    Raises:
        UsageError: An argument is wrong.
        MissingDependencyError: grpcio is not installed.
    """
    return watch(
        addresses, _look, _late, level=_LEVEL_OF_OPS, interval_seconds=interval_seconds,
        count=count, stop=stop,
    )  # fmt: skip


def _look(worker: Watched) -> Look:
    sample, run = worker.record()
    if run is None:
        return Look(sample)
    try:
        return Look(sample, steps_per_second(run), _memory_bytes(run), tuple(_ops(run)))
    except TfprofError as error:  # a part of the capture that cannot be read
        return Look(replace(sample, trouble=shortened(str(error))))


def _late(worker: Watched, seconds: float) -> Look:
    return Look(worker.late(seconds))


def steps_per_second(run: Run) -> float | None:
    """How many steps begin in a second, on average; None with fewer than two whole steps."""
    from tfprof.captures.facts.run_steps import run_steps

    steps = run_steps(run).whole
    if steps.n_steps < 2:
        return None
    starts = steps.hosts[0].times.start_ps
    span = int(starts[-1]) - int(starts[0])
    return (steps.n_steps - 1) * _PS_PER_SECOND / span if span > 0 else None


def _memory_bytes(run: Run) -> int | None:
    from tfprof.captures.tools.memory_profile import memory

    rows: list[dict[str, Any]] = memory(run).table("summary").to_rows()
    return sum(int(row["peak_bytes"]) for row in rows) if rows else None


def _ops(run: Run) -> list[OpTime]:
    from tfprof.captures.tools.op_statistics import op_stats

    rows: list[dict[str, Any]] = op_stats(run).table("ops").to_rows()
    found = [
        OpTime(
            row["operation"], row["type"], row["host_or_device"].lower(), row["occurrences"],
            row["total_self_time"] / 1e3,
            100 * (row["device_total_self_time_percent"] + row["host_total_self_time_percent"]),
        )
        for row in rows
    ]  # fmt: skip
    return sorted(found, key=lambda op: (-op.self_ms, op.name))[:MOST_OPS]
