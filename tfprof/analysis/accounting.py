"""What each op costs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tfprof.model.columns import BoolArray, Int64Array
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

Float64Array = npt.NDArray[np.float64]

_LARGEST_TOTAL = 9.2e18
"""A little less than 2^63, for the rounding of floating-point sums."""


def op_metrics(
    profile: Profile, step: int, *, classic: bool, static_float_ops: bool = False
) -> Int64Array:
    """All metrics of all ops.

    Args:
        profile: The profile.
        step: A step that was added, or negative for the average.
        classic: Let parameters and float operations wrap at 64 bits, as in the original;
            otherwise, where totals would wrap, the largest counts are left out, and the notices
            say so.
        static_float_ops: Count the float operations of one run of the program as the graph says,
            not of what was recorded.

    Returns:
        Shape (len(METRICS), n ops). ``float_ops`` is the count of one run times the number of
        runs; an op without any record keeps the static count (``tfprof_node.h``).
    """
    ops = profile.ops
    measures = profile.steps.measures(step, len(ops))
    metrics = np.empty((len(METRICS), len(ops)), np.int64)
    metrics[0] = measures.values[0]
    metrics[1] = measures.exec_micros
    metrics[2:8] = measures.values[1:]
    metrics[8], parameters = _parameters(profile)
    recorded = measures.recorded & (not static_float_ops)
    runs = np.where(recorded, metrics[0], ops.static_runs.array)
    metrics[9] = ops.float_ops.array * runs
    if not classic:
        metrics[8] = _without_overflow(profile, "parameters", metrics[8], parameters)
        float_ops = ops.float_ops.array.astype(np.float64) * runs
        metrics[9] = _without_overflow(profile, "float operations", metrics[9], float_ops)
    return metrics


def _without_overflow(
    profile: Profile, what: str, counts: Int64Array, exact: Float64Array
) -> Int64Array:
    """The counts; if their sum does not fit into 64 bits, without the largest of them.

    Args:
        profile: Gets a notice.
        what: What is counted.
        counts: Count of each op, wrapped at 64 bits, shape (n,).
        exact: The same, not wrapped, shape (n,).
    """
    fits = float(np.abs(exact).sum()) < _LARGEST_TOTAL
    too_large: BoolArray = np.zeros(len(counts), np.bool_)
    if not fits:
        too_large = np.abs(exact) > _LARGEST_TOTAL / len(counts)
    profile.notices.set(
        f"too-many-{what.replace(' ', '-')}",
        f"ops have so many {what} that totals would not fit into 64 bits; theirs count as 0",
        int(too_large.sum()),
    )
    return np.where(too_large, 0, counts) if not fits else counts


def parameter_count(shape: Shape) -> int:
    """Elements of a shape: the product of its dimensions, 1 for a scalar, 0 if any is unknown."""
    dims = display_dims(shape)
    if not dims or min(dims) < 0:
        return 0
    count = 1
    for dim in dims:
        count *= dim
    return count


def _parameters(profile: Profile) -> tuple[Int64Array, Float64Array]:
    """Parameters of each op, wrapped at 64 bits, and not wrapped."""
    counts = [parameter_count(shape) for shape in profile.ops.shapes.shapes.values]
    counts.append(0)  # for "no shape", id -1
    wrapped = np.array([(count + 2**63) % 2**64 - 2**63 for count in counts], np.int64)
    exact = np.array([min(count, 2**80) for count in counts], np.float64)
    shape_ids = profile.ops.shape_ids.array
    return wrapped[shape_ids], exact[shape_ids]
