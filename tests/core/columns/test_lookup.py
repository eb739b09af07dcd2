"""Search, numbering and order of columns: compiled and NumPy the same, and by definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.core.columns import lookup
from tfprof.core.columns.lookup import (
    is_among,
    looked_up,
    numbered_rows,
    places_in,
    rows_by,
    rows_by_key,
)
from tfprof.core.wire.compiled import native_module

NATIVE = native_module("lookup")
needs_native = pytest.mark.skipif(NATIVE is None, reason="the extension is not built")

FAR = st.sampled_from((0, 1, 2, 3, -(2**63), -1, 2**31, 2**63 - 1))
WORDS = st.sampled_from((np.int16, np.int32, np.int64))


def both_ways(answer):
    """What compiled code and NumPy say, which must be the same."""
    answers = []
    for is_native in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lookup, "is_native", lambda on=is_native: on)
            answers.append(answer())
    assert answers[0] == answers[1]
    return answers[0]


@given(st.lists(st.integers(-9, 9)), st.lists(st.integers(-9, 9)), WORDS, WORDS)
def test_places_are_those_of_numpys_search(column, values, of_column, of_values):
    column, values = np.array(sorted(column), of_column), np.array(values, of_values)
    for side in ("left", "right"):
        found = both_ways(lambda side=side: places_in(column, values, side).tolist())
        assert found == np.searchsorted(column, values, side=side).tolist()


def test_places_of_every_other_row():
    column = np.arange(0, 1000, 2)[::2]  # with gaps in memory, too
    assert places_in(column, np.arange(1000)).tolist() == [(n + 3) // 4 for n in range(1000)]


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[FAR] * n), min_size=1)))
def test_equal_rows_have_one_number_and_others_another(rows):
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)]

    def partition():
        numbers, n_distinct = numbered_rows(columns)
        assert sorted(set(numbers.tolist())) == list(range(n_distinct))
        known = {}
        return [known.setdefault(number, len(known)) for number in numbers.tolist()]

    known = {}
    assert both_ways(partition) == [known.setdefault(row, len(known)) for row in rows]


def test_no_rows_have_no_numbers():
    nothing = np.zeros(0, np.int64)
    assert both_ways(lambda: [len(numbered_rows([nothing] * n)[0]) for n in (1, 2)]) == [0, 0]
    assert numbered_rows([nothing])[1] == 0


@needs_native
def test_rows_that_were_made_to_collide_are_sorted(monkeypatch):
    class Slow:
        def number_pairs(self, *columns):
            return -1

    monkeypatch.setattr(lookup, "_native", Slow())
    assert numbered_rows([np.array([7, 3, 7])])[0].tolist() == [1, 0, 1]


@given(st.lists(st.integers(0, 5)), WORDS)
def test_rows_follow_each_other_by_number(numbers, word):
    numbers = np.array(numbers, word)

    def answer():
        return [column.tolist() for column in rows_by(numbers, 6)]

    rows, ends = both_ways(answer)
    assert rows == np.argsort(numbers, kind="stable").tolist()
    assert ends == [int((numbers <= number).sum()) for number in range(6)]


@given(st.lists(st.lists(st.integers(0, 5), max_size=4)), st.sampled_from("bhiq"))
def test_rows_of_a_key_know_their_owners(owned, word):
    keys = np.array([key for own in owned for key in own], word)
    first = np.cumsum([0, *map(len, owned)])

    def answer():
        return [column.tolist() for column in rows_by_key(keys, 6, first)]

    rows, owners, begins = both_ways(answer)
    known = [owner for owner, own in enumerate(owned) for _ in own]
    assert owners == [known[row] for row in rows]
    assert rows == np.argsort(keys, kind="stable").tolist()
    assert begins == [int((keys < key).sum()) for key in range(7)]


def test_what_is_looked_up_in_a_table():
    places = np.arange(200_000, dtype=np.int16) % 3
    assert (looked_up(np.array([5, 6, 7]), places) == places + 5).all()
    assert looked_up(np.array([True, False]), np.array([1, 0, 0])).tolist() == [False, True, True]


@needs_native
def test_the_extension_refuses_columns_that_do_not_fit():
    two, three = np.zeros(2, np.int32), np.zeros(3, np.int32)
    far = np.array([9, 9], np.int32)
    wide, slots = np.zeros(2, np.int64), np.zeros(8, np.uint64)
    calls = [
        (NATIVE.search, two, three, wide, False),
        (NATIVE.number_pairs, wide, np.zeros(3, np.int64), slots, two, two.copy()),
        (NATIVE.number_pairs, wide, wide.copy(), slots[:2], two, two.copy()),
        (NATIVE.number_pairs, wide, wide.copy(), slots[:7], two, two.copy()),
        (NATIVE.order_by, two, three, three.copy()),
        (NATIVE.order_by, far, three, two),
        (NATIVE.order_by_key, two, two, three, three.copy(), three.copy()),
        (NATIVE.order_by_key, two, np.array([0, 3], np.int32), three, two, two.copy()),
        (NATIVE.order_by_key, two, np.array([0, 3, 2], np.int32), three, two, two.copy()),
        (NATIVE.order_by_key, far, np.array([0, 2], np.int32), three, two, two.copy()),
    ]
    for function, *columns in calls:
        with pytest.raises(ValueError, match=r"column|room|range"):
            function(*columns)


@pytest.mark.parametrize("members", [[], [3], [9, -4, 3, 3], list(range(-5, 60, 7))])
def test_members_are_found_as_by_numpy(members):
    values = np.array([3, 3, 9, -4, 58, -(1 << 40), 1 << 40, 0], np.int64)
    wanted = np.array(members, np.int64)
    assert is_among(values, wanted).tolist() == np.isin(values, wanted).tolist()
