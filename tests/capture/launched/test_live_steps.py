import pytest

from tfprof.capture.launched import live_steps
from tfprof.capture.launched.live_steps import Calls, LiveSteps


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 0.0

    monkeypatch.setattr(live_steps, "perf_counter", lambda: Clock.now)
    return Clock


def call(steps, clock, calls, seconds):
    steps.begin_call(calls)
    clock.now += seconds


def functions(*names):
    return [Calls(name, "jax") for name in names]


def test_the_function_with_most_time_is_the_step(clock):
    steps = LiveSteps(lambda: None)
    prepare, train = functions("prepare", "train")
    for _ in range(6):
        call(steps, clock, prepare, 0.001)
        call(steps, clock, train, 0.1)
    assert (steps.n, steps.what) == (6, "calls of train")


def test_compilation_does_not_count(clock):
    steps = LiveSteps(lambda: None)
    init, train = functions("init", "train")
    call(steps, clock, init, 100.0)
    for _ in range(5):
        call(steps, clock, train, 0.1)
    assert (steps.n, steps.what) == (5, "calls of train")


def test_a_check_before_the_training_is_overtaken(clock):
    steps = LiveSteps(lambda: None)
    check, train = functions("check", "train")
    for _ in range(10):
        call(steps, clock, check, 0.01)
    for _ in range(30):
        call(steps, clock, train, 0.1)
    assert (steps.n, steps.what) == (30, "calls of train")


def test_marks_replace_calls_and_nested_kinds_count_once(clock):
    steps = LiveSteps(lambda: None)
    [train] = functions("train")
    call(steps, clock, train, 0.1)
    for _ in range(3):
        steps.marked("outer")
        steps.marked("inner")
    assert (steps.n, steps.n_marked, steps.what) == (3, 3, "marked steps")
    assert not steps.counts_calls


def test_it_is_due_before_the_step():
    due = []
    steps = LiveSteps(lambda: due.append(steps.n))
    steps.due = 3
    for _ in range(3):
        steps.begin_step()
        steps.end_step()
    assert due == [3]


def test_within_a_window_the_step_stays_the_same_function(clock):
    steps = LiveSteps(lambda: None)
    disc, gen = functions("disc", "gen")
    for number in range(30):
        steps.holds_leader = number > 10
        for _ in range(5):
            call(steps, clock, disc, 0.1)
        call(steps, clock, gen, 0.4 if number < 10 else 40.0)
    assert (steps.n, steps.what) == (150, "calls of disc")
    steps.holds_leader = False
    call(steps, clock, gen, 0.0)
    assert (steps.n, steps.what) == (31, "calls of gen")
