"""Waits that are inferred from their regularity, by hand: steps of 10 ms, times in µs."""

import pytest

from tests.insight.whatif.hand_made import at
from tests.insight.whatif.waits_of_runs import (
    gives,
    named_pairs,
    of_threads,
    recorded_of,
    step,
    takes,
)


def steps(n_steps, *, busy_us=2200, inside=()):
    """Steps that run an op, and then nothing but, maybe, one more event until their end."""
    return [
        one
        for n in range(n_steps)
        for one in (
            step(n, 10_000 * n, 10_000),
            at("a:MatMul", 10_000 * n + 200, busy_us - 200),
            *(at(name, 10_000 * n + begin, length) for name, begin, length in inside),
        )
    ]


def worker(lags_us, name="worker", begin=150):
    """Another thread that works in each step, and ends some time before the end of the step."""
    return [
        at(name, 10_000 * n + begin, 10_000 - lag - begin)
        for n, lag in enumerate(lags_us)
        if lag is not None
    ]


def regular(*threads):
    """What thread 1 waits for, and names of events whose ends threads wait for, or may wait for."""
    recorded = recorded_of(of_threads(*threads))
    found = recorded.regular
    pairs = named_pairs(recorded, (found.earlier, found.later))
    return {pair for pair in pairs if pair[1].startswith("1@")}, found.waited, found.uncertain


def ends(lags_us, thread=2):
    """Each step waits for the end of another thread's work."""
    return {
        (f"{thread}@{10_000 * (n + 1) - lag}", f"1@{10_000 * (n + 1)}")
        for n, lag in enumerate(lags_us)
    }


@pytest.mark.parametrize(
    ("lags_us", "outcome"),
    [
        ([100] * 3, "waited"),
        # The wait is 7800: it goes on within a tenth of that.
        ([780] * 3, "waited"),
        ([781] * 3, ""),
        # Two cases are too few; half of six is regular, three of seven are not regular enough.
        ([100, 100], "uncertain"),
        ([100] * 3 + [4000] * 3, "waited"),
        ([100] * 3 + [4000] * 4, "uncertain"),
        # Work that was over before the wait began shows nothing.
        ([100] * 3 + [8500] * 4, "waited"),
        # Less than a fifth is chance.
        ([100] + [4000] * 4, "uncertain"),
        ([100] + [4000] * 5, ""),
    ],
)
def test_how_often_a_thread_goes_on_soon_after_another_one(lags_us, outcome):
    """If it waits, it also waits where the work is over long before."""
    pairs, waited, uncertain = regular(steps(max(len(lags_us), 3)), worker(lags_us))
    assert ("worker" in waited, "worker" in uncertain) == (
        outcome == "waited", outcome == "uncertain"
    )  # fmt: skip
    assert pairs == (ends(lags_us) if outcome == "waited" else set())


def test_soon_is_a_millisecond_at_most():
    """Waits of 97.8 ms."""
    for lag, is_soon in ((1000, True), (1001, False)):
        thread = [one for n in range(4) for one in (
            step(n, 100_000 * n, 100_000), at("a:MatMul", 100_000 * n + 200, 2000))]  # fmt: skip
        other = [at("worker", 100_000 * n + 150, 99_850 - lag) for n in range(4)]
        assert bool(regular(thread, other)[0]) == is_soon


def test_short_waits_are_ignored():
    """2 % of a step of 10 ms."""
    for busy_us, is_long in ((9800, True), (9801, False)):
        pairs, *_ = regular(steps(4, busy_us=busy_us), worker([10] * 4))
        assert pairs == (ends([10] * 4) if is_long else set())


def test_two_steps_show_nothing():
    assert regular(steps(2), worker([100] * 2)) == (set(), set(), set())


def test_a_step_whose_thread_was_busy_until_the_work_was_over_would_have_waited():
    """The op of the last two steps goes on until 9.95 ms; the work ends at 9.9 ms, or at 5 ms."""
    thread = steps(5)[:9] + [
        one for n in (3, 4) for one in (
            step(n, 10_000 * n, 10_000), at("a:MatMul", 10_000 * n + 200, 9750))
    ]  # fmt: skip
    lags_us = [100, 100, 100, 100, 5000]
    assert regular(thread, worker(lags_us))[0] == ends(lags_us)


def test_of_several_pieces_of_work_the_last_one_counts():
    pieces = worker([7000] * 4) + worker([4000] * 4, begin=3100) + worker([100] * 4, begin=6100)
    assert regular(steps(4), pieces)[0] == ends([100] * 4)


