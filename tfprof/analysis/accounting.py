"""What each op costs, and which ops count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.model.columns import BoolArray, Int64Array
from tfprof.model.profile import Profile
from tfprof.model.shapes import Shape, display_dims
from tfprof.options.regex import NameMatcher

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
        classic: Let parameter counts wrap at 64 bits, as in the original; otherwise they stop
            at the largest 64-bit number.

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
        profile.notices.add_once(
            "parameters-too-many",
            "a shape has more elements than a 64-bit number can say; the largest is shown",
            sum(count > _INT64_MAX for count in counts),
        )
        counts = [min(count, _INT64_MAX) for count in counts]
    by_shape = np.array([*counts, 0], np.int64)  # the last one is for "no shape", id -1
    result: Int64Array = by_shape[profile.ops.shape_ids.array]
    return result


def op_type_ids(profile: Profile, *, classic: bool) -> Int64Array:
    """Op type of each op as a string id, shape (n,).

    For ops seen only at run time the original takes their own name as type; the default is the
    kernel that their timeline label names (``_Arg``, ``_Retval``, ``_Send``).
    """
    ops = profile.ops
    if classic:
        return ops.op_ids.array
    labelled = ops.label_op_ids.array
    result: Int64Array = np.where(labelled >= 0, labelled, ops.op_ids.array)
    return result


def match_counts(
    profile: Profile, type_ids: Int64Array, patterns: Sequence[NameMatcher]
) -> Int64Array:
    """How many of the patterns match some type of each op, shape (n,).

    The types of an op are its op type, its canonical device, and what op logs added.
    """
    ops = profile.ops
    texts = ops.strings.values
    devices = ops.device_ids.array
    counts = np.zeros(len(ops), np.int64)
    for pattern in patterns:
        if pattern.everything:
            counts += 1
            continue
        mask = np.append(pattern.mask(texts), np.False_)  # id -1: no device
        matched: BoolArray = mask[type_ids] | mask[devices]
        for row, added in ops.added_types.items():
            if not matched[row]:
                matched[row] = any(mask[type_id] for type_id in added)
        counts += matched
    return counts


def types_of(profile: Profile, type_ids: Int64Array, row: int) -> set[str]:
    """All types of an op, as texts."""
    ops = profile.ops
    ids = [int(type_ids[row]), *ops.added_types.get(row, ())]
    device = int(ops.device_ids.array[row])
    if device >= 0:
        ids.append(device)
    return {ops.strings[type_id] for type_id in ids}
