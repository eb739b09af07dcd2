"""The op, type or line with the highest own cost, whether the view's options show it or not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.views.result import ViewTree


def heaviest(tree: ViewTree, metric: str) -> tuple[str, int] | None:
    """Name and number of the op (op view: type, code view: line) with the highest own cost.

    Every op that the view accounts for counts, listed or not; where totals count only what is
    shown (``account_displayed_op_only``), so does this.

    Args:
        tree: The view.
        metric: One of the metrics, such as ``exec_micros``.

    Returns:
        None if all costs are 0.
    """
    row = METRIC_ROW[metric]
    if tree.options.account_displayed_op_only:
        own = tree.own[row].copy()
        own[0] = 0
        return _largest(own, lambda place: tree.names[place])
    costs = tree.op_metrics[row]
    matches = tree.facts.match_counts(tree.options.account)[: len(costs)]
    times = matches if tree.options.classic else np.minimum(matches, 1)
    if tree.kind == "op":
        types, place = np.unique(tree.facts.type_ids[: len(costs)], return_inverse=True)
        sums = np.zeros(len(types), np.int64)
        np.add.at(sums, place, costs * times)
        return _largest(sums, lambda at: str(tree.facts.strings[int(types[at])]))
    if tree.code is not None:
        groups = tree.code.groups.only(times)
        names = tree.code.names
        return _largest(groups.sums(costs, times), lambda place: names[place])
    return _largest(costs * np.minimum(times, 1), tree.ops.name)


def _largest(costs: Int64Array, name_of: Callable[[int], str]) -> tuple[str, int] | None:
    if not costs.size or costs.max() <= 0:
        return None
    place = int(costs.argmax())
    return name_of(place), int(costs[place])
