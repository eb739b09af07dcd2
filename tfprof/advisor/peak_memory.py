"""PeakMemoryChecker: the outputs that hold the memory at its peak."""

from __future__ import annotations

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.core.columns.findings import Finding, Gain
from tfprof.core.columns.frames import Frame
from tfprof.core.text.wording import line_names, listing, memory_text, quoted, share_text
from tfprof.profiles.accounting.device_time import PeakHolders, peak_holders
from tfprof.profiles.model.executions import device_role

MIN_PEAK_BYTES = 100_000_000
"""Programs that need less do not run out of memory."""

TOP = 3

_RULE = "PeakMemoryChecker"
_LINK = "https://www.tensorflow.org/api_docs/python/tf/recompute_grad"


def check_peak_memory(context: CheckContext) -> list[Finding]:
    """The largest holders of memory at the peak of each device, over all steps."""
    profile = context.profile
    devices = sorted(
        set(profile.ops.device_ids.array.tolist()) - {-1},
        key=profile.ops.strings.values.__getitem__,
    )
    findings = []
    for device_id in devices:
        peaks = [
            peak_holders(profile.ops, profile.steps.records[step], detail, device_id)
            for step, detail in sorted(profile.steps.details.items())
        ]
        highest = max(peaks, key=lambda peak: peak.peak_bytes)
        if highest.peak_bytes >= MIN_PEAK_BYTES:
            findings.append(_finding(context, profile.ops.strings[device_id], highest))
    return findings


def _finding(context: CheckContext, device: str, peak: PeakHolders) -> Finding:
    role = device_role(device)
    label = role.processor.label if role else device
    holders, line = _holders(context, peak)
    parts = [
        f"{quoted(name)} ({memory_text(size)}, {share_text(size / peak.peak_bytes)})"
        for name, size in holders
    ]
    message = (
        f"At the peak, outputs of {memory_text(peak.peak_bytes)} are alive on {label}. The "
        f"largest holders: {listing(parts)}. If memory is short, use smaller batches, 16-bit "
        "elements, or recompute activations in the backward pass (tf.recompute_grad)."
    )
    evidence: dict[str, float] = {f"{name}:held_bytes": size for name, size in holders}
    evidence |= {f"{name}:held_share": size / peak.peak_bytes for name, size in holders}
    evidence["peak_bytes"] = peak.peak_bytes
    gain = Gain(holders[0][1], "bytes", "all that the largest holder keeps alive at the peak")
    return Finding(_RULE, "info", message, evidence, line, gain, _LINK)


def _holders(
    context: CheckContext, peak: PeakHolders
) -> tuple[list[tuple[str, float]], Frame | None]:
    """The lines that hold most (or the ops, if no line is available), and the first line."""
    sizes = peak.sizes.astype(np.float64)
    lines = context.lines_by(peak.rows, sizes)
    if lines:
        names = line_names([line for line, _ in lines[:TOP]])
        sums = [size for _, size in lines[:TOP]]
        return list(zip(names, sums, strict=True)), lines[0][0]
    rows, place = np.unique(peak.rows, return_inverse=True)
    by_op = np.bincount(place, sizes)
    largest = np.argsort(-by_op, kind="stable")[:TOP].tolist()
    return [(context.profile.ops.name(int(rows[i])), float(by_op[i])) for i in largest], None
