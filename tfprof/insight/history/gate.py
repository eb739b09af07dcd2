"""The gate's baseline from a history: is a run as the runs since the last change predict?"""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.core.text.wording import plural
from tfprof.errors import EmptyProfileError
from tfprof.insight.budgets.budget import Limit
from tfprof.insight.budgets.check import Outcome, Verdict
from tfprof.insight.budgets.first_budget import first_limits
from tfprof.insight.budgets.measure import measure
from tfprof.insight.budgets.measurement import Measured, Measurement, Missing
from tfprof.insight.budgets.metrics import Metric
from tfprof.insight.budgets.quantities import Bound, shown, stated_in
from tfprof.insight.budgets.subject import Subject
from tfprof.insight.history.change_points import FEWEST
from tfprof.insight.history.changes import Expected, expected
from tfprof.insight.history.record import RunRecord
from tfprof.insight.history.series import Series, series_of

FALSE_ALARMS = 0.01
"""How often a run that is like the others exceeds any of its limits."""


def baseline_of(record: RunRecord, records: Sequence[RunRecord], path: str) -> Series:
    """The earlier runs of the series that a run belongs to.

    Args:
        record: The run; if its time is unknown, all others are earlier.
        records: The runs of a history.
        path: Its file, for messages.

    Raises:
        EmptyProfileError: There are none.
    """
    others = [one for one in records if one.id != record.id]
    every = series_of(sorted([*others, record], key=lambda one: one.order))
    series = next(one for one in every if record in one.runs)
    place = series.runs.index(record)
    earlier = series.runs[:place]
    if record.began_ns is None:
        earlier += series.runs[place + 1 :]
    if earlier:
        return Series(series.name, earlier)
    known = sorted({one.name for one in series_of(others)} - {series.name})
    only = f", only of {', '.join(known)}" if known else ""
    raise EmptyProfileError(
        f"{path}: holds no earlier run of {series.name}{only}. Add some with tfprof history --add"
    )


def outcomes_of(subject: Subject, series: Series) -> list[Outcome]:
    """Compare a run with the earlier ones: each key figure that most of them hold.

    Args:
        subject: The run.
        series: Earlier runs of the same program on the same hardware.

    Raises:
        EmptyProfileError: There is nothing to compare.
    """
    limits = [
        limit for limit in first_limits()
        if 2 * len(series.known(limit.metric.name)[0]) >= len(series.runs)
    ]  # fmt: skip
    if not limits:
        raise EmptyProfileError(
            f"the {plural(len(series.runs), 'earlier run')} of {series.name} hold no key figure "
            "that most of them have; record runs with steps"
        )
    confidence = 1 - 2 * FALSE_ALARMS / len(limits)
    return [
        outcome_of(
            subject.name,
            limit.metric,
            measure(subject, limit),
            expected(series, limit.metric.name, confidence),
        )
        for limit in limits
    ]


def outcome_of(subject: str, metric: Metric, now: Measurement, known: Expected) -> Outcome:
    """Compare a key figure of a run with what the earlier runs predict.

    Args:
        subject: Name of the run.
        metric: The key figure.
        now: Its measurement, in the unit of its dimension.
        known: The prediction, in the unit of histories.
    """
    dimension = metric.dimension
    factor = stated_in(dimension)[1]
    if known.interval is None:
        remark = (
            f"the history has {plural(known.n_runs, 'run')} since the last change, too few to "
            f"predict the next; {FEWEST // 2} are needed"
        )
        value = now.value if isinstance(now, Measured) else None
        nothing = Limit(metric, Bound("unknown", 0.0))
        return Outcome(subject, nothing, "missing", value=value, remark=remark)
    low, level, high = (each / factor for each in known.interval)
    most = min(max(low if dimension.is_floor else high, 0.0), dimension.most)
    runs = plural(known.n_runs, "run")
    stated = Limit(
        metric, Bound(f"{dimension.sign} {shown(most, dimension)}, as {runs} before", most)
    )
    if isinstance(now, Missing):
        return Outcome(subject, stated, "missing", remark=now.reason, baseline=level)
    interval = now.interval(dimension.most, 0.95)
    verdict: Verdict = "met"
    remark = now.remark
    beyond = most - now.value if dimension.is_floor else now.value - most
    if beyond > 1e-12 * most:
        verdict = "exceeded"
        if interval is not None and interval.low <= level <= interval.high:
            verdict = "undecided"
            remark = "the steps differ so much that the run may be like the others; record more"
    return Outcome(
        subject, stated, verdict, most, now.value, interval, level,
        len(now.values) if now.is_timed else 0, remark, now.contributors,
    )  # fmt: skip
