"""Cells of tool tables as text: numbers with units, names without control characters."""

from __future__ import annotations

import math
import re
from typing import Final

from tfprof.captures.run.table import Cell, Column
from tfprof.core.text.characters import escaped
from tfprof.core.text.metrics import NOT_AVAILABLE
from tfprof.core.text.units import human_memory

_TIME_SCALE: Final = ((1e-6, "ps"), (1e-3, "ns"), (1.0, "µs"), (1e3, "ms"), (1e6, "s"))
_FLOP_SCALE: Final = (
    (1.0, "FLOP/s"), (1e3, "kFLOP/s"), (1e6, "MFLOP/s"), (1e9, "GFLOP/s"), (1e12, "TFLOP/s"),
    (1e15, "PFLOP/s"),
)  # fmt: skip
_SCALES: Final = {
    "ps": (1e-6, _TIME_SCALE),
    "ns": (1e-3, _TIME_SCALE),
    "us": (1.0, _TIME_SCALE),
    "ms": (1e3, _TIME_SCALE),
    "s": (1e6, _TIME_SCALE),
    "gflops_per_s": (1e9, _FLOP_SCALE),
}
"""Scaled units: the factor to the base unit, and the scale."""

_SUFFIXES: Final = {"gib_per_s": "GiB/s", "gb_per_s": "GB/s", "joules": "J", "cycles": "cycles"}
_UNIT_IN_LABEL: Final = re.compile(
    r"(?<!\s)\s*\((?:in )?(?:[µμu]s|ms|ns|ps|s|%|bytes|[A-Z]\w*/\w+)\)$"
)

_HEADERS: Final = {
    "host_or_device": "where",
    "type": "type",
    "operation": "op",
    "opName": "input op",
    "op_name": "op",
    "tf_op_name": "framework op",
    "hlo_op_name": "HLO op",
    "hlo_op_expression": "HLO text",
    "kernel_name": "kernel",
    "occurrences": "runs",
    "count": "runs",
    "total_time": "time",
    "avg_time": "avg time",
    "total_self_time": "self time",
    "avg_self_time": "avg self",
    "total_self_time_percent": "self share",
    "cumulative_total_self_time_percent": "cumulative",
    "device_total_self_time_percent": "device share",
    "device_cumulative_total_self_time_percent": "device cum.",
    "host_total_self_time_percent": "host share",
    "Host_cumulative_total_self_time_percent": "host cum.",
    "host_cumulative_total_self_time_percent": "host cum.",
    "measured_flop_rate": "FLOP rate",
    "normalized_flop_rate": "norm. FLOP rate",
    "model_flop_rate": "model FLOP rate",
    "measured_memory_bw": "memory BW",
    "hbm_bw": "HBM BW",
    "operational_intensity": "FLOP/byte",
    "gpu_tensorcore_utilization": "tensor core",
    "bound_by": "bound by",
    "roofline_efficiency": "efficiency",
    "eager": "mode",
    "dma_stall_percent": "DMA stall",
    "hlo_rematerialization": "remat.",
    "outside_compilation": "outside comp.",
    "core_type": "core",
    "parent_op_name": "parent op",
    "source_info": "source",
    "registers_per_thread": "regs",
    "shmem_bytes": "shared mem",
    "block_dim": "block",
    "grid_dim": "grid",
    "occupancy_pct": "occupancy",
    "is_op_tensor_core_eligible": "TC eligible",
    "is_kernel_using_tensor_core": "uses TC",
    "total_duration_us": "time",
    "avg_duration_us": "avg",
    "min_duration_us": "min",
    "max_duration_us": "max",
    "total_duration_share": "share",
    "selfTimePercent": "self share",
    "cumulativeTimePercent": "cumulative",
    "flopRate": "FLOP rate",
    "tcEligibility": "TC eligible",
    "tcUtilization": "uses TC",
    "timeInMs": "time",
    "timeInPercent": "share",
    "selfTimeInMs": "self time",
    "selfTimeInPercent": "self share",
    "stepnum": "step",
    "stepname": "step",
    "stepTimeMs": "step time",
    "betweenMs": "between",
    "deviceComputeTimeMs": "device compute",
    "deviceToDeviceTimeMs": "device to device",
    "deviceCollectivesTimeMs": "collectives",
    "hostComputeTimeMs": "host compute",
    "kernelLaunchTimeMs": "kernel launch",
    "infeedTimeMs": "input",
    "outfeedTimeMs": "output",
    "compileTimeMs": "compile",
    "otherTimeMs": "all others",
    "infeedPercentAverage": "input share",
    "infeedPercentMin": "min",
    "infeedPercentMax": "max",
    "num_calls": "calls",
    "num_slow_calls": "slow calls",
    "input_pipeline": "pipeline",
    "max_latency": "max latency",
    "time_share": "share",
    "peak_lifetime_bytes": "peak since start",
    "peak_bytes": "peak",
    "peak_time_ms": "at",
    "stack_bytes": "stack",
    "heap_bytes": "heap",
    "free_bytes": "free",
    "fragmentation": "fragmented",
    "flops_utilization": "FLOPS util.",
    "hbm_utilization": "HBM util.",
    "wasted_share": "wasted",
}
"""Short headers by column id; labels are for pages."""


