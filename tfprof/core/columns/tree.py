"""Trees as arrays in preorder, and the operations that hierarchical views need.

Position 0 is the root; the subtree of position ``v`` is the slice ``v:end[v]``. Operations take a
few steps over whole arrays, so a chain of 100,000 levels costs as much as a flat list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.core.columns import tree_walks
from tfprof.core.columns.columns import BoolArray, Int64Array


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
    def from_parents(cls, parent: Sequence[int] | Int64Array) -> Tree:
        """Build from parent positions that are already in preorder. O(n)."""
        parents = np.ascontiguousarray(parent, np.int64)
        return cls(parents, tree_walks.subtree_ends(parents))

    def __len__(self) -> int:
        return len(self.parent)

    def subtree_sums(self, values: Int64Array | BoolArray) -> Int64Array:
        """Sum of ``values`` over each subtree, its top included.

        Args:
            values: Shape (n,) or (k, n). Sums wrap at 64 bits, as the original's do.
        """
        if values.ndim == 1:
            return self._sums(values)
        sums = np.empty(values.shape, np.int64)
        for row, column in enumerate(values):
            sums[row] = self._sums(column)
        return sums

    def _sums(self, values: Int64Array | BoolArray) -> Int64Array:
        return tree_walks.subtree_sums(self.parent, self.end, values.astype(np.int64, copy=False))

    def subtree_counts(self, marked: BoolArray) -> Int64Array:
        """Number of marked positions in each subtree, its top included."""
        return self.subtree_sums(marked)

    def path_sums(self, values: Int64Array) -> Int64Array:
        """Sum of ``values``, shape (n,), from the root down to each position, both included."""
        return tree_walks.path_sums(self.parent, self.end, values)

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
    return tree_walks.sorted_preorder(tree_parent, sort_key)
