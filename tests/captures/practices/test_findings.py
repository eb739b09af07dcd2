"""Advice of the tools as findings."""

import pytest

from tests.captures.tools.recorded import recorded
from tfprof.captures.practices.findings import capture_findings, finding_of
from tfprof.captures.practices.practices import advice
from tfprof.captures.run.result import Advice
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import event, host, line, opened, xspace


def finding(rule="ops/heaviest", gain=None, step_micros=1000.0, **evidence):
    return finding_of(Advice(rule, "Do this.", evidence, gain), step_micros)


@pytest.mark.parametrize(
    ("gain", "severity"), [(0.2, "critical"), (0.19, "warning"), (0.05, "warning"), (0.04, "info")]
)
def test_severity_is_by_gain(gain, severity):
    assert finding(gain=gain).severity == severity


def test_severity_without_gain():
    assert finding().severity == "info"
    assert finding("memory/capacity").severity == "warning"


def test_gain_is_per_step():
    gain = finding(gain=0.25).gain
    assert (gain.amount, gain.unit) == (250.0, "micros")
    assert gain.how == "25.0% of the step, as an upper limit"
    assert finding(gain=0.25, step_micros=0.0).gain is None
    assert finding().gain is None


def test_evidence_has_numbers_only_with_the_units_of_findings():
    found = finding(op="a", own_ms=1.5, call_us=7, peak_bytes=9, op_share=0.5, is_new=True)
    assert found.evidence == {
        "own_micros": 1500.0, "call_micros": 7.0, "peak_bytes": 9, "op_share": 0.5
    }  # fmt: skip


def test_links_lead_to_the_guides():
    page = "https://www.tensorflow.org/guide/"
    assert finding("input-pipeline/bound").link == page + "data_performance_analysis"
    assert finding("tf-function/eager").link == page + "function"
    assert finding("precision/mixed").link == page + "gpu_performance_analysis"


def test_all_findings_of_a_run_in_the_order_of_the_advice():
    run = recorded("two-gpus")
    found = capture_findings(run)
    assert [f.rule for f in found] == [one.rule for one in advice(run)]
    assert found[0].gain.amount == pytest.approx(999, abs=1)
    assert all(name.endswith(("_micros", "_bytes", "_share", "_count")) for f in found
               for name in f.evidence)  # fmt: skip


def test_some_findings_of_one_host():
    slow = line(event("Iterator::Map", 0, 500_000, id=1))
    run = opened(xspace(host(slow)), xspace(host(slow)))
    rules = {"input-pipeline/slow-iterator"}
    (of_both,) = capture_findings(run, rules)
    assert ", as on 1 other host. If steps wait" in of_both.message
    assert len(capture_findings(run, rules, host=run.hosts[1].name)) == 1
    with pytest.raises(UsageError, match="unknown checker 'x'"):
        capture_findings(run, ["x"])
