"""Claims, notes and charts of a roofline model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from tfprof.captures.events.ops.device_ops import DeviceOps
from tfprof.captures.events.ops.op_roofline import UNKNOWN, op_roofline, whole_program
from tfprof.captures.events.ops.op_tree import shown_ops
from tfprof.captures.run.result import Chart, Note
from tfprof.captures.tools.roofline_device import GIB_OF_GB, Device, roofs_of
from tfprof.core.text.claims import Claim, unknown
from tfprof.core.text.short_names import folded

_BESIDE = "asynchronous work"
_DECADES = range(-3, 6)


def charts_of(ops: DeviceOps, device: Device) -> tuple[Chart, ...]:
    """Charts of ops by intensity and rate, with the roofs above them."""
    rooflines = [op_roofline(op, device.peaks) for op in shown_ops(ops)]
    points = [(each.intensity.hbm, each.gflops) for each in rooflines if each.gflops]
    charts = []
    if points:
        labels = ("Operational intensity (FLOP/byte)", "GFLOP/s")
        intensities, rates = zip(*points, strict=True)
        charts.append(
            Chart("ops", "scatter", "Ops", *labels, intensities, {"ops": rates})
        )  # fmt: skip
        roofs = roofs_of(device.peaks)
        flops = roofs.pop("Compute", 0.0)
        if flops and roofs:
            corners = [flops / (limit / GIB_OF_GB) for limit in roofs.values()]
            decades = [10.0**decade for decade in _DECADES]
            at = sorted(decades + [x for x in corners if math.isfinite(x)])
            series = {
                name: tuple(min(flops, limit / GIB_OF_GB * x) for x in at)
                for name, limit in roofs.items()
            }
            charts.append(Chart("roofs", "line", "Roofs", *labels, tuple(at), series))
    return tuple(charts)


def claims_of(ops: DeviceOps, device: Device) -> Iterator[Claim]:
    """Claims on how close the ops come to the limits of the device, and what limits them."""
    shown = [op for op in shown_ops(ops) if op.self_ps]
    busy = sum(op.self_ps for op in shown)
    if not busy:
        yield unknown("ops", "roofline_efficiency", "There are no device ops.")
        return
    program = whole_program(ops.ops, ops.self_ps)
    whole, top = op_roofline(program, device.peaks), shown[0]
    first = op_roofline(top, device.peaks)
    rates = {"gflops_per_s": whole.gflops, "hbm_gib_per_s": whole.gib.hbm}
    longest = Claim(
        folded(top.key.name), "self_share", top.self_ps / busy, "fraction",
        basis="self times of all device ops", details={"gflops_per_s": first.gflops},
        words="{subject} takes the most time, {value} of that of all ops.",
    )  # fmt: skip
    if not (whole.gflops or whole.gib.memory):
        yield unknown(
            "ops", "roofline_efficiency",
            "There is nothing to compare with the roofs: no op has a known cost, as none is in a "
            "compiled program (XLA) of the capture.",
        )  # fmt: skip
        yield longest
        return
    if not roofs_of(device.peaks):
        yield Claim(
            "ops", "roofline_efficiency", None, "fraction",
            unknown="the peak rates of the device are not known", details=rates,
            words="The ops reach {gflops_per_s:,.3g} GFLOP/s and {hbm_gib_per_s:,.3g} GiB/s; "
            "{unknown}.",
        )  # fmt: skip
        yield replace(longest, words="{subject} takes the most time, {value} of that of all ops, "
                      "with {gflops_per_s:,.3g} GFLOP/s.")  # fmt: skip
        return
    limits: dict[str, int] = {}
    for op in shown:
        limit = _BESIDE if op.is_asynchronous else op_roofline(op, device.peaks).bound_by
        limits[limit] = limits.get(limit, 0) + op.self_ps
    parts = tuple(
        Claim(_limit(name), "limited_share", part / busy, "fraction", words="{subject} {value}")
        for name, part in sorted(limits.items(), key=lambda item: (-item[1], item[0]))
    )
    yield Claim(
        "ops", "roofline_efficiency", whole.efficiency, "fraction",
        details={**rates, "most_gflops_per_s": whole.optimal_gflops},
        words="While its ops run, the program reaches {value} of its roof: {gflops_per_s:,.0f} of "
        "at most {most_gflops_per_s:,.0f} GFLOP/s at its operational intensity.",
    )  # fmt: skip
    yield Claim("ops", "self_time", busy / 1e9, "ms", parts=parts,
                words="Of the time of ops, they are limited by: {parts}.")  # fmt: skip
    words, details = "its cost is not known", dict(longest.details)
    if top.is_asynchronous:
        words = "it starts work that goes on beside it, or waits for it"
    if first.bound_by != UNKNOWN:
        details |= {"limit": first.bound_by, "efficiency_share": min(1.0, first.efficiency)}
        words = "it is bound by {limit} and reaches {efficiency_share} of that roof"
    yield replace(longest, details=details,
                  words=f"{{subject}} takes the most time, {{value}}; {words}.")  # fmt: skip


def _limit(name: str) -> str:
    return {"Compute": "computation", UNKNOWN: "something unknown"}.get(name, name)


def remarks_on(ops: DeviceOps, device: Device) -> list[Note]:
    """Notes on ops whose numbers are incomplete or look odd."""
    remarks: list[Note] = []
    if not ops.ops:
        return remarks
    costs = [(op, op_roofline(op, device.peaks)) for op in ops.ops]
    without = [op for op in ops.ops if not op.has_known_cost]
    if without:
        share = sum(op.self_ps for op in without) / max(sum(op.self_ps for op in ops.ops), 1)
        remarks.append(
            Note("info", f"the cost of {len(without)} ops ({share:.1%} of the time of all) is not "
                 "known: they are in no compiled program of the capture, move nothing, or call "
                 "unknown code; they count as 0 float operations and bytes")
        )  # fmt: skip
    above = sum(cost.efficiency > 1 for _, cost in costs)
    if above:
        remarks.append(
            Note("info", f"{above} ops are above their roof: they read from a cache, or touch less "
                 "than their shapes suggest")
        )  # fmt: skip
    if device.hardware != "CPU_ONLY" and not (device.peaks.gflops and device.peaks.hbm_gb):
        remarks.append(
            Note("info", "the peak rates of the device are not known: there is no utilization")
        )
    return remarks
