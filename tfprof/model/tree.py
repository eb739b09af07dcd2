"""Trees as arrays in preorder, and the few operations every hierarchical view is made of.

Position 0 is the root; the subtree of position ``v`` is the slice ``v:end[v]``. Everything
here is a handful of whole-array steps, so a chain of 100,000 levels costs what a flat list does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.model.columns import BoolArray, Int64Array


@dataclass(frozen=True, slots=True)
class Tree:
    """A rooted tree, laid out in preorder.

    Attributes:
        parent: Position of the parent, shape (n,); -1 for the root, else smaller than the own.
        end: One past the last position of the subtree, shape (n,).
    """

    parent: Int64Array
    end: Int64Array

    @classmethod
    def from_parents(cls, parent: Sequence[int]) -> Tree:
        """Build from parent positions that are already in preorder. O(n)."""
        size = len(parent)
        weight = [1] * size
        for position in range(size - 1, 0, -1):
            weight[parent[position]] += weight[position]
        positions = np.arange(size, dtype=np.int64)
        return cls(np.asarray(parent, np.int64), positions + np.asarray(weight, np.int64))

    def __len__(self) -> int:
        return len(self.parent)

    def subtree_sums(self, values: Int64Array | BoolArray) -> Int64Array:
        """Sum of ``values`` over each subtree, its top included.

        Args:
            values: Shape (n,) or (k, n). Sums wrap at 64 bits, as the original's do.
        """
        if values.ndim == 1:
            total: Int64Array = self.subtree_sums(values[None])[0]
            return total
        sums = np.empty(values.shape, np.int64)
        running = np.zeros(len(self) + 1, np.int64)
        for row in range(len(values)):  # one at a time: the running sum stays in the cache
            np.cumsum(values[row], out=running[1:])
            np.subtract(running[self.end], running[:-1], out=sums[row])
        return sums

    def subtree_counts(self, marked: BoolArray) -> Int64Array:
        """Number of marked positions in each subtree, its top included."""
        return self.subtree_sums(marked)

    def path_sums(self, values: Int64Array) -> Int64Array:
        """Sum of ``values``, shape (n,), from the root down to each position, both included."""
        steps = np.zeros(len(self) + 1, np.int64)
        steps[:-1] = values
        np.subtract.at(steps, self.end, values)
        sums: Int64Array = np.cumsum(steps[:-1])
        return sums

    def below(self, marked: BoolArray) -> BoolArray:
        """Which positions have a marked ancestor (themselves not counted)."""
        marks = marked.astype(np.int64)
        return (self.path_sums(marks) - marks) > 0

    def nearest_marked_ancestor(self, marked: BoolArray) -> Int64Array:
        """Closest marked proper ancestor of each position; the root must be marked.

        O(n log depth), by doubling the jumps until every one lands on a mark.
        """
        positions = np.arange(len(self), dtype=np.int64)
        jump = np.where(marked, positions, self.parent)
        jump[0] = 0
        while not marked[jump].all():
            jump = jump[jump]
        ancestor: Int64Array = jump[self.parent]
        ancestor[0] = -1
        return ancestor


def reorder_preorder(tree_parent: Int64Array, sort_key: Int64Array) -> Int64Array:
    """Display order of a tree whose siblings are sorted by a key.

    Args:
        tree_parent: Parent positions in preorder, root first, shape (n,).
        sort_key: Ascending key among siblings, shape (n,); ties keep their order.

    Returns:
        Positions in the new preorder, shape (n,).
    """
    size = len(tree_parent)
    if size <= 1:
        return np.arange(size, dtype=np.int64)
    tree = Tree.from_parents(tree_parent.tolist())
    weight = tree.end - np.arange(size)
    siblings = np.lexsort((np.arange(1, size), sort_key[1:], tree_parent[1:])) + 1
    before = np.cumsum(weight[siblings]) - weight[siblings]
    groups = tree_parent[siblings]
    first_of_group = np.searchsorted(groups, groups, side="left")
    offset = np.zeros(size, np.int64)
    offset[siblings] = before - before[first_of_group] + 1
    place = tree.path_sums(offset)
    order = np.empty(size, np.int64)
    order[place] = np.arange(size)
    return order
