"""Threads that work for an op or beside the steps, by hand: 6 steps of 10 ms, in microseconds."""

import pytest

import tfprof
from tests.insight.whatif.hand_made import N_STEPS, at, captured, mean_after


def op_on_two_threads(begin, step):
    """8 ms of an op, which gives part of its work to a pool."""
    record = {"_pt": 15, "_p": 100 + step}
    yield at("layer/MatMul:MatMul", begin + 1000, 8000)
    yield at("ThreadpoolListener::Record", begin + 1010, 0, **record)


def pool(begin, step):
    yield at("ThreadpoolListener::StartRegion", begin + 1100, 0, _ct=15, _c=100 + step)
    yield at("ThreadpoolListener::StopRegion", begin + 8900, 0)


def test_what_a_pool_does_for_an_op_becomes_faster_with_it():
    """1 ms before the op, 1 ms behind it, and 4 ms of it are left."""
    run = captured(op_on_two_threads, pool)
    assert mean_after(run, faster={"MatMul": 2}) == pytest.approx(6, rel=0.02)


def fetched(begin, step):
    """The batch is fetched before the mark: 6 of 10 ms."""
    yield at("fetch", begin + 4000, 6000)
    yield at("layer/MatMul:MatMul", begin + 100, 3800)


def test_a_step_goes_from_start_to_start():
    run = captured(fetched, mark=4000)
    step = tfprof.whatif(run).to_rows("step")[0]
    assert step["before_ms"] == pytest.approx(10)
    assert mean_after(run, faster={"fetch": 3}) == pytest.approx(6)
    assert len(tfprof.whatif(run).table("step")) == 2 + N_STEPS - 1  # the last has no period


def starts_and_joins(begin, step):
    """2 ms of an op; the step ends 0.1 ms after the other thread."""
    yield at("layer/MatMul:MatMul", begin + 200, 2000)


def beside(begin, step):
    yield at("worker", begin + 150, 9750)


def test_a_joined_thread_is_waited_for():
    """Threads differ a little from step to step; what is left is an op, and 0.4 ms around."""
    run = captured(starts_and_joins, beside)
    assert mean_after(run, faster={"worker": 3}) == pytest.approx(3.5, rel=0.02)
    assert mean_after(run, faster={"MatMul": 4}) == pytest.approx(10, rel=0.001)


def test_a_thread_that_may_be_waited_for_makes_the_answer_unknown():
    """It works 9 ms of each step; the steps never do nothing when it ends."""

    def busy(begin, step):
        yield at("layer/MatMul:MatMul", begin + 10, 9980)

    def thread(begin, step):
        yield at("worker", begin + 300, 9000)

    run = captured(busy, thread)
    answer = tfprof.whatif(run, faster={"MatMul": 5})
    assert "cannot be known" in answer.verdict[0]
    assert "9.00 ms of each step in 'worker'" in answer.verdict[0]
    rows = answer.to_rows("step")
    assert rows[0]["before_ms"] == pytest.approx(10)
    assert {row["after_ms"] for row in rows} == {None}
    assert list(answer.tables) == ["step"]
    assert "cannot" not in tfprof.whatif(run, faster={"MatMul": 1.05}).verdict[0]


@pytest.mark.parametrize(
    ("name", "in_steps", "is_known"),
    [
        ("worker", range(N_STEPS), False),
        # It works in half of the steps, or in fewer: then most of them cannot wait for it.
        ("worker", range(3), False),
        ("worker", range(2), True),
        # A frame of Python is around what the thread does, or waits for.
        ("$train.py:7 work", range(N_STEPS), True),
    ],
)
def test_threads_that_steps_may_wait_for(name, in_steps, is_known):
    """The steps would take 2 ms without them."""

    def busy(begin, step):
        yield at("layer/MatMul:MatMul", begin, 10_000)

    def thread(begin, step):
        if step in in_steps:
            yield at(name, begin + 300, 9000)

    [claim] = tfprof.whatif(captured(busy, thread), faster={"MatMul": 5}).claims
    assert (claim.value is not None) == is_known
    if not is_known:
        works = 9 * len(in_steps) / N_STEPS
        assert claim.unknown == (
            f"another thread spends {works:.2f} ms of each step in 'worker', more than the 2.00 ms "
            "that the rest would take, and it was not recorded whether steps wait for it"
        )


