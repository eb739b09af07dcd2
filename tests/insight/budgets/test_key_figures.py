"""Key figures are those of the gate: the same numbers, intervals and reasons."""

import tfprof
from tfprof.demo import demo_capture
from tfprof.errors import InputError
from tfprof.inputs.open_paths import open_paths
from tfprof.insight.budgets import measure as measuring
from tfprof.insight.budgets.budget import budget_of
from tfprof.insight.budgets.check import check
from tfprof.insight.budgets.key_figures import key_figures
from tfprof.insight.budgets.metrics import METRICS
from tfprof.insight.budgets.subject import subject_of


def demo(name):
    [opened] = open_paths([demo_capture(name)])
    return subject_of(opened, ())


def test_the_figures_of_a_capture_are_those_of_the_gate():
    subject = demo("gpu")
    found = key_figures(subject)
    assert list(found) == [m.name for m in METRICS.values() if not m.needs_pattern]
    known = [one.name for one in found.values() if not one.unknown]
    assert {"step_time", "idle_share", "compilations"} <= set(known)
    limits = "\n".join(f"{n} = '{METRICS[n].dimension.example}'" for n in known)
    for outcome in check([subject], budget_of(limits.encode())).outcomes:
        claim, figure = outcome.claim, found[outcome.limit.name]
        assert (figure.value, figure.low, figure.high) == (claim.value, claim.low, claim.high)
        assert (figure.unit, figure.n_steps) == (claim.unit, outcome.n_steps)


def test_a_run_and_its_subject_have_the_same_figures():
    assert key_figures(tfprof.open_run(demo_capture("gpu"))) == key_figures(demo("gpu"))


def test_what_the_capture_does_not_hold_is_unknown_with_the_reason_and_never_zero():
    found = key_figures(demo("gpu"))
    missing = [one for one in found.values() if one.value is None]
    assert missing
    for one in missing:
        assert one.unknown and one.low is None and one.high is None and not one.n_steps


def test_a_metric_that_cannot_be_read_takes_no_other_with_it(monkeypatch):
    def fails(subject):
        raise InputError("the memory of this capture is torn")

    monkeypatch.setattr(measuring.capture_metrics, "peak_memory", fails)
    found = key_figures(demo("gpu"))
    assert found["peak_memory"].unknown == "the memory of this capture is torn"
    assert found["step_time"].value
