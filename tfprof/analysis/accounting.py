"""What each op costs."""

from __future__ import annotations

import numpy as np

from tfprof.model.columns import Int64Array
from tfprof.model.profile import Profile
from tfprof.model.shapes import Shape, display_dims

METRICS = (
    "run_count",
    "exec_micros",
    "accelerator_exec_micros",
    "cpu_exec_micros",
    "requested_bytes",
    "peak_bytes",
    "residual_bytes",
    "output_bytes",
    "parameters",
    "float_ops",
)
"""The numbers every view carries, in the row order of its matrices. Times are microseconds."""

METRIC_ROW = {name: row for row, name in enumerate(METRICS)}

_INT64_MAX = (1 << 63) - 1


def op_metrics(profile: Profile, step: int, *, classic: bool) -> Int64Array:
    """All metrics of all ops.

    Args:
        profile: The profile.
        step: A step that was added, or negative for the average.
        classic: Let parameter counts wrap at 64 bits, as in the original; otherwise a count so
            large that totals could wrap is left out, and the notices say so.

    Returns:
        Shape (len(METRICS), n ops). ``float_ops`` is the count of one run times the number of
        runs; an op without any record keeps the count of one run (``tfprof_node.h``).
    """
    ops = profile.ops
    measures = profile.steps.measures(step, len(ops))
    metrics = np.empty((len(METRICS), len(ops)), np.int64)
    metrics[0] = measures.values[0]
    metrics[1] = measures.exec_micros
    metrics[2:8] = measures.values[1:]
    metrics[8] = _parameters(profile, classic)
    metrics[9] = ops.float_ops.array * np.where(measures.recorded, metrics[0], 1)
    return metrics


def parameter_count(shape: Shape) -> int:
    """Elements of a shape: the product of its dimensions, 1 for a scalar, 0 if any is unknown."""
    dims = display_dims(shape)
    if not dims or min(dims) < 0:
        return 0
    count = 1
    for dim in dims:
        count *= dim
    return count


def _parameters(profile: Profile, classic: bool) -> Int64Array:
    counts = [parameter_count(shape) for shape in profile.ops.shapes.shapes.values]
    if classic:
        counts = [(count + 2**63) % 2**64 - 2**63 for count in counts]
    else:
        limit = _INT64_MAX // max(len(profile.ops), 1)
        profile.notices.set(
            "parameters-too-many",
            "a shape has so many elements that totals would not fit into 64 bits; ops with "
            "such a shape count 0 parameters",
            sum(count > limit for count in counts),
        )
        counts = [count if count <= limit else 0 for count in counts]
    by_shape = np.array([*counts, 0], np.int64)  # the last one is for "no shape", id -1
    result: Int64Array = by_shape[profile.ops.shape_ids.array]
    return result
