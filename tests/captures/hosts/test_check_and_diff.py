"""Budgets and comparisons are the same for runs from facts as for open runs."""

import json
from functools import partial

import pytest

from tests.captures.tools.oracle import folder, run_of
from tfprof.captures.hosts.asked import fleet_of
from tfprof.errors import TfprofError
from tfprof.inputs.opened import opened_run
from tfprof.insight.budgets.first_budget import first_budget, first_limits
from tfprof.insight.budgets.measure import measure, measured
from tfprof.insight.budgets.subject import subject_of
from tfprof.insight.diff.ask import diff, look_at, side_of
from tfprof.insight.diff.moments import moments_of_run

pytestmark = pytest.mark.one_engine

CAPTURES = ("cpu-multi-worker", "cpu-while-steps", "gpu-synthetic", "tpu-synthetic", "cpu-xla",
            "cpu-memory-bfc", "cpu-no-steps")  # fmt: skip
OF_FACTS = ("retraces", "compilations", "input_share", "idle_share", "peak_memory")


def condensed(name, question):
    """The run of a capture without events, and its facts."""
    fleet = fleet_of(folder(name))
    run = fleet.run_for(question)
    return run, fleet


def answered(ask):
    try:
        return ask()
    except TfprofError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", CAPTURES)
def test_a_budget_is_the_same(name):
    run, fleet = condensed(name, partial(measured, limits=first_limits()))
    assert first_budget(subject_of(opened_run(run), ())) == first_budget(
        subject_of(opened_run(run_of(name)), ())
    )
    assert fleet.facts.n_rounds == 0


@pytest.mark.parametrize("name", CAPTURES)
def test_most_limits_need_no_events(name):
    limits = [limit for limit in first_limits() if limit.metric.name in OF_FACTS[1:]]
    run, fleet = condensed(name, partial(measured, limits=limits))
    of_facts, of_events = (subject_of(opened_run(one), ()) for one in (run, run_of(name)))
    for limit in limits:
        assert measure(of_facts, limit) == measure(of_events, limit)
    assert (fleet.facts.n_rounds, fleet.facts.n_reopened) == (0, 0)


@pytest.mark.parametrize("name", CAPTURES)
def test_a_difference_is_the_same(name):
    look = partial(look_at, asked={})
    (first, fleet), (second, _) = condensed(name, look), condensed("cpu-multi-worker", look)
    opened = [run_of(one) for one in (name, "cpu-multi-worker")]
    answers = [
        answered(lambda pair=pair: json.dumps(diff(*pair, match="structure").to_dict()))
        for pair in ((first, second), opened)
    ]
    assert answers[0] == answers[1]
    assert fleet.facts.n_rounds == 0


@pytest.mark.parametrize("name", CAPTURES)
def test_moments_of_chosen_steps_need_no_events(name):
    run, _ = condensed(name, partial(look_at, asked={}))
    of_facts, of_events = (moments_of_run(side_of(one).steps) for one in (run, run_of(name)))
    for mine, expected in zip(of_facts.__dict__.values(), of_events.__dict__.values(), strict=True):
        assert {key: one.tolist() for key, one in mine.items()} == {
            key: one.tolist() for key, one in expected.items()
        }


def test_tables_of_tools_compare():
    look = partial(look_at, tool="op-stats", asked={})
    run, fleet = condensed("cpu-multi-worker", look)
    opened = run_of("cpu-multi-worker")
    reported = diff(run, opened, tool="op-stats").to_dict()
    assert reported == diff(opened, opened, tool="op-stats").to_dict()
    assert (fleet.facts.n_rounds, fleet.facts.n_reopened) == (0, 0)
