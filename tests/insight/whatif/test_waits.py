"""Which mark waits for which one in small captures, by hand: ``2@90`` is thread 2 at 90 µs."""

import pytest

from tests.insight.whatif.hand_made import at
from tests.insight.whatif.waits_of_runs import (
    calls,
    gives,
    named_pairs,
    of_threads,
    op_of_run,
    recorded_of,
    step,
    takes,
    waits,
)
from tfprof.testing.xspace_builders import gpu, host, line, opened, xspace

HANDED_OVER = ("1@10", "2@15")


@pytest.mark.parametrize(
    ("meanwhile", "then", "waited"),
    [
        ([], 95, {("2@90", "1@95")}),
        # It waited from 10 to 90: what it does then begins within as long.
        ([], 170, {("2@90", "1@170")}),
        ([], 171, set()),
        # It was busy until 85, so it waited 5.
        ([(80, 85)], 95, {("2@90", "1@95")}),
        ([(80, 85)], 96, set()),
        # It goes on as soon as the work has begun, and is busy when the work ends.
        ([(18, 98)], 99, {("2@15", "1@18")}),
    ],
)
def test_a_thread_waits_for_work_that_it_handed_over(meanwhile, then, waited):
    busy = [at("a:Sum", begin, end - begin) for begin, end in meanwhile]
    thread = [step(0, 0, 300), gives(7, 10), *busy, at("x:MatMul", then, 100)]
    assert waits(of_threads(thread, takes(7, 15, 90))) == {HANDED_OVER, *waited}


def test_work_that_begins_when_it_is_handed_over():
    assert waits(of_threads([gives(7, 10)], takes(7, 10, 90))) == {("1@10", "2@10")}


def test_a_thread_waits_within_the_event_that_gave_the_work():
    """The executor of a step waits for the input that the step takes on another thread."""
    step_of_graph = {"id": 1, "iter_num": 0}
    threads = [
        [at("ExecutorState::Process", 0, 100, **step_of_graph), at("x:MatMul", 85, 3)],
        [at("IteratorGetNextOp::DoCompute", 10, 70, **step_of_graph)],
    ]
    assert waits(of_threads(*threads)) == {("1@0", "2@10"), ("2@80", "1@85")}


def test_a_thread_goes_on_at_the_moment_at_which_the_work_ends():
    thread = [step(0, 0, 300), gives(7, 10), at("x:MatMul", 90, 100)]
    assert waits(of_threads(takes(7, 15, 90), thread)) == {("2@10", "1@15"), ("1@90", "2@90")}


def test_a_thread_that_ends_before_the_work_does_not_wait_for_it():
    assert waits(of_threads([step(0, 0, 60), gives(7, 10)], takes(7, 15, 90))) == {HANDED_OVER}


def test_the_event_that_waits_is_around_the_one_that_gave_the_work():
    """The thread gives work between two events, or in one that ends; another event follows."""
    for giver in ([gives(7, 10)], [at("a:Sum", 5, 8), gives(7, 10)]):
        thread = [*giver, at("x:MatMul", 95, 3)]
        assert waits(of_threads(thread, takes(7, 15, 90))) == {HANDED_OVER}


def test_a_thread_that_hands_out_elements_waits_between_its_events():
    thread = [at("PrefetchProduce", 0, 1), gives(7, 10), at("x:MatMul", 95, 3)]
    assert waits(of_threads(thread, takes(7, 15, 90))) == {HANDED_OVER, ("2@90", "1@95")}


def test_work_that_is_handed_on_is_waited_for_as_well():
    """Thread 2 hands it to thread 3 and ends at 35."""
    threads = [
        [step(0, 0, 100), gives(7, 10), at("x:MatMul", 95, 3)],
        [*takes(7, 15, 35), gives(8, 20)],
        takes(8, 25, 90),
    ]
    assert waits(of_threads(*threads)) == {HANDED_OVER, ("2@20", "3@25"), ("3@90", "1@95")}


def test_elements_are_taken_after_they_were_made():
    """The second one is taken while it is still made."""
    made = [
        at("PrefetchProduce", 10, 10, element_id=1),
        at("PrefetchProduce", 22, 20, element_id=2),
    ]
    taken = [at("PrefetchConsume", 25, 2, element_id=1), at("PrefetchConsume", 40, 5, element_id=2),
             at("PrefetchConsume", 60, 1, element_id=3)]  # fmt: skip
    assert waits(of_threads(taken, made)) == {("2@20", "1@25"), ("2@22", "1@40")}


