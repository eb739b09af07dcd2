"""Time by name of two ranges beside each other, and their difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfprof.captures.run.table import Column, Table
from tfprof.captures.trace.model import TraceModel
from tfprof.ui.pages.blocks_of_results import table_block
from tfprof.ui.pages.trace.spent import MOST_NAMES, spent_by_name

_PS_PER_US = 1e6

_COLUMNS = (
    Column("name", "Name", "string"),
    Column("a_us", "Self time in A", unit="us"),
    Column("b_us", "Self time in B", unit="us"),
    Column("difference_us", "B less A", unit="us"),
    Column("a_events", "Events in A"),
    Column("b_events", "Events in B"),
)


def range_difference(
    model: TraceModel, a_ps: tuple[int, int], b_ps: tuple[int, int], tracks: Sequence[int]
) -> dict[str, Any]:
    """Self time by name of two ranges, the largest difference first, as plain data.

    Args:
        model: The trace.
        a_ps: Begin and end of the first range.
        b_ps: Begin and end of the second.
        tracks: The tracks; of several, only recorded ones count.

    Returns:
        ``a_ps`` and ``b_ps``, their lengths; ``a_busy_ps`` and ``b_busy_ps``, the self time of all
        names together; and ``table``.
    """
    a, b = (spent_by_name(model, *each, tracks) for each in (a_ps, b_ps))
    found = np.flatnonzero(a.counts + b.counts)
    changes = b.own[found] - a.own[found]
    order = found[np.lexsort((found, -b.own[found], -np.abs(changes)))][:MOST_NAMES]
    rows = [
        (model.names[name], own_a / _PS_PER_US, own_b / _PS_PER_US,
         (own_b - own_a) / _PS_PER_US, n_a, n_b)
        for name, own_a, own_b, n_a, n_b in zip(
            *(each.tolist() for each in (order, a.own[order], b.own[order])),
            *(each.counts[order].tolist() for each in (a, b)), strict=True,
        )
    ]  # fmt: skip
    return {
        "a_ps": a_ps[1] - a_ps[0],
        "b_ps": b_ps[1] - b_ps[0],
        "a_busy_ps": int(a.own.sum()),
        "b_busy_ps": int(b.own.sum()),
        "table": table_block(Table("difference", _COLUMNS, rows, title="Range B less range A")),
    }
