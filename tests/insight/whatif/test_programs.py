"""Compiled programs on the devices of a CPU, which run behind their calls, by hand, in µs."""

import pytest

import tfprof
from tests.insight.whatif.hand_made import at, mean_after
from tests.insight.whatif.waits_of_runs import calls, of_threads, op_of_run, step


def queued(period, length, n_steps=6):
    """A call in each period, and runs of some length that follow one another from 3 µs on."""
    python = [
        one
        for n in range(n_steps)
        for one in (step(n, period * n, period - 0.5), calls(period * n + 0.2))
    ]
    runs = [op_of_run(n, 3 + length * n, 3 + length * (n + 1)) for n in range(n_steps)]
    return of_threads(python, runs)


def steps_after(run, **how):
    """How long each step would take, µs."""
    rows = tfprof.whatif(run, **how).to_rows("step")
    return [1000 * row["after_ms"] for row in rows if "train" in row["step"]]


@pytest.mark.parametrize(
    ("how", "after_us"),
    [
        ({}, [13, 10, 10, 10, 10, 10]),
        ({"faster": {"dot": 2}}, [8, 5, 5, 5, 5, 5]),
        # The calls end at 2.2, 5.2, 8.2 ..., so runs end at 5, 7.2, 10.2 ... instead of 5, 7, 9.
        ({"faster": {"dot": 5}}, [5, 2.2, 3, 3, 3, 3]),
        # The runs end with their calls, so steps begin and end with their marks.
        ({"free": "dot"}, [3, 3, 3, 3, 3, 2.5]),
    ],
)
def test_steps_of_a_queue_take_as_long_as_its_runs_or_its_calls(how, after_us):
    assert steps_after(queued(3, 10), **how) == pytest.approx(after_us)


def test_a_run_does_not_wait_for_what_its_thread_does_after_the_call():
    """Two programs are launched; Python works for 70 µs, then awaits the second one for 15 µs.

    If the first one takes a tenth of its 75 µs, the step is over 2 µs after Python's work.
    """
    threads = [[], []]
    for n in range(5):
        begin = 100 * n
        threads[0] += [step(n, begin, 100), calls(begin + 2), calls(begin + 6),
                       at("work", begin + 10, 70), at("Await", begin + 82, 15)]  # fmt: skip
        threads[1] += [
            op_of_run(2 * n, begin + 5, begin + 80, name="slow"),
            op_of_run(2 * n + 1, begin + 84, begin + 95),
        ]
    run = of_threads(*threads)
    assert mean_after(run, faster={"slow": 10}) == pytest.approx(0.087)


def test_the_path_of_a_queue():
    """Once 0.2 µs, the call of 2, and 0.8 before the first run; then 10 for each of 6 runs."""
    ops = tfprof.whatif(queued(3, 10)).to_rows("path_ops")
    assert {row["op"].split("::")[0]: 6000 * row["time_ms"] for row in ops} == pytest.approx(
        {"dot": 60, "CommonPjRtLoadedExecutable": 2, "(nothing recorded)": 0.8, "train": 0.2}
    )


def dispatched(begin_ms, end_ms):
    """Steps of 100 ms: a run in each, and work in Python from 1 ms after its begin to 95 ms."""
    threads = [[], []]
    for n in range(5):
        begin, run_us, end_us = 100_000 * n, 1000 * begin_ms, 1000 * end_ms
        work = at("work", begin + run_us + 1000, 94_000 - run_us)
        threads[0] += [step(n, begin, 100_000), calls(begin + run_us - 10), work]
        threads[1].append(op_of_run(n, begin + run_us, begin + end_us))
    return of_threads(*threads)


def test_results_that_steps_may_wait_for_make_the_answer_unknown():
    """93 ms of work, and a result at 60 ms."""
    run = dispatched(1, 60)
    assert mean_after(run, faster={"work": 1.5}) == pytest.approx(7 + 62)
    [claim] = tfprof.whatif(run, faster={"work": 2}).claims
    assert claim.text == (
        "A step takes 100 ms; what it would take cannot be known: what a step launches would run "
        "on behind its end, and it was not recorded whether steps wait for results."
    )


@pytest.mark.parametrize(
    "runs_ms",
    [
        # The second step ends 5 ms before its result, so no step waits for results.
        [(1, 60), (101, 205), (206, 265), (301, 360), (401, 460)],
        # Only two results would be late.
        [(1, 10), (101, 110), (201, 210), (301, 360), (401, 460)],
    ],
)
def test_results_that_steps_do_not_wait_for(runs_ms):
    """Steps of 100 ms would take 53.5."""
    python = [
        one
        for n in range(5)
        for one in (
            step(n, 100_000 * n, 100_000),
            calls(100_000 * n + 990),
            at("work", 100_000 * n + 2000, 93_000),
        )
    ]
    runs = [op_of_run(n, 1000 * begin, 1000 * end) for n, (begin, end) in enumerate(runs_ms)]
    [claim] = tfprof.whatif(of_threads(python, runs), faster={"work": 2}).claims
    assert claim.unknown == ""


def test_results_that_come_a_little_after_the_steps_change_nothing():
    """1 ms after a step of 59 ms is less than 2 % of it; 2 ms after one of 58 ms are more.

    The last step, which no other one follows, is over when its run is.
    """
    run = dispatched(40, 60)
    assert mean_after(run, faster={"work": 54 / 13}) == pytest.approx((4 * 59 + 60) / 5)
    assert mean_after(run, faster={"work": 54 / 12}) is None


def test_results_that_steps_wait_for_anyhow():
    """The step ends 0.5 ms after its run, or after the work of 93 ms, which begins at 2 ms."""
    run = dispatched(1, 99.5)
    assert mean_after(run, faster={"dot": 10}) == pytest.approx(95 + 0.5)
    assert mean_after(run, faster={"dot": 10, "work": 93}) == pytest.approx(1 + 9.85 + 0.5)


def test_steps_that_end_before_their_results_do_not_wait_for_them():
    """The call ends at 0.73 instead of 2.2 µs, and the first run begins as much earlier."""
    after_us = (13 - 2.2 * 2 / 3 + 5 * 10) / 6
    assert mean_after(queued(3, 10), faster={"train": 3}) == pytest.approx(after_us / 1000)


def test_groups_that_the_file_states():
    """They have no first event: a step begins with that mark of it that is nearest in time.

    Thread 1 begins something for a step where the next one begins.
    """
    thread, other = [], []
    for n in range(4):
        group = {"group_id": n}
        thread += [
            at("train", 10 * n, 10, step_name=f"train {n}", **group),
            at("a:MatMul", 10 * n, 4, **group),
            at("b:Sum", 10 * n + 4, 5, **group),
        ]
        other.append(at("c:Sub", 10 * n + 10, 2, **group))
    assert steps_after(of_threads(other, thread), faster={"MatMul": 2}) == pytest.approx([8] * 4)