@pytest.mark.parametrize(
    ("begin", "more", "waited"),
    [
        (30, [], {("2@27", "1@30")}),
        (26, [], set()),  # there was room already
        (30, [(27, 28)], set()),  # the maker was busy until then
        (30, [(26, 28)], set()),
        (30, [(26, 31)], set()),
        (30, [(5, 60)], set()),  # within a longer event
    ],
)
def test_an_element_is_made_when_there_is_room_again(begin, more, waited):
    made = [at("PrefetchProduce", 10, 10, element_id=1),
            at("PrefetchProduce", begin, 5, element_id=2),
            *(at("x:MatMul", first, end - first) for first, end in more)]  # fmt: skip
    taken = [at("PrefetchConsume", 25, 2, element_id=1)]
    assert waits(of_threads(made, taken)) == {("1@20", "2@25"), *waited}


def test_of_several_makers_of_an_element_the_last_one_counts():
    late = [at("PrefetchProduce", 12, 8, element_id=1)]
    early = [at("PrefetchProduce", 2, 3, element_id=1)]
    taken = [at("PrefetchConsume", 25, 2, element_id=1)]
    assert waits(of_threads(taken, early, late)) == {("3@20", "1@25")}
    assert waits(of_threads(taken, late, early)) == {("2@20", "1@25")}


def part(begin, end, number=5):
    return at("ExecutorState::Process", begin, end - begin, id=number)


def test_a_function_ends_when_each_thread_has_done_its_part():
    """Thread 3 tells of the end within its own part."""
    threads = [
        [part(0, 40)],
        [part(5, 45)],
        [part(10, 60), at("ExecutorDoneCallback", 50, 5, id=5)],
    ]
    assert waits(of_threads(*threads)) == {("1@40", "3@50"), ("2@45", "3@50")}


def test_the_number_of_a_function_can_come_again():
    """Each part belongs to the next end of its number; what goes on then, also to the one after."""
    threads = [
        [part(0, 10), part(25, 40), part(60, 90)],
        [at("ExecutorDoneCallback", 20, 1, id=5), at("ExecutorDoneCallback", 50, 1, id=5)],
        [part(15, 30), part(0, 3, number=6)],
    ]
    assert waits(of_threads(*threads)) == {
        ("1@10", "2@20"), ("3@15", "2@20"), ("1@40", "2@50"), ("3@30", "2@50"),
    }  # fmt: skip


def test_a_wait_for_a_device_ends_with_the_last_work_of_its_step():
    """Two kernels of step 0 and one of step 1, and a wait in each; the last one is too late."""
    thread = []
    for number in range(2):
        begin = 100 * number
        thread += [
            step(number, begin, 100),
            at("cuLaunchKernel", begin + 10, 2, correlation_id=2 * number + 1),
            at("cuLaunchKernel", begin + 14, 2, correlation_id=2 * number + 2),
            at("cuStreamSynchronize", begin + 20, 60),
        ]
    stream = [
        at("a", 15, 10, correlation_id=1), at("b", 30, 49, correlation_id=2),
        at("a", 115, 10, correlation_id=3), at("b", 150, 50, correlation_id=4),
    ]  # fmt: skip
    run = of_threads(thread, planes=[gpu(line(*stream, id=9))])
    assert waits(run) == {
        ("1@12", "9@15"), ("1@16", "9@30"), ("9@79", "1@80"),
        ("1@112", "9@115"), ("1@116", "9@150"), ("9@125", "1@180"),
    }  # fmt: skip


def test_a_thread_does_not_wait_for_work_that_it_does_itself():
    thread = [step(0, 0, 100), gives(7, 10), *takes(7, 15, 90), at("x:MatMul", 95, 3)]
    assert waits(of_threads(thread)) == {("1@10", "1@15")}


def test_each_thread_waits_for_its_own_work():
    """Thread 3 works for thread 1, thread 4 for thread 2."""
    threads = [
        [step(0, 0, 100), gives(7, 10), at("x:MatMul", 62, 3)],
        [at("other", 0, 100), gives(8, 20), at("x:MatMul", 95, 3)],
        takes(7, 15, 60), takes(8, 25, 90),
    ]  # fmt: skip
    assert waits(of_threads(*threads)) == {
        ("1@10", "3@15"), ("2@20", "4@25"), ("3@60", "1@62"), ("4@90", "2@95"),
    }  # fmt: skip


