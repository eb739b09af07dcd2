"""Which mark waits for which one in small captures, by hand: ``2@90`` is thread 2 at 90 µs."""

import pytest

from tests.insight.whatif.hand_made import at
from tests.insight.whatif.waits_of_runs import gives, of_threads, step, takes, waits
from tfprof.testing.xspace_builders import gpu, line

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
    made = [at("PrefetchProduce", 10, 10, element_id=1), at("PrefetchProduce", 22, 20, element_id=2)]
    taken = [at("PrefetchConsume", 25, 2, element_id=1), at("PrefetchConsume", 40, 5, element_id=2),
             at("PrefetchConsume", 60, 1, element_id=3)]  # fmt: skip
    assert waits(of_threads(taken, made)) == {("2@20", "1@25"), ("2@22", "1@40")}


@pytest.mark.parametrize(
    ("begin", "more", "waited"),
    [
        (30, [], {("1@27", "2@30")}),
        (27, [], {("1@27", "2@27")}),
        (26, [], set()),  # there was room already
        (30, [(27, 28)], set()),  # the maker was busy until then
        (30, [(26, 28)], set()),
        (30, [(26, 31)], set()),
    ],
)
def test_an_element_is_made_when_there_is_room_again(begin, more, waited):
    made = [at("PrefetchProduce", 10, 10, element_id=1),
            at("PrefetchProduce", begin, 5, element_id=2),
            *(at("x:MatMul", first, end - first) for first, end in more)]  # fmt: skip
    taken = [at("PrefetchConsume", 25, 2, element_id=1)]
    assert waits(of_threads(taken, made)) == {("2@20", "1@25"), *waited}


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
    threads = [[part(0, 40)], [part(5, 45)], [part(10, 60), at("ExecutorDoneCallback", 50, 5, id=5)]]
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
