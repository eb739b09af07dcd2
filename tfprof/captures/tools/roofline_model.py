"""Roofline model: how fast ops are, what limits them, and how close they come to this limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tfprof.captures.events.ops.device_ops import DeviceOp, DeviceOps
from tfprof.captures.events.ops.op_roofline import as_program, is_transfer, whole_program
from tfprof.captures.events.ops.op_tree import shown_ops
from tfprof.captures.events.ops.tpu_step_costs import StepCost, tpu_step_costs
from tfprof.captures.facts.device_op_db import device_notes
from tfprof.captures.facts.host_devices import has_tpu
from tfprof.captures.facts.one_step import of_step
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import Steps
from tfprof.captures.rules import Rules
from tfprof.captures.run.fact import fact_by_rules
from tfprof.captures.run.reference_json import reference_json
from tfprof.captures.run.result import Note, ToolResult, scope_of
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Table
from tfprof.captures.tools.op_profile_tree import run_device_ops
from tfprof.captures.tools.roofline_device import Device, device_of, roofs_of
from tfprof.captures.tools.roofline_table import (
    RANK,
    WITH_TRANSFERS,
    Part,
    Row,
    chosen_cells,
    columns_of,
    rows_of,
)
from tfprof.captures.tools.roofline_words import charts_of, claims_of, remarks_on
from tfprof.core.text.claims import scoped
from tfprof.core.text.units import milliseconds

_MOST_CLASSIC = 1000


def roofline(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> ToolResult:
    """Show how fast ops are, and which limit of the device they come closest to.

    Args:
        run: The run.
        host: Only this host.
        step: Only the step with this number, or the steps with these numbers. In classic mode,
            their rows stand beside those of the whole capture.
        classic: The reference's numbers: none without devices, a row of zeros for each step on
            GPUs, and at most 1000 ops.

    Raises:
        UsageError: There is no such host or step.
    """
    run = run.in_mode(classic=classic)
    rules = run.rules
    run = of_step(run, None if rules.keeps_rows_of_capture else step)
    hosts = run.chosen(host)
    device = device_of(replace(run, hosts=hosts))
    ops = run_device_ops(hosts)
    steps = _step_costs(run, hosts)
    remarks = _step_notes(run, device, bool(steps))
    remarks += remarks_on(ops, device)
    if ops.total_ps and not rules.omits_notes:
        remarks.append(_of_the_capture(ops, device, has_steps=bool(steps)))
    notes = [*run.notes, *device_notes(hosts, ops), *remarks]
    rows = [
        row_of_op
        for part in _parts(run, ops, steps, device)
        if step is None or part.label.rpartition(" ")[2] in ("Total", "Average", str(step))
        for row_of_op in rows_of(part, device.peaks, device.n_cores, rules)
    ]
    columns = columns_of(device.hardware)

    def table(name: str, title: str, chosen: Sequence[Row]) -> Table:
        return Table(name, columns, [chosen_cells(row, columns) for row in chosen], title=title)

    told = [*run.notes, *remarks] if rules.omits_notes else notes
    return ToolResult(
        "roofline",
        "Roofline model",
        claims=scoped(
            claims_of(ops, device),
            scope_of([one.name for one in hosts], step),
            "costs of compiled programs, and peak rates of the device",
        ),
        tables={
            "ops": table(
                "ops",
                "Ops" if rules.counts_idle_time else "Ops, shares of the time of all ops",
                [r for _, r in rows if r[RANK] and r[WITH_TRANSFERS]],
            ),
            "programs": table(
                "programs",
                "All ops together; self times are of single ops",
                [r for _, r in rows if not r[RANK]],
            ),
        },
        charts=charts_of(ops, device),
        notes=tuple(notes),
        data={"device": device.name, "roofs": roofs_of(device.peaks)},
        gviz=reference_json("roofline", device, ops, rows, told, rules),
    )


def _step_costs(run: Run, hosts: Sequence[Host]) -> dict[str, list[StepCost]]:
    """Costs of each step on the hosts that have TPUs, by the name of the step."""
    costs: dict[str, list[StepCost]] = {}
    for host in filter(has_tpu, hosts):
        of_host = _costs_of(host)
        names = {} if run.rules.numbers_core_steps else of_host.names | _names(run, host)
        for cost in of_host.costs:
            name = names.get(cost.group, str(cost.group))
            costs.setdefault(name, []).append(cost)
    return costs


class _Costs(NamedTuple):
    """Costs of steps, and names of groups."""

    costs: tuple[StepCost, ...]
    names: dict[int, str]


@fact_by_rules
def _costs_of(host: Host) -> _Costs:
    groups = host.groups()
    return _Costs(tuple(tpu_step_costs(host.timeline, groups.of_event)), dict(groups.names))


def _names(run: Run, host: Host) -> dict[int, str]:
    """Names of the steps of a host by group."""
    own = next((one for one in run_steps(run).hosts if one.host is host), None)
    return {} if own is None else dict(zip(own.times.groups.tolist(), own.names, strict=True))


def _parts(
    run: Run,
    ops: DeviceOps,
    steps: Mapping[str, Sequence[StepCost]],
    device: Device,
) -> Iterator[Part]:
    """Parts with infeeds and outfeeds; if there are any, then the same parts without them."""
    has_zeros = run.rules.writes_zeros
    if not ops.ops and (device.hardware == "CPU_ONLY" or not has_zeros):
        return
    gpu_steps: Sequence[str] = ()
    if has_zeros and device.hardware == "GPU":
        gpu_steps = run_steps(run, inner_only=True).names
    shown = _shown(ops, run.rules)
    has_transfers = any(is_transfer(op.category) for op in ops.ops)
    for with_transfers in (True, False) if has_zeros or has_transfers else (True,):
        took_ps = ops.total_ps if run.rules.counts_idle_time else ops.self_ps
        program = whole_program(ops.ops, took_ps, with_transfers=with_transfers)
        kept = [op for op in shown if with_transfers or not is_transfer(op.category)]
        yield Part("Total", program, 1, kept, with_transfers)
        every = [cost for costs in steps.values() for cost in costs]
        if steps or (has_zeros and device.hardware == "TPU"):
            average = _program_of(every, with_transfers=with_transfers)
            yield Part("Average", average, max(len(steps), 1), (), with_transfers)
        for name, costs in steps.items():
            program = _program_of(costs, with_transfers=with_transfers)
            yield Part(name, program, 1, (), with_transfers)
        for name in gpu_steps:
            yield Part(name, whole_program((), 0), 1, (), with_transfers)


def _shown(ops: DeviceOps, rules: Rules) -> Sequence[DeviceOp]:
    shown = shown_ops(ops)
    if not rules.cuts_tables:
        return shown
    # The reference cuts before it removes the entry of idle time.
    is_idle_among = sum(op.self_ps >= ops.idle_ps for op in shown) < _MOST_CLASSIC
    return shown[: _MOST_CLASSIC - is_idle_among]


def _program_of(costs: Sequence[StepCost], *, with_transfers: bool) -> DeviceOp:
    """All ops of some steps as one, with the time of the steps."""
    sums, total_ps = whole_program((), 0), 0
    for cost in costs:
        sums, total_ps = sums.plus(cost.useful), total_ps + cost.total_ps
        if with_transfers:
            sums = sums.plus(cost.transfers)
        else:
            total_ps -= cost.transfers.time_ps
    return as_program(sums, total_ps)


def _of_the_capture(ops: DeviceOps, device: Device, *, has_steps: bool) -> Note:
    """Note on the time that rates and shares refer to, as a part of the capture."""
    where = "threads" if device.hardware == "CPU_ONLY" else "devices"
    return Note(
        "info",
        f"rates and shares are of the time of ops, {milliseconds(ops.self_ps / 1e9)}: "
        f"{ops.self_ps / ops.total_ps:.1%} of the time of the {where} from their first op to the "
        f"last{'; those of steps are of the whole step' if has_steps else ''}",
    )


def _step_notes(run: Run, device: Device, has_steps: bool) -> list[Note]:
    """Reasons for missing rows of steps."""
    if device.hardware == "TPU" and not has_steps:
        return [Note("warning", "the TPUs recorded no steps: rows are of the whole capture only")]
    if device.hardware != "GPU":
        return []
    return [
        *run_steps(run, inner_only=True).notes,
        Note(
            "info",
            "on GPUs costs are known for whole ops only, so there are no rows of single steps",
        ),
    ]
