"""The numbers of the lines that a view shows, and which of them are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.text.metrics import Metric
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.profiles.model.executions import NO_OP
from tfprof.views.known import lacking
from tfprof.views.result import ViewTree


@dataclass(frozen=True, slots=True)
class Amounts:
    """One metric of all lines.

    Attributes:
        values: Total of each line and all below it, shape (n,).
        unknown: Where it is not known.
        own: Own cost of each line.
        own_unknown: Where it is not known, or the line has none.
        whole: What shares are shares of.
    """

    values: Int64Array
    unknown: BoolArray
    own: Int64Array
    own_unknown: BoolArray
    whole: int


class LineAmounts:
    """The numbers of some rows of a view.

    Args:
        tree: The view.
        rows: The rows, the root first.
        ends_with_others: The last one stands for all op types that are not shown.
    """

    def __init__(self, tree: ViewTree, rows: Int64Array, ends_with_others: bool) -> None:
        self._tree = tree
        self._rows = rows
        self._is_list = tree.kind == "op"
        self._ends_with_others = ends_with_others
        self._has_float_ops = bool(tree.ops.float_ops.array.any())

    def of(self, metric: Metric) -> Amounts:
        """One metric."""
        index = METRIC_ROW[metric.metric]
        own = self._tree.own[index][self._rows]
        totals = self._totals(index)
        own_unknown = self._unknown(metric, own) | ~self.has_own
        whole = int(self._tree.total[index, 0])
        return Amounts(totals, self._unknown(metric, totals), own, own_unknown, whole)

    def is_unknown(self, metric: Metric) -> bool:
        """Whether the profile does not hold a metric at all."""
        if metric.select == "float_ops":
            return not self._has_float_ops
        return metric.metric in self._lacking

    @cached_property
    def _lacking(self) -> dict[str, str]:
        return lacking(self._tree)

    @cached_property
    def has_own(self) -> BoolArray:
        """Lines of a tree that are themselves an op, or a line that made ops, and count."""
        tree, rows = self._tree, self._rows
        if self._is_list:
            return np.zeros(len(rows), np.bool_)
        in_code = tree.kind == "code"
        has_ops = np.diff(tree.member_offsets) > 0 if in_code else tree.op_rows != NO_OP
        return np.asarray(tree.accounted[rows] & has_ops[rows], np.bool_)

    def _totals(self, index: int) -> Int64Array:
        """Of a list each row has its own, the first the whole, and the last what is left."""
        of_rows: Int64Array = self._tree.total[index][self._rows]
        if not self._is_list:
            return of_rows
        totals: Int64Array = self._tree.own[index][self._rows].copy()
        totals[0] = of_rows[0]
        if self._ends_with_others:
            totals[-1] = totals[0] - int(totals[1:-1].sum())
        return totals

    def _unknown(self, metric: Metric, values: Int64Array) -> BoolArray:
        """Where there is no number, or a zero only means that there was nothing to measure."""
        if self.is_unknown(metric):
            return np.ones(len(values), np.bool_)
        if metric.select == "float_ops":
            return np.asarray(values == 0, np.bool_)
        if not metric.needs_run or metric.metric == "run_count":
            return np.zeros(len(values), np.bool_)
        runs = self._totals(METRIC_ROW["run_count"])
        if self._ends_with_others:
            runs[-1] = 1
        return np.asarray((values == 0) & (runs == 0), np.bool_)
