"""Which nodes are shown: the minimum bounds and the name filters (``TFShow::ShouldShow``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.analysis.accounting import METRIC_ROW
from tfprof.model.columns import BoolArray, Int64Array
from tfprof.options.parse import ProfileOptions

_BOUNDS_ON_TOTALS = (
    ("bytes", "requested_bytes"),
    ("peak_bytes", "peak_bytes"),
    ("residual_bytes", "residual_bytes"),
    ("output_bytes", "output_bytes"),
    ("micros", "exec_micros"),
    ("accelerator_micros", "accelerator_exec_micros"),
    ("cpu_micros", "cpu_exec_micros"),
)


def within_bounds(
    options: ProfileOptions,
    positions: Int64Array,
    total: Int64Array,
    counted: Int64Array,
    occurrence: Int64Array | None,
) -> BoolArray:
    """Which of some nodes pass every ``min_*`` option.

    Args:
        options: The bounds.
        positions: The nodes to look at, shape (m,).
        total: Total metrics of every node, shape (len(METRICS), n).
        counted: Metrics that ``min_params`` and ``min_float_ops`` look at: own metrics in scope
            and graph view, totals in op and code view.
        occurrence: What ``min_occurrence`` looks at, shape (n,); None where it has no effect.

    Returns:
        Shape (m,).
    """
    bounded = [(total[METRIC_ROW[metric]], option) for option, metric in _BOUNDS_ON_TOTALS]
    bounded.append((counted[METRIC_ROW["parameters"]], "params"))
    bounded.append((counted[METRIC_ROW["float_ops"]], "float_ops"))
    if occurrence is not None:
        bounded.append((occurrence, "occurrence"))
    passed = np.ones(len(positions), np.bool_)
    for values, option in bounded:
        minimum = options.minimum(option)
        if len(values) and int(values.min()) < minimum:
            passed &= values[positions] >= minimum
    return passed


def named_to_show(options: ProfileOptions, names: Sequence[str]) -> BoolArray:
    """Names that some show regex and no hide regex matches."""
    return options.show.mask(names) & ~options.hide.mask(names)
