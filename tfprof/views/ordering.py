"""Known numbers of a view, the meaning of ``auto``, and the order of siblings.

An unmeasured number is not 0. Without a chosen order and attributes, views show the recorded ones,
the largest first, without rows that never ran: see ``docs/adr/0022-views-sort-by-cost.md``. Given
options are never changed. The order is that of ``TFShow::SortNodes``: stable, numbers from large to
small.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfprof.core.columns import tree_walks
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.text.metrics import METRIC_FORMS
from tfprof.options.parse import ProfileOptions
from tfprof.options.spec import AUTO
from tfprof.profiles.accounting.accounting import METRIC_ROW, METRICS, Metrics
from tfprof.profiles.accounting.profile_info import why_no_memory, why_no_variables
from tfprof.profiles.model.profile import Profile

if TYPE_CHECKING:
    from tfprof.views.result import ViewTree


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
"""If fewer than one in this many names are needed, only these are sorted; else all are, once."""

OF_GRAPHS = ("params", "float_ops")
"""Metrics of a graph without any run."""


class NameRanks:
    """Ranks of names in byte order, cached for views by name.

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


NO_STEPS = "times, memory and runs need run metadata"

_NEEDS_RUN = {metric.metric: metric.needs_run for metric in METRIC_FORMS}


def lacking(tree: ViewTree, metrics: Iterable[str] = METRICS) -> dict[str, str]:
    """Metrics that the profile of a view does not hold, with reasons.

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

    0 float operations are unknown, or there is no formula. Other zeros are numbers: an op that
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


_FOR_READERS = ("stdout", "file", "none")
"""Outputs with rows of text; drawings and timelines show size by place and colour."""

_OF_RUNS = ("micros",)

_BY_COST = (
    "micros", "accelerator_micros", "cpu_micros", "bytes", "peak_bytes", "residual_bytes",
    "output_bytes", "float_ops", "params",
)  # fmt: skip
"""Rows are sorted by the first of these that is shown and known."""


def settled(options: ProfileOptions, profile: Profile, metrics: Metrics) -> ProfileOptions:
    """The options with every ``auto`` replaced; ``metrics`` are those of every op."""
    values = dict(options.values)
    has_runs = bool(profile.steps.steps)
    if AUTO in values["select"]:
        known = [name for name in OF_GRAPHS if not has_runs and _is_known(name, metrics)]
        named = [name for name in values["select"] if name != AUTO]
        values["select"] = tuple(dict.fromkeys([*named, *(known or _OF_RUNS)]))
    if values["order_by"] != AUTO:
        return replace(options, values=values)
    shown = [name for name in _BY_COST if name in values["select"]]
    known = [name for name in shown if _is_known(name, metrics)]
    is_read = options.output.type in _FOR_READERS
    values["order_by"] = known[0] if known and is_read else "name"
    return replace(options, values=values, hides_idle=bool(known) and is_read and has_runs)


def needs_float_ops(options: ProfileOptions, profile: Profile) -> bool:
    """Whether the rows of a view, or their order, depend on float operations.

    The options are those before ``settled``.
    """
    select = options.values["select"]
    return (
        "float_ops" in select
        or options.order_by == "float_ops"
        or options.minimum("float_ops") > 0
        or (AUTO in select and not profile.steps.steps)
    )


def idle_metrics(options: ProfileOptions) -> list[int]:
    """Rows of the metrics that are all 0 for an idle node: runs, and the shown metrics."""
    shown = [METRIC_OF_ORDER[name] for name in options.select if name in METRIC_OF_ORDER]
    return [METRIC_ROW[metric] for metric in ("run_count", *shown)]


def _is_known(name: str, metrics: Metrics) -> bool:
    return bool(metrics[METRIC_ROW[METRIC_OF_ORDER[name]]].any())
