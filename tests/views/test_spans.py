from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfprof.views.spans import Groups


def lists(groups):
    rows, offsets = groups.rows.tolist(), groups.offsets.tolist()
    return [rows[a:b] for a, b in pairwise(offsets)]


def made(keys, n_groups, rows=None):
    rows = list(range(len(keys))) if rows is None else rows
    return Groups.from_keys(np.array(rows, np.int64), np.array(keys, np.int64), n_groups)


def test_rows_keep_their_order_within_a_group():
    groups = made([1, 0, 1, 3], 4, rows=[7, 5, 2, 9])
    assert lists(groups) == [[5], [7, 2], [], [9]]
    assert groups.sizes.tolist() == [1, 2, 0, 1]


def test_no_rows():
    groups = made([], 2)
    assert lists(groups) == [[], []]
    assert groups.sums(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == [0, 0]


def test_only_drops_what_counts_0_times():
    assert lists(made([0, 0, 1], 2).only(np.array([0, 2, 0]))) == [[1], []]


def test_take_repeats_and_reorders():
    groups = made([0, 1, 1, 2], 3)
    assert lists(groups.take(np.array([2, 1, 1], np.int64))) == [[3], [1, 2], [1, 2]]
    assert lists(groups.take(np.zeros(0, np.int64))) == []


def test_sums_count_each_op_by_its_count():
    sums = made([0, 1, 1], 2).sums(np.array([10, 20, 40]), np.array([3, 1, 2]))
    assert sums.tolist() == [30, 20 + 2 * 40]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=12), st.data())
def test_everything_equals_plain_lists(pairs, data):
    keys = [key for key, _ in pairs]
    counts = np.array([count for _, count in pairs], np.int64)
    groups = made(keys, 4)
    naive = [[row for row, key in enumerate(keys) if key == group] for group in range(4)]
    assert lists(groups) == naive
    assert lists(groups.only(counts)) == [[r for r in rows if counts[r]] for rows in naive]
    chosen = data.draw(st.lists(st.integers(0, 3), max_size=6))
    assert lists(groups.take(np.array(chosen, np.int64))) == [naive[group] for group in chosen]
    assert groups.sums(np.arange(len(pairs)), counts).tolist() == [
        sum(row * int(counts[row]) for row in rows) for rows in naive
    ]