def launches(n_steps=3, length=100):
    """A thread of steps, each with a call after 10 µs."""
    starts = [length * n for n in range(n_steps)]
    return [one for n, at_ in enumerate(starts) for one in (step(n, at_, length), calls(at_ + 10))]


def test_a_run_follows_its_call_and_the_run_before_on_its_device():
    """The op of the first run that begins last does not end last."""
    ran = [
        [op_of_run(1, 15, 90)],
        [op_of_run(1, 20, 40, name="add"), op_of_run(3, 230, 260)],
        [op_of_run(2, 120, 150)],
    ]
    assert waits(of_threads(launches(), *ran)) == {
        ("1@12", "2@15"), ("1@112", "4@120"), ("1@212", "3@230"),  # calls
        ("2@15", "3@20"),  # the first op of the run
        ("2@90", "4@120"), ("4@150", "3@230"),  # the device
        ("2@90", "1@100"), ("4@150", "1@200"), ("3@260", "1@300"),  # the steps end later
    }  # fmt: skip


def test_devices_run_side_by_side():
    """One call launches a program on two devices; the next run follows that of its device."""
    thread = [
        one
        for n in range(2)
        for one in (step(n, 100 * n, 100),
                    at("TfrtCpuExecutable::Execute (jit_f)", 100 * n + 10, 2, run_id=n))
    ]  # fmt: skip
    ran = [
        [op_of_run(0, 15, 130), op_of_run(1, 150, 170, device=1)],
        [op_of_run(0, 20, 60, device=1), op_of_run(1, 140, 180)],
    ]
    assert waits(of_threads(thread, *ran)) == {
        ("1@12", "2@15"), ("1@12", "3@20"), ("1@112", "2@150"), ("1@112", "3@140"),
        ("2@130", "3@140"), ("3@60", "2@150"),
    }  # fmt: skip


def test_a_call_outside_of_steps():
    """The threads stand in the file in any order."""
    call, run = [calls(10)], [op_of_run(1, 15, 90)]
    assert waits(of_threads(call, run)) == {("1@12", "2@15")}
    assert waits(of_threads(run, call)) == {("2@12", "1@15")}


def test_a_run_without_its_call_is_not_of_the_steps():
    """It was launched before the capture began."""
    ran = [op_of_run(8, 1, 9), *(op_of_run(n, 100 * n + 20, 100 * n + 60) for n in range(3))]
    recorded = recorded_of(of_threads(launches(), ran))
    runs, marks = recorded.runs, recorded.marks
    assert named_pairs(recorded, (marks.begin_at[runs.calls], marks.end_at[runs.last])) == {
        ("1@10", "2@60"), ("1@110", "2@160"), ("1@210", "2@260"),
    }  # fmt: skip
    assert recorded.timeline.starts_ps[runs.events].min() == 20_000_000


@pytest.mark.parametrize(
    ("begin", "end", "waited"),
    [
        (20, 61, {("2@60", "1@61")}),
        (40, 80, {("2@60", "1@80")}),  # half of it
        (42, 80, set()),  # most of it was behind the run
        (20, 59, set()),  # it ended before the run
    ],
)
def test_a_wait_for_a_result_ends_with_its_run(begin, end, waited):
    """The run belongs to the step before, so only its end is a clue."""
    thread = [step(0, 0, 14), calls(10), step(1, 16, 90), at("Await", begin, end - begin)]
    run = of_threads(thread, [op_of_run(1, 15, 60)])
    assert waits(run) == {("1@12", "2@15"), *waited}


