"""Which rank the others wait for."""

import pytest

from tfprof.captures.run.hang_record import Frame, Rank, Thread
from tfprof.remote.hangs.naming import named

pytestmark = pytest.mark.one_engine

STEP = (Frame("step", "/job/train.py", 30), Frame("main", "/job/train.py", 50))
LOCK = (Frame("save", "/job/save.py", 9), Frame("main", "/job/train.py", 44))
IN_TF = (Frame("quick_execute", "/x/site-packages/tensorflow/python/eager/execute.py", 60), *STEP)


def rank(number, frames=STEP, state="stands", others=(), **values):
    threads = () if frames is None else (Thread("main", frames, is_main=True),)
    threads += tuple(Thread(f"t{at}", each) for at, each in enumerate(others))
    return Rank(f"h:{number}", number, None, state, 60.0, threads=threads, **values)


def others(n, **values):
    return [rank(number, **values) for number in range(n)]


@pytest.mark.parametrize("state", ["stopped", "silent", "ended"])
def test_a_rank_that_cannot_join(state):
    found, basis = named([*others(3), rank(3, None, state)])
    assert found == (3,) and basis


def test_all_stopped_is_not_known():
    assert named(others(3, state="silent", frames=None))[0] == ()


def test_a_rank_while_others_go_on():
    found, basis = named([*others(3, state="runs"), rank(3)])
    assert (found, basis) == ((3,), "others make progress")
    assert named([rank(0)])[0] == (0,)


def test_a_rank_that_has_not_entered_the_collective():
    waiting = others(3, entered="psum.1 of jit_f")
    found, basis = named([*waiting, rank(3, LOCK)])
    assert found == (3,) and "3 of 4 ranks have entered psum.1 of jit_f" in basis
    # The majority waits for input, and one waits in the collective for them.
    found, _ = named([rank(0, entered="psum.1"), *[rank(at, LOCK) for at in (1, 2, 3)]])
    assert found == (1, 2, 3)


def test_events_that_a_snapshot_has_cut_name_no_rank():
    waiting = others(3, entered="psum.1")
    assert named([*waiting, rank(3)])[0] == ()


def test_a_rank_in_another_collective():
    elsewhere = (Frame("evaluate", "/job/train.py", 71),)
    ranks = [*others(3, entered="psum.1"), rank(3, elsewhere, entered="psum.9")]
    assert named(ranks) == ((3,), "it has entered another collective than the others")


def test_a_rank_that_stands_elsewhere():
    found, basis = named([*others(3), rank(3, LOCK)])
    assert (found, basis) == ((3,), "all others stand at one other place")


def test_most_wait_for_input_and_one_in_a_library():
    ranks = [rank(0, IN_TF), *[rank(at, LOCK) for at in (1, 2, 3)]]
    assert named(ranks)[0] == ()


def test_two_ranks_have_no_majority():
    assert named([rank(0), rank(1, LOCK)])[0] == ()


def test_half_of_them_make_no_majority():
    assert named([*others(2), rank(2, LOCK), rank(3, LOCK)])[0] == ()


def test_a_further_thread():
    generator = (Frame("batches", "/job/data.py", 5),)
    found, basis = named([*others(3), rank(3, others=[generator])])
    assert found == (3,) and "thread" in basis


def test_step_numbers_name_no_rank():
    """A snapshot may have cut the mark of the last step of one rank."""
    assert named([*others(3, step=40), rank(3, step=41)])[0] == ()


def test_nothing_tells_them_apart():
    assert named(others(4)) == ((), "all of them stand at the same place")
    assert "no stack" in named(others(4, frames=None, state="unseen"))[1]
