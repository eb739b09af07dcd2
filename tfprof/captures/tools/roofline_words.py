"""Verdict, notes and charts of a roofline model."""

from __future__ import annotations

import math

from tfprof.captures.events.ops.device_ops import DeviceOps
from tfprof.captures.events.ops.op_roofline import UNKNOWN, OpRoofline, op_roofline, whole_program
from tfprof.captures.events.ops.op_tree import shown_ops
from tfprof.captures.run.result import Chart, Note
from tfprof.captures.tools.roofline_device import GIB_OF_GB, Device, roofs_of
from tfprof.text.short_names import folded

_DECADES = range(-3, 6)


def charts_of(ops: DeviceOps, device: Device) -> tuple[Chart, ...]:
    """Ops by intensity and rate, and the roofs above them."""
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


def verdict_of(ops: DeviceOps, device: Device) -> tuple[str, ...]:
    """The verdict."""
    shown = [op for op in shown_ops(ops) if op.self_ps]
    busy = sum(op.self_ps for op in shown)
    if not busy:
        return ("There are no device ops.",)
    program = whole_program(ops.ops, ops.self_ps)
    whole, top = op_roofline(program, device.peaks), shown[0]
    first, name = op_roofline(top, device.peaks), folded(top.key.name)
    if not (whole.gflops or whole.gib.memory):
        return (
            "There is nothing to compare with the roofs: no op has a known cost, as none is in a "
            "compiled program (XLA) of the capture.",
            f"{name} takes the most time, {top.self_ps / busy:.1%} of that of all ops.",
        )
    if not roofs_of(device.peaks):
        return (
            f"The ops reach {whole.gflops:,.3g} GFLOP/s and {whole.gib.hbm:,.3g} GiB/s; the peak "
            "rates of the device are not known.",
            f"{name} takes the most time, {top.self_ps / busy:.1%} of that of all ops, "
            f"with {first.gflops:,.3g} GFLOP/s.",
        )
    limits: dict[str, int] = {}
    for op in shown:
        limit = op_roofline(op, device.peaks).bound_by
        limits[limit] = limits.get(limit, 0) + op.self_ps
    parts = sorted(limits.items(), key=lambda item: (-item[1], item[0]))
    listed = ", ".join(f"{_limit(name)} {part / busy:.1%}" for name, part in parts)
    return (
        f"While its ops run, the program reaches {whole.efficiency:.1%} of its roof: "
        f"{whole.gflops:,.0f} of at most {whole.optimal_gflops:,.0f} GFLOP/s at its operational "
        "intensity.",
        f"Of the time of ops, they are limited by: {listed}.",
        f"{name} takes the most time, {top.self_ps / busy:.1%}; {_reached(first)}.",
    )


def _limit(name: str) -> str:
    return {"Compute": "computation", UNKNOWN: "something unknown"}.get(name, name)


def _reached(op: OpRoofline) -> str:
    if op.bound_by == UNKNOWN:
        return "its cost is not known"
    return f"it is bound by {op.bound_by} and reaches {min(1.0, op.efficiency):.1%} of that roof"


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
            Note("info", f"{above} ops are above their roof: they start work that goes on after "
                 "them (copy-start, copy-done), read from a cache, or touch less than their shapes "
                 "suggest")
        )  # fmt: skip
    if device.hardware != "CPU_ONLY" and not (device.peaks.gflops and device.peaks.hbm_gb):
        remarks.append(
            Note("info", "the peak rates of the device are not known: there is no utilization")
        )
    return remarks
