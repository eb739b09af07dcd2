"""Verdicts on values that are given."""

from tfprof.insight.budgets.budget import budget_of
from tfprof.insight.budgets.check import outcome_of
from tfprof.insight.budgets.measurement import Measured
from tfprof.insight.budgets.metrics import METRICS


def limit(text, metric="step_time"):
    return budget_of(f"{metric} = '{text}'".encode()).limits[0]


def verdict(values, text, before=None, metric="step_time"):
    now = Measured(tuple(values), METRICS[metric].is_timed)
    old = None if before is None else Measured(tuple(before), METRICS[metric].is_timed)
    return outcome_of("run", limit(text, metric), now, old)


STEPS = (10_000, 11_000, 9_000, 10_000)
"""Their mean is 10 ms, and the interval 8.02 to 11.98 ms; see the intervals' own test."""