def test_whether_steps_wait_for_a_thread_that_becomes_faster_can_be_uncertain():
    """Two of six steps end soon after it. The rest would take 2.2 ms; it takes less."""

    def thread(begin, step):
        yield at("worker", begin + 150, 9750 if step < 2 else 1500)
        yield at("other", begin + 2000, 100)

    run = captured(starts_and_joins, thread)
    assert tfprof.whatif(run, faster={"worker": 3}).claims[0].unknown == (
        "it was not recorded whether steps wait for 'worker' of another thread: some go on when it "
        "ends, others do not"
    )
    assert tfprof.whatif(run, faster={"other": 3}).claims[0].unknown == ""


def test_a_thread_whose_end_changes_nothing_is_not_waited_for():
    """It ends in the middle of a wait, now early, now late, and the steps do not go on."""

    def thread(begin, step):
        yield at("worker", begin + 150, 3000 + 700 * step)

    run = captured(starts_and_joins, thread)
    answer = tfprof.whatif(run, faster={"worker": 10})
    assert "is not waited for" in answer.verdict[0]


def test_an_op_that_ends_does_not_make_the_next_one_faster():
    """The second op begins on another thread, given by the first one as it ends."""

    def first(begin, step):
        yield at("a/MatMul:MatMul", begin + 500, 4000)
        yield at("ThreadpoolListener::Record", begin + 4490, 0, _pt=15, _p=100 + step)

    def second(begin, step):
        yield at("ThreadpoolListener::StartRegion", begin + 4500, 0, _ct=15, _c=100 + step)
        yield at("b/Sum:Sum", begin + 4510, 5000)
        yield at("ThreadpoolListener::StopRegion", begin + 9600, 0)

    run = captured(first, second)
    assert mean_after(run, faster={"MatMul": 4}) == pytest.approx(7, rel=0.02)


def test_the_wait_for_a_program_is_a_wait():
    """XLA's thread waits for another one that goes on with the program."""

    def launch(begin, step):
        yield at("Launch", begin + 100, 100)
        yield at("ThreadpoolListener::Record", begin + 150, 0, _pt=15, _p=100 + step)

    def runs(begin, step):
        yield at("ThreadpoolListener::StartRegion", begin + 200, 0, _ct=15, _c=100 + step)
        yield at("dot.1", begin + 300, 1000, hlo_op="dot.1", hlo_module="jit_f")
        yield at("ThreadpoolListener::Record", begin + 1290, 0, _pt=15, _p=200 + step)
        yield at("ThunkExecutor::Execute (wait for completion)", begin + 1350, 8150)
        yield at("ThreadpoolListener::StopRegion", begin + 9600, 0)

    def goes_on(begin, step):
        yield at("ThreadpoolListener::StartRegion", begin + 1310, 0, _ct=15, _c=200 + step)
        yield at("dot.2", begin + 1400, 8000, hlo_op="dot.2", hlo_module="jit_f")
        yield at("ThreadpoolListener::StopRegion", begin + 9450, 0)

    run = captured(launch, runs, goes_on)
    assert mean_after(run, faster={"dot.*": 4}) == pytest.approx(10 - 6 - 0.75, rel=0.03)


def function_on_two_threads(other_ms):
    """5 ms of an op and then others; another thread has a part of the function meanwhile."""

    def own(begin, step):
        yield at("ExecutorState::Process", begin + 100, 9_800, id=step)
        yield at("ThreadpoolListener::Record", begin + 110, 0, _pt=15, _p=100 + step)
        yield at("branch_0/Conv2D:Conv2D", begin + 200, 5_000)
        yield at("join/AddN:AddN", begin + 5_300, 100)
        yield at("tail/MatMul:MatMul", begin + 5_500, 4_300)

    def other(begin, step):
        given = {"_ct": 15, "_c": 100 + step}
        yield at("ExecutorState::Process", begin + 150, other_ms * 1_000, id=step, **given)
        yield at("branch_1/Conv2D:Conv2D", begin + 200, other_ms * 1_000 - 100)

    return captured(own, other)


def test_where_ops_of_two_threads_meet_was_not_recorded():
    """The next op may wait for the other thread, or the last one; only that it is one is known."""
    answer = tfprof.whatif(function_on_two_threads(5), faster={"branch_0/.*": 5})
    assert "cannot be known: ops of several threads meet" in answer.verdict[0]
    assert "between 6.00 ms and 9.95 ms" in answer.verdict[0]


def test_a_thread_that_is_done_early_decides_nothing():
    run = function_on_two_threads(0.5)
    assert mean_after(run, faster={"branch_0/.*": 5}) == pytest.approx(6, rel=0.02)
