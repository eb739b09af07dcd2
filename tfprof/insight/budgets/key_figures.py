"""Key figures of a run: the metrics of budgets, each with its interval or why it is unknown."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.captures.run.run import Run
from tfprof.core.columns.intervals import CONFIDENCE
from tfprof.errors import TfprofError
from tfprof.inputs.opened import opened_run
from tfprof.insight.budgets.first_budget import first_limits
from tfprof.insight.budgets.measure import measure
from tfprof.insight.budgets.measurement import Measured, Measurement, Missing
from tfprof.insight.budgets.metrics import Metric
from tfprof.insight.budgets.quantities import stated_in
from tfprof.insight.budgets.subject import Subject, subject_of


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A metric of a run.

    Attributes:
        name: Its name in budgets.
        unit: ``ms``, ``bytes``, ``fraction``, ``FLOPs`` or ``count``.
        value: The number, or the mean of the steps; None if it is unknown.
        low: Lower bound of the mean of the steps; None for exact numbers and a single step.
        high: Its upper bound.
        n_steps: Number of steps; 0 for numbers of the whole run.
        at_least: Whether the true value may be larger; ``remark`` has the reason.
        remark: A fact about the value, such as steps that were left out.
        unknown: Why there is no value; empty if there is one.
    """

    name: str
    unit: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n_steps: int = 0
    at_least: bool = False
    remark: str = ""
    unknown: str = ""


def key_figures(run: Run | Subject) -> dict[str, KeyFigure]:
    """All metrics that need no pattern, by name, in the order of reports.

    Args:
        run: A captured run, or what a check takes: a profile, a graph, a recording.

    Raises:
        InputError: A capture cannot be read at all.
    """
    subject = run if isinstance(run, Subject) else subject_of(opened_run(run), ())
    found = {}
    for limit in first_limits():
        try:
            measurement: Measurement = measure(subject, limit)
        except TfprofError as error:  # one metric that cannot be had takes no other with it
            measurement = Missing(str(error))
        found[limit.metric.name] = figure_of(limit.metric, measurement)
    return found


def figure_of(metric: Metric, found: Measurement, confidence: float = CONFIDENCE) -> KeyFigure:
    """A measurement as a key figure.

    Args:
        metric: What was measured.
        found: The measurement, in the unit of the metric.
        confidence: Confidence level of its interval.
    """
    unit, factor, _ = stated_in(metric.dimension)
    if not isinstance(found, Measured):
        return KeyFigure(metric.name, unit, None, unknown=found.reason)
    interval = found.interval(metric.dimension.most, confidence)
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return KeyFigure(
        metric.name, unit, found.value * factor,
        None if low is None else low * factor, None if high is None else high * factor,
        len(found.values) if found.is_timed else 0, found.at_least, found.remark,
    )  # fmt: skip
