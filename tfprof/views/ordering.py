"""The order of siblings (``TFShow::SortNodes``): stable, numbers from large to small."""

from __future__ import annotations

import numpy as np

from tfprof.core.columns import tree_walks
from tfprof.core.columns.columns import Int64Array
from tfprof.profiles.accounting.accounting import METRIC_ROW, Metrics

METRIC_OF_ORDER = {
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "params": "parameters",
    "float_ops": "float_ops",
}
"""Row of a view's metrics for each attribute that can be shown and sorted by."""

_FEW = 4
"""Less than one in so many names are sorted by themselves; else all are, once."""

OF_GRAPHS = ("params", "float_ops")
"""Those that a graph has without any run."""


class NameRanks:
    """Ranks of names in byte order, which views by name ask for again and again.

    Args:
        names: The names, shape (n,).

    Example:
        >>> NameRanks(["b", "c", "a"]).of(np.array([1, 2])).tolist()
        [2, 0]
    """

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._all: Int64Array | None = None

    def of(self, positions: Int64Array) -> Int64Array:
        """Numbers that order the names at some positions, shape (len(positions),)."""
        if self._all is None:
            if len(positions) * _FEW < len(self._names):
                return name_ranks(tree_walks.taken(self._names, positions))
            self._all = name_ranks(self._names)
        return self._all[positions]


def sort_keys(
    order_by: str,
    positions: Int64Array,
    ranks: NameRanks,
    total: Metrics,
    occurrence: Int64Array | None,
) -> Int64Array:
    """A key per node that is ascending in the wanted order; equal keys are ties.

    Args:
        order_by: The option; empty keeps the order of appearance.
        positions: The nodes to sort, shape (m,).
        ranks: Ranks of the names of all nodes.
        total: Total metrics of every node.
        occurrence: Number of ops of every node, shape (n,); None sorts by name instead, as the
            original's scope and graph views do.

    Returns:
        Shape (m,).
    """
    if not order_by:
        return np.zeros(len(positions), np.int64)
    if order_by in METRIC_OF_ORDER:
        keys: Int64Array = ~total[METRIC_ROW[METRIC_OF_ORDER[order_by]]][positions]
        return keys  # ~x falls as x rises, without the overflow of -x
    if order_by == "occurrence" and occurrence is not None:
        return ~occurrence[positions]
    return ranks.of(positions)


def name_ranks(names: list[str]) -> Int64Array:
    """Place of each name in byte order; equal names keep their order."""
    ranks = np.empty(len(names), np.int64)
    ranks[tree_walks.name_order(names)] = np.arange(len(names))
    return ranks
