"""How the float operations of a step, and MFU, differ between two runs."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.captures.facts.utilization import Utilization
from tfprof.core.text.claims import Claim, Details
from tfprof.insight.diff.side import Side

_LEAST = 0.01
"""Relative difference from which float operations differ."""


def utilization_claims(first: Side, second: Side) -> Iterator[Claim]:
    """A claim on the float operations of the model in a step, and one on MFU, if known."""
    before, after = first.utilization, second.utilization
    if before is None or after is None or before.unknown or after.unknown:
        return
    flops = [float(each.model_flops.mean()) for each in (before, after)]
    if abs(flops[1] - flops[0]) > _LEAST * flops[0]:
        yield Claim(
            "step", "model_flops_change", flops[1] - flops[0], "FLOPs",
            details={"before_flops": flops[0], "after_flops": flops[1]},
            words="A step has {after_flops} of the model now, {before_flops} before.",
        )  # fmt: skip
    if before.mfu is None or after.mfu is None:
        return
    details: Details = {
        "before_share": before.mfu, "after_share": after.mfu,
        "bound_before": _bound(before), "bound_after": _bound(after),
    }  # fmt: skip
    words = "MFU is {bound_after}{after_share} now, {bound_before}{before_share} before"
    if before.peak.flops_per_s != after.peak.flops_per_s:
        details |= {
            "before_gflops_per_s": before.peak.flops_per_s / 1e9,
            "after_gflops_per_s": after.peak.flops_per_s / 1e9,
        }
        words += ", of other peak rates: {after_gflops_per_s} now, {before_gflops_per_s} before"
    yield Claim(
        "step", "mfu_change", after.mfu - before.mfu, "fraction", details=details,
        words=f"{words}.",
    )  # fmt: skip


def _bound(found: Utilization) -> str:
    return "at least " if found.is_least else ""
