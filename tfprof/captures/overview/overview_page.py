"""Overview: how long steps take, what they wait for, and what to look at next."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tfprof.captures.events.ops.gpu_kernels import tensor_core_share
from tfprof.captures.events.ops.host_ops import IDLE
from tfprof.captures.events.timeline.functions import FunctionCalls
from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.environment import planes
from tfprof.captures.facts.host_devices import device_kinds, mixed_devices
from tfprof.captures.facts.statistics import part, percent, summary
from tfprof.captures.facts.steps import Steps
from tfprof.captures.facts.tpu_steps import active_ms, parts_of
from tfprof.captures.facts.verdict import about_step_time
from tfprof.captures.overview.collected import Collected, collected
from tfprof.captures.overview.hang_tables import hang_tables
from tfprof.captures.overview.latency import latency
from tfprof.captures.practices.practices import advice
from tfprof.captures.run.columns import amount, count, flag, text, timed_by
from tfprof.captures.run.hang_record import hang_of
from tfprof.captures.run.reference_json import reference_json
from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.tools.gpu_kernels import host_kernels
from tfprof.captures.tools.input_pipeline_analyzer import (
    step_charts,
    step_table,
)
from tfprof.captures.tools.op_statistics import (
    gflops_per_s,
    has_known_rates,
    in_order,
)
from tfprof.core.text.claims import Claim, scoped

_TOP_OPS = 10

_ANALYSIS = timed_by(
    "device",
    amount(
        "selfTimePercent", "Time (%)", "fraction", "self time as part of that of all ops of devices"
    ),
    amount("cumulativeTimePercent", "Cumulative time (%)", "fraction",
           "the same, of this row and those above it"),
    text("category", "Category", "op type"),
    text("operation", "Operation", "name of the op", links=("op-stats",)),
)  # fmt: skip
_TENSOR_CORES = (
    flag("tcEligibility", "TensorCore eligibility", "one of its kernels could use tensor cores"),
    flag("tcUtilization", "Op is using TensorCore", "one of its kernels used tensor cores"),
)
_SUMMARY = timed_by(
    "both",
    text("category", "Category", "what the time of steps goes to; the first row is all of it"),
    amount("average_ms", "Average", "ms", "average over the steps that are not unusual"),
    amount("deviation_ms", "Deviation", "ms", "standard deviation over these steps"),
    amount("share", "Share of the step", "fraction", "part of the time of these steps"),
)
_ENVIRONMENT = (
    text("what", "What", "a property of the run"),
    text("value", "Value", "its value"),
)
_FUNCTIONS = timed_by(
    "host",
    text("function", "Function", "name of the tf.function", links=("trace",)),
    count("calls", "Calls", "calls in the capture"),
    count("traced_calls", "Calls that traced", "calls that traced the function again"),
    count("n_traces", "Traces", "traces of the function up to the last call"),
    amount("self_us", "Self time", "us", "time of its calls without calls inside them"),
    amount("expensive_share", "Tracing and eager calls", "fraction",
           "part of this time in calls that traced, or ran eagerly"),
    text("compiler", "Compiler", "what compiled it: xla, other or mixed; empty if unknown"),
)  # fmt: skip


def overview(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> ToolResult:
    """Show the most important results of all tools on one page.

    Args:
        run: The run.
        host: Ops of this host only.
        step: Only the step with this number, or the steps with these numbers, in the table.
        classic: The reference's numbers. They leave out the host's part of steps with GPUs, and
            the first and the last of more than five steps.

    Raises:
        UsageError: There is no such host or step.
    """
    run = run.in_mode(classic=classic)
    rules = run.rules
    facts = collected(run, run.chosen(host))
    steps = step_table(run, facts.input, step=step)
    requests = latency(facts.hosts, trains=facts.trains)
    mixed = () if rules.ignores_mixed_devices else mixed_devices(facts.hosts)
    notes = (*run.notes, *facts.input.steps.notes, *mixed)
    recommended = () if rules.gives_no_advice else advice(run, host=host)
    tables = {
        "performance": _performance(facts),
        "top_ops": _top_ops(facts),
        "environment": _environment_table(facts),
        "steps": steps,
        "latency": requests,
    }
    if facts.functions:
        tables["tf_functions"] = _function_table(facts.functions)
    hang = hang_of(run.folder) if run.folder and not rules.gives_no_advice else None
    if hang is not None:
        tables = hang_tables(hang) | tables
    return ToolResult(
        "overview",
        "Overview",
        claims=(*(hang.claims if hang is not None else ()), *_claims(facts)),
        tables={name: table for name, table in tables.items() if len(table)},
        charts=step_charts(facts.input.steps),
        advice=recommended,
        notes=notes,
        gviz=reference_json(
            "overview", facts, tables["top_ops"], steps, requests, recommended, notes
        ),
    )


def _top_ops(facts: Collected) -> Table:
    running = [op for op in facts.on_device if op.type != IDLE]
    total = sum(op.self_ps for op in running)
    with_gpu = facts.environment.hardware == "GPU"
    kernels = host_kernels.together(facts.hosts)
    on_cores = tensor_core_share(kernels)
    eligible = {times.kernel.op_name for times in kernels if times.kernel.is_eligible}
    rows: list[tuple[Cell, ...]] = []
    so_far = 0.0
    for op in in_order(running)[:_TOP_OPS]:
        share = part(op.self_ps, total)
        so_far += share
        is_known = facts.run.rules.writes_zeros or has_known_rates(op)
        rate = gflops_per_s(op.flops, op.time_ps) if is_known else None
        cores: tuple[Cell, ...] = ()
        if with_gpu:
            cores = (op.name in eligible, on_cores.get(op.name, (0, 0))[0] > 0)
        rows.append((share, so_far, op.type, op.name, rate, *cores))
    label = "GFLOPs/Sec" if with_gpu else "Bf16 Normalized Flop Rate(GFLOPs/Sec)"
    rate_column = amount(
        "flopRate", label, "gflops_per_s",
        "float operations per time; empty if the cost is unknown", "device",
    )  # fmt: skip
    columns = (*_ANALYSIS, rate_column, *(_TENSOR_CORES if with_gpu else ()))
    return Table("top_ops", columns, rows, _analysis_properties(facts), title="Top device ops")


def _analysis_properties(facts: Collected) -> dict[str, str]:
    shares = facts.shares
    properties = {
        "device_op_time_eager_percent": percent(shares.device_eager),
        "host_op_time_eager_percent": percent(shares.host_eager),
        "device_tf_op_percent": percent(shares.device_ops),
        "host_tf_op_percent": percent(shares.host_ops),
        "hbm_utilization_percent": _of_host_planes(facts, "hbm_utilization_percent"),
        "mxu_utilization_percent": _of_host_planes(facts, "matrix_unit_utilization_percent"),
        "host_trace_level": "0",
        "remark_text": "",
        "remark_color": "",
    }
    if facts.environment.hardware == "GPU":
        return properties | {
            "device_compute_16bit_percent": percent(shares.narrow),
            "device_compute_32bit_percent": percent(shares.wide),
        }
    use = facts.tpu
    properties |= {
        "device_idle_time_percent": percent(use.device_idle),
        "host_idle_time_percent": percent(use.host_idle),
        "device_duty_cycle_percent": percent(use.duty.share),
        "device_duty_cycle_high_confidence_percent": percent(use.duty.share),
        "flop_rate_utilization_relative_to_roofline": "0.0%",
        "memory_bw_utilization_relative_to_hw_limit": "0.0%",
    }
    if use.duty.idle_ps:
        properties["idle_time_high_confidence_ps"] = f"{use.duty.idle_ps:g}"
    if facts.input.typical_tpu is not None and facts.input.steps.n_steps:
        active = active_ms(facts.input.typical_tpu)
        properties |= {"tc_active_ms_average": active, "active_steptime_ms_average": active}
    return properties


def _of_host_planes(facts: Collected, stat: str) -> str:
    values = []
    for host in facts.hosts:
        for plane in planes(host):
            value = plane.stats.get(stat) if plane.name == "/host:CPU" else None
            if isinstance(value, (int, float)) and math.isfinite(value):
                values.append(float(value))
    return f"{summary(values).average:.1f}%"


def _performance(facts: Collected) -> Table:
    steps, tpu = facts.input.steps.typical, facts.input.typical_tpu
    if tpu is None:
        parts = [(one.name, steps.of(one).astype(np.float64)) for one in CATEGORIES]
    else:
        parts = parts_of(tpu)
    rows: list[tuple[Cell, ...]] = []
    if steps.n_steps:
        took = np.sum([amounts for _, amounts in parts], axis=0)
        for name, amounts in (("Step time", took), *parts):
            of_part = summary((amounts / 1e9).tolist())
            share = part(float(amounts.sum()), float(took.sum()))
            rows.append((name, of_part.average, of_part.deviation, share))
    return Table("performance", _SUMMARY, rows, title="Average step")


def _environment_table(facts: Collected) -> Table:
    known = facts.environment
    kinds = () if facts.run.rules.ignores_mixed_devices else device_kinds(facts.run.hosts)
    steps = facts.input.steps
    n_cut = int(steps.is_cut.sum())
    rows: list[tuple[Cell, ...]] = [
        ("Hardware", known.hardware),
        ("Device type", ", ".join(kinds) if kinds else known.device_type),
        ("Device cores", str(known.n_cores)),
        ("Machines", str(known.n_machines)),
        ("Workers", str(known.n_tasks)),
        ("Steps", f"{steps.n_steps} ({n_cut} cut)" if n_cut else str(steps.n_steps)),
    ]
    if facts.input.tpu is not None:
        use = facts.tpu
        rows += [
            ("Duty cycle of chips", percent(use.duty.share)),
            ("TensorCores idle", percent(use.device_idle)),
        ]
    return Table("environment", _ENVIRONMENT, rows, title="Run environment")


def _function_table(functions: Sequence[FunctionCalls]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            call.name,
            sum(call.calls.values()),
            call.calls.get("traced", 0),
            call.n_traces,
            sum(call.self_ps.values()) / 1e6,
            call.expensive_share,
            call.compiler,
        )
        for call in functions
    ]
    return Table("tf_functions", _FUNCTIONS, rows, title="Calls of tf.function")


def _claims(facts: Collected) -> tuple[Claim, ...]:
    judged = facts.input.bottleneck
    step_time = about_step_time(facts.input.steps, facts.input.typical_tpu)
    claims = (judged.claim, *step_time, *judged.remark_claims)
    return scoped(claims, facts.input.steps.typical.scope, "what each moment of a step is spent on")
