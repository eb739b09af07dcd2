"""Metrics that need a capture: traces and compilations of functions, and waiting of steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tfprof.captures.events.timeline.functions import FunctionCalls
from tfprof.captures.facts.compilations import by_function, tells_compilations
from tfprof.captures.facts.compilations import compilations as compilations_of
from tfprof.captures.facts.step_shares import StepShares, idle_shares, input_shares
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.facts.utilization import utilization_of
from tfprof.captures.practices.evidence import host_functions
from tfprof.captures.run.run import Run
from tfprof.captures.tools.memory_profile import memory
from tfprof.core.text import how_to_capture
from tfprof.core.text.matching import compiled, matched
from tfprof.inputs.profiler import Profiler, session_of
from tfprof.insight.budgets.frames import first_lines
from tfprof.insight.budgets.measurement import Contributor, Measured, Measurement, Missing, largest
from tfprof.insight.budgets.profile_metrics import heaviest, left_out

_NO_FUNCTIONS = "no call of a tf.function was captured"
_NO_STEPS = "no step was captured"
_PS_IN_MICROS = 1_000_000


def traces(run: Run, profiler: Profiler, pattern: str = "") -> Measurement:
    """How often the most traced function was traced, since the program started."""
    return _of_functions(run, profiler, pattern, lambda calls: calls.n_traces, are_added=False)


def retraces(run: Run, profiler: Profiler, pattern: str = "") -> Measurement:
    """Calls in the capture that traced a function that had been traced before."""
    return _of_functions(run, profiler, pattern, lambda calls: calls.n_retraces, are_added=True)


def _of_functions(
    run: Run,
    profiler: Profiler,
    pattern: str,
    number: Callable[[FunctionCalls], int],
    *,
    are_added: bool,
) -> Measurement:
    """A number of the functions whose name matches: their sum, or the largest, on any host."""
    by_host = [host_functions(host) for host in run.hosts]
    if not any(by_host):
        return Missing(_NO_FUNCTIONS)
    expression = compiled(pattern)
    fitting = [matched(expression, [one.name for one in calls], "search") for calls in by_host]
    chosen = [
        [one for one, fits in zip(calls, fit.tolist(), strict=True) if fits]
        for calls, fit in zip(by_host, fitting, strict=True)
    ]
    if not any(chosen):
        return Missing(f"no function matches {pattern!r}")
    most: dict[str, int] = {}
    for calls in chosen:
        for one in calls:
            most[one.name] = max(most.get(one.name, 0), number(one))
    amounts = [sum(map(number, calls)) for calls in chosen] if are_added else [*most.values()]
    parts = largest([Contributor(name, float(amount)) for name, amount in most.items()])
    lines = first_lines(profiler, [part.name for part in parts])
    parts = tuple(replace(part, frame=lines.get(part.name)) for part in parts)
    return Measured((float(max(amounts)),), contributors=parts)


def compilations(run: Run) -> Measurement:
    """Programs that XLA compiled during the capture, on the host that compiled the most."""
    by_host = [
        [one for one in by_function(compilations_of(host)) if one.n_compiled]
        for host in run.hosts
        if tells_compilations(host)
    ]
    if not by_host:
        return Missing(f"nothing of the runtime was captured: {how_to_capture.NOTHING_OF_HOST}")
    most = max(by_host, key=lambda found: sum(one.n_compiled for one in found))
    parts = [Contributor(one.name, float(one.n_compiled)) for one in most]
    return Measured((float(sum(one.n_compiled for one in most)),), contributors=largest(parts))


def step_time(steps: RunSteps, profiler: Profiler) -> Measurement:
    """Period of each typical step on its slowest host, µs: from its start to that of the next."""
    profile = session_of(profiler).complete()
    parts = heaviest(profile, profile.steps.steps)
    micros = steps.typical.slowest_ps() / _PS_IN_MICROS
    return _timed(steps, micros, parts)


def input_share(run: Run, steps: RunSteps) -> Measurement:
    """Share of the period of each typical step spent waiting for input, as in the verdict."""
    return _shared(steps, input_shares(run, steps))


def idle_share(steps: RunSteps) -> Measurement:
    """Share of the periods of typical steps in which no device works, or without devices no op."""
    return _shared(steps, idle_shares(steps))


def peak_memory(run: Run) -> Measurement:
    """Largest memory in use of one allocator in the capture, bytes."""
    result = memory(run)
    allocators: list[dict[str, Any]] = result.to_rows("summary")
    if not allocators:
        return Missing(f"no allocations were captured: {how_to_capture.WHERE_ALLOCATIONS}")
    fullest = max(allocators, key=lambda row: int(row["peak_bytes"]))
    at_peak: list[dict[str, Any]] = result.to_rows("peak")
    held: dict[str, int] = {}
    for row in at_peak:
        if (row["host"], row["allocator"]) == (fullest["host"], fullest["allocator"]):
            held[row["op"]] = held.get(row["op"], 0) + row["allocation_bytes"] * row["occurrences"]
    parts = [Contributor(name, float(size)) for name, size in held.items()]
    return Measured((float(fullest["peak_bytes"]),), contributors=largest(parts))


def utilization(run: Run, device: str | None, *, of_model: bool) -> Measurement:
    """MFU, or HFU, of each typical step.

    Args:
        run: The run.
        device: Peak rates, as ``tfprof utilization --device`` takes them; None for what is known.
        of_model: Without what is computed a second time.
    """
    found = utilization_of(run, device=device)
    shares = found.shares(found.model_flops if of_model else found.executed_flops)
    if shares is None:
        return Missing(found.reason)
    counted = f"peak rate: {found.peak.source}"
    if found.is_least:
        counted += f"; {found.uncounted_share:.1%} of the time of ops is not counted"
    return Measured(tuple(shares.tolist()), True, counted, at_least=found.is_least)


def _shared(steps: RunSteps, shares: StepShares) -> Measurement:
    return Missing(shares.unknown) if shares.unknown else _timed(steps, shares.values)


def _timed(steps: RunSteps, values: np.ndarray, parts: tuple[Contributor, ...] = ()) -> Measurement:
    if not len(values):
        return Missing(_NO_STEPS)
    remark = left_out(steps.n_steps - len(values))
    return Measured(tuple(values.tolist()), True, remark, contributors=parts)
