"""Common steps of several hosts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.events.steps.step_alignment import (
    _best_offset,
    align_by_number,
    align_by_time,
)


def by_time(*hosts):
    """Hosts are lists of (start, end)."""
    sides = [[np.array([span[side] for span in own], np.int64) for own in hosts] for side in (0, 1)]
    found = align_by_time(*sides)
    return found.first, found.n_steps, found.chief, found.without_steps


def test_steps_that_overlap_the_most_are_the_same():
    one = [(0, 10), (10, 20), (20, 30)]
    late = [(9, 19), (19, 29)]
    assert by_time(one, late) == ((1, 0), 2, 1, ())


def test_the_host_whose_steps_span_the_shortest_time_is_chief():
    assert by_time([(0, 10), (90, 100)], [(0, 10), (20, 30)])[2] == 1


def test_of_equal_offsets_those_ahead_come_first_from_the_smallest():
    # The only step of the chief lies outside the host's steps: 0, then -1, ….
    assert by_time([(100, 110)], [(0, 10), (20, 30)]) == ((0, 0), 1, 0, ())
    # Equal overlaps with both: the first of 0, -1.
    assert by_time([(5, 15)], [(0, 10), (10, 20)]) == ((0, 0), 1, 0, ())


def test_an_offset_backwards():
    assert by_time([(100, 110)], [(0, 10), (20, 30), (100, 110)]) == ((0, 2), 1, 0, ())


def test_hosts_without_steps():
    assert by_time([], [(0, 10)]) == ((0, 0), 1, 1, (0,))
    assert by_time([], []) == ((0, 0), 0, 0, (0, 1))
    assert by_time() == ((), 0, 0, ())


def test_clocks_that_are_apart_match_steps_one_by_one():
    hour = 3600 * 10**12
    far = [(hour, hour + 10), (hour + 10, hour + 20), (hour + 20, hour + 30)]
    assert by_time([(0, 10), (10, 20)], far) == ((0, 0), 2, 0, ())


def by_number(*hosts):
    found = align_by_number([np.array(own, np.int64) for own in hosts])
    return None if found is None else (found.first, found.n_steps, found.without_steps)


def test_steps_of_equal_numbers_are_the_same():
    assert by_number([5, 6, 7, 8], [7, 8, 9]) == ((2, 0), 2, ())
    assert by_number([7, 8], [5, 6, 7, 8, 9], []) == ((0, 2, 0), 2, (2,))


def test_numbers_that_tell_nothing():
    assert by_number([1, 2], [8, 9]) is None
    assert by_number([1, 3], [1, 3]) is None
    assert by_number([], []) is None


spans = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=1, max_size=5)


def laid_out(pieces):
    found, now = [], 0
    for gap, length in pieces:
        found.append((now + gap, now + gap + length))
        now += gap + length
    return found


@given(spans, spans)
def test_the_order_of_two_hosts_does_not_matter_for_which_is_chief(one, other):
    one, other = laid_out(one), laid_out(other)
    first, n_steps, chief, _ = by_time(one, other)
    swapped = by_time(other, one)
    lengths = [own[-1][1] - own[0][0] for own in (one, other)]
    if lengths[0] != lengths[1]:
        assert (swapped[0][::-1], swapped[1], 1 - swapped[2]) == (first, n_steps, chief)
    assert 0 <= n_steps <= min(len(one), len(other))
    assert all(begin + n_steps <= len(own) for begin, own in zip(first, (one, other), strict=True))


def best_offset_as_the_reference(chief_starts, chief_ends, starts, ends):
    """Try every offset with all steps, as in ``step_intersection.cc``."""
    best, most = 0, -1
    for offset in [*range(len(chief_starts)), *range(-1, -len(starts), -1)]:
        ours = slice(max(0, offset), min(len(chief_starts), len(starts) + offset))
        theirs = slice(ours.start - offset, ours.stop - offset)
        overlap = np.minimum(chief_ends[ours], ends[theirs]) - np.maximum(
            chief_starts[ours], starts[theirs]
        )
        amount = int(np.maximum(overlap, 0).sum())
        if amount > most:
            best, most = offset, amount
    return best


any_spans = st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 12)), min_size=1, max_size=9)
"""Spans, also unordered, nested, empty, or with a negative length."""


def columns(steps):
    return [np.array(side, np.int64) for side in zip(*steps, strict=True)]


@given(any_spans, any_spans)
def test_offsets_are_those_of_the_reference(one, other):
    sides = [columns([(start, start + length) for start, length in own]) for own in (one, other)]
    given_to_both = (*sides[0], *sides[1])
    assert _best_offset(*given_to_both) == best_offset_as_the_reference(*given_to_both)


@given(spans, spans, st.integers(-40, 40))
def test_offsets_are_those_of_the_reference_where_clocks_differ(one, other, shift):
    first, second = (columns(laid_out(own)) for own in (one, other))
    given_to_both = (*first, *(side + shift for side in second))
    assert _best_offset(*given_to_both) == best_offset_as_the_reference(*given_to_both)


def test_steps_that_all_overlap_each_other():
    starts = np.arange(300)
    given_to_both = (starts, starts + 1000, starts[:280] + 7, starts[:280] + 1003)
    assert _best_offset(*given_to_both) == best_offset_as_the_reference(*given_to_both)


def test_many_steps_are_matched_by_time():
    """In quadratic time, this would take minutes."""
    starts = np.arange(200_000) * 10**9
    late = starts[500:] + 10**8
    found = align_by_time([starts, late], [starts + 10**9, late + 10**9])
    assert (found.first, found.n_steps) == ((500, 0), len(late))
