"""TensorCoreChecker: matrix products in float32 that tensor cores could do in 16 bits."""

from __future__ import annotations

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.advisor.dtypes import FLOAT32, HALF, element_type
from tfprof.columns.columns import Int64Array
from tfprof.columns.findings import Finding, Gain
from tfprof.profiles.accounting.accounting import Float64Array
from tfprof.text.wording import plural, share_text, time_text

MULTIPLE = 8
"""Tensor cores take 16-bit matrices whose sizes are multiples of this."""

SPEEDUP = 3
"""What the guide to mixed precision promises on GPUs with tensor cores."""

MIN_SHARE = 0.1
"""Of the time of all kernels; less is not worth a change of number format."""

_MATMULS = {"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "_FusedMatMul"}
_CONVOLUTIONS = {"Conv2D", "Conv3D", "_FusedConv2D"}
_INPUT_GRADIENTS = {"Conv2DBackpropInput", "Conv3DBackpropInputV2"}
_FILTER_GRADIENTS = {"Conv2DBackpropFilter", "Conv3DBackpropFilterV2"}
_TYPES = _MATMULS | _CONVOLUTIONS | _INPUT_GRADIENTS | _FILTER_GRADIENTS

_RULE = "TensorCoreChecker"
_LINK = "https://www.tensorflow.org/guide/mixed_precision"


def check_tensor_cores(context: CheckContext) -> list[Finding]:
    """Products in float32 that are eligible, and 16-bit ones whose sizes do not fit."""
    kernels = context.per_step("accelerator_exec_micros")
    total = float(kernels.sum())
    if total <= 0:
        return []
    eligible: list[int] = []
    misfits: list[int] = []
    for row in np.flatnonzero(context.is_type(_TYPES) & (kernels > 0)).tolist():
        dtype, sizes = element_type(context, row), _sizes(context, row)
        if sizes is None:
            continue
        fits = all(size % MULTIPLE == 0 for size in sizes)
        if dtype == FLOAT32 and fits:
            eligible.append(row)
        elif dtype in HALF and not fits:
            misfits.append(row)
    findings = []
    for rows, make in ((eligible, _eligible), (misfits, _misfit)):
        chosen = np.array(rows, np.int64)
        if kernels[chosen].sum() >= MIN_SHARE * total:
            findings.append(make(context, chosen, kernels[chosen], total))
    return findings


def _sizes(context: CheckContext, row: int) -> tuple[int, ...] | None:
    """Sizes that must fit: of the matrices, or the channels; None if a shape is not known."""
    shapes = context.facts.input_shapes
    dims = [shapes.dims[i] if i >= 0 else () for i in shapes.of(row)]
    type_name = context.type_of(row)
    if type_name in _MATMULS:
        sizes = (*dims[0][-2:], *dims[1][-2:]) if len(dims) >= 2 else ()
        wanted = 4
    elif type_name in _FILTER_GRADIENTS:
        axis = 1 if _is_channels_first(context, row) else -1
        known = len(dims) >= 3 and len(dims[0]) > 1 and len(dims[2]) > 1
        sizes = (dims[0][axis], dims[2][axis]) if known else ()
        wanted = 2
    else:  # the filter says both numbers of channels
        sizes = dims[1][-2:] if len(dims) >= 2 else ()
        wanted = 2
    return sizes if len(sizes) == wanted and min(sizes) > 0 else None


def _is_channels_first(context: CheckContext, row: int) -> bool:
    return str(context.profile.ops.attrs_of(row).get("data_format", "")).startswith("NC")


def _eligible(
    context: CheckContext, rows: Int64Array, micros: Float64Array, total: float
) -> Finding:
    spent = float(micros.sum())
    message = (
        f"{share_text(spent / total)} of the GPU's time ({time_text(spent)} of {time_text(total)}) "
        f"goes to {_products(rows)} in float32, whose sizes are multiples of {MULTIPLE}: tensor "
        "cores can work on them in 16 bits, faster than in TF32 where the GPU has it. Use mixed "
        "precision "
        "(tf.keras.mixed_precision, or tf.compat.v1.mixed_precision for graphs)."
    )
    gain = Gain(
        spent * (1 - 1 / SPEEDUP),
        "micros",
        f"their time, were they {SPEEDUP} times as fast, as the guide promises on such GPUs",
    )
    line = context.heaviest_line(rows, micros)
    return Finding(_RULE, "warning", message, _numbers(rows, spent, total), line, gain, _LINK)


def _misfit(context: CheckContext, rows: Int64Array, micros: Float64Array, total: float) -> Finding:
    spent = float(micros.sum())
    message = (
        f"{share_text(spent / total)} of the GPU's time ({time_text(spent)} of {time_text(total)}) "
        f"goes to {_products(rows)} in 16 bits, whose sizes are no multiples of {MULTIPLE}: tensor "
        "cores are slow with them or cannot be used. Pad channels, units, batch or vocabulary."
    )
    gain = Gain(
        spent * (1 - 1 / SPEEDUP), "micros", f"their time, were they {SPEEDUP} times as fast"
    )
    line = context.heaviest_line(rows, micros)
    return Finding(_RULE, "info", message, _numbers(rows, spent, total), line, gain, _LINK)


def _products(rows: Int64Array) -> str:
    return plural(len(rows), "matrix product or convolution", "matrix products and convolutions")


def _numbers(rows: Int64Array, spent: float, total: float) -> dict[str, float]:
    return {
        "op_count": len(rows),
        "op_micros": spent,
        "op_share": spent / total,
        "kernel_micros": total,
        "multiple_count": MULTIPLE,
    }
