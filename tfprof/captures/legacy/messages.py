"""Precomputed answers that are messages: overview, input pipeline, op statistics, kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeVar

from tfprof.captures.legacy.tables import (
    diagnostic,
    input_result,
    overview_result,
    plain_text,
    property_table,
)
from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.captures.tools.gpu_kernels import COLUMNS as KERNELS
from tfprof.captures.tools.input_pipeline_analyzer import INPUT_COLUMNS, STEP_COLUMNS
from tfprof.captures.tools.op_statistics import TIME_COLUMNS
from tfprof.core.text.claims import Claim
from tfprof.core.wire import messages as pb
from tfprof.core.wire.messages import parse

if TYPE_CHECKING:
    from google.protobuf.message import Message

    MessageT = TypeVar("MessageT", bound=Message)

_NANOS_PER_MICRO: Final = 1000

_STEP_COLUMNS: Final = tuple(column for column in STEP_COLUMNS if not column.role)
_TOP_OP_COLUMNS: Final = (
    Column("selfTimePercent", "Time (%)", unit="fraction"),
    Column("cumulativeTimePercent", "Cumulative time (%)", unit="fraction"),
    Column("category", "Category", "string"),
    Column("operation", "Operation", "string"),
    Column("flopRate", "GFLOPs/Sec", unit="gflops_per_s"),
    Column("tcEligibility", "TensorCore eligibility", "boolean"),
    Column("tcUtilization", "Op is using TensorCore", "boolean"),
)
_OP_COLUMNS: Final = (
    *TIME_COLUMNS,
    Column("measured_flop_rate", "FLOP Rate (GFLOP/s)", unit="gflops_per_s"),
    Column("measured_memory_bw", "Measured Memory BW (GiB/s)", unit="gib_per_s"),
    Column("operational_intensity", "Operational Intensity (FLOPs/Byte)"),
    Column("gpu_tensorcore_utilization", "GPU TensorCore utilization", unit="fraction"),
    Column("bound_by", "Bound by", "string"),
    Column("eager", "Execution mode", "string"),
)  # fmt: skip


def overview(data: bytes, source: str) -> ToolResult:
    """The Overview Page from an ``OverviewPage`` message."""
    page = parse(pb.OverviewPage, data, source=source)
    steps, notes = _steps(page.input_analysis, source)
    tables = [_top_ops(page.analysis), steps, _environment(page.run_environment)]
    recommendation = page.recommendation
    generic = _unpacked(pb.GenericRecommendation, recommendation.recommendation, source)
    statements = {
        "statement": recommendation.statement,
        "output_statement": recommendation.output_statement,
        "eager_statement": recommendation.eager_statement_html,
        "tf_function_statement": recommendation.tf_function_statement_html,
        "outside_compilation_statement": recommendation.outside_compilation_statement_html,
    }
    if generic is not None:
        statements |= {
            "kernel_launch_statement": generic.kernel_launch_statement,
            "all_other_statement": generic.all_other_statement,
            "precision_statement": generic.precision_statement,
            "device_collectives_statement": generic.device_collectives_statement,
        }
    notes += _diagnostics(page.diagnostics)
    gviz = [table.to_gviz() for table in tables]
    return overview_result(tables, statements, list(_tips(recommendation)), notes, gviz)


def input_pipeline(data: bytes, source: str) -> ToolResult:
    """The Input Pipeline Analyzer from an ``InputPipelineAnalysisResult`` message."""
    result = parse(pb.InputPipelineAnalysisResult, data, source=source)
    steps, notes = _steps(result, source)
    tables = [steps, _host_ops(result)]
    notes += _diagnostics(result.diagnostics)
    tips = list(result.recommendation.details)
    return input_result(tables, tips, notes, [table.to_gviz() for table in tables])


def op_stats(data: bytes, source: str) -> ToolResult:
    """TensorFlow Stats from a ``TfStatsDatabase`` message."""
    database = parse(pb.TfStatsDatabase, data, source=source)
    tables = {
        "ops": _op_table("ops", "Ops", database.without_idle),
        "ops_with_idle": _op_table("ops_with_idle", "Ops and idle time", database.with_idle),
    }
    in_order = (tables["ops_with_idle"], tables["ops"])
    return ToolResult(
        tool="op-stats",
        title="Op stats",
        claims=tuple(_op_claims(database.without_idle)),
        tables=tables,
        gviz=lambda: [table.to_gviz() for table in in_order],
    )


def kernel_stats(data: bytes, source: str) -> ToolResult:
    """GPU Kernel Stats from a ``KernelStatsDb`` message."""
    reports = parse(pb.KernelStatsDb, data, source=source).reports
    rows = [_kernel_row(rank, report) for rank, report in enumerate(reports, 1)]
    table = Table("kernels", KERNELS, rows, title="GPU kernels")
    claims: tuple[Claim, ...] = ()
    total = sum(report.total_duration_ns for report in reports)
    if total:
        first = max(reports, key=lambda report: report.total_duration_ns)
        share = first.total_duration_ns / total
        claims = (Claim(first.name, "self_share", share, "fraction",
                        words="{subject} takes {value} of the time of all kernels."),)  # fmt: skip
    return ToolResult(
        tool="kernel-stats",
        title="GPU kernel stats",
        claims=claims,
        tables={"kernels": table},
        gviz=table.to_gviz,
    )


def _unpacked(kind: type[MessageT], packed: pb.PackedMessage, source: str) -> MessageT | None:
    """The message inside, if it is of this type."""
    if packed.type_url.rpartition("/")[2] != kind.DESCRIPTOR.full_name:
        return None
    return parse(kind, packed.value, source=source)


def _steps(result: pb.InputPipelineAnalysisResult, source: str) -> tuple[Table, list[Note]]:
    """The table of steps, and what it lacks."""
    rows, unknown = [], set()
    for packed in result.step_details:
        step = _unpacked(pb.PerGenericStepDetails, packed, source)
        if step is None:
            unknown.add(packed.type_url.rpartition("/")[2])
            continue
        rows.append(_step_row(step))
    notes = [
        Note("warning", f"steps of the type {kind} cannot be read, and are not shown")
        for kind in sorted(unknown)
    ]
    properties = {"hardware_type": result.hardware_type}
    if result.HasField("step_time_summary"):
        times = result.step_time_summary
        for name in ("average", "standard_deviation", "minimum", "maximum"):
            properties[f"steptime_ms_{name}"] = f"{getattr(times, name):.1f}"
    properties["input_percent"] = f"{result.input_percent_summary.average:.1f}"
    analysis = _unpacked(pb.BottleneckAnalysis, result.recommendation.bottleneck_analysis, source)
    if analysis is not None:
        properties |= {
            "input_conclusion": analysis.input_statement,
            "kernel_launch_statement": analysis.kernel_launch_statement,
            "all_other_statement": analysis.all_other_statement,
            "device_collectives_statement": analysis.device_collectives_statement,
        }
    properties["summary_nextstep"] = result.recommendation.summary_next_step
    return Table("steps", _STEP_COLUMNS, rows, properties, "Steps"), notes


def _step_row(step: pb.PerGenericStepDetails) -> tuple[Cell, ...]:
    return (
        step.step_name or str(step.step_number),
        step.device_compute_ms,
        step.device_to_device_ms,
        step.device_collectives_ms,
        step.host_compute_ms,
        step.host_prepare_ms,
        step.host_wait_input_ms + step.host_to_device_ms,
        step.output_ms,
        step.host_compile_ms,
        step.unknown_time_ms,
        step.step_time_ms,
    )


def _host_ops(result: pb.InputPipelineAnalysisResult) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            op.op_name, op.count, op.time_in_ms, op.time_in_percent / 100, op.self_time_in_ms,
            op.self_time_in_percent / 100, op.category,
        )
        for op in result.input_op_details
    ]  # fmt: skip
    times = result.input_time_breakdown
    properties = {
        "demanded_file_read_us": f"{times.demanded_file_read_us:.3f}",
        "advanced_file_read_us": f"{times.advanced_file_read_us:.3f}",
        "preprocessing_us": f"{times.preprocessing_us:.3f}",
        "enqueue_us": f"{times.enqueue_us:.3f}",
        "unclassified_nonequeue_us": f"{times.unclassified_non_enqueue_us:.3f}",
    }
    return Table("input_ops", INPUT_COLUMNS, rows, properties, "Input ops of the host")


def _top_ops(analysis: pb.OverviewPageAnalysis) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            op.self_time_fraction, op.cumulative_time_fraction, op.category, op.name, op.flop_rate,
            op.is_op_tensorcore_eligible, op.is_op_using_tensorcore,
        )
        for op in analysis.top_device_ops
    ]  # fmt: skip
    percents = {
        field.name: f"{value:.1f}%"
        for field, value in analysis.ListFields()
        if field.name.endswith("_percent")
    }
    title = "Most expensive ops of the device"
    return Table("top_ops", _TOP_OP_COLUMNS, rows, percents, title)


def _environment(around: pb.OverviewPageRunEnvironment) -> Table:
    properties = {
        "host_count": str(around.host_count),
        "task_count": str(around.task_count),
        "device_type": around.device_type,
        "device_core_count": str(around.device_core_count),
        "hostnames": ", ".join(sorted(around.hostnames)),
    }
    return property_table("environment", properties)


def _tips(recommendation: pb.OverviewPageRecommendation) -> Iterator[tuple[str, str]]:
    for kind, tips in (
        ("input", recommendation.input_tips),
        ("host", recommendation.host_tips),
        ("device", recommendation.device_tips),
        ("inference", recommendation.inference_tips),
        ("doc", recommendation.documentation_tips),
        ("faq", recommendation.faq_tips),
    ):
        yield from ((kind, tip.link) for tip in tips)


def _diagnostics(diagnostics: pb.Diagnostics) -> list[Note]:
    kinds = (
        ("ERROR", diagnostics.errors),
        ("WARNING", diagnostics.warnings),
        ("INFO", diagnostics.info),
    )
    return [diagnostic(kind, message) for kind, messages in kinds for message in messages]


def _op_table(name: str, title: str, table: pb.TfStatsTable) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            op.rank, op.host_or_device, op.op_type, op.op_name, op.occurrences,
            op.total_time_in_us, op.avg_time_in_us, op.total_self_time_in_us,
            op.avg_self_time_in_us, op.device_total_self_time_as_fraction,
            op.device_cumulative_total_self_time_as_fraction, op.host_total_self_time_as_fraction,
            op.host_cumulative_total_self_time_as_fraction, op.measured_flop_rate,
            op.measured_memory_bw, op.operational_intensity, op.gpu_tensorcore_utilization,
            op.bound_by, "Eager" if op.is_eager else "Function",
        )
        for op in table.tf_stats_record
    ]  # fmt: skip
    return Table(name, _OP_COLUMNS, rows, title=title)


def _op_claims(table: pb.TfStatsTable) -> Iterator[Claim]:
    for place in ("Device", "Host"):
        ops = [op for op in table.tf_stats_record if op.host_or_device == place]
        total = sum(op.total_self_time_in_us for op in ops)
        if total:
            first = max(ops, key=lambda op: op.total_self_time_in_us)
            share = first.total_self_time_in_us / total
            where = "device" if place == "Device" else "host"
            yield Claim(
                plain_text(first.op_name), "self_share", share, "fraction",
                details={"type": first.op_type},
                words=f"On the {where}, {{subject}} ({{type}}) takes {{value}} of the time of all "
                "ops.",
            )  # fmt: skip


def _kernel_row(rank: int, report: pb.KernelReport) -> tuple[Cell, ...]:
    average = report.total_duration_ns // report.occurrences if report.occurrences else 0
    cells: dict[str, Cell] = {
        "rank": rank,
        "kernel_name": report.name,
        "registers_per_thread": report.registers_per_thread,
        "shmem_bytes": report.static_shmem_bytes + report.dynamic_shmem_bytes,
        "block_dim": ",".join(map(str, report.block_dim)),
        "grid_dim": ",".join(map(str, report.grid_dim)),
        "is_op_tensor_core_eligible": report.is_op_tensor_core_eligible,
        "is_kernel_using_tensor_core": report.is_kernel_using_tensor_core,
        "op_name": report.op_name,
        "occurrences": report.occurrences,
        "total_duration_us": report.total_duration_ns / _NANOS_PER_MICRO,
        "avg_duration_us": average / _NANOS_PER_MICRO,
        "min_duration_us": report.min_duration_ns / _NANOS_PER_MICRO,
        "max_duration_us": report.max_duration_ns / _NANOS_PER_MICRO,
    }
    return tuple(cells.get(column.id) for column in KERNELS)
