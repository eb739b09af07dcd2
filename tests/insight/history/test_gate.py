"""A run against the earlier runs of a history: numbers by hand."""

import pytest

import tfprof
from tests.insight.history.runs import record
from tfprof.core.columns.intervals import Interval
from tfprof.errors import EmptyProfileError
from tfprof.insight.budgets.measurement import Measured, Missing
from tfprof.insight.budgets.metrics import METRICS
from tfprof.insight.budgets.quantities import Bound
from tfprof.insight.budgets.subject import Subject
from tfprof.insight.history.changes import Expected, expected
from tfprof.insight.history.gate import baseline_of, outcome_of, outcomes_of
from tfprof.insight.history.series import Series
from tfprof.testing.builders import graph, op

pytestmark = pytest.mark.one_engine

TEN_MS = Expected(30, Interval(8.0, 10.0, 12.0))
"""Ten ms are expected, and up to twelve pass."""


def judged(metric, *values, known=TEN_MS):
    """The outcome of the steps of a run, or of an exact number."""
    return outcome_of("run", METRICS[metric], Measured(values, METRICS[metric].is_timed), known)


def test_a_time_may_be_as_long_as_the_history_predicts():
    outcome = judged("step_time", 11_900, 12_100)
    assert (outcome.verdict, outcome.limit.bound.text) == ("met", "<= 12.0 ms, as 30 runs before")
    assert (outcome.most, outcome.value, outcome.baseline) == (12_000, 12_000, 10_000)
    assert (outcome.n_steps, outcome.subject, outcome.remark) == (2, "run", "")
    assert judged("step_time", 12_000, 12_001).verdict == "exceeded"


def test_steps_that_may_be_as_before_decide_nothing():
    outcome = judged("step_time", 5_000, 25_000)
    assert outcome.verdict == "undecided"
    assert outcome.remark.startswith("the steps differ so much that the run may be like the others")
    shorter = judged("step_time", 5_000, 25_000, known=Expected(30, Interval(0.8, 1.0, 1.2)))
    assert shorter.verdict == "exceeded"  # the interval begins at 1.3 ms
    assert judged("step_time", 13_000).verdict == "exceeded"  # of one step, no interval is known
    assert judged("step_time", 4_000, 6_000).verdict == "met"


def test_a_utilization_may_be_as_low_as_the_history_predicts():
    known = Expected(9, Interval(0.4, 0.5, 0.6))
    outcome = judged("mfu", 0.40, 0.40, known=known)
    assert (outcome.verdict, outcome.most) == ("met", 0.4)
    assert outcome.limit.bound.text == ">= 40.0 %, as 9 runs before"
    assert judged("mfu", 0.39, 0.39, known=known).verdict == "exceeded"
    assert judged("mfu", 0.01, 0.61, known=known).verdict == "undecided"
    assert judged("mfu", 0.9, 0.9, known=known).verdict == "met"
    below = Expected(9, Interval(-0.2, 0.1, 0.4))
    assert judged("mfu", 0.0, 0.0, known=below).most == 0.0


def test_no_share_is_more_than_all():
    known = Expected(9, Interval(0.4, 0.8, 1.2))
    assert judged("input_share", 1.0, 1.0, known=known).most == 1.0


def test_exact_numbers_are_those_of_before():
    known = Expected(1, Interval(5.0, 5.0, 5.0))
    assert judged("ops", 5.0, known=known).verdict == "met"
    more = judged("ops", 6.0, known=known)
    assert (more.verdict, more.limit.bound.text) == ("exceeded", "<= 5, as 1 run before")
    assert (more.n_steps, more.interval) == (0, None)
    rounded = Expected(1, Interval(3e15, 3e15, 3e15))
    assert judged("ops", 3e15 + 1.0, known=rounded).verdict == "met"


def test_too_few_runs_predict_nothing():
    outcome = judged("step_time", 12_000, 12_000, known=Expected(5, None))
    assert (outcome.verdict, outcome.value) == ("missing", 12_000)
    assert outcome.limit.bound == Bound("unknown", 0.0)
    assert outcome.remark == (
        "the history has 5 runs since the last change, too few to predict the next; 6 are needed"
    )


def test_what_the_run_does_not_hold_is_missing():
    found = outcome_of("run", METRICS["step_time"], Missing("no step"), TEN_MS)
    assert (found.verdict, found.remark, found.baseline) == ("missing", "no step", 10_000)
    found = outcome_of("run", METRICS["step_time"], Missing("x"), Expected(0, None))
    assert (found.verdict, found.value) == ("missing", None)


def test_students_interval_of_eight_runs():
    """Mean 12, deviation 1.0690; half 2.9980 · 1.0690 · √(1 + 1/8) = 3.3995."""
    series = Series("train", tuple(record(n, 11.0 + 2 * (n % 2)) for n in range(8)))
    known = expected(series, "step_time", 0.98)
    assert known.n_runs == 8
    assert known.interval == pytest.approx((8.6005, 12.0, 15.3995), rel=1e-4)


def test_key_figures_that_half_of_the_runs_hold_are_compared():
    net = tfprof.Profiler(graph(op("x", "Placeholder", shape=[2])))
    subject = Subject("now", lambda: net, None)
    runs = tuple(record(n, 10.0, exact={"ops": 1.0} if n < 2 else {}) for n in range(4))
    found = outcomes_of(subject, Series("train", runs))
    assert {one.limit.metric.name: one.verdict for one in found} == {
        "ops": "met",
        "step_time": "missing",
    }
    few = Series("train", runs[1:])
    assert [one.limit.metric.name for one in outcomes_of(subject, few)] == ["step_time"]
    none = Series("train", tuple(record(n, None) for n in range(3)))
    with pytest.raises(EmptyProfileError, match="the 3 earlier runs of train hold no key figure"):
        outcomes_of(subject, none)


def test_false_alarms_are_shared_by_the_key_figures():
    """One in a hundred on one side of two figures: 0.99 of each; t = 3.4995, half 3.9681."""
    net = tfprof.Profiler(graph(op("x", "Placeholder", shape=[2])))
    subject = Subject("now", lambda: net, None)
    runs = tuple(record(n, 11.0 + 2 * (n % 2), exact={"ops": 1.0}) for n in range(8))
    _, step_time = outcomes_of(subject, Series("train", runs))
    assert step_time.limit.bound.amount == pytest.approx(15_968.1, rel=1e-4)


def test_earlier_runs_of_the_same_program():
    runs = [record(n) for n in range(4)] + [record(9, program="eval")]
    assert [one.name for one in baseline_of(runs[2], runs, "h").runs] == ["run0000", "run0001"]
    dateless = record(7, began_ns=None)
    assert len(baseline_of(dateless, [*runs, dateless], "h").runs) == 4
    assert baseline_of(runs[2], runs, "h").name == "train"
    with pytest.raises(EmptyProfileError, match="h: holds no earlier run of train, only of eval"):
        baseline_of(runs[0], runs, "h")
    with pytest.raises(EmptyProfileError, match=r"h: holds no earlier run of train\. Add some"):
        baseline_of(runs[0], runs[:1], "h")
