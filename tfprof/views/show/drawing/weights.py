"""The attribute by which nodes are chosen, sized and coloured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.tree import Tree
from tfprof.core.text.metrics import METRIC_FORMS
from tfprof.core.text.units import human_count, human_share
from tfprof.errors import UsageError
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.profiles.model.executions import NO_OP
from tfprof.views.result import ViewTree

FALLBACKS = ("micros", "float_ops", "params", "bytes", "occurrence")
"""Tried in this order when nothing that was selected has a value."""

ATTRIBUTES = tuple(form.select for form in METRIC_FORMS)


@dataclass(frozen=True, slots=True)
class Weights:
    """One attribute of all rows of a view; negative values, which clock skew makes, count as 0.

    Attributes:
        title: Its name.
        form: Number to text.
        own: Of the row itself, shape (n,); all 0 if only ops are counted.
        total: Of the row and all below it, shape (n,).
    """

    title: str
    form: Callable[[int], str]
    own: Int64Array
    total: Int64Array

    def text(self, value: int) -> str:
        """A value with its share of the whole."""
        whole = int(self.total[0])
        share = f" ({human_share(value, whole)})" if 0 < value <= whole else ""
        return f"{self.form(value)}{share}"


def choose_weights(tree: ViewTree, attribute: str | None) -> Weights:
    """The weights by an attribute.

    Args:
        tree: The view.
        attribute: One of ``ATTRIBUTES``. None is the first of the view's ``select`` that has a
            value, else the first of ``FALLBACKS``, else the number of ops.

    Raises:
        UsageError: There is no such attribute.
    """
    forms = {form.select: form for form in METRIC_FORMS}
    if attribute is not None and attribute not in forms:
        raise UsageError(f"attribute {attribute!r}: use one of {', '.join(ATTRIBUTES)}")
    wanted: Sequence[str] = (
        [name for name in (*tree.options.select, *FALLBACKS) if name in forms]
        if attribute is None
        else [attribute]
    )
    for name in wanted:
        row = METRIC_ROW[forms[name].metric]
        if attribute is not None or tree.total[row, 0] > 0:
            own = np.maximum(tree.own[row], 0)
            return Weights(forms[name].title, forms[name].form, own, _totals(tree, row))
    title = "number of lines" if tree.kind == "code" else "number of ops"
    counted = (tree.op_rows != NO_OP) if tree.kind != "code" else np.arange(len(tree)) > 0
    totals = Tree.from_parents(tree.parent.tolist()).subtree_counts(counted)
    return Weights(title, human_count, np.zeros(len(tree), np.int64), totals)


def _totals(tree: ViewTree, row: int) -> Int64Array:
    """Totals of a metric, none of them smaller than that of a row below."""
    total: Int64Array = np.maximum(tree.total[row], 0)
    if (tree.total[row] < 0).any():
        for child in range(len(tree) - 1, 0, -1):
            parent = tree.parent[child]
            total[parent] = max(total[parent], total[child])
    return total
