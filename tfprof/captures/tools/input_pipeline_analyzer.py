"""Input pipeline analyzer: does input limit the program, and which part of the input does?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfprof.captures.events.ops.input_ops import InputBreakdown, InputOp, break_down, input_ops
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.facts.bottleneck import Bottleneck, reference_bottleneck
from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.framework import words_for
from tfprof.captures.facts.host_op_db import host_ops
from tfprof.captures.facts.rows_of_steps import PS_PER_MS, Row, rows_of_steps
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.slow_iterators import are_looped_over
from tfprof.captures.facts.statistics import one_digit, part, summary
from tfprof.captures.facts.steps import HostSteps, RunSteps, Steps
from tfprof.captures.facts.tpu_bottleneck import find_tpu_bottleneck
from tfprof.captures.facts.tpu_steps import (
    TpuRunSteps,
    tpu_averages,
    tpu_run_steps,
    tpu_step_table,
    waiting_cores_table,
)
from tfprof.captures.facts.verdict import about_step_time, give_verdict, grounds_of
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.reference_json import reference_json
from tfprof.captures.run.result import Advice, Chart, ToolResult
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Table
from tfprof.core.text.claims import Claim, scoped

BETWEEN = amount(
    "betweenMs", "Between steps", "ms",
    "how much of that lies between the end of the step and the start of the next one", "both",
)  # fmt: skip
STEP_COLUMNS = timed_by(
    "both",
    text("stepnum", "Step number", "name of the step"),
    *(amount(one.column, one.name, "ms", one.meaning, one.clock) for one in CATEGORIES),
    shared.TOOLTIP,
    amount("stepTimeMs", "Step time", "ms", "from the start of the step to that of the next one"),
)

INPUT_COLUMNS = timed_by(
    "host",
    text("opName", "Input Op", "name of the input op", links=("trace",)),
    count("count", "Count", "how often it ran"),
    amount("timeInMs", "Total Time (in ms)", "ms", "time of all runs, with what ran inside them"),
    amount("timeInPercent", "Total Time (as % of total input-processing time)", "fraction",
           "the same as part of the self time of all input ops"),
    amount("selfTimeInMs", "Total Self Time (in ms)", "ms",
           "time of all runs without what ran inside them"),
    amount("selfTimeInPercent", "Total Self Time (as % of total input-processing time)", "fraction",
           "the same as part of that of all input ops"),
    text("category", "Category", "kind of work: reading, preprocessing, enqueuing …"),
)  # fmt: skip

TIPS = (
    ("enqueue", "Enqueuing data: put small pieces together into fewer, larger ones."),
    (
        "preprocessing",
        "Preprocessing: raise num_parallel_calls of map, or preprocess the data once and for all.",
    ),
    (
        "advanced_read",
        "Reading ahead: tune the size of prefetch, the cycle length of interleave and the "
        "buffer of the reader.",
    ),
    (
        "demanded_read",
        "Reading on demand: read ahead instead, with prefetch, interleave and a reader's buffer.",
    ),
    ("unclassified", "Anything else: build the input with tf.data."),
)


@dataclass(frozen=True, eq=False)
class InputAnalysis:
    """Steps and input ops of a run, for the analyzer and the overview.

    Attributes:
        steps: The steps that count.
        bottleneck: What limits them.
        ops: The input ops.
        breakdown: Time of the input ops by kind of work, ps.
        tpu: The steps of all TPU cores together; None without TPU cores.
        typical_tpu: The typical ones of these steps.
    """

    steps: RunSteps
    bottleneck: Bottleneck
    ops: list[InputOp]
    breakdown: InputBreakdown
    tpu: TpuRunSteps | None = None
    typical_tpu: TpuRunSteps | None = None
    is_looped_over: bool = False


def analyze_input(run: Run, hosts: Sequence[Host]) -> InputAnalysis:
    """Analyze the steps of a run and the input ops of some hosts."""
    rules = run.rules
    steps = run_steps(run, inner_only=rules.drops_outer_steps)
    times = host_ops.together(hosts)
    ops = input_ops(times, rules=rules)
    took, distance = times.infeed_ps
    typical = steps.typical
    ratio = took / distance if distance else typical.share(typical.spent(Spent.HOST_TO_DEVICE))
    uses_tf_data = any(op.self_ps for op in ops)
    tpu = tpu_run_steps(run, steps)
    of_typical = None if tpu is None else tpu_run_steps(run, typical)
    if of_typical is not None:
        judged = find_tpu_bottleneck(of_typical, words_for(run.hosts))
    elif rules.judges_first_host:
        judged = reference_bottleneck(steps, uses_tf_data=uses_tf_data)
    else:
        judged = give_verdict(grounds_of(run, uses_tf_data=uses_tf_data))
    breakdown = break_down(ops, ratio, rules=rules)
    is_looped_over = not rules.ignores_loops and are_looped_over(hosts)
    return InputAnalysis(steps, judged, ops, breakdown, tpu, of_typical, is_looped_over)


def input_pipeline(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> ToolResult:
    """Measure how long steps wait for input, and where the time of the input goes.

    Args:
        run: The run.
        host: Input ops of this host only.
        step: Only the step with this number, or the steps with these numbers, in the tables.
        classic: The reference's numbers. They leave out the host's part of steps with GPUs, and
            the first and the last of more than five steps. They show only the first host's steps.

    Raises:
        UsageError: There is no such host or step.
    """
    run = run.in_mode(classic=classic)
    analysis = analyze_input(run, run.chosen(host))
    steps = step_table(run, analysis, step=step)
    inputs = _input_table(analysis)
    notes = (*run.notes, *analysis.steps.notes)
    tables = {"steps": steps, "input_ops": inputs}
    remarks: tuple[Claim, ...] = ()
    if analysis.tpu is not None:
        remarks = analysis.bottleneck.remark_claims
        tables["waiting_cores"] = waiting_cores_table(analysis.tpu)
    return ToolResult(
        "input-pipeline",
        "Input pipeline analyzer",
        claims=scoped(
            [
                analysis.bottleneck.claim,
                *about_step_time(analysis.steps, analysis.typical_tpu),
                *remarks,
                *_shares(analysis),
            ],
            analysis.steps.typical.scope,
            "what each moment of a step is spent on",
        ),
        tables=tables,
        charts=_charts(analysis),
        advice=tuple(_advice(analysis)),
        notes=notes,
        gviz=reference_json("input_pipeline", analysis.tpu, steps, inputs, notes, run.rules),
    )


def step_table(run: Run, analysis: InputAnalysis, *, step: Steps | None = None) -> Table:
    """Make the table of the steps of hosts by category, with all TPU cores together.

    Raises:
        UsageError: There is no such step.
    """
    places = analysis.steps.places(step)
    if analysis.tpu is not None and analysis.typical_tpu is not None:
        said = {
            "input_conclusion": analysis.bottleneck.statement,
            "output_conclusion": analysis.bottleneck.output.text,
            "summary_nextstep": _next_step(analysis),
        }
        return tpu_step_table(
            analysis.tpu, tpu_averages(analysis.typical_tpu) | said, places, rules=run.rules
        )
    steps = analysis.steps
    has_gaps = not run.rules.takes_device_time_alone
    is_first = run.rules.judges_first_host
    hosts = steps.hosts[:1] if is_first else steps.hosts
    is_named = len(hosts) > 1

    def row(
        one: HostSteps, place: int, took_ms: float, amounts_ms: list[float], gap_ms: float
    ) -> Row:
        name = steps.shown(place, one.names[place])
        if is_named:
            name = f"{name} ({one.host.name})"
        between = (gap_ms,) if has_gaps else ()
        return (name, *amounts_ms, _tooltip(name, took_ms, amounts_ms), took_ms, *between)

    rows = rows_of_steps(hosts, places, row, PS_PER_MS)
    properties = _properties(run, analysis)
    columns = (*STEP_COLUMNS, BETWEEN) if has_gaps else STEP_COLUMNS
    return Table("steps", columns, rows, properties, title="Steps")


def _tooltip(name: str, duration_ms: float, amounts_ms: Sequence[float]) -> str:
    parts = [
        f"\n{category.name} {amount:.2f} ms"
        for category, amount in zip(CATEGORIES, amounts_ms, strict=True)
        if amount
    ]
    return f"{name}: {duration_ms:.2f} ms{''.join(parts)}"


def _properties(run: Run, analysis: InputAnalysis) -> dict[str, str]:
    steps, judged = analysis.steps.typical, analysis.bottleneck
    slowest = [float(ps) / 1e9 for ps in steps.slowest_ps().tolist()] if steps.n_steps else []
    whole = summary(slowest)
    properties = {
        "hardware_type": environment(run).hardware,
        **whole.texts("steptime_ms", one_digit),
        "input_conclusion": judged.statement,
        "summary_nextstep": _next_step(analysis),
        "step_time_graph_column_ids": ",".join(
            ["stepnum", *(category.column for category in CATEGORIES), " tooltip"]
        ),
    }
    of_first = steps.hosts[0] if run.rules.judges_first_host and steps.hosts else None
    for category in CATEGORIES:
        amounts = (steps if of_first is None else of_first).of(category)
        of_category = summary((amounts / 1e9).tolist())
        properties[f"{category.key}_time_ms_avg"] = one_digit(of_category.average)
        properties[f"{category.key}_time_ms_sdv"] = one_digit(of_category.deviation)
    for key, one in judged.statements.items():
        properties[f"{key}_statement"] = one.text
        # The current reference also writes the statement here; earlier versions wrote the level.
        properties[f"{key}_bottleneck"] = one.text if run.rules.writes_text_as_level else one.level
    return properties


def _next_step(analysis: InputAnalysis) -> str:
    if analysis.bottleneck.kind not in ("host", "both"):
        return "The input does not slow the program down; nothing below needs a look."
    breakdown = analysis.breakdown
    if not (breakdown.demanded_read or breakdown.advanced_read or breakdown.preprocessing):
        if analysis.is_looped_over:
            return "A loop inside a function takes the input's elements: see them in the trace."
        return "No tf.data activity was seen: build the input with tf.data to see its parts."
    return "See what the input's time goes to on the host, below."


def _shares(analysis: InputAnalysis) -> list[Claim]:
    """Where the time of the input goes."""
    amounts = analysis.breakdown._asdict()
    total = sum(amounts.values())
    if not total:
        return []
    parts = tuple(
        Claim(name.replace("_", " "), "self_share", amount / total, "fraction",
              words="{subject} {value}")
        for name, amount in sorted(amounts.items(), key=lambda item: (-item[1], item[0]))
        if amount
    )  # fmt: skip
    return [
        Claim("input", "self_time", total / 1e9, "ms", basis="input ops on the host", parts=parts,
              words="The input's own time on the host: {parts}.")
    ]  # fmt: skip


def _input_table(analysis: InputAnalysis) -> Table:
    total = sum(op.self_ps for op in analysis.ops)
    rows: list[tuple[Cell, ...]] = [
        (
            op.name,
            op.n_runs,
            op.time_ps / 1e9,
            part(op.time_ps, total),
            op.self_ps / 1e9,
            part(op.self_ps, total),
            str(op.work),
        )
        for op in analysis.ops
    ]
    amounts = analysis.breakdown
    properties = {
        "enqueue_us": amounts.enqueue,
        "demanded_file_read_us": amounts.demanded_read,
        "advanced_file_read_us": amounts.advanced_read,
        "preprocessing_us": amounts.preprocessing,
        "unclassified_nonequeue_us": amounts.unclassified,
    }
    texts = {name: f"{amount / 1e6:.3f}" for name, amount in properties.items()}
    return Table("input_ops", INPUT_COLUMNS, rows, texts, title="Input ops on the host")


def _advice(analysis: InputAnalysis) -> list[Advice]:
    """Tips for the largest parts of the input's time, if the input is a bottleneck."""
    if analysis.bottleneck.kind not in ("host", "both"):
        return []
    amounts = analysis.breakdown._asdict()
    total = sum(amounts.values())
    gain = analysis.bottleneck.input_percent / 100.0
    advice = []
    for key, words in sorted(TIPS, key=lambda tip: -amounts[tip[0]]):
        if not total or amounts[key] < 0.1 * total:
            continue
        worst = next((op for op in analysis.ops if _KEYS[str(op.work)] == key), None)
        evidence: dict[str, Any] = {
            "share_of_input_time": round(amounts[key] / total, 4),
            "input_share_of_step": round(gain, 4),
        }
        if worst is not None:
            evidence |= {"op": worst.name, "op_self_ms": worst.self_ps / 1e9}
        advice.append(Advice(f"input-pipeline/{key.replace('_', '-')}", words, evidence, gain))
    return advice


_KEYS = {
    "Enqueue": "enqueue",
    "Demanded file read": "demanded_read",
    "Advanced file read": "advanced_read",
    "Preprocessing": "preprocessing",
    "Unknown": "unclassified",
}


def step_charts(steps: RunSteps) -> tuple[Chart, ...]:
    """The steps of the first host by category."""
    if not steps.n_steps:
        return ()
    one = steps.hosts[0]
    series = {category.name: tuple((one.of(category) / 1e9).tolist()) for category in CATEGORIES}
    title, names = f"Steps of {one.host.name}", tuple(steps.shown_names)
    return (Chart("step_times", "stacked_area", title, "step", "ms", names, series),)


def _charts(analysis: InputAnalysis) -> tuple[Chart, ...]:
    charts = list(step_charts(analysis.steps))
    amounts = analysis.breakdown._asdict()
    if any(amounts.values()):
        names = tuple(name.replace("_", " ") for name in amounts)
        values = tuple(amount / 1e6 for amount in amounts.values())
        charts.append(
            Chart("input_time", "pie", "Input time on the host", "work", "µs", names,
                  {"time": values})
        )  # fmt: skip
    return tuple(charts)
