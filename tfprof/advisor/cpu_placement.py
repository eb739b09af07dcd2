"""CpuPlacementChecker: heavy ops that run on the CPU of a machine with a GPU."""

from __future__ import annotations

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.advisor.dtypes import FLOATING, element_type
from tfprof.core.columns.findings import Finding, Gain, Severity
from tfprof.core.text.wording import listing, plural, quoted, share_text, time_text

GPU_TYPES = frozenset(
    {
        *("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput"),
        *("Conv3D", "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2"),
        *("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropFilter"),
        *("DepthwiseConv2dNativeBackpropInput",),
        *("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"),
        *("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "FusedBatchNormGrad"),
        *("FusedBatchNormGradV2", "FusedBatchNormGradV3", "_FusedBatchNormEx"),
        *("MaxPool", "MaxPoolGrad", "AvgPool", "AvgPoolGrad", "BiasAdd", "BiasAddGrad"),
        *("_FusedConv2D", "_FusedMatMul"),
    }
)
"""Heavy types with a GPU kernel for floating-point elements in every release.

Other types are omitted on purpose: TensorFlow itself keeps small integer ops on the CPU.
"""

WARNING_SHARE, CRITICAL_SHARE = 0.05, 0.2
"""Parts of the step; a smaller part is not worth a move."""

_RULE = "CpuPlacementChecker"
_LINK = "https://www.tensorflow.org/guide/gpu"


def check_cpu_placement(context: CheckContext) -> list[Finding]:
    """Ops on the CPU that could run on the GPU, in runs that use a GPU."""
    step = context.window_micros
    if not context.uses_gpu or step <= 0:
        return []
    candidates = context.on_cpu & context.is_type(GPU_TYPES)
    rows = np.array(
        [
            row
            for row in np.flatnonzero(candidates).tolist()
            if element_type(context, row) in (*FLOATING, None)
        ],
        np.int64,
    )
    micros = context.micros[rows]
    total = float(micros.sum())
    if total < WARNING_SHARE * step:
        return []
    by_type: dict[str, float] = {}
    for row, cost in zip(rows.tolist(), micros.tolist(), strict=True):
        by_type[context.type_of(row)] = by_type.get(context.type_of(row), 0.0) + cost
    types = sorted(by_type, key=lambda name: (-by_type[name], name))[:3]
    message = (
        f"{plural(len(rows), 'op')} that GPUs can run stood on the CPU and took "
        f"{time_text(total)} of a step of {time_text(step)} ({share_text(total / step)}), most of "
        f"all {listing([quoted(name) for name in types])}. Look for tf.device scopes that pin "
        "them, and for inputs on the CPU that they follow; log_device_placement=True in the "
        "session's config shows what was decided."
    )
    evidence = {
        "op_count": len(rows), "cpu_micros": total, "step_micros": step,
        "cpu_share": total / step,
    } | {f"{name}:time_micros": by_type[name] for name in types}  # fmt: skip
    severity: Severity = "critical" if total >= CRITICAL_SHARE * step else "warning"
    line = context.heaviest_line(rows, micros)
    gain = Gain(min(total, step), "micros", "all their time on the CPU, at most the whole step")
    return [Finding(_RULE, severity, message, evidence, line, gain, _LINK)]
