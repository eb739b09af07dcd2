"""Op profile: a tree that shows how well the ops of compiled programs use a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfprof.captures.events.ops.device_ops import DeviceOps, Traffic
from tfprof.captures.events.ops.op_tree import (
    MOST_CHILDREN,
    Grouping,
    OpNode,
    op_tree,
)
from tfprof.captures.events.timeline.device_peaks import Peaks
from tfprof.captures.facts.bound_by import run_peaks
from tfprof.captures.facts.device_op_db import compiled_ops, device_notes, device_ops
from tfprof.captures.facts.hlo_programs import program_titles
from tfprof.captures.facts.host_devices import has_device
from tfprof.captures.facts.one_step import of_step
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.steps import Steps
from tfprof.captures.hlo.memory_breakdown import HBM
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.reference_json import reference_json
from tfprof.captures.run.result import Note, ToolResult, scope_of
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.tools.found_by_column import with_found_by
from tfprof.core.text.claims import Claim, scoped, unknown
from tfprof.core.text.short_names import folded
from tfprof.errors import UsageError

_GROUPINGS: tuple[Grouping, ...] = ("program", "category", "provenance")
_GIGA = 1e9

COLUMNS = timed_by(
    "device",
    count("level", "Level", "depth in the tree"),
    text("name", "Name", "program, category or instruction"),
    amount("time_us", "Time", "us", "time of all runs of what is below"),
    amount("time_share", "Share of the time", "fraction", "part of the time of all ops"),
    amount("flops_utilization", "FLOPS utilization", "fraction",
           "float operations, as part of what the device can do in the time"),
    amount("hbm_utilization", "HBM utilization", "fraction",
           "bytes of the main memory, as part of what it can move in the time"),
    amount("wasted_share", "Time that neither uses", "fraction",
           "part of the time of all ops in which neither was used"),
    shared.OCCURRENCES,
    shared.INSTRUCTION_KIND,
    text("provenance", "Framework op", "name of the framework's op that it was made for"),
)  # fmt: skip


def run_device_ops(hosts: Sequence[Host]) -> DeviceOps:
    """Device ops of some hosts together; without devices, XLA ops on host threads."""
    ops = device_ops if any(map(has_device, hosts)) else compiled_ops
    return ops.together(hosts)


def op_profile(
    run: Run,
    *,
    host: str | None = None,
    step: Steps | None = None,
    classic: bool = False,
    by: str = "program",
    limit: int = MOST_CHILDREN,
) -> ToolResult:
    """Show how well ops use the device.

    Args:
        run: The run.
        host: Only this host.
        step: Only the step with this number, or the steps with these numbers.
        classic: The reference's numbers: every kernel of an instruction counts as a run of it, and
            costs of GPU programs are in cycles.
        by: ``program``, ``category`` or ``provenance``.
        limit: How many children a node keeps.

    Raises:
        UsageError: There is no such host, or ``by`` is not a grouping.
    """
    run = of_step(run.in_mode(classic=classic), step)
    grouping = next((known for known in _GROUPINGS if known == by), None)
    if grouping is None:
        raise UsageError(f"unknown grouping {by!r}; use one of {', '.join(_GROUPINGS)}")
    hosts = run.chosen(host)
    ops = run_device_ops(hosts)
    names = None
    if run.rules.unites_ops_of_programs:
        names = {id_: title for host in hosts for id_, title in program_titles(host)}
    peaks = run_peaks(run)
    tree = op_tree(ops, grouping, names, with_idle=False, most_children=limit)
    title = f"Ops by {grouping}, shares of the time of all ops"
    ways = [node.op.found_by if node.op else () for _, node in tree.walk()]
    columns, rows = with_found_by(COLUMNS, _rows(tree, peaks), ways)
    table = Table("ops", columns, rows, title=title)
    notes = [*run.notes, *device_notes(hosts, ops)]
    unknown = sum(not op.is_known for op in ops.ops)
    if unknown:
        notes.append(
            Note("info", f"{unknown} ops call code whose float operations are unknown; they count "
                 "as 0")
        )  # fmt: skip

    def with_idle() -> OpNode:
        return op_tree(ops, grouping, names, with_idle=True, most_children=limit)

    return ToolResult(
        "op-profile",
        "Op profile",
        claims=scoped(_claims(tree, peaks), scope_of([one.name for one in hosts], step)),
        tables={"ops": table},
        notes=tuple(notes),
        data={"grouping": grouping, "idle_ps": ops.idle_ps, "total_ps": ops.total_ps},
        gviz=reference_json("op_profile", run, ops, grouping, tree, with_idle),
    )


def clock_scale(ops: DeviceOps) -> float:
    """Time of ops at the nominal clock, as a fraction of their measured time; 0 without any."""
    return part(sum(op.normalized_ps for op in ops.ops), sum(op.time_ps for op in ops.ops))


def flops_utilization(node: OpNode, peaks: Peaks, *, has_clock: bool = False) -> float:
    """Float operations of a node, as a fraction of what the device can do in the node's time.

    Args:
        node: The node.
        peaks: Peak rates of the device.
        has_clock: Whether the clock of the device is known: count as if it had run at the nominal
            one.
    """
    if not (node.time_ps and peaks.gflops):
        return 0.0
    rate = node.flops / (node.time_ps / 1000.0) / peaks.gflops
    if has_clock:
        return part(rate * node.time_ps, node.normalized_ps)
    return rate


def moved_bytes(traffic: Traffic) -> tuple[int, int, int]:
    """Bytes moved in the main memory, and bytes read from and written to on-chip memory."""
    read = sum(amount for space, amount, _ in traffic.by_space if space != HBM)
    written = sum(amount for space, _, amount in traffic.by_space if space != HBM)
    return traffic.main_bytes, read, written


def bandwidth_utilization(node: OpNode, peaks: Peaks) -> tuple[float, float, float]:
    """Each of the moved bytes as a fraction of what the device can move in the time, at most 1."""
    seconds = node.time_ps / 1e12
    limits = (peaks.hbm_gb, peaks.sram_read_gb, peaks.sram_write_gb)
    main, read, written = (
        min(1.0, size / seconds / (limit * _GIGA)) if seconds and limit else 0.0
        for size, limit in zip(moved_bytes(node.traffic), limits, strict=True)
    )
    return main, read, written


def _knows(tree: OpNode, peaks: Peaks) -> tuple[bool, bool]:
    """Whether float operations and bytes can be compared with the peak rates."""
    return bool(peaks.gflops and tree.flops), bool(peaks.hbm_gb and tree.traffic.main_bytes)


def _rows(tree: OpNode, peaks: Peaks) -> list[tuple[Cell, ...]]:
    knows_flops, knows_bytes = _knows(tree, peaks)
    rows: list[tuple[Cell, ...]] = []
    for level, node in tree.walk():
        share = part(node.time_ps, tree.time_ps)
        is_timed = not node.is_asynchronous
        used = min(1.0, flops_utilization(node, peaks)) if knows_flops and is_timed else None
        memory = bandwidth_utilization(node, peaks)[0] if knows_bytes and is_timed else None
        wasted = None
        if used is not None or memory is not None:
            wasted = share * (1.0 - max(used or 0.0, memory or 0.0))
        runs = node.occurrences or None  # runs of programs are not counted
        rows.append((
            level, node.name, node.time_ps / 1e6, share, used, memory, wasted, runs,
            node.op.category if node.op else "", node.op.provenance if node.op else "",
        ))  # fmt: skip
    return rows


def _claims(tree: OpNode, peaks: Peaks) -> Iterator[Claim]:
    leaves = [node for _, node in tree.walk() if node.op is not None and node.time_ps]
    if not leaves or not tree.time_ps:
        yield unknown("ops", "self_share", "There are no device ops.")
        return
    top = max(leaves, key=lambda node: (node.time_ps, node.name))
    details: dict[str, float] = {}
    words = "{subject} takes the most time, {value}"
    if any(_knows(tree, peaks)):
        yield Claim(
            "ops", "flops_utilization", min(1.0, flops_utilization(tree, peaks)), "fraction",
            basis="costs of compiled programs, and peak rates of the device",
            details={"memory_share": bandwidth_utilization(tree, peaks)[0]},
            words="The ops use {value} of the device's float operations per second and "
            "{memory_share} of its memory bandwidth.",
        )  # fmt: skip
        if not top.is_asynchronous:
            details = {
                "flops_share": min(1.0, flops_utilization(top, peaks)),
                "memory_share": bandwidth_utilization(top, peaks)[0],
            }
            words += ", and uses {flops_share} and {memory_share}"
    yield Claim(
        folded(top.name), "self_share", top.time_ps / tree.time_ps, "fraction",
        basis="time of all device ops", details=details, words=f"{words}.",
    )  # fmt: skip
