"""Verdicts by hand, and programs whose truth is known: dearer, unchanged, retracing."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tests.insight.budgets.judged import STEPS, limit, verdict
from tfprof.captures.facts.run_steps import run_steps
from tfprof.demo import demo_capture
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.opened import Opened
from tfprof.insight.budgets.budget import budget_of
from tfprof.insight.budgets.check import check, outcome_of
from tfprof.insight.budgets.first_budget import first_budget, limit_text
from tfprof.insight.budgets.measurement import Measured, Missing
from tfprof.insight.budgets.metrics import METRICS
from tfprof.insight.budgets.quantities import SHARES
from tfprof.insight.budgets.subject import Subject, subject_of
from tfprof.testing import xspace_builders as xb
from tfprof.testing.builders import graph, op, op_log, run, stat, traced


@pytest.mark.parametrize(
    ("most", "expected"),
    [("12.1 ms", "met"), ("11.9 ms", "undecided"), ("8.1 ms", "undecided"), ("7.9 ms", "exceeded")],
)
def test_a_time_is_judged_by_its_whole_interval(most, expected):
    assert verdict(STEPS, most).verdict == expected


def test_a_share_is_never_more_than_all():
    outcome = verdict([0.1, 0.9, 0.5, 1.0], "100 %", metric="input_share")
    assert outcome.verdict == "met"
    assert outcome.interval.high == 1.0
    assert outcome.interval.low == pytest.approx(0.1 * 0.05 ** (1 / 4))
    assert verdict([-1.0, 1_000], "1 ms").interval.low == 0.0


def test_one_step_cannot_tell():
    outcome = verdict([99_000], "1 ms")
    assert outcome.verdict == "undecided"
    assert "one step" in outcome.message
    assert verdict(STEPS, "+5 %", [1000]).verdict == "undecided"


@pytest.mark.parametrize(
    ("most", "expected"), [("0.85 ms", "exceeded"), ("0.95 ms", "undecided"), ("99 ms", "met")]
)
def test_one_slow_step_hides_nothing_that_all_steps_show(most, expected):
    """28 steps of 1 ms and one of 100 ms: a mean of 4.4 ms, more or less 7."""
    assert verdict([1_000] * 28 + [100_000], most).verdict == expected


def test_exact_numbers_have_no_noise():
    assert verdict([100], "100", metric="ops").verdict == "met"
    assert verdict([101], "100", metric="ops").verdict == "exceeded"
    assert verdict([105], "+5 %", [100], metric="ops").verdict == "met"
    assert verdict([106], "+5 %", [100], metric="ops").verdict == "exceeded"


def test_what_is_only_a_part_cannot_meet_a_limit():
    part = Measured((100.0,), at_least=True, remark="not counted: Fancy")
    assert outcome_of("run", limit("99", "ops"), part).verdict == "exceeded"
    outcome = outcome_of("run", limit("101", "ops"), part)
    assert outcome.verdict == "undecided"
    assert "Fancy" in outcome.message
    whole = Measured((200.0,))
    assert outcome_of("run", limit("+5 %", "ops"), whole, part).verdict == "undecided"


def test_relative_times():
    doubled = [2 * each for each in STEPS]
    assert verdict(doubled, "+5 %", STEPS).verdict == "exceeded"
    assert verdict(STEPS, "+40 %", STEPS).verdict == "met"
    assert verdict(STEPS, "+5 %", STEPS).verdict == "undecided"
    assert verdict(STEPS, "+4 ms", STEPS).verdict == "met"
    assert verdict([10_000] * 5, "+0 %", [10_000] * 5).verdict == "met"


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=20), st.floats(1, 1e6), st.floats(0, 1e6))
def test_a_higher_limit_is_never_worse(values, most, more):
    order = ["exceeded", "undecided", "met"]
    tight = verdict(values, f"{most:.3f} us").verdict
    loose = verdict(values, f"{most + more:.3f} us").verdict
    assert order.index(loose) >= order.index(tight)


@given(st.just(0.0) | st.floats(1e-2, 1e15), st.sampled_from([*METRICS.values()]))
def test_written_limits_are_met_by_what_they_are_written_for(amount, metric):
    amount = min(amount, 1.0) if metric.dimension in SHARES else amount
    pattern = "[x]" if metric.needs_pattern else ""
    text = limit_text(amount, metric)
    name = metric.name
    content = f"[{name}]\nx = '{text}'" if pattern else f"{name} = '{text}'"
    bound = budget_of(content.encode()).limits[0].bound
    if metric.dimension.is_floor:
        assert min(amount * 0.989, amount - 1) <= bound.amount <= amount * (1 + 1e-6)
        return
    assert amount * (1 - 1e-6) <= bound.amount
    assert bound.amount <= max(amount * 1.011, amount + 1)


MFU = (0.40, 0.44, 0.36, 0.40)
"""Their mean is 40 %, and the interval 32.1 to 47.9 %."""


@pytest.mark.parametrize(
    ("least", "expected"),
    [(">= 32 %", "met"), ("33 %", "undecided"), ("47 %", "undecided"), ("48 %", "exceeded")],
)
def test_utilization_has_lower_limits(least, expected):
    outcome = verdict(MFU, least, metric="mfu")
    assert outcome.verdict == expected
    words = {"met": "reaches", "undecided": "is too close to", "exceeded": "is below"}
    assert f"mfu {words[expected]} its limit: 40.0 %" in outcome.message


def test_lower_limits_may_be_relative():
    assert verdict(MFU, "-30 %", MFU, metric="mfu").verdict == "met"
    assert verdict([each / 2 for each in MFU], "-30 %", MFU, metric="mfu").verdict == "exceeded"
    assert verdict(MFU, "-20 points", MFU, metric="hfu").verdict == "met"
    with pytest.raises(UsageError, match="limits are lower limits"):
        limit("<= 40 %", "mfu")
    with pytest.raises(UsageError, match="limits are upper limits"):
        limit(">= 25 ms")


def test_what_may_be_more_is_not_too_little():
    least = Measured(MFU, is_timed=True, at_least=True)
    assert outcome_of("run", limit("48 %", "mfu"), least).verdict == "undecided"
    assert outcome_of("run", limit("32 %", "mfu"), least).verdict == "met"


def test_the_peak_rate_of_a_budget_counts():
    text = b"mfu = '>= 1 %'\n[settings]\ndevice = 'h100'"
    assert budget_of(text).device == "h100"
    with pytest.raises(UsageError, match="device"):
        budget_of(text.replace(b"h100", b"abacus"))


def subject(profiler, name="run"):
    return Subject(name, lambda: profiler, None)


def profile(micros, *, units=8, n_steps=12, seed=1):
    """A program of two ops whose product takes some time, with 2 % of noise."""
    noise = random.Random(seed)
    profiler = tfprof.Profiler(
        graph(
            op("x", "Placeholder", shape=[4, 16]),
            op("layer/w", "VariableV2", shape=[16, units]),
            op("layer/y", "MatMul", "x", "layer/w"),
            op("out/z", "Tanh", "layer/y"),
        ),
        op_log(traced("layer/y", "model.py:7:dense")),
    )
    for step in range(n_steps):
        begin = 1000 + 100_000 * step
        took = round(micros * noise.uniform(0.98, 1.02))
        profiler.add_step(
            step, run({"layer/y": stat(took, start=begin), "out/z": stat(500, start=begin + took)})
        )
    return profiler


BUDGET = b"""
float_operations = "<= +0 %"
parameters = "<= 200"
step_time = ["<= 12 ms", "<= +5 %"]
[op_time]
MatMul = "<= +5 %"
Tanh = "<= 1 ms"
[scope_time]
"layer/" = "<= 11 ms"
"""


def test_an_unchanged_program_meets_its_budget():
    report = check([subject(profile(10_000, seed=2))], budget_of(BUDGET), subject(profile(10_000)))
    assert [outcome.verdict for outcome in report.outcomes] == ["met"] * 7
    assert report.exit_code == 0


def test_a_dearer_op_is_found_with_its_line():
    """The product takes 30 % longer, and the other op does not."""
    report = check([subject(profile(13_000, seed=2))], budget_of(BUDGET), subject(profile(10_000)))
    exceeded = [o.limit.name for o in report.outcomes if o.verdict == "exceeded"]
    assert exceeded == ["step_time", "step_time", "op_time[MatMul]", "scope_time[layer/]"]
    assert report.exit_code == 1
    dearest = report.outcomes[2].contributors[0]
    assert dearest.name == "layer/y"
    assert (dearest.frame.file, dearest.frame.line_number) == ("model.py", 7)
    assert dearest.amount == pytest.approx(13_000, rel=0.02)


def test_a_larger_layer_is_found_without_running_it():
    """4 × 16 × 16 multiply-adds instead of 4 × 16 × 8, and 256 parameters."""
    now, before = subject(profile(10_000, units=16)), subject(profile(10_000))
    report = check([now], budget_of(BUDGET), before)
    exceeded = {o.limit.name: o.value for o in report.outcomes if o.verdict == "exceeded"}
    assert exceeded == {"float_operations": 2 * 4 * 16 * 16 + 4 * 16, "parameters": 256}


def test_what_the_files_do_not_tell():
    profiler = profile(10_000, n_steps=0)
    budget = budget_of(b"step_time = '1 ms'\nretraces = 0\n[op_time]\nx = '1 ms'")
    report = check([subject(profiler)], budget)
    assert report.exit_code == 4
    assert [outcome.remark for outcome in report.outcomes] == [
        "no step was recorded",
        "only a capture of the TensorFlow 2 profiler (*.xplane.pb) tells it",
        "no step was recorded",
    ]
    report = check([subject(profile(10))], budget_of(b"[op_time]\nConv = '1 ms'"))
    assert "no op matches 'Conv'" in report.outcomes[0].message


def test_compilations_are_unknown_where_nothing_of_the_runtime_was_captured():
    budget = budget_of(b"compilations = 0")

    def outcome(*events):
        run = xb.opened(xb.xspace(xb.host(xb.line(*events))))
        one = Subject("run", lambda: tfprof.Profiler.from_xspace(run), run)
        [outcome] = check([one], budget).outcomes
        return outcome

    assert outcome(xb.event("PjitFunction(f)", 0, 10)).verdict == "met"
    assert outcome(xb.event("backend_compile", 0, 10)).verdict == "exceeded"
    assert outcome(xb.event("$train.py:3 step", 0, 10)).verdict == "missing"
    assert "host_tracer_level=0" in outcome().remark


def test_open_sizes_need_a_batch():
    net = graph(
        op("x", "Placeholder", shape=[-1, 4]),
        op("w", "VariableV2", shape=[4, 3]),
        op("y", "MatMul", "x", "w"),
    )
    profiler = tfprof.Profiler(net)
    budget = budget_of(b"float_operations = '1 k'")
    [outcome] = check([Subject("g", lambda: profiler, None, net)], budget).outcomes
    assert outcome.verdict == "missing"
    assert "batch" in outcome.remark
    [outcome] = check([Subject("g", lambda: profiler, None, net, 10)], budget).outcomes
    assert (outcome.verdict, outcome.value) == ("met", 240)


def test_exit_codes():
    now, before = subject(profile(10_000)), subject(profile(10_000, n_steps=1))
    undecided = budget_of(b"step_time = '+50 %'\nops = 10")
    assert check([now], undecided, before).exit_code == 0
    assert check([now], undecided, before, strict=True).exit_code == 6
    both = budget_of(b"ops = 1\nretraces = 0")
    assert check([now], both).exit_code == 1
    with pytest.raises(UsageError, match=r"toml:1: step_time: '<= \+50 %' is relative.*--baseline"):
        check([now], undecided)
    missing = check([now], budget_of(b"peak_memory = '+5 %'"), before)
    assert missing.exit_code == 4


def test_a_first_budget_is_met_by_its_run():
    now = subject(profile(10_000))
    budget = budget_of(first_budget(now).encode())
    assert {limit.name for limit in budget.limits} == {
        "float_operations", "parameters", "ops", "step_time",
    }  # fmt: skip
    assert check([now], budget).exit_code == 0
    assert check([subject(profile(10_000, seed=3))], budget).exit_code == 0
    assert check([subject(profile(14_000, seed=3))], budget).exit_code == 1
    text = first_budget(subject(profile(10_000, n_steps=1)))
    assert "ms in one step; times need several" in text


def opened(*paths):
    return subject_of(open_paths(paths)[0], paths)


@pytest.mark.slow
def test_a_capture():
    run = opened(demo_capture("input-bound"))
    budget = budget_of(
        b"step_time = '25 ms'\ninput_share = '5 %'\nretraces = 0\n[traces]\ntrain_step = 1\nf = 1"
    )
    report = check([run], budget)
    assert [outcome.verdict for outcome in report.outcomes] == [
        "exceeded", "exceeded", "met", "met", "missing",
    ]  # fmt: skip
    mean_ps = run_steps(run.run).typical.slowest_ps().mean()
    assert report.outcomes[0].value == pytest.approx(mean_ps / 1e6)


def test_traces_are_not_captures():
    with pytest.raises(EmptyProfileError, match=r"a trace of another program, .* and no ops"):
        subject_of(Opened("t", "trace.json"), ["trace.json"])


def test_missing_metrics_of_the_baseline_are_reported():
    outcome = outcome_of("run", limit("+5 %"), Measured((1.0, 2.0), True), Missing("no step"))
    assert outcome.verdict == "missing"
    assert "the baseline: no step" in outcome.message
