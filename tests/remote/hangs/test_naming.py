"""Which rank the others wait for."""

from dataclasses import replace

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


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("stopped", "a stopped process joins no collective"),
        ("silent", "the servers of the others answer"),
        ("ended", "a process that has ended joins no collective"),
    ],
)
def test_a_rank_that_cannot_join(state, reason):
    assert named([*others(3), rank(3, None, state)]) == ((3,), reason)


def test_all_stopped_is_not_known():
    assert named(others(3, state="silent", frames=None))[0] == ()


def test_a_rank_while_others_go_on():
    found, basis = named([*others(3, state="runs"), rank(3)])
    assert (found, basis) == ((3,), "others make progress")
    assert named([rank(0)]) == ((0,), "it is the only process")
    assert named([*others(2, state="runs"), rank(2), rank(3, state="ended")])[0] == (2,)
    # A rank that has ended makes no progress, nor does it wait.
    assert named([rank(0, state="ended"), rank(1)])[0] == (0,)
    assert named([rank(0, state="ended"), *[rank(at, LOCK) for at in (1, 2, 3)]])[0] == (0,)


def test_a_rank_that_has_not_entered_the_collective():
    waiting = others(3, entered="psum.1 of jit_f")
    found, basis = named([*waiting, rank(3, LOCK)])
    assert found == (3,) and "3 of 4 ranks have entered psum.1 of jit_f" in basis
    # The majority waits for input, and one waits in the collective for them.
    found, _ = named([rank(0, entered="psum.1"), *[rank(at, LOCK) for at in (1, 2, 3)]])
    assert found == (1, 2, 3)
    found, basis = named([rank(0, entered="psum.2"), rank(1, entered="all.1"), rank(2, LOCK)])
    assert found == (2,) and "2 of 3 ranks have entered all.1 or psum.2, and" in basis
    # The file and the line of the program count, not the calls of libraries in between.
    by_library = (IN_TF[0], *LOCK)
    assert named([rank(0, LOCK, entered="psum.1"), rank(1, by_library)])[0] == ()
    # Without stacks, the events decide alone.
    assert named([rank(0, None, entered="psum.1"), rank(1, None)])[0] == (1,)


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


IN_JAX = (Frame("call", "C:\\x\\site-packages\\jax\\api.py", 6), *STEP)


@pytest.mark.parametrize("frames", [IN_TF, IN_JAX])
def test_most_wait_for_input_and_one_in_a_library(frames):
    ranks = [rank(0, frames), *[rank(at, LOCK) for at in (1, 2, 3)]]
    assert named(ranks)[0] == ()


def test_only_the_innermost_call_shows_who_waits_in_a_library():
    called_by_tf = (LOCK[0], IN_TF[0], LOCK[1])
    assert named([rank(0, called_by_tf), *others(3)])[0] == (0,)


def test_where_two_stand_in_a_library_the_third_elsewhere_decides():
    ranks = [rank(0, IN_TF), rank(1, LOCK), *[rank(at, LOCK[1:]) for at in (2, 3, 4)]]
    assert named(ranks)[0] == (0, 1)


def test_a_rank_without_stacks_leaves_no_majority():
    ranks = [*others(3), rank(3, LOCK), rank(4, None)]
    assert named(ranks) == ((), "stacks of only 4 of 5 are visible, and name none of them")
    assert named([rank(0), rank(1, None)])[1].startswith("stacks of only 1 of 2 are visible")


def test_ranks_without_own_code_stand_where_the_library_does():
    in_lock = (Frame("wait", "/usr/lib/python3.11/threading.py", 320),)
    in_poll = (Frame("poll", "/usr/lib/python3.11/selectors.py", 4),)
    assert named([*others(3, frames=in_lock), rank(3, in_poll)])[0] == (3,)
    # Of several calls, the innermost is the place.
    in_queue = (*in_lock, Frame("get", "/usr/lib/python3.11/queue.py", 171))
    assert named([*others(3, frames=in_lock), rank(3, in_queue)])[0] == ()
    assert named([*others(3, frames=in_lock), rank(3, ())])[0] == (3,)


def test_two_ranks_have_no_majority():
    assert named([rank(0), rank(1, LOCK)])[0] == ()


def test_half_of_them_make_no_majority():
    found, basis = named([*others(2), rank(2, LOCK), rank(3, LOCK)])
    assert found == ()
    assert basis == "they stand at different places, and nothing shows which of them waits"


def test_a_further_thread():
    generator = (Frame("batches", "/job/data.py", 5),)
    found, basis = named([*others(3), rank(3, others=[generator])])
    assert (found, basis) == ((3,), "no other rank has a thread that stands there")
    # The one that lacks a thread is not where the others wait, and in a library any thread waits.
    assert named([*others(3, others=[generator]), rank(3)])[0] == ()
    in_library = (Frame("wait", "/usr/lib/python3.11/threading.py", 320),)
    assert named([*others(3), rank(3, others=[in_library])])[0] == ()
    both = [rank(3, others=[generator]), rank(4)]
    assert named([*others(5, others=[LOCK]), *both])[0] == ()
    mixed = rank(3, others=[(*generator, *in_library)])
    assert named([*others(3), mixed])[0] == (3,)
    moved = Thread("t", generator, has_moved=True)
    assert named([*others(3), replace(rank(3), threads=(*rank(3).threads, moved))])[0] == ()


def test_step_numbers_name_no_rank():
    """A snapshot may have cut the mark of the last step of one rank."""
    assert named([*others(3, step=40), rank(3, step=41)])[0] == ()


def test_nothing_tells_them_apart():
    assert named(others(4)) == ((), "all of them stand at the same place")
    assert "no stack" in named(others(4, frames=None, state="unseen"))[1]
