"""Series that are not mixed, and sentences on what is known of their changes."""

import math

import numpy as np
import pytest

from tests.insight.history.runs import record, stepped
from tfprof.core.columns.intervals import Interval
from tfprof.insight.budgets.key_figures import KeyFigure
from tfprof.insight.history.answer import answer_of, changes_in_order, found_in
from tfprof.insight.history.causes import causes_of, representatives
from tfprof.insight.history.change_points import likely_places
from tfprof.insight.history.changes import (
    Change,
    Expected,
    changed_with,
    changes_of,
    expected,
    level_of,
    levels,
)
from tfprof.insight.history.series import Series, series_of


def history(values, **more):
    records = [record(n, value, **more) for n, value in enumerate(values)]
    return [found_in(series) for series in series_of(records)]


def answer(found, **more):
    return answer_of(found, "History", more.get("unread", {}), more.get("causes", {}))


def test_programs_and_hardware_are_series_of_their_own():
    records = [
        record(n, 10.0, program=program, hardware=hardware)
        for n, (program, hardware) in enumerate(
            [("train", "CPU only"), ("eval", "CPU only"), ("train", "8 × H100")] * 2
        )
    ]
    names = [one.name for one in series_of(records)]
    assert names == ["eval", "train (8 × H100)", "train (CPU only)"]
    assert {len(one.runs) for one in series_of(records)} == {2}


def test_a_new_machine_explains_a_change_but_machines_that_take_turns_are_never_mixed():
    moved = [record(n, 10.0, machine="old" if n < 5 else "new") for n in range(10)]
    assert [one.name for one in series_of(moved)] == ["train"]
    turns = [record(n, 10.0 + n % 2, machine=f"vm{n % 2}") for n in range(10)]
    assert [one.name for one in series_of(turns)] == ["train on vm0", "train on vm1"]
    lent = [record(n, 10.0, machine=f"pod-{n % 37}") for n in range(40)]  # names that came back
    assert [one.name for one in series_of(lent)] == ["train"]


def test_a_change_is_stated_with_its_size_its_runs_its_commits_and_what_else_changed():
    values = stepped(30, 10, 0.10)
    records = [
        record(n, value, commit=f"{n:040x}", versions={"jax": "0.10.1" if n < 30 else "0.10.2"})
        for n, value in enumerate(values)
    ]
    [found] = [found_in(series) for series in series_of(records)]
    result = answer([found])
    [claim] = result.claims
    assert claim.metric == "step_time_change"
    assert claim.low < 0.10 < claim.high
    assert claim.value == pytest.approx(0.10, abs=0.01)
    assert "step_time of train rose by" in claim.text
    assert "with run run0030" in claim.text
    assert "commits 000000000000..000000000000" in claim.text
    assert "What else changed: jax 0.10.1 → 0.10.2." in claim.text
    [row] = result.to_rows("changes")
    assert (row["run"], row["earliest"], row["latest"]) == ("run0030",) * 3
    assert row["changed_with"] == "jax 0.10.1 → 0.10.2"
    assert [len(chart.x) for chart in result.charts] == [40]


def test_a_fall_is_stated_as_one():
    [claim] = answer(history(stepped(30, 10, -0.10))).claims
    assert "fell by" in claim.text
    assert claim.low < 0.10 < claim.high


def test_exact_figures_change_at_once_and_from_nothing_without_a_percentage():
    records = [record(n, 10.0, exact={"ops": 5.0 if n < 3 else 6.0}) for n in range(4)]
    [series] = series_of(records)
    [change] = changes_of(series, "ops")
    assert (change.place, change.relative, change.low, change.is_worse) == (3, 0.2, None, True)
    records = [record(n, 10.0, exact={"ops": float(n > 1)}) for n in range(4)]
    [found] = [found_in(series) for series in series_of(records)]
    assert "rose, from 0 to 1, with run" in answer([found]).claims[0].text


def test_too_few_runs_have_no_verdict():
    few = answer(history([10.0] * 5))
    assert "5 runs, too few to show a change beyond chance: 12 are needed" in few.verdict[0]
    assert few.claims[0].unknown
    many = answer(history(stepped(40, 0, 0.0)))
    assert "No key figure of train has changed in 40 runs" in many.verdict[0]
    assert "1 run" in answer(history([10.0])).verdict[0]


def test_a_figure_of_few_runs_is_unknown_and_not_unchanged():
    values = [10.0] * 5 + [None] * 20
    told = answer(history(values))
    assert told.claims[0].unknown
    assert "fewer than 12 hold the same key figure" in told.verdict[0]
    assert answer(history([None] * 20)).claims[0].unknown
    records = [record(n, v, exact={"compilations": 0.0}) for n, v in enumerate(values)]
    told = answer([found_in(series) for series in series_of(records)])
    assert told.claims[0].value == 0
    assert "Unknown is whether step_time has changed" in told.verdict[0]


def test_lower_bounds_are_named_beside_their_change():
    def peak(number, *, at_least):
        size = 1e9 if number < 15 else 2e9
        figures = {"peak_memory": KeyFigure("peak_memory", "bytes", size, at_least=at_least)}
        return record(number, figures=figures)

    for at_least in (False, True):
        records = [peak(n, at_least=at_least and n == 20) for n in range(30)]
        [claim] = answer([found_in(one) for one in series_of(records)]).claims
        assert ("not all of it could be counted" in claim.text) == at_least


