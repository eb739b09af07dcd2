"""GPU kernel stats: every kernel with its launch shape, use of tensor cores, and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfprof.captures.events.ops.executions import op_of_instruction
from tfprof.captures.events.ops.gpu_kernels import (
    KernelTimes,
    gpu_kernels,
    merged_kernels,
    sorted_kernels,
)
from tfprof.captures.events.timeline.programs import HloKey
from tfprof.captures.facts.command_buffers import graph_times
from tfprof.captures.facts.hlo_programs import annotated, known_programs
from tfprof.captures.facts.one_step import of_step
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.steps import Steps
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, flag, text, timed_by
from tfprof.captures.run.fact import summed_fact
from tfprof.captures.run.result import Chart, Note, ToolResult, pie, scope_of
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.tools.found_by_column import with_found_by
from tfprof.core.text import how_to_capture
from tfprof.core.text.claims import Claim, scoped
from tfprof.core.text.short_names import short_name
from tfprof.core.text.units import milliseconds

_MOST_CLASSIC = 1000
_CHARTED = 10

COLUMNS = (
    shared.RANK,
    text("kernel_name", "Kernel Name", "name of the kernel", links=("trace",)),
    count("registers_per_thread", "Registers per thread", "registers of a thread"),
    amount("shmem_bytes", "Shared Mem bytes", "bytes",
           "shared memory of a block, static and dynamic"),
    text("block_dim", "Block dim", "threads of a block: x,y,z"),
    text("grid_dim", "Grid dim", "blocks: x,y,z"),
    amount("occupancy_pct", "Theoretical Occupancy %", "percent",
           "part of the multiprocessor's warps that its resources permit"),
    flag("is_op_tensor_core_eligible", "Op is TensorCore eligible",
         "tensor cores could do its op's work"),
    flag("is_kernel_using_tensor_core", "Kernel uses TensorCore",
         "it uses tensor cores, by its name"),
    text("op_name", "Op Name", "op that launched it; empty if unknown", links=("op-stats",)),
    shared.OCCURRENCES,
    *timed_by(
        "device",
        amount("total_duration_us", "Total Duration (μs)", "us", "time of all runs"),
        amount("avg_duration_us", "Avg Duration (μs)", "us", "time of a run on average"),
        amount("min_duration_us", "Min Duration (μs)", "us", "the shortest run"),
        amount("max_duration_us", "Max Duration (μs)", "us", "the longest run"),
        amount("total_duration_share", "Share of the time", "fraction",
               "part of the time of all kernels"),
    ),
)  # fmt: skip


@summed_fact(merged_kernels, has_rules=True)
def host_kernels(host: Host) -> list[KernelTimes]:
    """The kernels of a host."""

    def op_of_hlo(key: HloKey) -> str | None:
        known = known_programs(host).instruction(key)
        told = annotated(host).get(key) if known is None else known.instruction
        name = None if told is None else told.op_name
        return name if name or host.rules.clears_unknown_ops else op_of_instruction(key).name

    return gpu_kernels(host.timeline, op_of_hlo, rules=host.rules)


def kernel_stats(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> ToolResult:
    """List the kernels of all GPUs, the longest total time first.

    Args:
        run: The run.
        host: Only this host.
        step: Only the step with this number, or the steps with these numbers.
        classic: The reference's numbers: it does not merge the rows of several hosts, keeps 1,000
            rows, and does not support newer tensor cores.

    Raises:
        UsageError: There is no such host or step.
    """
    run = of_step(run.in_mode(classic=classic), step)
    hosts = run.chosen(host)
    if run.rules.keeps_kernels_of_hosts:
        every = [times for one in hosts for times in host_kernels(one)]
        kernels = sorted_kernels(every)[:_MOST_CLASSIC]
    else:
        kernels = host_kernels.together(hosts)
    columns, rows = COLUMNS, kernel_rows(kernels)
    if run.rules.shows_no_kernel_shares:
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    columns, rows = with_found_by(columns, rows, [times.kernel.found_by for times in kernels])
    table = Table("kernels", columns, rows, title="GPU kernels")
    notes = [*run.notes, *_without_op(kernels)]
    whole_ps = sum(graph_times(one).whole_ps for one in hosts)
    if whole_ps and not run.rules.ignores_graphs:
        notes.append(
            Note("warning", f"{milliseconds(whole_ps / 1e9)} are records of whole CUDA graphs, "
                 f"whose kernels are unknown and not in the table: {how_to_capture.GRAPH_KERNELS}")
        )  # fmt: skip
    elif not kernels:
        notes.append(
            Note("warning", "no GPU kernels in this capture: it has no GPU, or CUPTI could not "
                 "record; tfprof doctor says which")
        )  # fmt: skip
    return ToolResult(
        "kernel-stats",
        "GPU kernel stats",
        claims=scoped(_claims(kernels), scope_of([one.name for one in hosts], step)),
        tables={"kernels": table},
        charts=_charts(kernels),
        notes=tuple(notes),
        gviz=table.to_gviz,
    )


def _without_op(kernels: Sequence[KernelTimes]) -> list[Note]:
    total = sum(times.total_ns for times in kernels)
    lost = sum(times.total_ns for times in kernels if not times.kernel.op_name)
    if not lost:
        return []
    return [
        Note("info", f"{milliseconds(lost / 1e6)} of kernels ({lost / total:.1%} of the time of "
             "all) belong to no op that the capture names; their op is empty in the table")
    ]  # fmt: skip


def kernel_rows(kernels: Sequence[KernelTimes]) -> list[tuple[Cell, ...]]:
    """Rows of the table."""
    whole = sum(times.total_ns for times in kernels)
    return [
        (
            rank,
            times.kernel.name,
            times.kernel.registers,
            times.kernel.static_shared_bytes + times.kernel.dynamic_shared_bytes,
            ",".join(map(str, times.kernel.block)),
            ",".join(map(str, times.kernel.grid)),
            times.occupancy_percent,
            times.kernel.is_eligible,
            times.kernel.uses_tensor_cores,
            times.kernel.op_name,
            times.occurrences,
            times.total_ns / 1000,
            times.total_ns // times.occurrences / 1000,
            times.min_ns / 1000,
            times.max_ns / 1000,
            part(times.total_ns, whole),
        )
        for rank, times in enumerate(kernels, 1)
    ]


def _claims(kernels: Sequence[KernelTimes]) -> Iterator[Claim]:
    total = sum(times.total_ns for times in kernels)
    if not total:
        return
    by_name = _by_name(kernels)
    first, longest_ns = max(by_name.items(), key=lambda each: each[1])
    rows = " in {row_count} rows, one for each op and launch," if _is_split(kernels) else ""
    yield Claim(
        short_name(first), "self_share", longest_ns / total, "fraction",
        basis="time of all kernels",
        details={"kernel_count": len(by_name), "row_count": len(kernels), "total_ms": total / 1e6},
        words=f"{{kernel_count:kernel}}{rows} ran for {{total_ms}}; {{subject}} took most, "
        "{value} of it.",
    )  # fmt: skip
    eligible = sum(times.total_ns for times in kernels if times.kernel.is_eligible)
    if eligible:
        used = sum(
            times.total_ns
            for times in kernels
            if times.kernel.is_eligible and times.kernel.uses_tensor_cores
        )
        yield Claim(
            "kernels", "tensor_core_share", used / eligible, "fraction",
            basis="names of kernels, and ops that could use tensor cores",
            details={"eligible_share": eligible / total},
            words="{eligible_share} of the time went to ops that could use tensor cores; {value} "
            "of that time did.",
        )  # fmt: skip


def _by_name(kernels: Sequence[KernelTimes]) -> dict[str, int]:
    """Time of each kernel name, ns, added up over ops and launch shapes."""
    sums: dict[str, int] = {}
    for times in kernels:
        name = times.kernel.name
        sums[name] = sums.get(name, 0) + times.total_ns
    return sums


def _is_split(kernels: Sequence[KernelTimes]) -> bool:
    return len({times.kernel.name for times in kernels}) < len(kernels)


def _charts(kernels: Sequence[KernelTimes]) -> tuple[Chart, ...]:
    times_ns = _by_name(kernels).items()
    title = "Time by kernel, of all ops and launches"
    return tuple(pie("top_kernels", title, "kernel", times_ns, most=_CHARTED, per_us=1000))
