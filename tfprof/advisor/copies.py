"""DeviceCopyChecker: copies between host and GPU within the step."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.findings import Finding, Gain, Severity
from tfprof.core.columns.frames import Frame
from tfprof.core.text.wording import listing, memory_text, plural, quoted, share_text, time_text
from tfprof.profiles.accounting.accounting import Float64Array
from tfprof.profiles.model.executions import ACCELERATOR

WARNING_SHARE, CRITICAL_SHARE = 0.05, 0.2
"""Part of the step in which the GPU only copies."""

PCIE_BYTES_PER_SECOND = 12_000_000_000
"""Practical rate of a PCIe 3.0 link with 16 lanes, for runs without times of copies."""

_WITHIN_GPU = re.compile(r"MEMCPY(?:DtoD|PtoP)|MEMSET", re.IGNORECASE)
_RECEIVED = re.compile(r"(?:edge_\d+_)?(?P<op>.+?)(?:/_\d+)?")
_RULE = "DeviceCopyChecker"
_LINK = "https://www.tensorflow.org/guide/gpu_performance_analysis"


@dataclass(frozen=True, slots=True)
class _Copies:
    """Copies of all steps, per step.

    Attributes:
        exposed_micros: Time with a copy in progress and no kernel.
        micros: Time with a copy in progress.
        count: Number of copies.
    """

    exposed_micros: float
    micros: float
    count: int


def check_device_copies(context: CheckContext) -> list[Finding]:
    """Copies that do not overlap with computations of the GPU."""
    step = context.window_micros
    if not context.uses_gpu or step <= 0:
        return []
    received = _received(context)
    sizes = context.per_step("output_bytes")[received]
    copies = _recorded_copies(context)
    if copies is None:
        return _without_times(context, received, sizes)
    share = copies.exposed_micros / step
    if share < WARNING_SHARE:
        return []
    message = (
        f"Copies between host and GPU ({copies.count}) take {time_text(copies.micros)} per step, "
        f"and during {time_text(copies.exposed_micros)} of them ({share_text(share)} of the step) "
        "the GPU computes nothing. "
        f"{_tensors(context, received, sizes)}{_ADVICE}"
    )
    evidence = {
        "copy_count": copies.count,
        "copy_micros": copies.micros,
        "exposed_micros": copies.exposed_micros,
        "exposed_share": share,
        "step_micros": step,
    } | _evidence(received, sizes)
    how = "the time in which the GPU copies and computes nothing"
    gain = Gain(copies.exposed_micros, "micros", how)
    severity: Severity = "critical" if share >= CRITICAL_SHARE else "warning"
    line = _line(context, received, sizes)
    return [Finding(_RULE, severity, message, evidence, line, gain, _LINK)]


_ADVICE = (
    "Keep tensors on the device between ops, fetch less per step, and let the input pipeline "
    "copy ahead (tf.data.experimental.prefetch_to_device)."
)


def _without_times(
    context: CheckContext, received: Int64Array, sizes: Float64Array
) -> list[Finding]:
    """Estimate copies from their sizes, for runs without times of copies."""
    size = float(sizes.sum())
    micros = size / PCIE_BYTES_PER_SECOND * 1e6
    step = context.window_micros
    if micros < WARNING_SHARE * step:
        return []
    message = (
        f"{plural(len(received), 'tensor')} ({memory_text(size)} per step) come from another "
        f"device. At {memory_text(PCIE_BYTES_PER_SECOND)} per second that takes "
        f"{time_text(micros)} of a step of {time_text(step)}; the run holds no times of copies. "
        f"{_tensors(context, received, sizes)}{_ADVICE}"
    )
    evidence = {
        "tensor_count": len(received),
        "assumed_rate_bytes": PCIE_BYTES_PER_SECOND,
        "estimated_micros": micros,
        "step_micros": step,
    } | _evidence(received, sizes)
    how = "their bytes at the rate of a PCIe 3.0 link of 16 lanes, at most the whole step"
    gain = Gain(min(micros, step), "micros", how)
    line = _line(context, received, sizes)
    return [Finding(_RULE, "warning", message, evidence, line, gain, _LINK)]


def _recorded_copies(context: CheckContext) -> _Copies | None:
    """The copies that GPUs recorded; None if there are none."""
    exposed = total = count = 0
    any_recorded = False
    roles = context.roles
    memcpy = [i for i, role in enumerate(roles) if role is not None and role.part == "memcpy"]
    names = context.profile.steps.strings.values
    within = [i for i, name in enumerate(names) if _WITHIN_GPU.search(name)]
    for times in context.times:
        copying: BoolArray = np.isin(times.device_ids, memcpy)
        any_recorded |= bool(copying.any())
        copying &= ~np.isin(times.name_ids, within)
        copying &= ~np.isin(times.rows, _ops_of_graph(context, times.rows[copying]))
        kernels = times.kinds == ACCELERATOR
        exposed += times.alone_nanos(copying, kernels & ~copying)
        total += times.busy_nanos(copying)
        count += int(copying.sum())
    n_steps = context.n_steps
    if not any_recorded:
        return None
    return _Copies(exposed / 1000 / n_steps, total / 1000 / n_steps, round(count / n_steps))


def _ops_of_graph(context: CheckContext, rows: Int64Array) -> list[int]:
    """The rows that are ops of the graph; their copies may stay within the GPU (Concat).

    Copies from another device have a name that exists only at run time, or are a ``_Recv``.
    """
    ops = context.profile.ops
    return [
        row
        for row in np.unique(rows[rows >= 0]).tolist()
        if context.works[row] and ops.strings[int(ops.op_ids.array[row])] != ops.name(row)
    ]


def _received(context: CheckContext) -> Int64Array:
    """Ops that receive a tensor from another device."""
    return np.flatnonzero(
        context.is_type({"_Recv", "Recv", "_HostRecv"}) & (context.per_step("output_bytes") > 0)
    )


def _source_of(context: CheckContext, row: int) -> int:
    """The op that sent a received tensor: ``name`` in ``name/_7`` or ``edge_7_name``."""
    ops = context.profile.ops
    match = _RECEIVED.fullmatch(ops.name(row))
    return ops.row(match["op"]) if match else -1


def _tensors(context: CheckContext, received: Int64Array, sizes: Float64Array) -> str:
    if not len(received):
        return ""
    ops = context.profile.ops
    largest = received[np.lexsort((received, -sizes))[:3]].tolist()
    sources = [(row, _source_of(context, row)) for row in largest]
    names = [quoted(ops.name(source if source >= 0 else row)) for row, source in sources]
    return f"The largest tensors received ({memory_text(sizes.sum())} in all): {listing(names)}. "


def _evidence(received: Int64Array, sizes: Float64Array) -> dict[str, float]:
    return {"received_bytes": float(sizes.sum())} if len(received) else {}


def _line(context: CheckContext, received: Int64Array, sizes: Float64Array) -> Frame | None:
    sources = np.array([_source_of(context, row) for row in received.tolist()], np.int64)
    known = sources >= 0
    return context.heaviest_line(sources[known], sizes[known])
