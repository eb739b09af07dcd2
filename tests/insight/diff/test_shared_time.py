"""Each moment of a step counts once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.insight.diff.shared_time import Layer, Spans, shared_time

pytestmark = pytest.mark.one_engine

STEP = np.array([[0, 100]])


def spans(*rows):
    """Spans of rows (what, start, end), of the first step; a fourth number is the parent."""
    full = [(0, *row, *(-1,) * (4 - 1 - len(row) + 1)) for row in rows]
    columns = np.array(full, np.int64).reshape(-1, 5)
    return Spans(*columns.T)


def shared(layers, n_things=3, kinds=None, windows=STEP):
    return shared_time(windows, layers, [n_things] * len(layers), kinds)


def test_things_that_run_at_once_share_the_moment():
    found = shared([Layer(spans((0, 0, 40), (1, 20, 60)))])
    assert found.by_layer[0][0].tolist() == [30, 30, 0]
    assert found.rest[0].tolist() == [40]


def test_of_things_inside_each_other_the_inner_one_counts():
    found = shared([Layer(spans((0, 0, 50), (1, 10, 30, 0)))])
    assert found.by_layer[0][0].tolist() == [30, 20, 0]


def test_the_first_layer_goes_before_the_others():
    device, host = Layer(spans((0, 10, 30))), Layer(spans((1, 0, 50)))
    found = shared([device, host])
    assert [layer[0].tolist() for layer in found.by_layer] == [[20, 0, 0], [0, 30, 0]]


def test_waiting_goes_before_ops_where_it_is_known():
    kinds = spans((10, 0, 100), (110, 20, 60))
    found = shared([Layer(spans((0, 0, 80)), kinds=(10,))], kinds=kinds)
    assert found.by_layer[0][0, 0] == 40
    assert {kind: time[0] for kind, time in found.rest.items()} == {10: 20, 110: 40}


def test_what_reaches_out_of_the_step_is_cut():
    found = shared([Layer(spans((0, -50, 10), (1, 90, 400)))])
    assert found.by_layer[0][0].tolist() == [10, 10, 0]


def test_steps_that_overlap_are_kept_apart():
    both = Spans(*np.array([[0, 0, 0, 10, -1], [1, 0, 5, 20, -1]]).T)
    found = shared([Layer(both)], windows=np.array([[0, 10], [5, 25]]))
    assert found.by_layer[0][:, 0].tolist() == [10, 15]


intervals = st.tuples(
    st.integers(0, 1), st.integers(0, 2), st.integers(-20, 120), st.integers(0, 60)
)


@given(st.lists(intervals, max_size=12), st.lists(intervals, max_size=12),
       st.lists(intervals, max_size=6))  # fmt: skip
def test_parts_add_up_to_the_steps(first, second, waiting):
    def of(rows, factor=1):
        columns = [(step, factor * what, start, start + length, -1)
                   for step, what, start, length in rows]  # fmt: skip
        return Spans(*np.array(columns, np.int64).reshape(-1, 5).T)

    windows = np.array([[0, 70], [50, 100]])
    found = shared([Layer(of(first), (0, 1)), Layer(of(second), (1, 2))], kinds=of(waiting),
                   windows=windows)  # fmt: skip
    parts = sum(layer.sum(axis=1) for layer in found.by_layer) + sum(found.rest.values())
    assert parts == pytest.approx([70, 50])


def test_what_is_inside_something_left_out_moves_to_the_next_one_around():
    rows = spans((0, 0, 100), (1, 10, 90, 0), (2, 20, 80, 1))
    kept = rows.only(np.array([True, False, True]))
    assert kept.parent.tolist() == [-1, 0]


def test_the_next_one_around_is_not_the_one_before():
    """The third one goes; the second one ends before it, so the fourth one is inside the first."""
    rows = spans((0, 0, 100), (1, 5, 10, 0), (2, 20, 80, 0), (3, 30, 40, 2))
    assert rows.only(np.array([True, True, False, True])).parent.tolist() == [-1, 0, 0]
    assert rows.only(np.array([False, True, False, True])).parent.tolist() == [-1, -1]
