"""Pod viewer: how each worker spent the time of each step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.rows_of_steps import Row, rows_of_steps
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import HostSteps, RunSteps, Steps
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, text, timed_by
from tfprof.captures.run.reference_json import reference_json
from tfprof.captures.run.result import Chart, ToolResult
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Table
from tfprof.captures.tools.tpu_pod import TpuPod
from tfprof.core.text.claims import Claim, Detail, unknown

PS_PER_US = 1e6

COLUMNS = timed_by(
    "both",
    shared.STEP,
    shared.HOST,
    shared.CORE,
    shared.STEP_TIME_US,
    *(amount(f"{one.key}_us", one.name, "us", one.meaning, one.clock) for one in CATEGORIES),
    text("bottleneck", "Bottleneck", "the part that took the longest"),
)


def pod(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> ToolResult:
    """Show how each worker spent the time of each step.

    Args:
        run: The run.
        host: Only this host.
        step: Only the step with this number, or the steps with these numbers.
        classic: The reference's numbers.

    Raises:
        UsageError: There is no such host or step.
    """
    run = run.in_mode(classic=classic)
    steps = run_steps(run)
    chosen = {one.name for one in run.chosen(host)}
    shown = [one for one in steps.hosts if one.host.name in chosen]
    places = steps.places(step)

    def row(
        one: HostSteps, place: int, took_us: float, amounts_us: list[float], gap_us: float
    ) -> Row:
        name = steps.shown(place, one.names[place])
        return (name, one.host.name, one.core_id, took_us, *amounts_us, bottleneck_of(amounts_us))

    rows = rows_of_steps(shown, places, row, PS_PER_US)
    table = Table("workers", COLUMNS, rows, title="Steps of all workers")
    tpu = (
        None
        if run.rules.shows_no_tpu_pod or not any(one.core for one in steps.hosts)
        else TpuPod(run, steps)
    )
    tables = {"workers": table} | ({} if tpu is None else tpu.tables(places))
    return ToolResult(
        "pod",
        "Pod viewer",
        claims=tuple(_claims(steps.typical)),
        tables=tables,
        charts=_charts(steps.typical),
        notes=(*run.notes, *steps.notes),
        gviz=reference_json("pod", run, steps, tpu),
    )


def bottleneck_of(amounts: list[float]) -> str:
    """Name of the largest category; of equal ones, the last by name."""
    names = [category.name for category in CATEGORIES]
    return max(zip(amounts, names, strict=True))[1]


_MOST_NAMED = 8
"""The verdict names at most so many workers, the slowest ones. The table has all."""

_ALIKE = 1.05
"""Up to this ratio, workers count as equally fast."""


def _claims(steps: RunSteps) -> Iterator[Claim]:
    """Length of the steps of each worker, the slowest first if there are many."""
    if not steps.n_steps:
        yield unknown("hosts", "step_time", "No steps, so nothing to compare.")
        return
    means = [float(one.times.duration_ps.mean()) / 1e9 for one in steps.hosts]
    scope = steps.scope
    slow = int(np.argmax(means))
    ratio = means[slow] / max(min(means), 1e-12)
    if len(means) > 1:
        words = "All workers take about as long."
        if ratio >= _ALIKE:
            words = (
                "{subject} is the slowest worker: its steps take {value:.2f} times as long as "
                "those of the fastest."
            )
        yield Claim(steps.hosts[slow].label, "slowdown", ratio, "times", scope=scope, words=words)
    shown = list(zip(steps.hosts, means, strict=True))
    if len(shown) > _MOST_NAMED:
        shown = sorted(shown, key=lambda pair: -pair[1])[:_MOST_NAMED]
    for one, mean in shown:
        amounts = [one.of(category).sum() for category in CATEGORIES]
        most = int(np.argmax(amounts))
        share = float(amounts[most]) / max(1, int(one.times.duration_ps.sum()))
        words = "{subject}: {value} per step; no op was recorded in it."
        details: dict[str, Detail] = {"step_count": steps.n_steps}
        if steps.rules.names_largest_category or steps.has_ops:
            key = f"{CATEGORIES[most].key}_share"
            words = f"{{subject}}: {{value}} per step, {{{key}}} of it {{category}}."
            details |= {"category": CATEGORIES[most].name, key: share}
        yield Claim(
            one.label, "step_time", mean, "ms", scope=scope,
            basis="from the start of a step to that of the next, on this worker",
            details=details, words=words,
        )  # fmt: skip
    if len(means) > len(shown):
        yield Claim("hosts", "host_count", len(means) - len(shown), "count", scope=scope,
                    words="{value} more workers are not slower than these.")  # fmt: skip


def _charts(steps: RunSteps) -> tuple[Chart, ...]:
    """The average step of each worker."""
    if not steps.n_steps:
        return ()
    series = {
        category.name: tuple(float(one.of(category).mean()) / 1e9 for one in steps.hosts)
        for category in CATEGORIES
    }
    hosts = tuple(one.label for one in steps.hosts)
    chart = Chart("workers", "stacked_bar", "Average step", "worker", "ms", hosts, series)
    return (chart,)
