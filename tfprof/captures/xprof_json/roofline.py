"""The roofline model's JSON."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from tfprof.captures.events.ops.device_ops import DeviceOp, DeviceOps
from tfprof.captures.facts.statistics import part
from tfprof.captures.rules import Rules
from tfprof.captures.run.result import Note
from tfprof.captures.run.table import Table
from tfprof.captures.tools.hlo_statistics import source_text
from tfprof.captures.tools.op_profile_tree import clock_scale
from tfprof.captures.tools.roofline_device import GIB_OF_GB, Device
from tfprof.captures.tools.roofline_table import Row, chosen_cells, columns_of
from tfprof.captures.xprof_json.diagnostics import diagnostics_table


def to_json(
    device: Device,
    ops: DeviceOps,
    rows: Sequence[tuple[DeviceOp, Row]],
    notes: Sequence[Note],
    rules: Rules,
) -> list[dict[str, Any]]:
    """Make the JSON: programs and ops as a table with the roofs as properties, and diagnostics."""
    columns = columns_of(device.hardware)
    cells = [chosen_cells(_with_source_html(op, row), columns) for op, row in rows]
    return [
        Table("roofline", columns, cells, _properties(device, ops)).to_gviz(),
        diagnostics_table(notes, rules),
    ]


def _with_source_html(op: DeviceOp, row: Row) -> Row:
    """A row of all columns with the call stack in the source's cell."""
    text = source_text(op)
    if text:
        text = f"<div class='source-info-cell' title='{_safe(op.source[2])}'>{_safe(text)}</div>"
    return (*row[:-1], text)


def _safe(text: str) -> str:
    return html.escape(text, quote=True).replace("&#x27;", "&#39;")


def _properties(device: Device, ops: DeviceOps) -> dict[str, str]:
    """Roofs and ridge points."""
    peaks = device.peaks
    properties: dict[str, str] = {"device_type": device.name, "peak_flop_rate": _text(peaks.gflops)}
    roofs = [("hbm", peaks.hbm_gb)]
    if device.hardware == "GPU":
        roofs.append(("vmem_write", peaks.sram_write_gb))
    else:
        roofs += [
            ("cmem_read", peaks.cmem_read_gb), ("cmem_write", peaks.cmem_write_gb),
            ("vmem_read", peaks.vmem_read_gb), ("vmem_write", peaks.vmem_write_gb),
        ]  # fmt: skip
        scale = clock_scale(ops) if device.hardware == "TPU" else 0.0
        properties["time_scale_multiplier"] = _text(scale)
        properties["has_cmem"] = _text(device.has_cmem)
        properties["has_merged_vmem"] = _text(device.merged_vmem)
        properties["megacore"] = _text(device.megacore)
    for name, limit in roofs:
        properties[f"peak_{name}_bw"] = _text(limit * GIB_OF_GB)
        properties[f"{name}_ridge_point"] = _text(part(peaks.gflops, limit))
    return properties


def _text(value: float) -> str:
    return f"{value:g}"
