"""The table of the roofline model: a row for each op, and one for all ops together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from tfprof.captures.events.ops.device_ops import DeviceOp
from tfprof.captures.events.ops.op_roofline import op_roofline
from tfprof.captures.events.timeline.device_peaks import Peaks
from tfprof.captures.rules import Rules
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, flag, text, timed_by
from tfprof.captures.run.table import Cell, Column
from tfprof.captures.tools.hlo_statistics import source_text

_GFLOPS, _GIB = "gflops_per_s", "gib_per_s"


def _intensity(memory: str, label: str, of_what: str) -> Column:
    return replace(
        shared.INTENSITY,
        id=f"{memory}_operational_intensity",
        label=f"{label} {shared.INTENSITY.label}",
        meaning=f"float operations per byte {of_what}",
    )


COLUMNS = timed_by(
    "device",
    text("step", "Step", "Total is the capture, Average the average step; otherwise a step"),
    shared.RANK,
    shared.INSTRUCTION_KIND,
    text("operation", "Operation",
         "name of the instruction; Program is all of them together", links=("hlo-stats",)),
    replace(shared.OCCURRENCES, label="# Occurrences"),
    amount("total_time", "Total Time (us)", "us",
           "time of all runs in a step, with what ran inside them"),
    shared.AVG_TIME,
    amount("total_self_time", "Total self time (us)", "us",
           "time of all runs in a step, without what ran inside them"),
    shared.AVG_SELF_TIME,
    amount("total_self_time_percent", "Total self time (%)", "fraction",
           "self time as part of the program's time"),
    amount("cumulative_total_self_time_percent", "Cumulative total self time (%)", "fraction",
           "the same, of this row and those above it"),
    amount("dma_stall_percent", "%time stalled by DMA", "fraction",
           "waiting for copies of the device; no capture records it: empty"),
    amount("measured_flop_rate", "Normalized FLOP Rate (GFLOP/s)", _GFLOPS,
           "float operations per time, at the device's nominal clock"),
    shared.MODEL_FLOP_RATE,
    shared.MEMORY_BW,
    shared.HBM_BW,
    shared.CMEM_READ_BW,
    shared.CMEM_WRITE_BW,
    amount("vmem_read_bw", "VMEM Read BW (GiB/s)", _GIB, "bytes read from a TPU's VMEM, per time"),
    amount("vmem_write_bw", "VMEM Write BW (GiB/s)", _GIB,
           "bytes written to a TPU's VMEM, or to a GPU's shared memory and L1, per time"),
    shared.INTENSITY,
    _intensity("hbm", "HBM", "of the main memory"),
    _intensity("cmem_read", "CMEM Read", "read from CMEM"),
    _intensity("cmem_write", "CMEM Write", "written to CMEM"),
    _intensity("vmem_read", "VMEM Read", "read from VMEM"),
    _intensity("vmem_write", "VMEM Write", "written to VMEM, or to a GPU's shared memory and L1"),
    _intensity("bottleneck", "Bottleneck", "of the memory that limits it"),
    shared.BOUND_BY,
    amount("total_time_per_core", "Total Time per core (us)", "us",
           "time in a step, divided by the number of cores"),
    amount("total_time_in_percentage", "Total Time (%)", "fraction",
           "time as part of the program's time"),
    amount("optimal_flop_rate", "Optimal FLOP Rate (GFLOP/s)", _GFLOPS,
           "the rate at which it would touch the roof"),
    amount("roofline_efficiency", "Roofline efficiency (%)", "fraction",
           "how much of the roof above it the op reaches"),
    amount("compute_efficiency", "FLOP Rate / Peak (%)", "fraction",
           "its part of the float operations that the device can do"),
    amount("max_mem_bw_utilization", "Max memory BW utilization (among supported memories) (%)",
           "fraction", "the largest part of what some memory can move"),
    flag("include_infeed_outfeed", "Include Infeed/Outfeed",
         "whether input and output of the device count"),
    text("hlo_module_id", "Program ID", "number of the compiled program"),
    shared.SOURCE_INFO,
)  # fmt: skip
"""All columns; GPUs have fewer than TPUs."""

_TPU_ONLY = frozenset((
    "dma_stall_percent", "cmem_read_bw", "cmem_write_bw", "vmem_read_bw",
    "cmem_read_operational_intensity", "cmem_write_operational_intensity",
    "vmem_read_operational_intensity",
))  # fmt: skip

_GPU_LABELS = {
    "vmem_write_bw": "SHM/L1 BW (GiB/s)",
    "vmem_write_operational_intensity": "SHM/L1 Operational Intensity (FLOP/Byte)",
}

_PLACES = {column.id: place for place, column in enumerate(COLUMNS)}


_NOT_RECORDED = frozenset((_PLACES["dma_stall_percent"],))
"""Columns that no capture records; the reference shows 0."""

_PROGRAM = frozenset((_PLACES["hlo_module_id"],))

_PER_CORE = frozenset((_PLACES["total_time_per_core"],))

_OF_SINGLE_OPS = frozenset(map(_PLACES.__getitem__, (
    "total_self_time", "avg_self_time", "total_self_time_percent",
    "cumulative_total_self_time_percent",
)))  # fmt: skip
"""Self times: the row of all ops together has none; the reference shows 0 there."""

_OF_LIMITS = frozenset(map(_PLACES.__getitem__, (
    "bottleneck_operational_intensity", "optimal_flop_rate", "roofline_efficiency",
    "compute_efficiency", "max_mem_bw_utilization",
)))  # fmt: skip
"""Columns that need the peak rates of the device."""

_OF_COSTS = _OF_LIMITS | frozenset(
    place for name, place in _PLACES.items() if name.endswith(("_rate", "_bw", "_intensity"))
)
"""Columns that need the float operations or bytes of an op."""

RANK, WITH_TRANSFERS = (_PLACES[name] for name in ("rank", "include_infeed_outfeed"))

Row = tuple[Cell, ...]


class Part(NamedTuple):
    """The whole capture, the average step, or a step.

    Attributes:
        label: ``Total``, ``Average`` or the name of the step.
        program: All ops as one.
        n_steps: Number of steps, the divisor of times.
        ops: The ops to show, in order.
        with_transfers: Whether infeeds and outfeeds count.
    """

    label: str
    program: DeviceOp
    n_steps: int
    ops: Sequence[DeviceOp]
    with_transfers: bool


def columns_of(hardware: str) -> tuple[Column, ...]:
    """Select the columns that make sense for ``GPU``, ``TPU`` or ``CPU_ONLY``."""
    if hardware != "GPU":
        return COLUMNS
    return tuple(
        replace(column, label=_GPU_LABELS.get(column.id, column.label))
        for column in COLUMNS
        if column.id not in _TPU_ONLY
    )


def chosen_cells(row: Row, columns: Sequence[Column]) -> Row:
    """Select the cells of some of the columns."""
    return tuple([row[_PLACES[column.id]] for column in columns])


def rows_of(part: Part, peaks: Peaks, n_cores: int, rules: Rules) -> Iterator[tuple[DeviceOp, Row]]:
    """Make a row of all columns for the program, and one for each op.

    Unknown cells are None; by the rules of the reference, they are 0.
    """
    total_ps, so_far = part.program.time_ps, 0.0
    knows_some = not part.ops or any(op.has_known_cost for op in part.ops)
    for rank, op in enumerate((part.program, *part.ops)):
        share = op.self_ps / total_ps if rank and total_ps else 0.0
        so_far += share
        row = _row(part, op, (rank, share, so_far), peaks, n_cores)
        if not rules.writes_zeros:
            left_out = _NOT_RECORDED if any(peaks) else _NOT_RECORDED | _OF_LIMITS
            left_out |= set() if n_cores else _PER_CORE
            left_out |= _PROGRAM if op.key.program_id is None else set()
            left_out |= set() if rank else _OF_SINGLE_OPS
            if not (op.has_known_rates if rank else knows_some):
                left_out |= _OF_COSTS
            row = tuple([None if place in left_out else cell for place, cell in enumerate(row)])
        yield op, row


def _row(
    part: Part, op: DeviceOp, order: tuple[int, float, float], peaks: Peaks, n_cores: int
) -> Row:
    rank, share, so_far = order
    roofline, runs = op_roofline(op, peaks), op.occurrences
    time, own = op.time_ps / 1e6, op.self_ps / 1e6
    in_step = time / part.n_steps
    return (
        part.label, rank, op.category or "unknown", op.key.name, runs, in_step,
        time / runs if runs else 0.0, own / part.n_steps, own / runs if runs else 0.0,
        share, so_far, 0.0, roofline.gflops, roofline.model_gflops,
        *roofline.gib, *roofline.intensity,
        roofline.bottleneck_intensity, roofline.bound_by, in_step / n_cores if n_cores else 0.0,
        op.time_ps / part.program.time_ps if part.program.time_ps else 0.0,
        roofline.optimal_gflops, roofline.efficiency, roofline.compute_share, roofline.memory_share,
        part.with_transfers, str(op.key.program_id or 0), source_text(op),
    )  # fmt: skip
