"""Walks by hand in both ways, and both ways alike on random trees, graphs and names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.core.columns import tree_pure as _tree_pure
from tfprof.core.columns import tree_walks
from tfprof.core.wire.compiled import native_module
from tfprof.errors import MalformedProfileError

_native: Any = native_module("tree")
_names: Any = native_module("names")
needs_native = pytest.mark.skipif(_native is None, reason="the native part was not built")

NAMES = st.lists(
    st.text(st.sampled_from("ab/-.\0_ö\U0001f600\ud800"), max_size=6), max_size=12, unique=True
)


@pytest.fixture(params=["native", "pure"], autouse=True)
def either_way(request, monkeypatch):
    """Each test runs with the compiled walks and without them."""
    if request.param == "native" and _native is None:
        pytest.skip("the native part was not built")
    monkeypatch.setenv("TFPROF_PURE", "1" if request.param == "pure" else "0")


def column(*values):
    return np.array(values, np.int64)


def test_names_in_byte_order():
    names = ["b", "a/b", "a", "a-b", "ö", "\U0001f600", ""]
    order = tree_walks.name_order(names).tolist()
    assert [names[place] for place in order] == ["", "a", "a-b", "a/b", "b", "ö", "\U0001f600"]


def test_a_slash_before_every_other_character():
    names = ["a-b", "a/b", "a", "a\0b", "a/b/c", "a/"]
    order = tree_walks.name_order(names, scopes_first=True).tolist()
    assert [names[place] for place in order] == ["a", "a/", "a/b", "a/b/c", "a\0b", "a-b"]


def test_equal_names_keep_their_order():
    assert tree_walks.name_order(["b", "a", "b", "a"]).tolist() == [1, 3, 0, 2]


def test_scopes_of_names():
    names, parent, places = tree_walks.scopes(["x/y/z", "x/a", "x/y", "w"], "root")
    assert names == ["root", "w", "x", "x/a", "x/y", "x/y/z"]
    assert parent.tolist() == [-1, 0, 0, 2, 2, 4]
    assert places.tolist() == [-1, 3, -1, 1, 2, 0]


def test_scopes_take_names_literally():
    names, parent, places = tree_walks.scopes(["/x", "p//q", "/"], "root")
    assert names == ["root", "", "/", "/x", "p", "p/", "p//q"]
    assert parent.tolist() == [-1, 0, 1, 1, 0, 4, 5]
    assert places.tolist() == [-1, -1, 2, 0, -1, -1, 1]


def test_nothing_has_only_a_root():
    names, parent, places = tree_walks.scopes([], "root")
    assert (names, parent.tolist(), places.tolist()) == (["root"], [-1], [-1])
    assert tree_walks.name_order([]).tolist() == []
    assert tree_walks.taken([], column()) == []


def test_depth_first_claims_an_op_when_recursion_would():
    # 0 reads 1 and 2, 1 reads 2, 2 reads nothing; 3 reads itself and an input that is not there.
    order, parent = tree_walks.depth_first(
        column(0, 2, 3, 3, 5), column(1, 2, 2, 3, -1), column(0, 3)
    )
    assert order.tolist() == [0, 1, 2, 3]
    assert parent.tolist() == [-1, 0, 1, 2, 0]


def test_depth_first_reaches_only_what_the_tops_lead_to():
    order, parent = tree_walks.depth_first(column(0, 0, 1), column(0), column(0))
    assert (order.tolist(), parent.tolist()) == ([0], [-1, 0])


def test_taken_by_place():
    assert tree_walks.taken(["a", "b", "c"], column(2, 0, 2)) == ["c", "a", "c"]
    with pytest.raises(IndexError):
        tree_walks.taken(["a"], column(1))


def test_a_scope_in_100_000_scopes():
    name = "a/" * 100_000 + "a"
    names, parent, _ = tree_walks.scopes([name[:9], name[:19]], "root")
    assert len(names) == 11
    assert parent.tolist() == list(range(-1, 10))
    assert tree_walks.name_order([name, name[:-1]]).tolist() == [1, 0]


def test_names_with_far_more_scopes_than_bytes_are_refused():
    name = "a/" * 100_000 + "a"
    with pytest.raises(MalformedProfileError, match=r"'a/a/a.*lies in 100000, and the names"):
        tree_walks.scopes(["b", name], "root")
    many = [f"{number:05}/" + "/".join("abcdefghijklmnop") for number in range(10_000)]
    assert len(tree_walks.scopes(many, "root")[0]) == 170_001


@needs_native
@given(NAMES)
def test_names_and_scopes_are_the_same_natively(names):
    for scopes_first in (False, True):
        expected = _tree_pure.name_order(names, scopes_first).tolist()
        assert tree_walks.name_order(names, scopes_first=scopes_first).tolist() == expected
    found, parent, places = tree_walks.scopes(names, "root")
    order = _tree_pure.name_order(names, True)
    names_by_hand, parents_by_hand, places_by_hand = _tree_pure.scopes(
        names, order, tree_walks.most_scope_bytes
    )
    assert found[1:] == names_by_hand[1:]
    assert parent.tolist() == parents_by_hand.tolist()
    assert places.tolist() == places_by_hand.tolist()


@needs_native
@given(st.lists(st.text("ab/", max_size=40), max_size=80))
def test_long_and_equal_names_are_sorted_the_same_natively(names):
    for scopes_first in (False, True):
        expected = _tree_pure.name_order(names, scopes_first).tolist()
        assert tree_walks.name_order(names, scopes_first=scopes_first).tolist() == expected


@needs_native
@given(st.data())
def test_graphs_are_walked_the_same_natively(data):
    n_ops = data.draw(st.integers(1, 8))
    inputs = data.draw(
        st.lists(st.lists(st.integers(-1, n_ops - 1), max_size=4), min_size=n_ops, max_size=n_ops)
    )
    offsets = np.cumsum([0, *map(len, inputs)])
    producers = column(*(producer for below in inputs for producer in below))
    tops = column(*data.draw(st.permutations(range(n_ops))))
    order, parent = tree_walks.depth_first(offsets, producers, tops)
    order_by_hand, parent_by_hand = _tree_pure.depth_first(offsets, producers, tops)
    assert order.tolist() == order_by_hand.tolist()
    assert parent.tolist() == parent_by_hand.tolist()


@needs_native
@given(st.data())
def test_trees_are_walked_the_same_natively(data):
    parents = [-1]
    for node in range(1, data.draw(st.integers(1, 40))):
        path = [node - 1]
        while parents[path[-1]] >= 0:
            path.append(parents[path[-1]])
        parents.append(data.draw(st.sampled_from(path)))
    parent, size = column(*parents), len(parents)
    numbers = st.sampled_from([0, 1, 2, -1, 2**63 - 1, -(2**63)])
    values = column(*data.draw(st.lists(numbers, min_size=size, max_size=size)))
    end = tree_walks.subtree_ends(parent)
    assert end.tolist() == _tree_pure.subtree_ends(parent).tolist()
    pairs = (
        (tree_walks.subtree_sums(parent, end, values), _tree_pure.subtree_sums(end, values)),
        (tree_walks.path_sums(parent, end, values), _tree_pure.path_sums(end, values)),
        (tree_walks.sorted_preorder(parent, values), _tree_pure.sorted_preorder(parent, values)),
    )
    for found, by_hand in pairs:
        assert found.tolist() == by_hand.tolist()


@needs_native
def test_many_siblings_of_one_key_keep_their_order():
    parent = np.zeros(100, np.int64)
    parent[0] = -1
    keys = np.arange(100) % 3
    order = _tree_pure.sorted_preorder(parent, keys).tolist()
    assert tree_walks.sorted_preorder(parent, keys).tolist() == order
    assert order[1:35] == [*range(3, 100, 3), 1]


@needs_native
@pytest.mark.parametrize("wrong", [[-1, 1], [-1, 5], [-1, -1], [-1, 0, 2]])
def test_parents_that_lie_outside_are_refused(wrong):
    parent, room = column(*wrong), np.zeros(len(wrong), np.int64)
    for walk in (_native.subtree_sums, _native.path_sums, _native.sorted_preorder):
        with pytest.raises(ValueError, match="preorder"):
            walk(parent, room, room.copy())


@needs_native
def test_columns_that_do_not_fit_together_are_refused():
    two, three = np.zeros(2, np.int64), np.zeros(3, np.int64)
    with pytest.raises(ValueError, match="length"):
        _native.subtree_sums(two, three, two)
    with pytest.raises(ValueError, match="length"):
        _native.sorted_preorder(two, two, three)
    with pytest.raises(ValueError, match="length"):
        _native.depth_first(three, two, two, three, three)
    with pytest.raises(ValueError, match="places"):
        _names.name_order(["a"], two, False)
    with pytest.raises(ValueError, match="out of the names"):
        _names.scopes(["a"], column(1), tree_walks._two_columns, tree_walks.most_scope_bytes)
    with pytest.raises(ValueError, match="length"):
        _names.scopes(["a"], column(0), lambda size: (two[:1], three), tree_walks.most_scope_bytes)
    for offsets, producers, tops in (
        ([0, 1], [1], [0]), ([0, 2], [0], [0]), ([0, 1], [0], [1]), ([1, 0], [0], [0]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="out of the graph"):
            _native.depth_first(
                column(*offsets), column(*producers), column(*tops), column(0), column(0, 0)
            )
