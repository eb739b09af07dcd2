"""Which nodes are shown: the minimum bounds and the name filters (``TFShow::ShouldShow``)."""

from __future__ import annotations

import numpy as np

from tfprof.core.columns import tree_walks
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.options.parse import ProfileOptions
from tfprof.options.regex import NameMatcher
from tfprof.profiles.accounting.accounting import METRIC_ROW, Metrics
from tfprof.views.defaults import idle_metrics
from tfprof.views.ordering import METRIC_OF_ORDER, OF_GRAPHS


def within_bounds(
    options: ProfileOptions,
    positions: Int64Array,
    total: Metrics,
    counted: Metrics,
    occurrence: Int64Array | None,
) -> BoolArray:
    """Which of some nodes pass every ``min_*`` option.

    A negative bound on float operations has an effect in classic mode only: other modes do not
    count them for it.

    Args:
        options: The bounds.
        positions: The nodes to look at, shape (m,).
        total: Total metrics of every node.
        counted: Metrics that ``min_params`` and ``min_float_ops`` look at: own metrics in scope
            and graph view, totals in op and code view.
        occurrence: What ``min_occurrence`` looks at, shape (n,); None where it has no effect.

    Returns:
        Shape (m,).
    """
    passed = np.ones(len(positions), np.bool_)
    for option, metric in METRIC_OF_ORDER.items():
        metrics = counted if option in OF_GRAPHS else total
        minimum = options.minimum(option)
        certain = metrics.never_negative or (option == "float_ops" and not options.classic)
        if minimum > 0 or not certain:
            passed &= metrics[METRIC_ROW[metric]][positions] >= minimum
    if occurrence is not None:
        passed &= occurrence[positions] >= options.minimum("occurrence")
    return passed


def busy_nodes(options: ProfileOptions, numbers: Metrics) -> BoolArray:
    """Nodes that ran or have a shown number, shape (n,); all nodes without ``hides_idle``."""
    busy = np.full(numbers.shape[1], not options.hides_idle)
    if options.hides_idle:
        for row in idle_metrics(options):
            busy |= numbers[row] != 0
    return busy


def named_to_show(options: ProfileOptions, names: list[str], positions: Int64Array) -> BoolArray:
    """Positions of names that some show regex and no hide regex matches."""
    shown = names_mask(options.show, names, positions)
    return shown & ~names_mask(options.hide, names, positions)


def names_mask(matcher: NameMatcher, names: list[str], positions: Int64Array) -> BoolArray:
    """Which of the names at some positions a matcher takes, shape (len(positions),)."""
    if matcher.everything:
        return np.ones(len(positions), np.bool_)
    if not matcher.patterns:
        return np.zeros(len(positions), np.bool_)
    return matcher.mask(tree_walks.taken(names, positions))
