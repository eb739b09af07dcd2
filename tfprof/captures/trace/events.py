"""The trace: every event of a run, thread by thread, with steps, arrows and counters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from tfprof.captures.events.timeline.clocks import MOST_NS
from tfprof.captures.events.timeline.names import TASK_PLANE
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import HostSteps, Steps
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.fact import fact
from tfprof.captures.run.result import ToolResult, scope_of
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.trace.counters import Window
from tfprof.captures.trace.text import HostTrace, trace_chunks
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.claims import Claim
from tfprof.errors import UsageError

TOOL = "trace"

_PS_PER_US = 1e6

_COLUMNS = timed_by(
    "of the row",
    shared.HOST,
    text("process", "Process", "process or device"),
    count("pid", "Process id", "its number in the trace"),
    text("thread", "Thread", "thread, stream or derived line"),
    count("tid", "Thread id", "its number in the trace"),
    count("events", "Events", "events on it"),
    amount("busy_us", "Busy", "us", "time in which at least one of them ran"),
    amount("first_us", "First event", "us", "start of the first, from the start of the run"),
    amount("last_us", "End of the last event", "us", "end of the last, from the start of the run"),
)


@dataclass(frozen=True)
class TraceResult(ToolResult):
    """The result of ``trace``.

    Attributes:
        pieces: Makes the trace in Chrome's format, in pieces of some megabytes.
    """

    pieces: Callable[[], Iterator[bytes]] = lambda: iter(())


def trace(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> TraceResult:
    """Show every event, for viewers of Chrome's trace format.

    ``to_gviz`` makes the whole trace, and ``write_trace`` writes a trace of any size, from
    ``pieces``. Each event has its duration. Arrows lead from each launch to its kernel, and from
    each piece of work to the thread that does it. Counters show memory.

    Args:
        run: The run.
        host: Only this host.
        step: Only events that overlap the step with this number, or the time from the start of the
            first to the end of the last step with these numbers.
        classic: The content of the reference's viewer, for the first host: without arrows and
            memory, with cut names, and with thread ids of 32 bits that may collide.

    Raises:
        UsageError: There is no such host or step.
    """
    run = run.in_mode(classic=classic)
    traces = RunTraces.of(run, host=host, step=step)
    rows: list[tuple[Cell, ...]] = []
    for made in traces:
        rows += _rows(made)
    table = Table("threads", _COLUMNS, rows, title="Threads, streams and derived lines")
    return TraceResult(
        TOOL,
        "Trace viewer",
        claims=_claims(rows, scope_of([one.name for one in run.chosen(host)], step)),
        tables={"threads": table},
        notes=run.notes,
        gviz=lambda: json.loads(b"".join(trace_chunks(traces, run.rules))),
        pieces=lambda: trace_chunks(traces, run.rules),
    )


@dataclass(frozen=True)
class RunTraces:
    """The traces of hosts, each made on its turn.

    It keeps the traces of open hosts. Of hosts whose events are elsewhere, it holds one trace at a
    time, as long as the caller keeps none. So a trace of any number of hosts takes the memory of
    one.

    Attributes:
        makers: Functions that make the traces.
    """

    makers: Sequence[Callable[[], HostTrace]]

    @classmethod
    def of(
        cls,
        run: Run,
        *,
        host: str | None = None,
        step: Steps | None = None,
    ) -> RunTraces:
        """Prepare the traces of a run; arguments and errors are the same as for ``trace``."""
        hosts = run.chosen(host)
        if run.rules.shows_viewer_events:  # one host at a time
            hosts = hosts[:1]
        windows = None if step is None else _windows(run, step)
        makers = []
        for place, (one, since) in enumerate(zip(hosts, begins_ps(hosts), strict=True)):
            if windows is not None and one.name not in windows:
                continue
            make = partial(
                HostTrace,
                one,
                place if len(hosts) > 1 else None,
                window=None if windows is None else windows[one.name],
                since_ps=since,
            )
            makers.append(cache(make) if one.has_events else make)
        return cls(makers)

    def __iter__(self) -> Iterator[HostTrace]:
        return (make() for make in self.makers)


def _windows(run: Run, step: Steps) -> dict[str, Window]:
    """Time from the first event of some steps to the last, by host, for hosts with steps."""
    steps = run_steps(run)
    places = steps.places(step)
    if not places:
        raise UsageError(f"no step {step} in this run: it has no steps")
    windows = {}
    for own in steps.hosts:  # each core of a TPU is an entry: the first one counts
        if own.host.name not in windows:
            parts = [_window(own, place) for place in places]
            windows[own.host.name] = min(p[0] for p in parts), max(p[1] for p in parts)
    return windows


def _window(steps: HostSteps, place: int) -> Window:
    host, times = steps.host, steps.times
    events = np.flatnonzero(host.groups().of_event == times.groups[place])
    start = int(times.start_ps[place])
    if not len(events):  # the program did not mark it
        return start, start + int(times.duration_ps[place])
    timeline = host.timeline
    return int(timeline.starts_ps[events].min()), int(timeline.ends_of(events).max())


def begins_ps(hosts: Sequence[Host]) -> list[int]:
    """Find when the first line of each host begins, in the time of the trace.

    Timestamps count from the begin of the capture or from 1970, so they alone are not enough. In
    the reference, a space with an empty plane begins at 0, or not at all if that overflows.
    """
    bases = [host.base_ns for host in hosts]
    if hosts and hosts[0].rules.shows_viewer_events:
        return [
            base * 1000
            if abs(base) <= MOST_NS and any(not len(plane.lines) for plane in host.space.planes)
            else 0
            for host, base in zip(hosts, bases, strict=True)
        ]
    first = first_ns(hosts)
    return [begin_ps(host, first) for host in hosts]


def first_ns(hosts: Sequence[Host]) -> int:
    """Start of the first host, ns since 1970."""
    return min(map(_start_ns, hosts), default=0)


def begin_ps(host: Host, first_ns: int) -> int:
    """Start of a host, relative to the start of the first one.

    Args:
        host: The host.
        first_ns: Start of the first host. An earlier host gets the same start.
    """
    return min(max(_start_ns(host) - first_ns, 0), MOST_NS) * 1000


def _start_ns(host: Host) -> int:
    base, given = host.base_ns, _begin_of_capture(host)
    return base + given if 0 <= base < given else base


@fact
def _begin_of_capture(host: Host) -> int:
    """Start of the capture in ns since 1970; 0 if the capture does not state it."""
    plane = host.space.plane(TASK_PLANE)
    began_ns = plane.own_stats().get("profile_start_time") if plane is not None else None
    return began_ns if isinstance(began_ns, int) else 0


def _rows(made: HostTrace) -> Iterator[tuple[Cell, ...]]:
    for track in made.tracks.tracks:
        starts, ends = made.times(track)
        if not len(starts):
            continue
        yield (
            made.host.name,
            made.tracks.processes[track.pid],
            track.pid,
            track.name,
            track.tid,
            len(starts),
            covered_ps(starts, ends) / _PS_PER_US,
            int(starts.min()) / _PS_PER_US,
            int(ends.max()) / _PS_PER_US,
        )


def covered_ps(starts_ps: Int64Array, ends_ps: Int64Array) -> int:
    """Compute the time during which at least one of some events was running.

    Args:
        starts_ps: Starts in order, shape (n,).
        ends_ps: Ends, shape (n,).
    """
    if not len(starts_ps):
        return 0
    until = np.maximum.accumulate(ends_ps)
    before = np.concatenate([starts_ps[:1], until[:-1]])
    return int(np.maximum(ends_ps - np.maximum(starts_ps, before), 0).sum())


def _claims(rows: Sequence[tuple[Cell, ...]], scope: str) -> tuple[Claim, ...]:
    if not rows:
        return ()
    events = sum(int(row[5] or 0) for row in rows)
    first = min(float(row[7] or 0) for row in rows)
    last = max(float(row[8] or 0) for row in rows)
    return (
        Claim(
            "trace", "event_count", events, "count", scope=scope, basis="all lines",
            details={"row_count": len(rows), "span_ms": (last - first) / 1e3},
            words="{value:event} in {row_count:row} (threads, streams and what is derived of "
            "them), over {span_ms}.",
        ),
    )  # fmt: skip