def test_the_more_regular_one_of_two_is_waited_for():
    """Thread 3 always ends 300 µs before the step; thread 2 nearly always later than that."""
    lags_us = [100, 100, 100, 4000, 100]
    pairs, waited, _ = regular(steps(5), worker(lags_us), worker([300] * 5, "other"))
    assert pairs == ends([300] * 5, thread=3)
    assert waited >= {"worker", "other"}


def test_the_last_one_of_two_regular_ones_is_waited_for():
    pairs, waited, _ = regular(steps(4), worker([300] * 4), worker([100] * 4, "other"))
    assert pairs == ends([100] * 4, thread=3)
    assert waited >= {"worker", "other"}


def test_a_thread_that_goes_on_when_another_one_begins():
    """That is a wait, but not for what begins there."""
    pairs, waited, uncertain = regular(steps(4), worker([-50] * 4, begin=9900))
    assert pairs == {(f"2@{10_000 * n + 9900}", f"1@{10_000 * (n + 1)}") for n in range(4)}
    assert "worker" not in waited | uncertain


def test_a_wait_with_a_recorded_reason_is_not_for_what_begins_elsewhere():
    """A pool does work for the step, until 9950 µs; thread 2 begins something at 9900."""
    thread = steps(4) + [gives(n, 10_000 * n + 100) for n in range(4)]
    pool = [one for n in range(4) for one in takes(n, 10_000 * n + 120, 10_000 * n + 9950)]
    assert regular(thread, worker([-50] * 4, begin=9900), pool)[0] == set()


def test_a_reason_from_before_the_wait_is_none():
    """An element is made at 500 µs and taken at 9000; the thread has done nothing since 2200."""
    thread, made = steps(4), []
    for n in range(4):
        thread.append(at("PrefetchConsume", 10_000 * n + 9000, 1000, element_id=n))
        made.append(at("PrefetchProduce", 10_000 * n + 500, 1000, element_id=n))
    begins = worker([950] * 4, begin=8900)
    assert regular(thread, begins, made)[0] == {
        (f"2@{10_000 * n + 8900}", f"1@{10_000 * n + 9000}") for n in range(4)
    }


def test_the_first_step_shows_no_wait():
    """Before it, its thread may have done anything: so 4 steps show 3 waits of 1 ms."""
    for n_steps in (3, 4):
        starts = [10_000 * n + 5000 for n in range(n_steps)]
        thread = [step(n, start, 9000) for n, start in enumerate(starts)]
        other = [at("worker", start - 4000, 3900) for start in starts]
        pairs = {(f"2@{start - 100}", f"1@{start}") for start in starts if n_steps == 4}
        assert regular(thread, other)[0] == pairs


@pytest.mark.parametrize(
    ("frame", "waits"),
    [
        ("$threading.py:323 wait", True),
        ("$queue.py:154 get", True),
        ("$model.py:10 compute", False),
        ("$model.py:10 target", False),
        ("wait", False),  # of the program itself, which may do anything there
    ],
)
def test_in_which_functions_of_python_a_thread_may_wait(frame, waits):
    """The step goes on at the end of the function, and does another op behind it."""
    inside = [(frame, 2300, 6700), ("b:Sum", 9000, 1000)]
    pairs, *_ = regular(steps(4, inside=inside), worker([1100] * 4))
    assert pairs == {
        (f"2@{10_000 * n + 8900}", f"1@{10_000 * n + 9000}") for n in range(4) if waits
    }


def test_a_new_thread_waits_for_what_starts_it():
    """Each step starts a thread 0.1 ms after an op has begun."""
    threads = [[at("worker", 10_000 * n + 300, 5000)] for n in range(4)]
    recorded = recorded_of(of_threads(steps(4), *threads))
    found = recorded.regular
    assert named_pairs(recorded, (found.earlier, found.later)) == {
        (f"1@{10_000 * n + 200}", f"{n + 2}@{10_000 * n + 300}") for n in range(4)
    }


def test_threads_of_the_program_itself():
    """Outermost events that nothing leads to, of no step, on threads without steps."""
    thread = [*steps(3), at("between", 30_100, 50)]
    other = [
        at("worker", 150, 900), at("inner", 200, 300), at("$train.py:7 load", 2000, 50),
        at("TFE_Py_Execute", 3000, 50), at("MemoryAllocation", 4000, 50), at("x:MatMul", 5000, 50),
    ]  # fmt: skip
    pool = [at("dot", 500, 50, hlo_op="dot")]  # for the first step
    recorded = recorded_of(of_threads(thread, other, pool))
    timeline = recorded.timeline
    assert [timeline.name(event) for event in recorded.regular.own.tolist()] == [
        "worker", "$train.py:7 load",
    ]  # fmt: skip
