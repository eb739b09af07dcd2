"""The JSON of the tf.data bottleneck analysis."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

from tfprof.captures.facts.slow_iterators import pipelines_of
from tfprof.captures.facts.steps import Steps
from tfprof.captures.rules import Rules
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.tools.tf_data_bottleneck import (
    GRAPH,
    SlowPipeline,
    host_name,
    in_step,
    whole_us,
)


def to_json(
    run: Run,
    hosts: Sequence[Host],
    step: Steps | None,
    pipelines: Table,
    bottlenecks: Callable[[], Table],
) -> list[dict[str, Any]]:
    """Make the JSON: iterators of every call, pipelines, and bottlenecks."""
    return [_graph_json(run, hosts, step), pipelines.to_gviz(), bottlenecks().to_gviz()]


def _graph_json(run: Run, hosts: Sequence[Host], step: Steps | None) -> dict[str, object]:
    """The time of iterators in every call, with a label for each."""
    pipelines = _with_all_calls(run, hosts, step)
    rows: list[tuple[Cell, ...]] = []
    labels = []
    calls = [(slow, *one) for slow in pipelines for one in enumerate(slow.pipeline.calls)]
    for slow, rank, call in calls:
        worst = call.bottleneck
        for iterator in sorted(call.times):
            times, known = call.times[iterator], slow.data.iterators.get(iterator)
            parent = known.parent_id if known else 0
            rows.append((
                host_name(slow.host),
                slow.pipeline.name,
                rank,
                _shown_id(iterator, run.rules),
                _shown_id(parent, run.rules) if parent else "",
                2 if iterator == worst else int(times.is_blocking),
            ))  # fmt: skip
            start = times.start_ps + slow.host.base_ns * 1000
            labels.append(
                f"<b>{html.escape(known.type if known else str(iterator))}</b><br/>"
                f"from {whole_us(start)} us, {whole_us(times.duration_ps)} us, "
                f"{whole_us(times.self_ps)} us of it its own, {times.n_calls} calls"
            )
    graph = Table("graph", GRAPH, rows).to_gviz()
    for row, label in zip(graph["rows"], labels, strict=True):
        row["c"][3]["f"] = label
    return graph


def _with_all_calls(run: Run, hosts: Sequence[Host], step: Steps | None) -> list[SlowPipeline]:
    """The pipelines with the work of iterators in every call."""
    if step is not None:
        return in_step(run, hosts, step)
    every = [(host, pipelines_of(host)) for host in hosts]
    return [
        SlowPipeline(host, data, pipeline, None)
        for host, data in every
        for pipeline in data.pipelines
    ]


def _shown_id(iterator: int, rules: Rules) -> str:
    """An id as a number; the reference shows large ids as negative."""
    is_signed = rules.reads_ids_as_signed and iterator >= 1 << 63
    return str(iterator - (1 << 64) if is_signed else iterator)
