"""No change makes steps shorter than the time to read the input ahead."""

import pytest

import tfprof
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.practices.practices import _possible
from tfprof.captures.run.result import Advice
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

MS = 1_000_000


def run_with_input(busy_ms):
    """Four steps of 10 ms; another thread makes a batch in each."""
    steps = [event("train", 10 * at * MS, 10 * MS, step_num=at, _r=1) for at in range(4)]
    made = [event("Iterator::Prefetch::Map", (10 * at + 1) * MS, busy_ms * MS) for at in range(4)]
    return opened(xspace(host(line(*steps), line(*made))))


@pytest.mark.parametrize(("busy_ms", "most"), [(7, 0.3), (1, 0.85)])
def test_a_gain_is_at_most_what_is_left_beside_the_input(busy_ms, most):
    run = run_with_input(busy_ms)
    evidence = Evidence(run, run.hosts)
    assert evidence.input_floor == pytest.approx(busy_ms / 10)
    traced = Advice("tf-function/retracing", "Trace once.", gain_fraction=0.85)
    assert _possible(traced, evidence).gain_fraction == pytest.approx(most)
    faster_input = Advice("input-pipeline/bound", "Map in parallel.", gain_fraction=0.85)
    assert _possible(faster_input, evidence) == faster_input


def test_without_tf_data_nothing_is_limited():
    run = tfprof.open_run(str(tfprof.demo.demo_capture("gpu")))
    assert 0 <= Evidence(run, run.hosts).input_floor < 1
