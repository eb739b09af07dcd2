"""Laws of going through events again, for any events that wait for each other in any way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfprof.insight.whatif.longest import Factors, replayed
from tfprof.insight.whatif.marks import marks_of
from tfprof.insight.whatif.waits import last_of_group, waits_of

SETTINGS = settings(max_examples=60, deadline=None)


def marks_from(threads):
    """Marks of threads, each a list of (start, duration)."""
    ordered = [sorted(thread, key=lambda one: (one[0], -one[1])) for thread in threads]
    first = np.cumsum([0, *map(len, ordered)])
    events = np.array([one for thread in ordered for one in thread], np.int64).reshape(-1, 2)
    return marks_of(first, events[:, 0], events.sum(axis=1))


def waits_from(marks, pairs):
    sides = np.array(pairs, np.int64).reshape(-1, 2) % max(len(marks), 1)
    return waits_of(marks, [(sides[:, 0], sides[:, 1])])


def alone(parts):
    """Events of which each decides its own factor."""
    return Factors(parts, np.arange(len(parts)))


EVENT = st.tuples(st.integers(0, 200), st.integers(0, 60))
THREADS = st.lists(st.lists(EVENT, min_size=1, max_size=8), min_size=1, max_size=4)
PAIRS = st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), max_size=12)
FACTORS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=32, max_size=32)


@SETTINGS
@given(THREADS, PAIRS)
def test_nothing_faster_is_what_was_recorded(threads, pairs):
    marks = marks_from(threads)
    again = replayed(marks, waits_from(marks, pairs), alone(np.ones(len(marks) // 2)), 0)
    assert again.times_ps.tolist() == marks.times_ps.tolist()


@SETTINGS
@given(THREADS, PAIRS, FACTORS)
def test_what_gets_faster_makes_nothing_later(threads, pairs, factors):
    marks = marks_from(threads)
    waits, both = waits_from(marks, pairs), np.array(factors)[: len(marks) // 2]
    less, more = (
        replayed(marks, waits, alone(parts), 0).times_ps
        for parts in (both.min(axis=1), both.max(axis=1))
    )
    assert (less <= more).all()
    assert (more <= marks.times_ps).all()


@SETTINGS
@given(st.lists(st.integers(0, 50), min_size=1, max_size=10), st.integers(1, 5))
def test_all_faster_on_one_thread_without_gaps_divides(durations, factor):
    ends = np.cumsum(durations) * factor
    thread = [(int(end) - d * factor, d * factor) for end, d in zip(ends, durations, strict=True)]
    marks = marks_from([thread])
    again = replayed(marks, waits_from(marks, []), alone(np.full(len(thread), 1 / factor)), 0)
    assert (again.times_ps * factor).tolist() == marks.times_ps.tolist()


@SETTINGS
@given(THREADS, PAIRS)
def test_the_path_goes_back_without_a_break(threads, pairs):
    marks = marks_from(threads)
    again = replayed(marks, waits_from(marks, pairs), alone(np.ones(len(marks) // 2)), 0)
    end = int(np.argmax(marks.times_ps))
    path, before = again.path(end, 0)
    assert path.tolist()[1:] == before.tolist()[:-1]
    assert not len(path) or path[0] == end


def test_events_have_their_marks_in_order():
    """A around B and C; then D, which overlaps with nothing."""
    marks = marks_from([[(0, 10), (1, 3), (5, 5), (12, 1)]])
    assert marks.begin_at.tolist() == [0, 1, 3, 6]
    assert marks.end_at.tolist() == [5, 2, 4, 7]
    assert marks.times_ps.tolist() == [0, 1, 4, 5, 10, 10, 12, 13]
    assert marks.owners.tolist() == [-1, 0, 1, 0, 2, 0, -1, 3]


def test_a_wait_is_as_late_as_it_was_after_the_last():
    """A thread gives work to another and waits; the work takes a tenth of its time."""
    marks = marks_from([[(0, 110)], [(10, 90)]])
    waits = waits_of(marks, [(np.array([0, 3]), np.array([2, 1]))])
    again = replayed(marks, waits, alone(np.array([1.0, 0.1])), 0)
    assert again.times_ps.tolist() == [0, 29, 10, 19]
    path, before = again.path(1, 0)
    assert path.tolist() == [1, 3, 2] and before.tolist() == [3, 2, 0]


def test_pieces_of_one_op_on_a_pool_come_closer():
    """Two pieces of an op on a thread of a pool, which did nothing else between them."""
    marks = marks_from([[(0, 100)], [(10, 30), (60, 38)]])
    waits = waits_of(marks, [(np.array([0, 5]), np.array([2, 1]))])
    halves = np.full(3, 0.5)
    again = replayed(marks, waits, Factors(halves, np.zeros(3, np.int64)), 0)
    assert again.times_ps.tolist() == [0, 50, 5, 20, 30, 49]
    again = replayed(marks, waits, Factors(halves, np.array([0, 0, 2])), 0)
    assert again.times_ps.tolist() == [0, 60, 5, 20, 40, 59]  # of another op: the gap stays


def test_what_was_before_stays():
    marks = marks_from([[(0, 10), (20, 10)]])
    again = replayed(marks, waits_from(marks, []), alone(np.zeros(2)), 15)
    assert again.times_ps.tolist() == pytest.approx([0, 10, 20, 20])


TIMED = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), max_size=12)


@SETTINGS
@given(TIMED, TIMED)
def test_the_last_of_a_group_up_to_a_time(rows, asked):
    columns = [np.array(one, np.int64).reshape(-1, 2).T for one in (rows, asked)]
    found = last_of_group(*columns[0], *columns[1])
    for (group, time), row in zip(asked, found.tolist(), strict=True):
        earlier = [(at, place) for place, (of, at) in enumerate(rows) if of == group and at <= time]
        assert row == max(earlier, default=(0, -1))[1]