@pytest.mark.parametrize(
    ("done", "waited"),
    [
        ([9.5] * 4, "own"),
        ([9.0] * 4, "own"),  # 1 ms is soon
        ([8.9] * 4, None),
        ([9.5, 2, 9.9, 10], "own"),  # three show it; another one was ready before
        ([9.5, 2, 9.9, 2], None),
        ([9.5, 9.5, 10.1, 9.5], None),  # one step ends before its result
        ([19.5] * 4, "before"),
        ([19.5, 12, 19.9, 20], "before"),
        ([19.5, 20.1, 19.5, 19.5], None),
        ([29.5] * 4, None),
        ([9.5, None, 9.5, 9.5], "own"),
        ([9.5, None, None, 9.5], None),
    ],
)
def test_all_steps_wait_for_results_or_none(done, waited):
    """Steps of 10 ms, and where the runs of the first four end, ms after their begin."""
    threads = [[], []]
    for n in range(5):
        threads[0] += [step(n, 10_000 * n, 10_000)]
        if n < len(done) and done[n]:
            end = 10_000 * n + 1000 * done[n]
            threads[0].append(calls(10_000 * n + 10))
            threads[1].append(op_of_run(n, max(10_000 * n + 20, end - 9_000), end))
    recorded = recorded_of(of_threads(*threads))
    late = {"own": 1, "before": 2}.get(waited, 0)
    assert named_pairs(recorded, recorded.results) == {
        (f"2@{10_000 * n + 1000 * after:g}", f"1@{10_000 * (n + late):g}")
        for n, after in enumerate(done) if late and after
    }  # fmt: skip


def test_work_of_a_pool_without_a_recorded_origin_follows_the_thread_of_its_step():
    """It is of the step during which it begins."""
    thread = [one for n in range(2)
              for one in (step(n, 100 * n, 90), at("Launch", 100 * n + 10, 2))]  # fmt: skip
    pool = [at("dot", begin, 3, hlo_op="dot") for begin in (20, 30, 92, 112, 130)]
    pool.append(at("inside", 21, 1, hlo_op="inside"))
    assert waits(of_threads(thread, pool)) == {
        ("1@12", "2@20"), ("1@12", "2@30"), ("1@112", "2@112"), ("1@112", "2@130"),
    }  # fmt: skip
    assert waits(of_threads(pool, thread)) == {  # of two marks at 112, that of thread 1 comes first
        ("2@12", "1@20"), ("2@12", "1@30"), ("2@112", "1@130"),
    }  # fmt: skip


def test_a_wait_for_pools_ends_with_their_last_work_for_the_step():
    """On thread 3 another wait, in a pool; what a step's own thread does, nothing waits for."""
    thread = [step(0, 0, 100), at("a:Sum", 5, 30), at("Await", 40, 50)]
    pool = [at("dot", 10, 60, hlo_op="dot"), at("dot", 95, 20, hlo_op="dot")]
    other = [at("add", 12, 3, hlo_op="add"), at("wait for completion", 20, 55, hlo_op="")]
    links = {("1@5", "2@10"), ("1@5", "3@12"), ("1@5", "3@20"), ("1@90", "2@95")}
    assert waits(of_threads(thread, pool, other)) == {
        *links, ("3@75", "1@90"), ("2@70", "3@75"),
    }  # fmt: skip


def test_where_ops_of_a_function_on_two_threads_may_meet_at_the_earliest():
    """Thread 2 has a part until 50; thread 1, which is then in an op, goes on at 60.

    Threads 3 and 4 have parts of another function, and one that ends last.
    """
    threads = [
        [part(0, 100), at("a:Sum", 10, 45), at("b:Sum", 60, 10)],
        [part(5, 50), at("c:Sum", 6, 40)],
        [part(5, 70, number=6), at("d:Sum", 60, 5)],
        [part(5, 100)],
    ]
    recorded = recorded_of(of_threads(*threads))
    assert named_pairs(recorded, recorded.waits) == set()
    assert named_pairs(recorded, recorded.most_waits) == {("2@50", "1@60")}


def test_derived_lines_and_asynchronous_events_wait_for_nothing():
    thread = [step(0, 0, 100), gives(7, 10), at("x:MatMul", 95, 3)]
    pool = [*takes(7, 15, 90), at("sent", 30, 40, _a=1)]
    run = opened(xspace(
        host(line(*thread, id=1), line(*pool, id=2)),
        gpu(line(at("a", 0, 50), id=9, name="Stream #9"), line(at("0", 0, 50), id=0xDEADBEEF)),
    ))  # fmt: skip
    timeline = recorded_of(run).timeline
    assert {timeline.name(n) for n in range(len(timeline))} == {
        "train", "x:MatMul", "a", "ThreadpoolListener::Record", "ThreadpoolListener::Region",
        "ThreadpoolListener::StartRegion", "ThreadpoolListener::StopRegion",
    }  # fmt: skip
