"""Tables about the opened runs: their hosts, missing data, and the claims of tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tfprof.captures.facts.arrival import arrival_of
from tfprof.captures.facts.missing import notes_for_tools
from tfprof.captures.run.recorded_levels import LEVELS, recorded_levels
from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.run import Host
from tfprof.captures.trace.events import first_ns
from tfprof.core.columns.described import Described
from tfprof.inputs.opened import Opened

_SINCE_1970_NS = 10**17
"""Separates times since 1970, which are larger, from times since the start of a capture."""

RUNS = (
    Described("run", "string", "", "name of the run"),
    Described("source", "string", "", "what was read"),
    Described("is_capture", "bool", "", "captured by the profiler of TensorFlow 2 or JAX"),
    Described("is_profile", "bool", "", "has tables profile_…"),
    Described("is_trace", "bool", "", "a trace of another program"),
    Described("is_stacks", "bool", "", "call stacks of another program"),
    Described("hosts", "int64", "", "hosts of a capture; null for others"),
)

HOSTS = (
    Described("run", "string", "", "name of the run"),
    Described("host", "string", "", "host: the name of its file up to .xplane.pb"),
    Described("machine", "string", "", "name of the machine in the capture"),
    Described(
        "begin_ns", "int64", "ns", "when the capture began, since 1970; null if unknown", "host"
    ),
    Described("covered_ps", "int64", "ps", "from the first event to the last end", "both"),
    Described("events", "int64", "", "events of its planes"),
    Described("devices", "int64", "", "planes of devices"),
    Described("marked_steps", "int64", "", "events that mark a step"),
    Described("ops", "int64", "", "runs of ops on threads of the host"),
    Described("kernels", "int64", "", "events that say how a kernel was launched"),
    Described("dropped_events", "int64", "", "events that the profiler says it lost"),
    *(
        Described(level, "int64", "", "level of this tracer; null if the capture does not say")
        for level in LEVELS
    ),
)

NOTES = (
    Described("run", "string", "", "name of the run"),
    Described("host", "string", "", "the host it is about; null for all"),
    Described("severity", "string", "", "error, warning or info"),
    Described("message", "string", "", "what is missing, why, and what to do"),
)

CLAIMS = (
    Described("run", "string", "", "name of the run"),
    Described("tool", "string", "", "the tool whose answer states it"),
    Described(
        "number",
        "int64",
        "",
        "its place in the answer, from 0; parts share that of what lists them",
    ),
    Described("subject", "string", "", "what it is about: step, an op, an iterator, a host"),
    Described("metric", "string", "", "what of it: step_time, input_share; of advice its rule"),
    Described(
        "value",
        "float64",
        "",
        "the number, in the unit beside it; null if it is unknown, or if there is none",
    ),
    Described("unit", "string", "", "ms, us, fraction, bytes, count, points; null without one"),
    Described("low", "float64", "", "the least that it can be; null if that is not estimated"),
    Described("high", "float64", "", "the most that it can be; likewise"),
    Described("scope", "string", "", "which steps and hosts it is about"),
    Described("basis", "string", "", "what it rests on"),
    Described("unknown", "string", "", "why the value is unknown; null if it is known"),
    Described("details", "string", "", "further numbers and names, as JSON"),
    Described("text", "string", "", "the sentence, or the part of one"),
)


def rows_of_claims(answers: Iterable[tuple[str, ToolResult]]) -> Iterator[tuple[Any, ...]]:
    """Rows of the table ``claims``: those of the answers of tools, by run, and of their advice."""
    for run, result in answers:
        stated = (*result.claims, *(one.claim for one in result.advice))
        for number, claim in enumerate(stated):
            for one in claim.every:
                yield (
                    run, result.tool, number, one.subject, one.metric, one.value, one.unit or None,
                    one.low, one.high, one.scope or None, one.basis or None, one.unknown or None,
                    json.dumps(dict(one.details)), one.text,
                )  # fmt: skip


def rows_of_runs(opened: Sequence[Opened]) -> Iterator[tuple[Any, ...]]:
    """Rows of the table ``runs``."""
    for one in opened:
        n_hosts = None if one.run is None else len(one.run().hosts)
        kinds = (one.run, one.profiler, one.trace, one.stacks)
        yield one.name, one.source, *(kind is not None for kind in kinds), n_hosts


def rows_of_hosts(opened: Sequence[Opened]) -> Iterator[tuple[Any, ...]]:
    """Rows of the table ``hosts``."""
    for one in opened:
        for host in one.run().hosts if one.run is not None else ():
            yield one.name, *_row_of_host(host)


def _row_of_host(host: Host) -> tuple[Any, ...]:
    counts = arrival_of(host)
    planes = dict(counts.planes)
    begin_ns = first_ns([host])
    levels = recorded_levels(host.space) or {}
    return (
        host.name, host.machine, begin_ns if begin_ns > _SINCE_1970_NS else None,
        round(counts.covered_us * 1e6), sum(events for _, events in counts.planes),
        sum(name.startswith("/device:") for name in planes), counts.steps, counts.ops,
        counts.kernels, counts.dropped, *(levels.get(level) for level in LEVELS),
    )  # fmt: skip


def rows_of_notes(opened: Sequence[Opened]) -> Iterator[tuple[Any, ...]]:
    """Rows of the table ``notes``."""
    for one in opened:
        if one.run is not None:
            run = one.run()
            for note in dict.fromkeys([*run.notes, *notes_for_tools(run)]):
                yield one.name, note.host or None, note.severity, note.message
