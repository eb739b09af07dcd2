"""Monitor: the figures that the TPU profiler prints while a program runs, taken from a capture.

``capture_tpu_profile --monitoring_level=2`` prints the same ones: use of the matrix units, idle
time of devices, step time, and waiting for input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.step_times import union_lengths
from tfprof.captures.events.timeline.device_peaks import device_peaks
from tfprof.captures.events.timeline.names import GPU_PREFIX
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.facts.categories import BY_KEY
from tfprof.captures.facts.device_op_db import device_ops
from tfprof.captures.facts.environment import device_planes, environment, planes
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.statistics import Summary, summary
from tfprof.captures.facts.steps import FEWEST, RunSteps, Steps
from tfprof.captures.facts.tpu_steps import tpu_run_steps
from tfprof.captures.facts.tpu_use import tpu_use
from tfprof.captures.facts.utilization import Utilization, utilization_of
from tfprof.captures.facts.verdict import input_claim
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.fact import fact, fact_by_rules
from tfprof.captures.run.result import Note, ToolResult, scope_of
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Table
from tfprof.core.text.claims import Claim, scoped, unknown

_COLUMNS = timed_by(
    "both",
    text("device_type", "Device type", "what the devices are"),
    count("cores", "Device cores", "how many there are"),
    amount("matrix_unit_percent", "Matrix units used", "percent",
           "float operations as part of the peak rate, or a TPU's counter", "device"),
    amount("mfu_percent", "MFU", "percent",
           "model FLOPs utilization of the steps, as in utilization; empty if unknown"),
    amount("hfu_percent", "HFU", "percent",
           "the same with what is computed a second time"),
    amount("idle_percent", "Devices idle", "percent",
           "part of the time in which devices did nothing", "device"),
    count("steps", "Steps", "steps that count"),
    amount("step_ms_average", "Step time", "ms",
           "time of a step of the worker that the others wait for, on average"),
    amount("step_ms_minimum", "Shortest step", "ms", "the same of the shortest step"),
    amount("step_ms_maximum", "Longest step", "ms", "the same of the longest step"),
    amount("infeed_percent_average", "Waiting for input", "percent",
           "waiting for input as part of all steps together"),
    amount("infeed_percent_minimum", "Least of a step", "percent",
           "the same of the step that waited the least"),
    amount("infeed_percent_maximum", "Most of a step", "percent",
           "the same of the step that waited the most"),
)  # fmt: skip

_CONTAINERS = frozenset(("while", "call", "conditional"))
"""The floating point operations of these ops belong to the ops inside them."""

_COUNTER = "matrix_unit_utilization_percent"


class _StepFigures(NamedTuple):
    n_steps: int
    step_ms: Summary
    infeed_percent: Summary


def monitor(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> ToolResult:
    """Summarize a run in a few figures.

    Unknown figures are None: those of devices if the run has no device, those of steps if it has no
    steps, and the wait for input if the capture does not show it.

    Args:
        run: The run.
        host: Devices of this host only; steps are those of all hosts.
        step: Only the step with this number, or the steps with these numbers.
        classic: Leave out the host's part of steps with GPUs, as the reference does.

    Raises:
        UsageError: There is no such host or step.
    """
    run = run.in_mode(classic=classic)
    hosts = run.chosen(host)
    steps = run_steps(run)
    known = environment(run)
    used, notes = _matrix_units(hosts)
    idle = _idle(hosts)
    shown = steps.typical if step is None else steps
    figures = _step_figures(run, shown, step)
    is_judged = step is None and shown.n_steps >= FEWEST and not run.rules.shows_unjudged_input
    judged = input_claim(run) if is_judged else None
    utilized = utilization_of(run, host=host, step=step)
    n_told = figures.n_steps if judged is None or judged.is_known else 0
    cells: tuple[Cell, ...] = (
        known.device_type, known.n_cores, used, *_percents(utilized), idle, figures.n_steps,
        *_three(figures.step_ms, figures.n_steps), *_three(figures.infeed_percent, n_told),
    )  # fmt: skip
    return ToolResult(
        "monitor",
        "Monitor",
        claims=scoped(
            _claims(
                known.device_type,
                used,
                utilized,
                idle,
                figures,
                judged,
                shown.take(np.array(shown.places(step), np.int64)).scope,
            ),
            scope_of([one.name for one in hosts], step),
        ),
        tables={"monitor": Table("monitor", _COLUMNS, [cells], title="The run in a few figures")},
        notes=(*run.notes, *steps.notes, *notes),
    )


def _percents(found: Utilization) -> tuple[Cell, Cell]:
    mfu, hfu = (None if share is None else 100.0 * share for share in (found.mfu, found.hfu))
    return mfu, hfu


def _three(figures: Summary, n_steps: int) -> tuple[Cell, ...]:
    return (figures.average, figures.minimum, figures.maximum) if n_steps else (None, None, None)


def _step_figures(run: Run, steps: RunSteps, step: Steps | None) -> _StepFigures:
    """Figures of the slowest worker of each step."""
    tpu = tpu_run_steps(run, steps)
    chosen = steps.places(step)
    if not chosen:
        nothing = summary([])
        return _StepFigures(0, nothing, nothing)
    if tpu is not None:
        took, waiting = tpu.breakdown.total[chosen], tpu.breakdown.waiting[chosen]
    else:
        took = steps.slowest_ps()[chosen].astype(np.float64)
        waiting = steps.of(BY_KEY["infeed"])[chosen].astype(np.float64)
    percent = summary((100.0 * waiting / np.maximum(took, 1)).tolist())
    # The average is weighted: long steps count more.
    whole = 100.0 * float(waiting.sum()) / max(float(took.sum()), 1.0)
    return _StepFigures(
        len(chosen), summary((took / 1e9).tolist()), percent._replace(average=whole)
    )


def _matrix_units(hosts: Sequence[Host]) -> tuple[float | None, list[Note]]:
    """Percentage of the peak rate of devices; None if unknown."""
    counted = [value for host in hosts if (value := _counter(host))]
    if counted:
        return summary(counted).average, []
    able = 0.0
    done = 0
    for host in hosts:
        total_ps, n_flops = _computed(host)
        tpus, gpus = device_planes([host])
        peaks = [device_peaks(plane).gflops for plane in (*tpus, *gpus)]
        if peaks:
            # 1e9 operations per second are 1e-3 per picosecond.
            able += summary(peaks).average * 1e-3 * total_ps
        done += n_flops
    if not able or not done:
        return None, []
    note = Note(
        "info", "the capture has no counters of matrix units: their use is worked out from the "
        "floating point operations of XLA ops and the peak rates of the devices",
    )  # fmt: skip
    return 100.0 * done / able, [note]


@fact_by_rules
def _computed(host: Host) -> tuple[int, int]:
    """Time of the devices of a host in ps, and their float operations."""
    ops = device_ops(host)
    done = sum(op.flops for op in ops.ops if op.category not in _CONTAINERS)
    return ops.total_ps, done


def _counter(host: Host) -> float:
    values = [plane.stats.get(_COUNTER) for plane in planes(host) if plane.name == "/host:CPU"]
    return next((float(value) for value in values if isinstance(value, (int, float))), 0.0)


def _idle(hosts: Sequence[Host]) -> float | None:
    """Percentage of their time that devices are idle; None without devices."""
    use = tpu_use(hosts)
    if use.duty.busy_ps or use.duty.idle_ps:
        return 100.0 * (1.0 - use.duty.share)
    busy = total = 0
    for host in hosts:
        for of_device in _busy(host):
            busy, total = busy + of_device[0], total + of_device[1]
    return 100.0 * (1.0 - busy / total) if total else None


@fact
def _busy(host: Host) -> tuple[tuple[int, int], ...]:
    """Busy time of each GPU, and the time from its first event to its last, ps."""
    return tuple(
        _busy_gpu(host.timeline, number)
        for number, plane in enumerate(planes(host))
        if plane.name.startswith(GPU_PREFIX)
    )


def _busy_gpu(timeline: Timeline, plane: int) -> tuple[int, int]:
    events = timeline.device_events(plane)
    if not len(events):
        return 0, 0
    starts, ends = timeline.starts_ps[events], timeline.ends_of(events)
    span = np.array([[starts.min(), ends.max()]], np.int64)
    covered = union_lengths(np.zeros(len(events), np.int64), starts, ends, span)
    return int(covered[0]), int(span[0, 1] - span[0, 0])


def _claims(
    device_type: str, used: float | None, utilized: Utilization, idle: float | None,
    figures: _StepFigures, judged: Claim | None, of_steps: str,
) -> Iterator[Claim]:  # fmt: skip
    yield Claim("device", "device_type", None, details={"type": device_type},
                words="Device type: {type}.")  # fmt: skip
    for metric, percent, words in (
        ("matrix_unit_share", used, "Matrix units used (higher is better): {value}."),
        ("device_idle_share", idle, "Devices idle (lower is better): {value}."),
    ):
        if percent is not None:
            yield Claim("device", metric, percent / 100, "fraction", words=words)
    if utilized.mfu is not None:
        bound = "at least " if utilized.is_least else ""
        yield Claim("step", "mfu", utilized.mfu, "fraction", details={"bound": bound},
                    words="MFU (higher is better): {bound}{value}.")  # fmt: skip
    if not figures.n_steps:
        yield unknown("step", "step_time", "No steps, so no step time.")
        return
    step, infeed = figures.step_ms, figures.infeed_percent
    yield Claim(
        "step", "step_time", step.average, "ms", step.minimum, step.maximum, of_steps,
        details={"step_count": figures.n_steps},
        words="Step time: {value} on average, {range} ({step_count:step}).",
    )  # fmt: skip
    if judged is not None and not judged.is_known:
        yield replace(judged, words="Waiting for input: unknown, as {unknown}")
        return
    yield Claim(
        "step", "input_share", infeed.average / 100, "fraction", infeed.minimum / 100,
        infeed.maximum / 100, of_steps,
        words="Waiting for input (lower is better): {value} of a step on average, {low} to {high}.",
    )  # fmt: skip
