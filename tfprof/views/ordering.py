"""The order of siblings (``TFShow::SortNodes``): stable, numbers from large to small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.analysis.accounting import METRIC_ROW
from tfprof.model.columns import Int64Array

_METRIC_OF_ORDER = {
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


def sort_keys(
    order_by: str,
    positions: Int64Array,
    names: Sequence[str],
    total: Int64Array,
    occurrence: Int64Array | None,
) -> Int64Array:
    """A key per node that is ascending in the wanted order; equal keys are ties.

    Args:
        order_by: The option; empty keeps the order of appearance.
        positions: The nodes to sort, shape (m,).
        names: Name of every node, shape (n,).
        total: Total metrics of every node, shape (len(METRICS), n).
        occurrence: Number of ops of every node, shape (n,); None sorts by name instead, as the
            original's scope and graph views do.

    Returns:
        Shape (m,).
    """
    if not order_by:
        return np.zeros(len(positions), np.int64)
    if order_by in _METRIC_OF_ORDER:
        keys: Int64Array = ~total[METRIC_ROW[_METRIC_OF_ORDER[order_by]]][positions]
        return keys  # ~x falls as x rises, without the overflow of -x
    if order_by == "occurrence" and occurrence is not None:
        return ~occurrence[positions]
    return name_ranks([names[position] for position in positions.tolist()])


def name_ranks(names: Sequence[str]) -> Int64Array:
    """Place of each name in byte order; equal names share a place.

    Python compares strings by code point, which is the byte order of their UTF-8.
    """
    place = {name: rank for rank, name in enumerate(sorted(set(names)))}
    return np.fromiter((place[name] for name in names), np.int64, len(names))
