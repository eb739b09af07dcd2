"""Hosts with too few steps in common with the others."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.events.steps.shared_steps import most_agree, shared_by_most


def shared(*spans, fewest=0):
    found = shared_by_most([range(*own) for own in spans], fewest)
    return None if found is None else tuple(found)


def test_few_steps_that_hosts_lack_are_not_a_reason():
    assert shared((0, 10), (0, 10), (4, 10)) == (4, 10, 3)
    assert shared((0, 10), (3, 10), (0, 9)) == (3, 9, 3)


def test_the_fewer_hosts_there_are_the_more_each_counts():
    def kept(n_hosts):
        """The fewest of 60 steps with which one host among others is kept."""
        others = [(0, 60)] * (n_hosts - 1)
        return min(n for n in range(1, 61) if shared(*others, (60 - n, 60))[2] == n_hosts)

    # All need more than two thirds of 60 × (hosts - 1).
    assert [kept(n_hosts) for n_hosts in (3, 4, 5, 16, 256)] == [27, 31, 33, 38, 40]


def test_a_host_that_recorded_later_is_left_out():
    assert shared((0, 10), (0, 10), (200, 210)) == (0, 10, 2)


def test_hosts_that_lack_too_much_only_together():
    # Either of the two could stay: the one with more steps, or the earlier of equal ones.
    assert shared(*[(0, 100)] * 8, (0, 60), (41, 100)) == (0, 60, 9)
    assert shared(*[(0, 100)] * 8, (0, 60), (40, 100)) == (0, 60, 9)
    assert shared(*[(0, 100)] * 8, (0, 60), (39, 100)) == (39, 100, 9)


def test_at_most_a_third_is_left_out():
    assert shared((0, 10), (0, 10), (0, 2)) == (0, 10, 2)
    assert shared((0, 10), (0, 2), (0, 2)) == (0, 2, 3)
    assert shared((0, 9), (0, 9), (20, 29), (20, 29)) is None
    assert shared(*[(0, 10)] * 3, (8, 10), fewest=4) == (8, 10, 4)


def test_of_two_hosts_none_is_odd():
    assert shared((0, 10), (0, 1)) is None
    assert shared() is None


spans_of_hosts = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 9)).map(lambda own: (own[0], own[0] + own[1])),
    min_size=3,
    max_size=7,
)


def by_definition(spans):
    """All windows of steps, and the hosts that have them."""
    most = max(end for _, end in spans)
    windows = [
        (begin, end, sum(own[0] <= begin and end <= own[1] for own in spans))
        for begin, end in itertools.combinations(range(most + 1), 2)
    ]
    allowed = [one for one in windows if one[2] >= most_agree(len(spans))]
    largest = max((n * (end - begin) for begin, end, n in allowed), default=0)
    enough = [one for one in allowed if 3 * one[2] * (one[1] - one[0]) > 2 * largest]
    return max(enough, key=lambda one: (one[2], one[1] - one[0], -one[0]), default=None)


@given(spans_of_hosts)
def test_as_few_as_possible_are_left_out_whatever_their_order(spans):
    found = shared(*spans)
    assert found == by_definition(spans)
    assert found == shared(*reversed(spans)) == shared(*sorted(spans))
    assert found is None or found[2] >= most_agree(len(spans))
