"""The time between steps."""

import pytest

from tests.captures.facts.loops import US, loop
from tfprof.captures.facts.between_steps import Between, between_steps
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.overview.overview_page import overview
from tfprof.testing.xspace_builders import event, host, line, opened, xspace


def between(run):
    return between_steps(run_steps(run).typical)


def test_waiting_between_steps():
    # The last step has no period, so three are typical.
    assert between(loop(4, wait_us=50)) == Between(0.06, 0.05, 0.6, 0.5, 0.0, 0.06, "train 0")


def test_what_is_not_waiting_for_input():
    assert between(loop(4)) == Between(0.06, 0.0, 0.6, 0.0, 0.0, 0.06, "train 0")


def steps_then(*gaps_us, step_us=40):
    """Steps, after each of which so much time passes; in it, two functions run."""
    events, start = [], 0
    for number, gap_us in enumerate(gaps_us):
        end = start + step_us
        events += [
            event("train", start * US, step_us * US, step_num=number, _r=1),
            event("a:MatMul", start * US, step_us * US),
            event("$train.py:7 short", (end + 1) * US, gap_us * US // 10),
            event("$train.py:9 long", (end + 20) * US, gap_us * US // 2),
        ]
        start = end + gap_us
    return opened(xspace(host(line(*[one for one in events if one.duration_ns]))))


def test_the_longest_gap_and_the_code_in_gaps():
    found = between(steps_then(60, 100, 80, 0))
    assert (found.gap_ms, found.longest_ms, found.after) == (0.08, 0.1, "train 1")
    assert found.share == pytest.approx(240 / 360)
    assert [(one.name, one.total_ps) for one in found.code] == [
        ("train.py:9 long", 120_000_000), ("train.py:7 short", 24_000_000),
    ]  # fmt: skip


def test_no_gap_is_known_after_the_last_step():
    """Of few steps, the last one counts, too."""
    run = steps_then(60, 100, 0)
    assert run_steps(run).typical.n_steps == 3
    assert between(run).gap_ms == 0.08


def test_without_gaps():
    assert between(loop(4, gap_us=0)) == (*[0.0] * 6, "", (), ())


def test_an_iterator_that_is_made_anew_hides_in_no_median():
    # Eight steps of 40 µs in a row, then 300 µs of waiting for the next epoch.
    events = []
    for number in range(16):
        start = (number * 40 + (number // 8) * 300) * US
        events += [
            event("train", start, 40 * US, step_num=number, _r=1),
            event("a:MatMul", start, 40 * US),
        ]
    events.append(event("IteratorGetNext:IteratorGetNext", 8 * 40 * US, 300 * US))
    run = opened(xspace(host(line(*events))))
    assert run_steps(run).typical.n_steps == 16
    assert between(run).wait_share == pytest.approx(300 / 940)
    assert overview(run).claims[0].value == pytest.approx(300 / 940)


def test_an_evaluation_between_steps_is_named():
    run = loop(20)
    events = []
    for number in range(20):
        start = (number * 40 + 1000 * (number > 9)) * US
        events += [
            event("train", start, 40 * US, step_num=number, _r=1),
            event("a:MatMul", start, 40 * US),
        ]
    events.append(event("b:Conv2D", 400 * US, 900 * US))
    run = opened(xspace(host(line(*events))))
    text = " ".join(overview(run).verdict)
    assert "Step train 9 took 1.040 ms" in text
    assert "1.000 ms of it lie between this step and the next" in text


def test_it_decides_the_verdict():
    lines = overview(loop(4, wait_us=50)).verdict
    assert lines[0].startswith("The program is HIGHLY input-bound: 50.0% of the time from one step")
    assert overview(loop(4)).verdict[0].startswith("Whether the program waits for its input is not")
    found = [one for one in overview(loop(4, wait_us=50)).advice if "bound" in one.rule]
    assert found[0].gain_fraction == pytest.approx(0.5)
