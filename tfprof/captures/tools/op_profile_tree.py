"""Op profile: how well the ops of compiled programs use a device, as a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfprof.captures.events.ops.device_ops import DeviceOps, Traffic, merged
from tfprof.captures.events.ops.op_tree import (
    IDLE,
    MOST_CHILDREN,
    Grouping,
    OpNode,
    is_fusion,
    op_tree,
)
from tfprof.captures.events.timeline.device_peaks import Peaks
from tfprof.captures.facts.bound_by import run_peaks
from tfprof.captures.facts.device_op_db import compiled_ops, device_notes
from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.hlo_programs import programs_of
from tfprof.captures.facts.host_devices import has_device
from tfprof.captures.facts.one_step import of_step
from tfprof.captures.hlo.memory_breakdown import HBM
from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.errors import UsageError
from tfprof.text.short_names import folded

TOOL = "op-profile"

_GROUPINGS: tuple[Grouping, ...] = ("program", "category", "provenance")
_GIB = 2**30
_GIGA = 1e9

COLUMNS = (
    Column("level", "Level"),
    Column("name", "Name", "string"),
    Column("time_us", "Time", unit="us"),
    Column("time_share", "Share of the time", unit="fraction"),
    Column("flops_utilization", "FLOPS utilization", unit="fraction"),
    Column("hbm_utilization", "HBM utilization", unit="fraction"),
    Column("wasted_share", "Time that neither uses", unit="fraction"),
    Column("occurrences", "Occurrences"),
    Column("category", "Category", "string"),
    Column("provenance", "Framework op", "string"),
)


def run_device_ops(run: Run, hosts: Sequence[Host], *, classic: bool) -> DeviceOps:
    """Ops of the devices of some hosts together; without any device, those of XLA on threads."""
    del run
    with_device = [host for host in hosts if has_device(host)]
    return merged(compiled_ops(host, classic=classic) for host in with_device or hosts)


def program_names(hosts: Sequence[Host]) -> dict[int, str]:
    """``module(id)`` by program id, of the programs that the captures hold."""
    return {program.id: program.title for host in hosts for program in programs_of(host)}


def op_profile(
    run: Run,
    *,
    host: str | None = None,
    step: int | None = None,
    classic: bool = False,
    by: str = "program",
    limit: int = MOST_CHILDREN,
) -> ToolResult:
    """How well ops use the device.

    Args:
        run: The run.
        host: Only one host.
        step: Only what belongs to one step, by its number.
        classic: The reference's numbers: every kernel of an instruction is a run of it, and
            costs of GPU programs are in cycles.
        by: ``program``, ``category`` or ``provenance``.
        limit: How many children a node keeps.

    Raises:
        UsageError: There is no such host or grouping.
    """
    run = of_step(run, step, classic=classic)
    grouping = next((known for known in _GROUPINGS if known == by), None)
    if grouping is None:
        raise UsageError(f"unknown grouping {by!r}; use one of {', '.join(_GROUPINGS)}")
    hosts = run.chosen(host)
    ops = run_device_ops(run, hosts, classic=classic)
    names = program_names(hosts) if classic else None
    peaks = run_peaks(run)
    tree = op_tree(ops, grouping, names, with_idle=False, most_children=limit)
    title = f"Ops by {grouping}, shares of the time of all ops"
    table = Table("ops", COLUMNS, _rows(tree, peaks), title=title)
    notes = [*run.notes, *device_notes(hosts, ops)]
    unknown = sum(not op.is_known for op in ops.ops)
    if unknown:
        notes.append(
            Note("info", f"{unknown} ops call code whose float operations nobody knows; they count "
                 "as 0")
        )  # fmt: skip

    def with_idle() -> OpNode:
        return op_tree(ops, grouping, names, with_idle=True, most_children=limit)

    def reference_json() -> dict[str, Any]:
        name = f"by{grouping.capitalize()}"
        known = environment(run)
        has_clock = known.hardware == "TPU"
        return {
            name: _json(with_idle(), peaks, has_clock=has_clock),
            f"{name}ExcludeIdle": _json(tree, peaks, has_clock=has_clock),
            "deviceType": known.hardware,
            "aggDvfsTimeScaleMultiplier": _clock_scale(ops) if has_clock else 0.0,
        }

    return ToolResult(
        TOOL,
        "Op profile",
        verdict=_verdict(tree, peaks),
        tables={"ops": table},
        notes=tuple(notes),
        data={"grouping": grouping, "idle_ps": ops.idle_ps, "total_ps": ops.total_ps},
        gviz=reference_json,
    )


def _clock_scale(ops: DeviceOps) -> float:
    normalized = sum(op.normalized_ps for op in ops.ops)
    time = sum(op.time_ps for op in ops.ops)
    return normalized / time if time else 0.0


def flops_utilization(node: OpNode, peaks: Peaks, *, has_clock: bool = False) -> float:
    """Float operations of a node, as part of what the device can do in its time.

    Args:
        node: The node.
        peaks: What the device can do.
        has_clock: The device tells its clock: count as if it had run at the nominal one.
    """
    if not (node.time_ps and peaks.gflops):
        return 0.0
    rate = node.flops / (node.time_ps / 1000.0) / peaks.gflops
    if has_clock:
        return rate * node.time_ps / node.normalized_ps if node.normalized_ps else 0.0
    return rate


def moved_bytes(traffic: Traffic) -> tuple[int, int, int]:
    """Bytes of the main memory, and bytes read from and written to memory on the chip."""
    read = sum(amount for space, amount, _ in traffic.by_space if space != HBM)
    written = sum(amount for space, _, amount in traffic.by_space if space != HBM)
    return traffic.main_bytes, read, written


def bandwidth_utilization(node: OpNode, peaks: Peaks) -> tuple[float, float, float]:
    """Each of ``moved_bytes`` as part of what the device can move in the time, at most 1."""
    seconds = node.time_ps / 1e12
    limits = (peaks.hbm_gb, peaks.sram_read_gb, peaks.sram_write_gb)
    main, read, written = (
        min(1.0, size / seconds / (limit * _GIGA)) if seconds and limit else 0.0
        for size, limit in zip(moved_bytes(node.traffic), limits, strict=True)
    )
    return main, read, written


def _knows(tree: OpNode, peaks: Peaks) -> tuple[bool, bool]:
    """Whether float operations, and bytes, can be compared with what the device can do."""
    return bool(peaks.gflops and tree.flops), bool(peaks.hbm_gb and tree.traffic.main_bytes)


def _rows(tree: OpNode, peaks: Peaks) -> list[tuple[Cell, ...]]:
    knows_flops, knows_bytes = _knows(tree, peaks)
    rows: list[tuple[Cell, ...]] = []
    for level, node in tree.walk():
        share = node.time_ps / tree.time_ps if tree.time_ps else 0.0
        used = min(1.0, flops_utilization(node, peaks)) if knows_flops else None
        memory = bandwidth_utilization(node, peaks)[0] if knows_bytes else None
        wasted = None
        if used is not None or memory is not None:
            wasted = share * (1.0 - max(used or 0.0, memory or 0.0))
        runs = node.occurrences or None  # of programs nobody counts them
        rows.append((
            level, node.name, node.time_ps / 1e6, share, used, memory, wasted, runs,
            node.op.category if node.op else "", node.op.provenance if node.op else "",
        ))  # fmt: skip
    return rows


def _verdict(tree: OpNode, peaks: Peaks) -> tuple[str, ...]:
    leaves = [node for _, node in tree.walk() if node.op is not None and node.time_ps]
    if not leaves or not tree.time_ps:
        return ("There are no ops of devices to look at.",)
    top = max(leaves, key=lambda node: (node.time_ps, node.name))
    if not any(_knows(tree, peaks)):
        return (f"{folded(top.name)} takes the most time, {top.time_ps / tree.time_ps:.1%}.",)
    used = min(1.0, flops_utilization(tree, peaks))
    memory = bandwidth_utilization(tree, peaks)[0]
    return (
        f"The ops use {used:.1%} of the device's float operations per second and {memory:.1%} of "
        "its memory bandwidth.",
        f"{folded(top.name)} takes the most time, {top.time_ps / tree.time_ps:.1%}, and uses "
        f"{min(1.0, flops_utilization(top, peaks)):.1%} and "
        f"{bandwidth_utilization(top, peaks)[0]:.1%}.",
    )


def _json(root: OpNode, peaks: Peaks, *, has_clock: bool) -> dict[str, Any]:
    """The tree as the reference writes it, without recursion.

    Args:
        root: The tree.
        peaks: What the device can do.
        has_clock: The device tells its clock; without, the reference has no normalized time,
            and no utilization that it is needed for.
    """
    made: dict[int, dict[str, Any]] = {}
    for _, node in reversed(list(root.walk())):
        entry: dict[str, Any] = {
            "name": node.name,
            "metrics": _metrics(node, root.time_ps, peaks, has_clock),
            "children": [made.pop(id(child)) for child in node.children],
            "numChildren": node.n_children,
        }
        if node.op is not None:
            entry["xla"] = _xla(node, has_clock)
        made[id(node)] = entry
    return made[id(root)]


def _metrics(node: OpNode, total_ps: int, peaks: Peaks, has_clock: bool) -> dict[str, Any]:
    used = flops_utilization(node, peaks, has_clock=has_clock)
    share = node.time_ps / total_ps if total_ps else 0.0
    average = node.time_ps / node.occurrences if node.occurrences else 0.0
    return {
        "rawTime": node.time_ps,
        "occurrences": node.occurrences,
        "avgTimePs": average,
        "normalizedTimePs": node.normalized_ps if has_clock else 0,
        "rawFlops": node.model_flops,
        "bf16Flops": node.flops,
        "flops": min(1.0, used) * share,
        "uncappedFlops": used * share,
        "bandwidthUtils": list(bandwidth_utilization(node, peaks)),
        "rawBytesAccessedArray": list(moved_bytes(node.traffic)),
    }


def _xla(node: OpNode, has_clock: bool) -> dict[str, Any]:
    assert node.op is not None
    op = node.op
    file, line, stack = op.source
    if not (file or has_clock or op.category == IDLE):
        line = -1  # as the reference says of GPUs' ops without a source
    entry: dict[str, Any] = {
        "op": "",
        "expression": op.expression,
        "provenance": op.provenance,
        "category": op.category,
        "fingerprint": "0",
        "programId": str(op.key.program_id or 0),
        "computationPrimitiveSize": 0,
        "sourceInfo": {"fileName": file, "lineNumber": line, "stackFrame": stack},
        "xprofKernelMetadata": "",
    }
    if node.is_group and not is_fusion(op):
        entry["layout"] = {"dimensions": []}
    return entry
