"""Which numbers of a view are known: what was not measured is not 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from tfprof.core.columns.columns import BoolArray
from tfprof.core.text.metrics import METRIC_FORMS
from tfprof.profiles.accounting.accounting import METRIC_ROW, METRICS
from tfprof.profiles.accounting.lacking import why_no_memory, why_no_variables

if TYPE_CHECKING:
    from tfprof.views.result import ViewTree

NO_STEPS = "times, memory and runs need run metadata"

_NEEDS_RUN = {metric.metric: metric.needs_run for metric in METRIC_FORMS}


def lacking(tree: ViewTree, metrics: Iterable[str] = METRICS) -> dict[str, str]:
    """Metrics that the profile of a view does not hold, and why.

    Float operations have notices of their own, which name the ops.
    """
    reasons: dict[str, str] = {}
    for name in metrics:
        if _NEEDS_RUN[name] and not tree.profile.steps.steps:
            reasons[name] = NO_STEPS
        elif name.endswith("_bytes"):
            reasons[name] = why_no_memory(tree.profile.steps)
        elif name == "parameters" and not tree.op_metrics[METRIC_ROW[name]].any():
            reasons[name] = why_no_variables(tree.ops)
    return {name: reason for name, reason in reasons.items() if reason}


def known_cells(tree: ViewTree) -> dict[str, BoolArray]:
    """Where each of ``tree.columns`` is known, shape (n,); in classic mode everywhere.

    No float operations are unknown ones, or there is no formula. Other zeros are numbers: what
    never ran took no time.
    """
    everywhere = np.ones(len(tree), np.bool_)
    if tree.options.classic:
        return dict.fromkeys(tree.columns, everywhere)
    lacks = lacking(tree)
    known: dict[str, BoolArray] = {}
    for name, values in tree.columns.items():
        metric = name.removeprefix("total_")
        known[name] = values != 0 if metric == "float_ops" else everywhere & (metric not in lacks)
    known["total_definition_count"] = everywhere & (tree.kind in ("scope", "graph"))
    return known
