"""Checks every limit of a budget against its measurement.

A number without noise is compared directly. A time exceeds its limit only if its whole interval
over the steps lies above, and meets it only if the whole interval lies at or below; in between the
limit is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tfprof.core.columns.frames import Frame
from tfprof.core.columns.intervals import (
    FEWEST,
    Interval,
    Mean,
    interval_of,
    least_mean,
    mean_of,
)
from tfprof.core.text.claims import Claim, Detail
from tfprof.core.text.wording import plural
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.insight.budgets.budget import Budget, Limit
from tfprof.insight.budgets.measure import measure
from tfprof.insight.budgets.measurement import Contributor, Measured, Measurement, Missing
from tfprof.insight.budgets.quantities import shown, stated_in
from tfprof.insight.budgets.subject import Subject

Verdict = Literal["met", "exceeded", "undecided", "missing"]

EXIT_EXCEEDED = 1
EXIT_MISSING = EmptyProfileError.exit_code
EXIT_UNDECIDED = 6


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of checking a limit.

    Attributes:
        subject: Name of the run or graph that was checked.
        limit: The limit.
        verdict: ``met``, ``exceeded``, ``undecided`` (noise, or something uncounted), or
            ``missing`` (the files do not hold the metric).
        most: The most that the metric might be, in its unit; None if the baseline is missing.
        value: The number, or the mean of the steps; None if missing.
        interval: Interval of the mean; None for exact numbers and for a single step.
        baseline: The value in the baseline; None without one.
        n_steps: Number of steps; 0 for exact numbers.
        remark: Why it is undecided or missing, and further facts about the value.
        contributors: The largest parts of the value.
    """

    subject: str
    limit: Limit
    verdict: Verdict
    most: float | None = None
    value: float | None = None
    interval: Interval | None = None
    baseline: float | None = None
    n_steps: int = 0
    remark: str = ""
    contributors: tuple[Contributor, ...] = ()

    @property
    def frame(self) -> Frame | None:
        """The line of the program that the largest known part comes from."""
        return next((part.frame for part in self.contributors if part.frame is not None), None)

    def text(self, amount: float | None) -> str:
        """An amount with its unit; a dash if it is unknown."""
        return "–" if amount is None else shown(amount, self.limit.metric.dimension)

    @property
    def value_text(self) -> str:
        """The value, with its interval: ``24.1 ms (23.5 ms to 24.8 ms, 12 steps)``."""
        text = self.text(self.value)
        if self.interval is not None:
            low, high = self.text(self.interval.low), self.text(self.interval.high)
            return f"{text} ({low} to {high}, {plural(self.n_steps, 'step')})"
        return f"{text} (1 step)" if self.n_steps else text

    @property
    def most_text(self) -> str:
        """The limit; a relative one with its value: ``<= +5 % (26.3 ms)``."""
        text = self.limit.bound.text
        return f"{text} ({self.text(self.most)})" if self.limit.bound.is_relative else text

    @property
    def message(self) -> str:
        """One sentence: the verdict and its reason."""
        return self.claim.text

    @property
    def claim(self) -> Claim:
        """The outcome as data; unknown if the files do not hold the metric."""
        unit, factor, form = stated_in(self.limit.metric.dimension)
        ends = self.interval[:3:2] if self.interval is not None else (None, None)
        value, low, high, most, baseline = (
            None if one is None else one * factor
            for one in (self.value, *ends, self.most, self.baseline)
        )
        details: dict[str, Detail] = {
            "metric": self.limit.name, "verdict": self.verdict, "limit": self.limit.bound.text,
            "step_count": self.n_steps, "remark": self.remark,
        }  # fmt: skip
        ending = {"fraction": "share", "FLOPs": "flops"}.get(unit, unit)
        for name, amount in (("most", most), ("baseline", baseline)):
            if amount is not None:
                details[f"{name}_{ending}"] = amount
        said = {
            "met": "is within", "exceeded": "exceeds", "undecided": "is too close to",
        }  # fmt: skip
        if self.limit.metric.dimension.is_floor:
            said |= {"met": "reaches", "exceeded": "is below"}
        is_missing = self.verdict == "missing"
        if is_missing:
            words = "{metric} cannot be checked: {unknown}"
        else:
            words = f"{{metric}} {said[self.verdict]} its limit: {{value:{form}}}"
            if self.interval is not None:
                words += f" ({{low:{form}}} to {{high:{form}}}, {{step_count:step}})"
            words += " (1 step)" if self.interval is None and self.n_steps else ""
            words += ", limit {limit}"
            words += f" ({{most_{ending}:{form}}})" if self.limit.bound.is_relative else ""
            words += "; {remark}" if self.remark else ""
        return Claim(
            self.subject, self.limit.metric.name, None if is_missing else value, unit, low, high,
            scope=plural(self.n_steps, "step") if self.n_steps else "the whole run",
            basis=self.limit.metric.about, details=details, words=words,
            unknown=self.remark if is_missing else "",
        )  # fmt: skip

    @property
    def from_where(self) -> list[str]:
        """The largest parts: ``MatMul: 3.1 ms, train.py:43 in step``."""
        return [
            f"{part.name}: {self.text(part.amount)}"
            + (f", {part.frame.place}" if part.frame is not None else "")
            for part in self.contributors
        ]


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The outcomes of all limits.

    Attributes:
        budget: The budget.
        outcomes: Subject by subject, in the order of the budget.
        strict: Whether undecided limits count as not checked.
    """

    budget: Budget
    outcomes: tuple[Outcome, ...]
    strict: bool

    def __repr__(self) -> str:
        return f"<Report of {len(self.outcomes):,} limits: exit code {self.exit_code}>"

    def count(self, verdict: Verdict) -> int:
        """Number of limits with a verdict."""
        return sum(outcome.verdict == verdict for outcome in self.outcomes)

    @property
    def exit_code(self) -> int:
        """0 if all limits are met, 1 if any is exceeded, 4 if any cannot be checked.

        An undecided limit does not change the code, unless the check is strict: then it is 6.
        """
        if self.count("exceeded"):
            return EXIT_EXCEEDED
        if self.count("missing"):
            return EXIT_MISSING
        return EXIT_UNDECIDED if self.strict and self.count("undecided") else 0

    @property
    def summary(self) -> str:
        """The number of limits met, and of each other verdict."""
        words: dict[Verdict, str] = {
            "exceeded": "exceeded", "missing": "not checked", "undecided": "undecided",
        }  # fmt: skip
        parts = [f"{n} {word}" for verdict, word in words.items() if (n := self.count(verdict))]
        met = f"{self.count('met')} of {plural(len(self.outcomes), 'limit')} met"
        return ", ".join([met, *parts])


def check(
    subjects: Sequence[Subject], budget: Budget, baseline: Subject | None = None, *,
    strict: bool | None = None,
) -> Report:  # fmt: skip
    """Check limits.

    Args:
        subjects: What to check.
        budget: The limits.
        baseline: The run that relative limits refer to.
        strict: Whether undecided limits count as not checked; None for the budget's setting.

    Raises:
        UsageError: A limit is relative, and there is no baseline.
        InputError: Something cannot be read.
    """
    for limit in budget.limits:
        if limit.bound.is_relative and baseline is None:
            where = f"{budget.path}:{limit.line}" if limit.line else budget.path
            raise UsageError(
                f"{where}: {limit.name}: {limit.bound.text!r} is relative; name the earlier run "
                "with --baseline PATH"
            )
    outcomes = tuple(
        outcome_of(
            subject.name,
            limit,
            measure(subject, limit),
            measure(baseline, limit) if baseline and limit.bound.is_relative else None,
            budget.confidence,
        )
        for subject in subjects
        for limit in budget.limits
    )
    return Report(budget, outcomes, budget.strict if strict is None else strict)


def outcome_of(
    subject: str,
    limit: Limit,
    now: Measurement,
    before: Measurement | None = None,
    confidence: float = 0.95,
) -> Outcome:
    """Compare one measurement with its limit.

    Args:
        subject: Name of the run or graph.
        limit: The limit.
        now: The measurement.
        before: The measurement of the baseline, if the limit is relative.
        confidence: Confidence level of intervals.
    """
    if isinstance(now, Missing):
        return Outcome(subject, limit, "missing", remark=now.reason)
    bound = limit.bound
    if isinstance(before, Missing):
        return Outcome(
            subject, limit, "missing", value=now.value, remark=f"the baseline: {before.reason}"
        )
    old = before.value if before is not None else None
    most = bound.amount + (bound.factor * old if old is not None else 0.0)
    interval = now.interval(limit.metric.dimension.most, confidence)
    verdict, why = _verdict(now, before, limit, most, confidence)
    return Outcome(
        subject, limit, verdict, most, now.value, interval, old,
        len(now.values) if now.is_timed else 0,
        "; ".join(filter(None, (why, now.remark))), now.contributors,
    )  # fmt: skip


def _verdict(
    now: Measured, before: Measured | None, limit: Limit, most: float, confidence: float
) -> tuple[Verdict, str]:
    if now.is_timed:
        return _verdict_of_steps(now, before, limit, confidence)
    is_open = now.at_least, before is not None and before.at_least
    if now.value > most and not is_open[1]:
        return "exceeded", ""
    return ("undecided", "not all of it could be counted") if any(is_open) else ("met", "")


def _verdict_of_steps(
    now: Measured, before: Measured | None, limit: Limit, confidence: float
) -> tuple[Verdict, str]:
    timed = [now] if before is None else [now, before]
    if any(len(one.values) < FEWEST for one in timed):
        whose = "" if len(now.values) < FEWEST else " of the baseline"
        return "undecided", f"one step{whose} does not show how much steps differ; record more"
    is_floor = limit.metric.dimension.is_floor
    above = mean_of(now.values)
    if before is not None:
        above = above.minus(mean_of(before.values), limit.bound.factor)
    low, _, high = interval_of(_shifted(above, limit.bound.amount), confidence)
    if is_floor:
        return _verdict_of_floor(low, high, now, before)
    if low > 0 or (before is None and least_mean(now.values, confidence) > limit.bound.amount):
        return "exceeded", ""
    if high <= 0 or (before is None and limit.bound.amount >= limit.metric.dimension.most):
        return "met", ""
    return "undecided", _TOO_NOISY


_TOO_NOISY = "the steps differ too much to tell; record more of them"


def _verdict_of_floor(
    low: float, high: float, now: Measured, before: Measured | None
) -> tuple[Verdict, str]:
    """The verdict on a lower limit, from the interval of how far the mean is above it."""
    if high < 0 and not now.at_least:
        return "exceeded", ""
    if low >= 0 and (before is None or not before.at_least):
        return "met", ""
    is_open = now.at_least or (before is not None and before.at_least)
    return "undecided", "not all of it could be counted" if is_open else _TOO_NOISY


def _shifted(mean: Mean, by: float) -> Mean:
    """The mean minus a number; exactly 0 for equal numbers, in spite of rounding."""
    value = mean.value - by
    is_nothing = math.isclose(mean.value, by, rel_tol=1e-12, abs_tol=1e-15)
    return mean._replace(value=0.0 if is_nothing else value)
