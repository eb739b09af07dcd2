"""OperationChecker: batch norms made of small ops, and data formats that slow the device down."""

from __future__ import annotations

import re

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.advisor.dtypes import HALF
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.findings import Finding, Gain, Severity
from tfprof.core.text.wording import listing, plural, quoted, share_text, time_text

FUSED_TYPES = frozenset(
    {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx"}
)

WARNING_SHARE = 0.05
"""Part of the time of all ops; cheaper findings are remarks."""

_BATCH_NORM = re.compile(r"batch_?norm", re.IGNORECASE)
_LAYOUT_OPTIMIZER = "LayoutOptimizer"
_CHANNELS_LAST = {"NHWC", "NDHWC"}
_CHANNELS_FIRST = {"NCHW", "NCDHW"}

_RULE = "OperationChecker"
_BATCH_NORM_LINK = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/nn/fused_batch_norm"
_LAYOUT_LINK = "https://www.tensorflow.org/guide/graph_optimization"


def check_operations(context: CheckContext) -> list[Finding]:
    """Find ops that have a faster equivalent."""
    return [*_batch_norms(context), *_data_formats(context)]


def _batch_norms(context: CheckContext) -> list[Finding]:
    """Find scopes with the name of a batch norm that compute 1/√variance themselves."""
    ops = context.profile.ops
    fused = context.is_type(FUSED_TYPES)
    in_pieces = context.is_type({"Rsqrt"})
    scopes: dict[str, list[int]] = {}
    blamed: set[str] = set()
    excused: set[str] = set()
    for row, name_id in enumerate(ops.name_ids.array.tolist()):
        scope = _batch_norm_scope(ops.names[name_id])
        if not scope:
            continue
        scopes.setdefault(scope, []).append(row)
        if fused[row]:
            excused.add(scope)
        elif in_pieces[row]:
            blamed.add(scope)
    unfused = sorted(blamed - excused)
    if not unfused:
        return []
    rows = np.array([row for scope in unfused for row in scopes[scope]], np.int64)
    spent, total = float(context.micros[rows].sum()), float(context.micros.sum())
    names = listing([quoted(scope) for scope in unfused[:3]])
    some = "for example " if len(unfused) > 3 else ""
    message = (
        f"{plural(len(unfused), 'batch norm is', 'batch norms are')} made of small ops "
        f"({some}{names})"
    )
    evidence: dict[str, float] = {"batch_norm_count": len(unfused)}
    gain = None
    if spent > 0:
        message += f"; they take {time_text(spent)} ({share_text(spent / total)} of all ops)"
        evidence |= {"op_micros": spent, "op_share": spent / total, "total_micros": total}
        gain = Gain(spent, "micros", "all time of their ops, as if the fused one were free")
    message += (
        ". Use the fused op: tf.compat.v1.nn.fused_batch_norm, or fused=True in tf_keras; "
        "today's Keras has no such argument: there, let XLA fuse them with jit_compile=True."
    )
    severe = total <= 0 or spent >= WARNING_SHARE * total
    line = context.heaviest_line(rows, context.micros[rows])
    severity: Severity = "warning" if severe else "info"
    return [Finding(_RULE, severity, message, evidence, line, gain, _BATCH_NORM_LINK)]


def _batch_norm_scope(name: str) -> str:
    """The innermost scope of a name that is named after a batch norm, or an empty string.

    For ``batch_normalization/batchnorm`` it is the outer one: both are one layer.
    """
    if "orm" not in name and "ORM" not in name:
        return ""
    parts = name.split("/")
    depth = len(parts) - 1  # the last part is the op's own name
    while depth and not _BATCH_NORM.search(parts[depth - 1]):
        depth -= 1
    while depth > 1 and _BATCH_NORM.search(parts[depth - 2]):
        depth -= 1
    return "/".join(parts[:depth])


def _data_formats(context: CheckContext) -> list[Finding]:
    """Find data formats that do not suit the device, unless the layout optimizer changes them."""
    ops = context.profile.ops
    if any(_LAYOUT_OPTIMIZER in name for name in ops.names.values):
        return []
    kept = [dict(attrs) for attrs in ops.attrs.values]
    formats = [str(attrs.get("data_format", "")) for attrs in kept]

    def with_attrs(chosen: list[bool]) -> BoolArray:
        return np.array(chosen)[ops.attrs_ids.array]

    last = with_attrs([name in _CHANNELS_LAST for name in formats])
    first = with_attrs([name in _CHANNELS_FIRST for name in formats])
    half = with_attrs([attrs.get("T") in HALF for attrs in kept])
    candidates = (
        (context.on_gpu & last & ~half, _GPU_LAST, False),
        (context.on_gpu & first & half, _GPU_FIRST_HALF, True),
        (context.on_cpu & first, _CPU_FIRST, True),
    )
    return [
        _data_format(context, np.flatnonzero(chosen), advice, is_certain)
        for chosen, advice, is_certain in candidates
        if chosen.any()
    ]


_GPU_LAST = (
    "the data format NHWC on a GPU. GPUs older than Ampere compute convolutions in 32 bits faster "
    "in NCHW: there, let Grappler's layout optimizer run, or build the model with NCHW."
)
_GPU_FIRST_HALF = (
    "the data format NCHW with elements of 16 bits on a GPU, while tensor cores work on NHWC. Let "
    "Grappler's layout optimizer run, or build the model with NHWC."
)
_CPU_FIRST = (
    "the data format NCHW on the CPU, where TensorFlow's own kernels want NHWC: others are slow, "
    "missing, or convert back and forth. Build the model with NHWC where it runs on CPUs."
)


def _data_format(context: CheckContext, rows: Int64Array, advice: str, is_certain: bool) -> Finding:
    micros = context.micros[rows]
    spent, total = float(micros.sum()), float(context.micros.sum())
    share = spent / total  # what is on a device has run
    evidence = {
        "op_count": len(rows), "op_micros": spent, "op_share": share, "total_micros": total,
    }  # fmt: skip
    cost = f"({time_text(spent)}, {share_text(share)} of the time)"
    message = f"{plural(len(rows), 'op')} {cost} {'uses' if len(rows) == 1 else 'use'} {advice}"
    severity: Severity = "warning" if is_certain and share >= WARNING_SHARE else "info"
    line = context.heaviest_line(rows, micros)
    return Finding(_RULE, severity, message, evidence, line, link=_LAYOUT_LINK)
