"""What passes between steps."""

import pytest

from tfprof.captures.facts.between_steps import Between, between_steps
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.overview.overview_page import overview
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

US = 1000


def loop(n_steps, *, wait_us=0, gap_us=60, step_us=40):
    """``for batch in dataset: with Trace(…): …``: what is waited for comes before each step."""
    events = []
    for number in range(n_steps):
        start = number * (gap_us + step_us) * US
        events += [
            event("IteratorGetNext:IteratorGetNext", start, wait_us * US),
            event("train", start + gap_us * US, step_us * US, step_num=number, _r=1),
            event("a:MatMul", start + gap_us * US, step_us * US),
        ]
    return opened(xspace(host(line(*[one for one in events if one.duration_ns]))))


def test_waiting_between_steps():
    found = between_steps(run_steps(loop(4, wait_us=50)))
    assert found == pytest.approx(Between(0.06, 0.05, 0.6, 0.5))


def test_what_is_not_waiting_for_input():
    found = between_steps(run_steps(loop(4)))
    assert found == pytest.approx(Between(0.06, 0.0, 0.6, 0.0))


def test_without_gaps_and_with_too_few():
    assert between_steps(run_steps(loop(4, gap_us=0))).share == 0
    assert between_steps(run_steps(loop(2))) == Between()


def test_it_decides_the_verdict():
    said = overview(loop(4, wait_us=50)).verdict
    assert said[0].startswith("The program is HIGHLY input-bound: 50.0% of the time from one step")
    assert overview(loop(4)).verdict[0].startswith("Whether the program waits for its input is not")
    found = [one for one in overview(loop(4, wait_us=50)).advice if "bound" in one.rule]
    assert found[0].gain_fraction == pytest.approx(0.5)