def test_what_a_run_does_not_hold_is_left_out_and_never_zero():
    values = stepped(30, 10, 0.10)
    values[5], values[7] = None, math.nan
    [found] = history(values)
    places, known = found.series.known("step_time")
    assert len(known) == 38
    assert not {5, 7} & set(places)
    [change] = found.changes["step_time"]
    assert change.place == 30
    assert len(levels(found.series, "step_time", [change])) == 38


def test_runs_without_a_time_come_first_and_are_noted():
    records = [record(3, 10.0), record(2, 10.0, began_ns=None), record(1, 10.0, began_ns=None)]
    ordered = sorted(records, key=lambda one: one.order)
    assert [one.name for one in ordered] == ["run0001", "run0002", "run0003"]
    result = answer([found_in(series) for series in series_of(ordered)])
    assert "2 runs have no time" in result.notes[0].message


def test_what_could_not_be_read_is_listed():
    result = answer(history([10.0]), unread={"logs/torn": "it is torn"})
    assert result.to_rows("unread") == [{"source": "logs/torn", "trouble": "it is torn"}]
    assert "1 place could not be read" in result.notes[0].message


def test_changes_of_a_series_come_the_latest_first():
    slower = stepped(30, 30, 0.10)
    records = [record(n, v, exact={"ops": 5.0 + (n >= 45)}) for n, v in enumerate(slower)]
    [found] = [found_in(series) for series in series_of(records)]
    assert [one.metric for one in changes_in_order(found)] == ["ops", "step_time"]
    assert list(found_in(found.series, ["ops"]).changes) == ["ops"]


def test_runs_to_compare_lie_on_both_sides_and_near_their_levels():
    [found] = history(stepped(30, 30, 0.10))
    [change] = found.changes["step_time"]
    before, after = representatives(found, change)
    assert 20 <= int(before.name[3:]) < 30 <= int(after.name[3:]) < 40
    [claim] = causes_of(found, change)
    assert "are no longer there" in claim.text
    assert claim.unknown


def test_the_level_since_the_last_change_predicts_the_next_run():
    values = stepped(30, 30, 0.10)
    [series] = series_of([record(n, value) for n, value in enumerate(values)])
    told = expected(series, "step_time", 0.99)
    assert told.n_runs == 30
    assert told.interval.mid == pytest.approx(11.0, rel=0.01)
    assert told.interval.low < 11.0 < told.interval.high < 11.5
    few = Series("few", series.runs[:5])
    assert expected(few, "step_time", 0.99) == Expected(5, None)
    assert expected(Series("enough", series.runs[:6]), "step_time", 0.99).interval
    assert expected(series, "peak_memory", 0.99) == Expected(0, None)


def test_numbers_without_noise_are_expected_as_they_were_last():
    series = Series("train", tuple(record(n, exact={"ops": 5.0 + (n == 3)}) for n in range(4)))
    assert expected(series, "ops", 0.99) == Expected(1, Interval(6.0, 6.0, 6.0))
    assert expected(Series("train", series.runs[:3]), "ops", 0.99).n_runs == 3


def test_changes_of_numbers_without_noise():
    """The run of place 2 does not hold the number."""
    numbers = [5.0, 5.0, None, 6.0, 6.0, 3.0]
    runs = tuple(
        record(n, exact={} if number is None else {"ops": number})
        for n, number in enumerate(numbers)
    )
    series = Series("train", runs)
    more, less = changes_of(series, "ops")
    assert more == Change("ops", "count", 3, 3, 3, 5.0, 6.0, 0.2, None, None, (0, 3, 5))
    assert less == Change("ops", "count", 5, 5, 5, 6.0, 3.0, -0.5, None, None, (3, 5, 6))
    assert (more.is_worse, less.is_worse) == (True, False)
    assert levels(series, "ops", [more, less]) == [5, 5, 6, 6, 3]


def test_the_runs_around_a_change_of_noisy_numbers():
    values = [10.0, 10.2, 9.9, 10.1] * 5 + [12.0, 12.2, 11.9, 12.1] * 3
    [found] = history(values)
    [change] = found.changes["step_time"]
    assert (change.place, change.first, change.last, change.runs) == (20, 20, 20, (0, 20, 32))
    assert (change.before, change.after) == pytest.approx((10.05, 12.05))
    assert change.relative == pytest.approx(2 / 10.05)
    assert change.low < change.relative < change.high


def test_between_which_runs_an_uncertain_change_lies():
    values = stepped(30, 20, 0.015)
    [found] = history(values)
    [change] = found.changes["step_time"]
    assert (change.first, change.last) == likely_places(np.array(values), 0.95)
    assert change.first < change.last


def test_one_run_is_a_level_without_an_error():
    assert level_of(np.array([3.0])) == (3.0, 0.0, 1.0)
    assert level_of(np.array([3.0, 5.0])).value == 4.0


def test_what_changed_with_a_run():
    before = record(0, machine="", framework="jax", versions={"jax": "1"}, labels={"batch": "8"})
    after = record(1, machine="b", framework="", versions={"jax": "2"}, labels={"seed": "1"})
    assert list(changed_with(before, after)) == [
        "machine unknown → b", "framework jax → unknown", "jax 1 → 2", "batch 8 → unknown",
        "seed unknown → 1",
    ]  # fmt: skip
    assert list(changed_with(before, before)) == []


def test_a_level_is_never_below_nothing():
    result = answer(history([0.1, 40.0, 0.1, 9.0]))
    [row] = result.to_rows("levels")
    assert row["low"] == 0.0


def test_one_run_has_no_chart():
    assert not answer(history([10.0])).charts