_ABSURD: Final = 1e20
"""No real measurement is so large; 64-bit integers are smaller."""

_LABELS: Final = {"device collective communication": "collectives"}
"""Short headers by label, where column ids differ between tools."""

_IDENTIFIERS: Final = {
    "core", "step", "stepNum", "stepnum", "step_number", "program_id", "chip", "node", "chipId",
    "nodeId", "channelId", "srcCoreId", "dstCoreId", "address",
}  # fmt: skip
"""Columns whose numbers are identifiers, not counts."""


def header_of(column: Column) -> str:
    """Make the header of a column: short, and without a unit that the cells have.

    >>> header_of(Column("busy", "Busy time (in ms)", unit="ms"))
    'busy time'
    """
    if column.id in _HEADERS:
        return _HEADERS[column.id]
    label = escaped(column.label or column.id)
    if column.unit:
        label = _UNIT_IN_LABEL.sub("", label)
    # Abbreviations keep their case.
    words = [word.lower() if word[1:].islower() else word for word in label.split(" ")]
    return _LABELS.get(" ".join(words), " ".join(words))


def cell_text(value: Cell, column: Column) -> str:
    """Format a cell: ``87.2 µs``, ``30.3 %``, ``yes``, ``n/a`` if unknown."""
    if value is None:
        return NOT_AVAILABLE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return escaped(value)
    if column.id in _IDENTIFIERS and abs(value) < _ABSURD and value == int(value):
        return str(int(value))
    return number_text(value, column.unit)


def number_text(value: float, unit: str = "") -> str:
    """Format a number with its unit, to three digits; whole numbers without a unit in full."""
    if not math.isfinite(value):
        return NOT_AVAILABLE if math.isnan(value) else ("∞" if value > 0 else "-∞")
    if abs(value) >= _ABSURD:
        return f"{value:.1e} {unit}".rstrip()
    if unit in ("fraction", "percent"):
        return _percent(100 * value if unit == "fraction" else value)
    if value == 0:
        return "0"
    if unit in _SCALES:
        factor, scale = _SCALES[unit]
        return _scaled(value * factor, scale)
    text = human_memory(round(value)) if unit == "bytes" else plain_number(value)
    return f"{text} {_SUFFIXES[unit]}" if unit in _SUFFIXES else text


def plain_number(value: float) -> str:
    """Format a number without a unit: whole numbers with commas, others to three digits."""
    size = abs(value)
    if 0 < size < 0.001:
        return f"{value:.1e}"
    if value == int(value):
        return f"{int(value):,}"
    decimals = 3 if size < 1 else 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{value:,.{decimals}f}"


def _percent(percent: float) -> str:
    return "<0.1 %" if 0 < percent < 0.05 else f"{percent:.1f} %"


def _scaled(value: float, scale: tuple[tuple[float, str], ...]) -> str:
    """Format a value in the unit that gives it one to three digits before the point."""
    factor, unit = scale[0]
    for factor, unit in scale:  # noqa: B007  (the last one tried is the result's)
        if abs(value) / factor < 999.5:
            break
    scaled = value / factor
    size = abs(scaled)
    decimals = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{scaled:,.{decimals}f} {unit}"
