"""Spans over equal items that follow each other."""

import numpy as np
import pytest

from tfprof.captures.events.derived.spans import Items, covering_spans

US = 1_000_000


def items(*rows):
    """Items by start, end and group, in µs."""
    starts, ends, groups = np.array(rows, np.int64).reshape(-1, 3).T
    return Items(starts * US, ends * US, groups)


def spans_of(found):
    """(start, end in ps, name, level) of each span."""
    columns = (found.starts_ps, found.ends_ps, found.names, found.levels)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def paths(*rows):
    return np.array(rows, np.int64)


def test_equal_names_become_one_span():
    found = covering_spans(items((0, 1, 0), (2, 3, 0), (4, 5, 0)), paths([7], [7], [8]))
    assert spans_of(found) == [(0, 3 * US, 7, 0), (4 * US, 5 * US, 8, 0)]


def test_another_group_begins_another_span():
    found = covering_spans(items((0, 1, 0), (2, 3, 1)), paths([7], [7]))
    assert spans_of(found) == [(0, US, 7, 0), (2 * US, 3 * US, 7, 0)]
    assert found.groups.tolist() == [0, 1]


def test_another_outer_name_ends_the_inner_span():
    found = covering_spans(items((0, 1, 0), (2, 3, 0)), paths([1, 5], [2, 5]))
    assert [row[2:] for row in spans_of(found)] == [(1, 0), (5, 1), (2, 0), (5, 1)]


def test_a_shorter_path_ends_deeper_spans_and_none_ends_nothing():
    run = items((0, 1, 0), (2, 3, 0), (4, 5, 0))
    shorter = covering_spans(run, paths([1, 5], [1, -1], [1, 5]))
    assert [(row[0] // US, row[3]) for row in spans_of(shorter)] == [(0, 0), (0, 1), (4, 1)]
    nothing = covering_spans(run, paths([1, 5], [-1, -1], [1, 5]))
    assert [(row[0] // US, row[3]) for row in spans_of(nothing)] == [(0, 0), (0, 1)]


def test_breaks_end_spans():
    found = covering_spans(items((0, 1, 0), (2, 3, 0)), paths([1], [1]), np.array([0, 1]))
    assert len(found.names) == 2


def test_an_inner_span_ends_a_nanosecond_before_an_equal_outer_one():
    found = covering_spans(items((0, 2, 0)), paths([1, 5, 6]))
    assert [row[1] for row in spans_of(found)] == [2 * US, 2 * US - 1000, 2 * US - 2000]


def test_an_inner_span_does_not_reach_out_of_a_shortened_one():
    found = covering_spans(items((0, 2, 0), (3, 4, 0)), paths([1, 5, 6], [1, 5, 7]))
    ends = {(row[2], row[3]): row[1] for row in spans_of(found)}
    assert ends == {
        (1, 0): 4 * US,
        (5, 1): 4 * US - 1000,
        (6, 2): 2 * US,
        (7, 2): 4 * US - 1000,
    }


def test_spans_of_the_last_item_keep_their_ends_in_the_reference():
    found = covering_spans(items((0, 2, 0)), paths([1, 5]), cuts_last=False)
    assert [row[1] for row in spans_of(found)] == [2 * US, 2 * US]


@pytest.mark.parametrize(
    ("start", "group", "count"), [(3, -1, 1), (4, -1, 2), (4, 0, 1)],
    ids=["gap of twice the span", "longer gap", "longer gap inside a step"],
)  # fmt: skip
def test_long_gaps_end_spans_of_no_step(start, group, count):
    run = items((0, 1, group), (start, 5, group))
    assert len(covering_spans(run, paths([1], [1]), bridges_gaps=False).names) == count
    assert len(covering_spans(run, paths([1], [1])).names) == 1


def test_a_gap_is_compared_with_the_span_since_the_last_gap():
    run = items((0, 1, -1), (10, 11, -1), (12, 20, -1), (36, 37, -1))
    found = covering_spans(run, paths([1], [1], [1], [1]), bridges_gaps=False)
    assert [row[0] // US for row in spans_of(found)] == [0, 10]


def test_no_items_have_no_spans():
    assert spans_of(covering_spans(items(), np.zeros((0, 0), np.int64))) == []
