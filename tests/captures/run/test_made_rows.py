"""Rows that are made on access equal a list of the same rows."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.run.made_rows import MadeRows
from tfprof.captures.run.table import Column, Table


def rows(n, requested=None):
    def make(begin, end):
        assert 0 <= begin < end <= n
        if requested is not None:
            requested.append(end - begin)
        return [(f"step {place}", place / 2) for place in range(begin, end)]

    return MadeRows(n, make)


def plain(n):
    return [(f"step {place}", place / 2) for place in range(n)]


@given(st.integers(0, 9), st.slices(9))
def test_slices_are_those_of_a_list(n, part):
    assert rows(n)[part] == plain(n)[part]


@given(st.integers(1, 9), st.integers(-12, 12))
def test_places_are_those_of_a_list(n, place):
    if -n <= place < n:
        assert rows(n)[place] == plain(n)[place]
    else:
        with pytest.raises(IndexError):
            rows(n)[place]


def test_they_are_made_in_blocks():
    requested = []
    assert list(rows(10_000, requested)) == plain(10_000)
    assert requested == [4096, 4096, 1808]


def test_they_are_equal_to_other_rows():
    assert rows(3) == plain(3) == rows(3)
    assert rows(3) != plain(2)
    assert rows(3) != "rows"
    assert pickle.loads(pickle.dumps(rows(3))) == plain(3)
    assert repr(rows(2)) == repr(plain(2))


def test_a_table_of_them_is_one_of_a_list():
    columns = (Column("step", "Step", "string"), Column("ms", "ms"))
    made, listed = (Table("steps", columns, own) for own in (rows(5), plain(5)))
    assert made == listed
    assert made.to_dict() == listed.to_dict()
    assert made.to_gviz() == listed.to_gviz()
    assert made.column("ms") == listed.column("ms")
