"""Marks of threads and waits between them, by hand; and laws on both."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfprof.insight.whatif.longest import Factors, replayed
from tfprof.insight.whatif.marks import IDLE, from_around, marks_of
from tfprof.insight.whatif.waits import waits_of

SETTINGS = settings(max_examples=60, deadline=None)


def marks_from(*threads):
    """Marks of threads, each a list of (start, end) in their order."""
    first = np.cumsum([0, *map(len, threads)])
    events = np.array([one for thread in threads for one in thread], np.int64).reshape(-1, 2)
    return marks_of(first, events[:, 0], events[:, 1])


def before(marks, line, *times, strictly):
    lines = np.full(len(times), line)
    return marks.before(lines, np.array(times, np.int64), strictly=strictly).tolist()


TWO = marks_from([(0, 10), (2, 6), (20, 30)], [(5, 25)])
"""A thread with an event of 10, one inside it and one of 10 more; and a thread with one of 20."""


def test_marks_are_in_order_on_each_thread():
    assert TWO.times_ps.tolist() == [0, 2, 6, 10, 20, 30, 5, 25]
    assert TWO.lines.tolist() == [0] * 6 + [1] * 2
    assert TWO.first.tolist() == [0, 6, 8]
    assert np.flatnonzero(TWO.is_first).tolist() == [0, 6]
    assert TWO.events.tolist() == [0, 1, 1, 0, 2, 2, 3, 3]
    assert TWO.parents.tolist() == [-1, 0, -1, -1]


def test_the_owner_of_a_mark_is_what_ran_before_it():
    assert TWO.owners.tolist() == [IDLE, 0, 1, 0, IDLE, 2, IDLE, 3]


@pytest.mark.parametrize(
    ("time", "strictly", "expected"),
    [(-1, True, 0), (0, True, 0), (0, False, 1), (6, True, 2), (6, False, 3), (15, True, 4),
     (30, True, 5), (30, False, 6), (99, True, 6)],
)  # fmt: skip
def test_the_first_mark_at_or_after_a_time(time, strictly, expected):
    assert before(TWO, 0, time, strictly=strictly) == [expected]


def test_other_threads_have_marks_of_their_own():
    assert before(TWO, 1, 0, 5, 26, strictly=True) == [6, 6, 8]


def test_the_last_mark_inside_an_event():
    inside = TWO.last_inside(np.array([0, 0, 0, 0, 2]), np.array([-5, 1, 3, 99, 25]))
    assert inside.tolist() == [0, 0, 1, 3, 4]


def test_a_mark_that_overlapping_events_put_back_counts_as_late_as_the_one_before():
    """The second event begins inside the first one, and ends behind it."""
    marks = marks_from([(0, 10), (4, 14)])
    assert marks.reached_ps.tolist() == np.maximum.accumulate(marks.times_ps).tolist()
    assert (np.diff(marks.reached_ps) >= 0).all()


def test_no_events_have_no_marks():
    empty = marks_from([])
    assert len(empty) == 0
    assert before(empty, 0, 5, strictly=True) == [0]
    assert marks_from([(0, 1)], []).is_first.tolist() == [True, False]


def test_waits_that_lead_back_in_time_are_left_out():
    """The end at 10 may wait for what ended at 6, and the begin at 5 not for the end at 25."""
    pairs = [(np.array([2, 7]), np.array([3, 6])), (np.array([3]), np.array([7]))]
    found = waits_of(TWO, pairs)
    assert list(zip(found.earlier.tolist(), found.later.tolist(), strict=True)) == [(2, 3), (3, 7)]
    assert sorted(found.order.tolist()) == list(range(len(TWO)))


def factors(*parts):
    return Factors(np.array(parts), np.arange(len(parts)))


def replay(marks, parts, pairs=(), from_ps=0):
    sides = np.array(list(pairs), np.int64).reshape(-1, 2)
    waits = waits_of(marks, [(sides[:, 0], sides[:, 1])])
    return replayed(marks, waits, factors(*parts), from_ps)


def test_an_event_has_its_own_factor_and_not_that_of_what_is_inside():
    """Half of 2 + 4 of the outer one, all 4 of the inner one; the gap of 10 stays."""
    again = replay(TWO, (0.5, 1, 1, 1))
    assert again.times_ps.tolist() == [0, 1, 5, 7, 17, 27, 5, 25]
    again = replay(TWO, (1, 0, 1, 1))
    assert again.times_ps.tolist() == [0, 2, 2, 6, 16, 26, 5, 25]


def test_factors_apply_from_a_time_on():
    """Only the part of the first event that began at 6 or later becomes faster."""
    assert replay(TWO, (0, 0, 1, 1), from_ps=6).times_ps.tolist()[:4] == [0, 2, 6, 6]


def test_the_later_of_two_reasons_decides():
    """The third event waits for both: what is before it on its thread, and the other thread."""
    pairs = [(7, 5)]
    assert replay(TWO, (1, 1, 1, 1), pairs).times_ps.tolist() == TWO.times_ps.tolist()
    # The other thread ends at 15 instead of 25, and the event follows its own begin: 5 after it.
    again = replay(TWO, (1, 1, 1, 0.5), pairs)
    assert again.times_ps.tolist()[-1] == 15
    assert again.times_ps[5] == 25
    path, _ = again.path(5, 0)
    assert path.tolist()[0] == 5
    assert 7 not in path.tolist()


def test_a_wait_that_began_before_a_time_is_not_shortened():
    """The first thread goes on 10 after the second one, at 110, in an event of half the time."""
    marks = marks_from([(0, 110)], [(10, 100)])
    for from_ps, end in ((100, 105), (101, 110)):
        assert replay(marks, (0.5, 1), [(3, 1)], from_ps).times_ps.tolist() == [0, end, 10, 100]


def test_of_two_reasons_at_one_time_that_of_the_own_thread_counts():
    marks = marks_from([(5, 50)], [(0, 50), (60, 70)])
    path, before = replay(marks, (1, 1, 1), [(1, 4)]).path(5, 0)
    assert (path.tolist(), before.tolist()) == ([5, 4, 3], [4, 3, 2])
    path, before = replay(marks, (1, 0.9, 1), [(1, 4)]).path(5, 0)
    assert (path.tolist(), before.tolist()) == ([5, 4, 1], [4, 1, 0])


def test_a_path_ends_where_it_is_to_begin():
    """The first thread begins at 5, or the path at 50."""
    again = replay(marks_from([(5, 50)], [(0, 50), (60, 70)]), (1, 1, 1))
    assert again.path(1, 0)[0].tolist() == [1]
    assert again.path(5, 50)[0].tolist() == [5, 4, 3]
    assert again.path(5, 70)[0].tolist() == []


THREAD = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 30)), min_size=1, max_size=8).map(
    lambda spans: sorted(((at, at + span) for at, span in spans), key=lambda one: (one[0], -one[1]))
)


@SETTINGS
@given(st.lists(THREAD, min_size=1, max_size=3))
def test_every_event_begins_and_ends_once(threads):
    marks = marks_from(*threads)
    both = np.concatenate([marks.begin_at, marks.end_at])
    assert sorted(both.tolist()) == list(range(len(marks)))
    assert (marks.begin_at < marks.end_at).all()
    assert (marks.lines[marks.begin_at] == marks.lines[marks.end_at]).all()


@SETTINGS
@given(st.lists(THREAD, min_size=1, max_size=3), st.integers(-5, 140))
def test_marks_before_a_time_are_those_that_a_walk_finds(threads, time):
    marks = marks_from(*threads)
    for line in range(len(threads)):
        own = range(int(marks.first[line]), int(marks.first[line + 1]))
        at = next((n for n in own if marks.reached_ps[n] >= time), own.stop)
        behind = next((n for n in own if marks.reached_ps[n] > time), own.stop)
        assert before(marks, line, time, strictly=True) == [at]
        assert before(marks, line, time, strictly=False) == [behind]


@SETTINGS
@given(THREAD, st.integers(0, 50))
def test_later_events_are_later_by_as_much(thread, shift):
    """A thread that begins later, alone, is that thread moved."""
    moved = [(begin + shift, end + shift) for begin, end in thread]
    parts = np.full(len(thread), 0.5)
    one, other = (replayed(marks, waits_of(marks, [(np.zeros(0, np.int64),) * 2]),
                           Factors(parts, np.arange(len(parts))), 0)
                  for marks in (marks_from(thread), marks_from(moved)))  # fmt: skip
    assert (other.times_ps - one.times_ps == shift).all()


@SETTINGS
@given(st.lists(st.tuples(st.integers(-1, 11), st.integers(-1, 2)), max_size=12))
def test_a_value_is_that_of_the_nearest_around_with_one(rows):
    """The parent of each is before it, or -1; values are from 0 on, or -1."""
    parents = [min(parent, place - 1) for place, (parent, _) in enumerate(rows)]
    values = [value for _, value in rows]
    expected = []
    for place in range(len(rows)):
        at = place
        while at >= 0 and values[at] < 0:
            at = parents[at]
        expected.append(values[at] if at >= 0 else -1)
    found = from_around(np.array(parents, np.int32), np.array(values, np.int64))
    assert found.tolist() == expected
