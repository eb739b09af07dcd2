"""The order of siblings (``TFShow::SortNodes``): stable, numbers from large to small."""

from __future__ import annotations

from operator import ne

import numpy as np

from tfprof.columns import tree_walks
from tfprof.columns.columns import Int64Array
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

OF_GRAPHS = ("params", "float_ops")
"""Those that a graph has without any run."""


def sort_keys(
    order_by: str,
    positions: Int64Array,
    names: list[str],
    total: Metrics,
    occurrence: Int64Array | None,
) -> Int64Array:
    """A key per node that is ascending in the wanted order; equal keys are ties.

    Args:
        order_by: The option; empty keeps the order of appearance.
        positions: The nodes to sort, shape (m,).
        names: Name of every node, shape (n,).
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
    return name_ranks(tree_walks.taken(names, positions))


def name_ranks(names: list[str]) -> Int64Array:
    """Place of each name in byte order; equal names share a place."""
    order = tree_walks.name_order(names)
    ascending = tree_walks.taken(names, order)
    is_new = np.fromiter(map(ne, ascending[1:], ascending), np.int64, max(len(names) - 1, 0))
    ranks = np.zeros(len(names), np.int64)
    ranks[order[1:]] = np.cumsum(is_new)
    return ranks
