import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.core.columns.tree import Tree, reorder_preorder

#        0
#      /   \
#     1     4
#    / \    |
#   2   3   5
PARENTS = [-1, 0, 1, 1, 0, 4]


@st.composite
def preorder_parents(draw):
    """Parents of a random tree in preorder: each node hangs off the path to its predecessor."""
    parents = [-1]
    for position in range(1, draw(st.integers(1, 25))):
        path = [position - 1]
        while parents[path[-1]] >= 0:
            path.append(parents[path[-1]])
        parents.append(draw(st.sampled_from(path)))
    return parents


def children_of(parents, node):
    return [child for child, parent in enumerate(parents) if parent == node]


def subtree(parents, node):
    found = [node]
    for child in children_of(parents, node):
        found += subtree(parents, child)
    return found


def ancestors(parents, node):
    found = []
    while parents[node] >= 0:
        node = parents[node]
        found.append(node)
    return found


def test_end_is_one_past_the_subtree():
    assert Tree.from_parents(PARENTS).end.tolist() == [6, 4, 3, 4, 6, 6]


def test_subtree_sums_by_hand():
    tree = Tree.from_parents(PARENTS)
    values = np.array([1, 2, 4, 8, 16, 32], np.int64)
    assert tree.subtree_sums(values).tolist() == [63, 14, 4, 8, 48, 32]
    both = tree.subtree_sums(np.stack([values, 10 * values]))
    assert both.tolist() == [[63, 14, 4, 8, 48, 32], [630, 140, 40, 80, 480, 320]]


def test_path_sums_by_hand():
    tree = Tree.from_parents(PARENTS)
    values = np.array([1, 2, 4, 8, 16, 32], np.int64)
    assert tree.path_sums(values).tolist() == [1, 3, 7, 11, 17, 49]


def test_subtree_sums_wrap_at_64_bits():
    tree = Tree.from_parents([-1, 0, 0])
    values = np.array([0, 2**63 - 1, 2], np.int64)
    assert tree.subtree_sums(values).tolist() == [-(2**63) + 1, 2**63 - 1, 2]


def test_below_leaves_the_marked_node_itself_out():
    marked = np.array([False, True, False, False, False, True])
    assert Tree.from_parents(PARENTS).below(marked).tolist() == [
        False, False, True, True, False, False,
    ]  # fmt: skip


def test_single_node():
    tree = Tree.from_parents([-1])
    assert len(tree) == 1
    assert tree.end.tolist() == [1]
    assert tree.nearest_marked_ancestor(np.array([True])).tolist() == [-1]
    assert reorder_preorder(tree.parent, np.array([0])).tolist() == [0]


@given(preorder_parents(), st.data())
def test_subtree_and_path_sums_equal_naive_recursion(parents, data):
    size = len(parents)
    values = data.draw(st.lists(st.integers(-100, 100), min_size=size, max_size=size))
    tree = Tree.from_parents(parents)
    column = np.array(values, np.int64)
    assert tree.subtree_sums(column).tolist() == [
        sum(values[node] for node in subtree(parents, top)) for top in range(size)
    ]
    assert tree.path_sums(column).tolist() == [
        values[node] + sum(values[above] for above in ancestors(parents, node))
        for node in range(size)
    ]


@given(preorder_parents(), st.data())
def test_marks_above_equal_naive_recursion(parents, data):
    size = len(parents)
    marks = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    tree = Tree.from_parents(parents)
    assert tree.below(np.array(marks)).tolist() == [
        any(marks[above] for above in ancestors(parents, node)) for node in range(size)
    ]
    marks[0] = True
    assert tree.nearest_marked_ancestor(np.array(marks)).tolist() == [
        next((above for above in ancestors(parents, node) if marks[above]), -1)
        for node in range(size)
    ]


@given(preorder_parents(), st.data())
def test_reorder_equals_naive_recursion_with_a_stable_sort(parents, data):
    size = len(parents)
    keys = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))

    def walk(node):
        order = [node]
        for child in sorted(children_of(parents, node), key=keys.__getitem__):
            order += walk(child)
        return order

    order = reorder_preorder(np.array(parents, np.int64), np.array(keys, np.int64))
    assert order.tolist() == walk(0)


@pytest.mark.parametrize("size", [100_000])
def test_a_chain_of_100_000_levels_gives_the_same(size):
    tree = Tree.from_parents(range(-1, size - 1))
    ones = np.ones(size, np.int64)
    assert tree.subtree_sums(ones).tolist() == list(range(size, 0, -1))
    marked = np.zeros(size, np.bool_)
    marked[0] = True
    assert tree.nearest_marked_ancestor(marked).tolist() == [-1] + [0] * (size - 1)
    order = reorder_preorder(tree.parent, np.zeros(size, np.int64))
    assert order.tolist() == list(range(size))
