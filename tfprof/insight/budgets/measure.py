"""Measures the metrics that limits are for, each from the part of a run that holds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfprof.captures.run.run import Run
from tfprof.inputs.opened import opened_run
from tfprof.insight.budgets import capture_metrics, profile_metrics, static_metrics
from tfprof.insight.budgets.budget import Limit
from tfprof.insight.budgets.measurement import Measurement, Missing
from tfprof.insight.budgets.subject import Subject, subject_of

_OF_CAPTURES = frozenset(
    ("traces", "retraces", "compilations", "step_time", "input_share", "idle_share", "peak_memory",
     "mfu", "hfu", "op_time", "scope_time")
)  # fmt: skip


def measure(subject: Subject, limit: Limit) -> Measurement:
    """The value of the metric of a limit."""
    name, pattern = limit.metric.name, limit.pattern
    if name in ("op_time", "scope_time"):
        return profile_metrics.time_of(subject, pattern, of_scopes=name == "scope_time")
    of_capture: dict[str, Callable[[Run], Measurement]] = {
        "traces": lambda run: capture_metrics.traces(run, subject.profiler, pattern),
        "retraces": lambda run: capture_metrics.retraces(run, subject.profiler, pattern),
        "compilations": capture_metrics.compilations,
        "step_time": lambda _: capture_metrics.step_time(subject.steps, subject.profiler),
        "input_share": lambda run: capture_metrics.input_share(run, subject.steps),
        "idle_share": lambda _: capture_metrics.idle_share(subject.steps),
        "peak_memory": capture_metrics.peak_memory,
        "mfu": lambda run: capture_metrics.utilization(run, subject.device, of_model=True),
        "hfu": lambda run: capture_metrics.utilization(run, subject.device, of_model=False),
    }
    of_profile: dict[str, Callable[[], Measurement]] = {
        "step_time": lambda: profile_metrics.step_time(subject.profiler),
        "peak_memory": lambda: profile_metrics.peak_memory(subject.profiler),
        "float_operations": lambda: static_metrics.float_operations(subject),
        "parameters": lambda: static_metrics.parameters(subject),
        "ops": lambda: static_metrics.n_ops(subject),
    }
    if subject.run is not None and name in of_capture:
        return of_capture[name](subject.run)
    if name in of_profile:
        return of_profile[name]()
    return Missing("only a capture of the TensorFlow 2 profiler (*.xplane.pb) tells it")


def measured(run: Run, limits: Sequence[Limit]) -> None:
    """Measure the metrics that need a capture, to find the facts of hosts that limits need.

    Args:
        run: The run.
        limits: The limits.
    """
    subject = subject_of(opened_run(run), ())
    for limit in limits:
        if limit.metric.name in _OF_CAPTURES:
            measure(subject, limit)
