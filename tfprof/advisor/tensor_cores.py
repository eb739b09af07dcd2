"""TensorCoreChecker: matrix products in float32 that tensor cores could do in 16 bits."""

from __future__ import annotations

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.advisor.dtypes import FLOAT32, HALF, element_type
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.findings import Finding, Gain, Severity
from tfprof.core.text.wording import plural, share_text, time_text

MULTIPLE = 8
"""Tensor cores can use 16-bit matrices whose sizes are multiples of this."""

SPEEDUP = 3
"""The speedup that the guide to mixed precision promises on GPUs with tensor cores."""

MIN_SHARE = 0.1
"""Part of the time of all kernels; less is not worth a change of number format."""

_MATMULS = {"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "_FusedMatMul"}
_CONVOLUTIONS = {"Conv2D", "Conv3D", "_FusedConv2D"}
_INPUT_GRADIENTS = {"Conv2DBackpropInput", "Conv3DBackpropInputV2"}
_FILTER_GRADIENTS = {"Conv2DBackpropFilter", "Conv3DBackpropFilterV2"}
_TYPES = _MATMULS | _CONVOLUTIONS | _INPUT_GRADIENTS | _FILTER_GRADIENTS

_RULE = "TensorCoreChecker"
_LINK = "https://www.tensorflow.org/guide/mixed_precision"


def check_tensor_cores(context: CheckContext) -> list[Finding]:
    """Find eligible products in float32, and products in 16 bits whose sizes do not fit."""
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
    kinds: tuple[tuple[list[int], Severity, str, str], ...] = (
        (eligible, "warning", _ELIGIBLE, ", as the guide promises on such GPUs"),
        (misfits, "info", _MISFIT, ""),
    )
    for rows, severity, advice, where in kinds:
        chosen = np.array(rows, np.int64)
        if kernels[chosen].sum() >= MIN_SHARE * total:
            how = f"their time, were they {SPEEDUP} times as fast{where}"
            findings.append(_finding(context, chosen, total, severity, advice, how))
    return findings


_ELIGIBLE = (
    f"in float32, whose sizes are multiples of {MULTIPLE}: tensor cores can work on them in 16 "
    "bits, faster than in TF32 where the GPU has it. Use mixed precision "
    "(tf.keras.mixed_precision, or tf.compat.v1.mixed_precision for graphs)."
)
_MISFIT = (
    f"in 16 bits, whose sizes are not multiples of {MULTIPLE}: tensor cores are slow with them or "
    "cannot be used. Pad channels, units, batch or vocabulary."
)


def _sizes(context: CheckContext, row: int) -> tuple[int, ...] | None:
    """Sizes of matrices or channels that must fit; None if a shape is unknown."""
    shapes = context.facts.input_shapes
    dims = [shapes.dims[i] if i >= 0 else () for i in shapes.of(row)]
    type_name = context.type_of(row)
    if type_name in _MATMULS:
        sizes = (*dims[0][-2:], *dims[1][-2:]) if len(dims) >= 2 else ()
        wanted = 4
    elif type_name in _FILTER_GRADIENTS:
        data_format = str(context.profile.ops.attrs_of(row).get("data_format", ""))
        axis = 1 if data_format.startswith("NC") else -1
        known = len(dims) >= 3 and len(dims[0]) > 1 and len(dims[2]) > 1
        sizes = (dims[0][axis], dims[2][axis]) if known else ()
        wanted = 2
    else:  # the filter has both numbers of channels
        sizes = dims[1][-2:] if len(dims) >= 2 else ()
        wanted = 2
    return sizes if len(sizes) == wanted and min(sizes) > 0 else None


def _finding(
    context: CheckContext, rows: Int64Array, total: float, severity: Severity, advice: str, how: str
) -> Finding:
    micros = context.per_step("accelerator_exec_micros")[rows]
    spent = float(micros.sum())
    products = plural(
        len(rows), "matrix product or convolution", "matrix products and convolutions"
    )
    message = (
        f"{share_text(spent / total)} of the GPU's time ({time_text(spent)} of {time_text(total)}) "
        f"goes to {products} {advice}"
    )
    evidence = {
        "op_count": len(rows),
        "op_micros": spent,
        "op_share": spent / total,
        "kernel_micros": total,
        "multiple_count": MULTIPLE,
    }
    line = context.heaviest_line(rows, micros)
    gain = Gain(spent * (1 - 1 / SPEEDUP), "micros", how)
    return Finding(_RULE, severity, message, evidence, line, gain, _LINK)
