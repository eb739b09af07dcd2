"""HLO stats: every instruction of compiled programs, with its time, rates and limit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tfprof.captures.events.ops.device_ops import DeviceOp
from tfprof.captures.events.ops.op_tree import shown_ops
from tfprof.captures.events.timeline.device_peaks import Peaks
from tfprof.captures.facts.bound_by import bound_by, run_peaks
from tfprof.captures.facts.device_op_db import device_notes
from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.one_step import of_step
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.steps import Steps
from tfprof.captures.hlo.memory_breakdown import CMEM
from tfprof.captures.rules import Rules
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, text, timed_by
from tfprof.captures.run.reference_json import reference_json
from tfprof.captures.run.result import Chart, ToolResult, pie, scope_of
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.tools.found_by_column import with_found_by
from tfprof.captures.tools.op_profile_tree import run_device_ops
from tfprof.captures.tools.op_statistics import gflops_per_s, gib_per_s
from tfprof.core.text.claims import Claim, unknown
from tfprof.core.text.short_names import folded

_RESULT = re.compile(r"%?\S+ = (?P<shape>\(.*?\)|\S+) [\w-]+\(")
_LAYOUT = re.compile(r"\{[^{}]*\}|/\*[^*]*\*/")

COLUMNS = timed_by(
    "device",
    shared.RANK,
    text("program_id", "Program id", "number of the compiled program"),
    replace(shared.INSTRUCTION_KIND, label="HLO op category"),
    text("hlo_op_name", "HLO op name", "name of the instruction", links=("graph-viewer",)),
    text("hlo_op_expression", "HLO op text", "text of the instruction"),
    text("tf_op_name", "Framework op name",
         "name of the framework's op that it was made for", links=("op-stats",)),
    replace(shared.OCCURRENCES, label="#Occurrences"),
    shared.TOTAL_TIME,
    shared.AVG_TIME,
    shared.TOTAL_SELF_TIME,
    shared.AVG_SELF_TIME,
    amount("total_self_time_percent", "Total self time (%)", "percent",
           "part of the self time of all instructions"),
    amount("cumulative_total_self_time_percent", "Cumulative total self time (%)", "percent",
           "the same, of this row and those above it"),
    amount("dma_stall_percent", "%time stalled by DMA", "percent",
           "waiting for copies of the device; no capture records it: empty"),
    replace(shared.MODEL_FLOP_RATE, label="Model GFLOP/s"),
    amount("normalized_flop_rate", "Normalized GFLOP/s", "gflops_per_s",
           "float operations per time, at the device's nominal clock"),
    replace(shared.MEMORY_BW, label="Measured memory BW (GiB/s)"),
    shared.HBM_BW,
    shared.CMEM_READ_BW,
    shared.CMEM_WRITE_BW,
    replace(shared.INTENSITY, label="Operational intensity (FLOPS/Byte)"),
    shared.BOUND_BY,
    text("hlo_rematerialization", "Rematerialization", "computed again to save memory: Yes or No"),
    text("outside_compilation", "Outside Compilation",
         "runs on the host within a program of a TPU: Yes or No"),
    text("autotuned", "Autotuned", "No: a column of the reference that no capture fills"),
    shared.SOURCE_INFO,
    text("core_type", "TPU core type", "TensorCore on a TPU"),
    text("parent_op_name", "Parent op name",
         "empty: a column of the reference that no capture fills"),
    amount("vdd_energy", "VDD Energy (J)", "joules",
           "empty: a column of the reference that no capture fills"),
)  # fmt: skip


def hlo_stats(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> ToolResult:
    """List the instructions of compiled programs, the largest self time first.

    On GPUs, the list includes kernels of the framework's ops outside programs.

    Args:
        run: The run.
        host: Only this host.
        step: Only the step with this number, or the steps with these numbers.
        classic: The reference's numbers; see ``op_profile``. Shares are relative to the capture
            with its idle time. On a CPU there are none.

    Raises:
        UsageError: There is no such host or step.
    """
    run = of_step(run.in_mode(classic=classic), step)
    rules = run.rules
    hosts = run.chosen(host)
    ops = run_device_ops(hosts)
    peaks, hardware = run_peaks(run), environment(run).hardware
    core = "TensorCore" if hardware == "TPU" else ""
    rows: list[tuple[Cell, ...]] = []
    so_far, base = 0.0, ops.total_ps if rules.counts_idle_time else ops.self_ps
    for rank, op in enumerate(shown_ops(ops), 1):
        share = 100.0 * op.self_ps / base if base else 0.0
        so_far += share
        rows.append(_row(rank, op, share, so_far, peaks, core, rules))
    columns, rows = with_found_by(COLUMNS, rows, [op.found_by for op in shown_ops(ops)])
    title = "Instructions"
    title += "" if rules.counts_idle_time else ", shares of the time of all"
    of_reference = Table("instructions", columns, rows, title=title)
    table = of_reference if rules.writes_zeros else _with_shapes(of_reference)
    notes = [*run.notes, *device_notes(hosts, ops)]
    return ToolResult(
        "hlo-stats",
        "HLO stats",
        claims=(
            _claim(
                rows,
                "the capture" if rules.counts_idle_time else "the time of all",
                scope_of([one.name for one in hosts], step),
            ),
        ),
        tables={"instructions": table},
        charts=_charts(shown_ops(ops)),
        notes=tuple(notes),
        gviz=reference_json("hlo_stats", of_reference, shown_ops(ops)),
    )


def _with_shapes(table: Table) -> Table:
    """The table with the shapes of results, which the reference has only in the text."""
    shapes = map(shape_of, map(str, table.column("hlo_op_expression")))
    rows = [(*row, shape) for row, shape in zip(table.rows, shapes, strict=True)]
    return replace(table, columns=(*table.columns, shared.SHAPE), rows=rows)


def shape_of(expression: str) -> str:
    """The shape of the result in the text of an instruction; empty if it has none.

    >>> shape_of("%a.1 = f32[8,4]{1,0:T(8,128)} dot(f32[8,2]{1,0} %b, f32[2,4]{1,0} %c)")
    'f32[8,4]'
    >>> shape_of("%w = (s32[], f32[8]{0}) while((s32[], f32[8]{0}) %t)")
    '(s32[], f32[8])'
    """
    found = _RESULT.match(expression)
    return _LAYOUT.sub("", found["shape"]) if found else ""


def _row(
    rank: int,
    op: DeviceOp,
    share: float,
    so_far: float,
    peaks: Peaks,
    core: str,
    rules: Rules,
) -> tuple[Cell, ...]:
    spaces = {space: (read, written) for space, read, written in op.traffic.by_space}
    cmem = spaces.get(CMEM, (0, 0))
    time = op.time_ps
    rates: tuple[Cell, ...] = (
        gflops_per_s(op.model_flops, time), gflops_per_s(op.flops, op.normalized_ps),
        gib_per_s(op.traffic.all_bytes, time), gib_per_s(op.traffic.hbm_bytes, time),
        gib_per_s(cmem[0], time), gib_per_s(cmem[1], time),
        part(op.flops, op.traffic.all_bytes),
    )  # fmt: skip
    if not (rules.writes_zeros or op.has_known_rates):
        rates = (None,) * len(rates)
    program = op.key.program_id
    program_id = None if program is None and not rules.writes_zeros else str(program or 0)
    unknown = 0.0 if rules.writes_zeros else None  # stalls and energy, which no capture records
    return (
        rank, program_id, op.category, op.key.name, op.expression or op.key.name,
        op.provenance, op.occurrences, time / 1e6, part(time / 1e6, op.occurrences),
        op.self_ps / 1e6, part(op.self_ps / 1e6, op.occurrences), share, so_far, unknown, *rates,
        bound_by(op.flops, op.traffic, op.work_ps, peaks),
        _yes(".remat" in op.key.name or "rematted_computation" in op.provenance),
        _yes(op.is_outside_compilation), "No", source_text(op), core, "", unknown,
    )  # fmt: skip


def _yes(value: bool) -> str:
    return "Yes" if value else "No"


def source_text(op: DeviceOp) -> str:
    """File and line of the code of an op; empty if unknown."""
    file, line, _ = op.source
    return f"{file}:{line}" if file else ""


def _claim(rows: list[tuple[Cell, ...]], of_what: str, scope: str) -> Claim:
    if not rows:
        return unknown("ops", "self_share", "There are no device ops.")
    first: dict[str, Any] = dict(zip([column.id for column in COLUMNS], rows[0], strict=False))
    details = {"category": str(first["category"]), "limit": str(first["bound_by"])}
    limit = "" if details["limit"] == "Unknown" else "; bound by {limit}"
    return Claim(
        folded(str(first["hlo_op_name"])), "self_share", first["total_self_time_percent"] / 100,
        "fraction", scope=scope, basis=of_what, details=details,
        words=f"{{subject}} ({{category}}) took the most time: {{value}} of {of_what}{limit}.",
    )  # fmt: skip


def _charts(ops: Sequence[DeviceOp]) -> tuple[Chart, ...]:
    times_ps = sorted((op.category, op.self_ps) for op in ops)
    return tuple(pie("by_category", "Self time by category", "category", times_ps, series="self"))
