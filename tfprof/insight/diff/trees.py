"""Two views as one tree: each row of either at its place, with its time in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.insight.diff.noise import Change
from tfprof.insight.diff.views import changed_rows
from tfprof.views.result import ViewTree

_NO_ROW = -1


@dataclass(frozen=True, slots=True)
class ChangedTree:
    """The rows of two views, parents before their children.

    Attributes:
        names: Name of each row below its parent, shape (n,).
        full_names: Its whole name.
        parent: Row of the parent, shape (n,); -1 for the root.
        times: Its time in both, with all below it.
    """

    names: tuple[str, ...]
    full_names: tuple[str, ...]
    parent: Int64Array
    times: tuple[Change, ...]


def changed_tree(first: ViewTree, second: ViewTree) -> ChangedTree:
    """Join two trees; rows are the same if all names from the root down are.

    Args:
        first: The scope or graph view of the run before.
        second: The same view of the run after, with the same options.
    """
    trees = first, second
    rows = [
        (1, b, a, b, time) if b is not None else (0, a or 0, a, b, time)
        for a, b, time in changed_rows(first, second)
    ]
    # Parents are less deep than their children; rows of equal depth keep their order.
    depths = first.depth.tolist(), second.depth.tolist()
    rows.sort(key=lambda row: depths[row[0]][row[1]])
    places: tuple[dict[int, int], dict[int, int]] = {}, {}
    parent = np.full(len(rows), _NO_ROW, np.int64)
    for place, (which, row, a, b, _) in enumerate(rows):
        for of_tree, own in zip(places, (a, b), strict=True):
            if own is not None:
                of_tree[own] = place
        parent[place] = places[which].get(int(trees[which].parent[row]), _NO_ROW)
    return ChangedTree(
        tuple(_below_parent(trees[which], row) for which, row, *_ in rows),
        tuple(trees[which].names[row] for which, row, *_ in rows),
        parent,
        tuple(time for *_, time in rows),
    )


def _below_parent(tree: ViewTree, row: int) -> str:
    return tree.names[row].removeprefix(f"{tree.names[tree.parent[row]]}/")
