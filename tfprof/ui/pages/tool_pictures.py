"""Pictures and links that only some tools have on their pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.run.result import Chart, ToolResult
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.tools.memory_profile import FRAGMENTATION
from tfprof.core.text.characters import escaped
from tfprof.errors import UsageError
from tfprof.ui.pages.blocks_of_results import chart_block
from tfprof.ui.pages.buffers_picture import buffers_picture
from tfprof.ui.pages.document import Block, column, figures, side_by_side, words
from tfprof.ui.pages.hlo_picture import instructions_picture
from tfprof.ui.pages.links import Names
from tfprof.ui.pages.pipelines_picture import pipelines_picture
from tfprof.ui.pages.roofline_picture import roofline_picture
from tfprof.ui.pages.step_choice import step_chart, step_keys
from tfprof.ui.pages.tree_block import TreeMeasure, tree_block

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run


def pictures(tool: str, result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """The pictures of a tool's page.

    Args:
        tool: Name of the tool.
        result: Its answer.
        run: Its run.
        params: Parameters of the page's address.
    """
    made = _PICTURES.get(tool)
    return made(result, run, params) if made is not None else _charts(result.charts)


def _charts(charts: Sequence[Chart], **more: Any) -> list[Block]:
    """Charts below each other; lists of parts, which are narrow, two and two beside each other."""
    parts = [chart_block(chart, **more) for chart in charts if chart.kind == "pie"]
    return _in_pairs(parts) + [chart_block(chart) for chart in charts if chart.kind != "pie"]


def _in_pairs(blocks: Sequence[Block]) -> list[Block]:
    """Blocks two and two beside each other; the last one alone if it has no other."""
    pairs = [blocks[first : first + 2] for first in range(0, len(blocks), 2)]
    return [
        side_by_side((1, each) for each in pair) if len(pair) > 1 else pair[0] for pair in pairs
    ]


def _of_steps(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """Steps to choose from, and the tool's other charts."""
    steps = run_steps(run)
    others = _charts([one for one in result.charts if one.name != "step_times"], meaning="input")
    if steps.n_steps and len(others) == 1:
        return [side_by_side([(2, step_chart(steps, params)), (1, others[0])])]
    return [step_chart(steps, params), *others] if steps.n_steps else others


_PS_PER_MS = 1e9
_MOSTLY_FREE = 4
"""Free memory above this multiple of the used memory is only drawn on request."""


def _of_memory(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """Memory over time; free memory is left out if it would dwarf the rest."""
    blocks = []
    for chart in result.charts:
        hidden = []
        if not chart.name.startswith(FRAGMENTATION):
            pairs = zip(chart.series["stack"], chart.series["heap"], strict=True)
            used = max(map(sum, pairs), default=0)
            free = max(chart.series["free"], default=0)
            hidden = ["free"] if used and free > _MOSTLY_FREE * used else []
        block = chart_block(chart, form="area", x_unit="ms", unit="bytes", hidden=hidden)
        block["choose"] = {"param": "at_ms"}
        if len(run.hosts) == 1:  # clocks of several hosts differ
            block["timeline_ps"] = _PS_PER_MS
        blocks.append(block)
    if result.charts and not any(each.name.startswith(FRAGMENTATION) for each in result.charts):
        blocks.append(words([_NO_FRAGMENTATION]))
    return blocks


_NO_FRAGMENTATION = (
    "The allocators recorded no sizes of free pieces: how fragmented memory was is unknown."
)


def _of_monitor(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """The figures of the only row as cards; a row of that many columns is wider than a window."""
    return [_cards(result.tables["monitor"])]


def _of_utilization(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """The same, of what is known."""
    table = result.tables.get("mfu")
    if table is None:
        return []
    [source] = table.column("peak_source")  # a sentence below has it
    cards = _cards(table, but=(None, source))
    charts = _charts(result.charts)
    return [side_by_side([(1.5, charts[0]), (1, cards)])] if charts else [cards]


def _cards(table: Table, but: Sequence[Cell] = ()) -> Block:
    """The only row of a table as cards, without cells of some values."""
    shown = []
    for each, cell in zip(table.columns, table.rows[0], strict=True):
        is_text = isinstance(cell, str)
        if cell in but:
            continue
        shown.append({
            "label": each.label, "value": escaped(str(cell)) if is_text else cell,
            "unit": "text" if is_text else each.unit,
        })  # fmt: skip
    return figures(shown)


# Pod viewer


def _of_pod(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """All workers and cores over all steps, then the time of each by category in chosen steps."""
    workers = result.tables["workers"]
    if not len(workers):
        return []
    workers = replace(workers, rows=list(workers.rows))  # each pass would make them anew
    heat, mean = _heat_map(workers, run, params), _mean_of_workers(workers)
    is_small = len(heat["series"]) <= _MOST_BESIDE
    return [side_by_side([(1.5, heat), (1, mean)])] if is_small else [heat, mean]


_MOST_BESIDE = 12
"""Rows of a heat map that fits beside a chart."""


POD_MEASURES = (
    ("total_us", "step time"),
    *((f"{category.key}_us", category.name.lower()) for category in CATEGORIES),
)
"""Columns that the heat map of the pod viewer can show, with labels."""


def _heat_map(workers: Table, run: Run, params: Mapping[str, str]) -> Block:
    labels, measure = dict(POD_MEASURES), params.get("show") or "total_us"
    label = labels.get(measure)
    if label is None:
        raise UsageError(f"show={measure!r} is not a time of a step; there are {', '.join(labels)}")
    places = {each.id: at for at, each in enumerate(workers.columns)}
    names, step_of_row = _steps_of_workers(workers, places)
    rows: dict[str, dict[int, tuple[float, str]]] = {}
    for row, at in zip(workers.rows, step_of_row, strict=True):
        own = str(row[places["step"]])
        said = f"most of it: {row[places['bottleneck']]}"
        rows.setdefault(_worker(row, places), {})[at] = (
            float(row[places[measure]] or 0),
            said if own == names[at] else f"{own} there; {said}",
        )
    all_steps = range(len(names))
    return {
        "kind": "chart", "id": "heat", "form": "heatmap",
        "title": f"{label} of every worker".capitalize(),
        "x_label": "step", "y_label": label, "unit": "us", "x": column(names),
        "series": [
            {
                "name": escaped(name),
                "values": column([cells.get(at, (math.nan, ""))[0] for at in all_steps]),
            }
            for name, cells in rows.items()
        ],
        "details": [
            [escaped(cells[at][1]) if at in cells else "" for at in all_steps]
            for cells in rows.values()
        ],
        "choose": step_keys(run, params, names),
    }  # fmt: skip


def _steps_of_workers(workers: Table, places: Mapping[str, int]) -> tuple[list[str], list[int]]:
    """Names of the steps, and the step of each row.

    Workers may number their steps differently: if all have the same number of steps, they are
    matched in order, with the names of the first worker.
    """
    n_seen: dict[str, int] = {}
    ordinals = []
    for row in workers.rows:
        worker = _worker(row, places)
        ordinals.append(n_seen.get(worker, 0))
        n_seen[worker] = ordinals[-1] + 1
    names = [str(row[places["step"]]) for row in workers.rows]
    if len(set(n_seen.values())) == 1:
        first = dict(zip(reversed(ordinals), reversed(names), strict=True))
        return [first[at] for at in sorted(first)], ordinals
    known = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return [*known], [known[name] for name in names]


def _worker(row: Any, places: Mapping[str, int]) -> str:
    return f"{row[places['host']]}:{row[places['core']]}"


def _mean_of_workers(workers: Table) -> Block:
    """Mean of each category over the steps of the table, a stack for each worker."""
    places = {each.id: at for at, each in enumerate(workers.columns)}
    by_worker: dict[str, list[Any]] = {}
    for row in workers.rows:
        by_worker.setdefault(_worker(row, places), []).append(row)
    series = {}
    for category in CATEGORIES:
        at = places[f"{category.key}_us"]
        means = [
            sum(float(row[at] or 0) for row in rows) / len(rows) for rows in by_worker.values()
        ]
        if any(means):
            series[category.name] = tuple(means)
    n_steps = len(_steps_of_workers(workers, places)[0])
    title = f"Mean of {n_steps} steps" if n_steps > 1 else f"Step {workers.rows[0][places['step']]}"
    chart = Chart("workers", "stacked_bar", title, "worker", "µs", tuple(by_worker), series)
    return chart_block(chart, unit="us")


# Stragglers


MOST_HOSTS = 64
"""Rows of the map of hosts: the slowest ones."""


def _of_stragglers(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """How long the slowest hosts worked in each step, then the tool's charts."""
    charts = [chart_block(chart) for chart in result.charts]
    work = result.tables.get("work")
    order = result.tables["hosts"].column("host") if "hosts" in result.tables else []
    if work is None or len(order) < 2:
        return charts
    names, step_of_row = _steps_of_workers(work, {"step": 0, "host": 1, "core": 1})
    cells: dict[Any, list[float]] = {host: [math.nan] * len(names) for host in order[:MOST_HOSTS]}
    for host, own_us, at in zip(
        work.column("host"), work.column("works_us"), step_of_row, strict=True
    ):
        if host in cells:
            cells[host][at] = float(own_us or 0)
    most = f" ({len(cells)} slowest hosts)" if len(cells) < len(order) else ""
    heat: Block = {
        "kind": "chart", "id": "heat", "form": "heatmap",
        "title": f"Work of hosts in each step{most}",
        "x_label": "step", "y_label": "works", "unit": "us", "x": column(names),
        "series": [
            {"name": escaped(str(host)), "values": column(own)} for host, own in cells.items()
        ],
        "choose": step_keys(run, params, names),
    }  # fmt: skip
    return [heat, *_in_pairs(charts)]


# Op profile


def _of_op_profile(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """Ops in their tree of groups, with its numbers."""
    rows = result.tables["ops"].to_rows()
    if not rows:
        return []
    meanings = {each.id: each.meaning for each in result.tables["ops"].columns}
    parents: list[int] = []
    last_at: dict[int, int] = {}
    for at, row in enumerate(rows):
        level = int(row["level"] or 0)
        parents.append(last_at.get(level - 1, -1))
        last_at[level] = at
    whole = float(rows[0]["time_us"] or 0)
    measures = [
        TreeMeasure(
            "time_us",
            "time",
            "us",
            _column_of(rows, "time_us"),
            whole=whole,
            meaning=meanings["time_us"],
        ),
        *(
            TreeMeasure(
                name, label, unit, _column_of(rows, name), is_cost=False, meaning=meanings[name]
            )
            for name, label, unit in (
                ("wasted_share", "wasted", "fraction"),
                ("flops_utilization", "FLOPS utilization", "fraction"),
                ("hbm_utilization", "memory bandwidth", "fraction"),
                ("occurrences", "runs", "count"),
            )
        ),
    ]
    texts = [
        (name, label, [str(row[name] or "") for row in rows])
        for name, label in (("category", "category"), ("provenance", "framework op"))
    ]
    names = ["all ops", *(str(row["name"]) for row in rows[1:])]
    listed = Names(run, params).of("hlo-stats")
    return [
        tree_block(
            names, np.array(parents, np.int64), measures, id="ops", title="Ops", header="op",
            texts=texts, primary="time_us", row_page=("hlo-stats", "find", "HLO stats"),
            on_row_page=[name in listed for name in names],
        )
    ]  # fmt: skip


def _column_of(rows: Sequence[Mapping[str, Any]], name: str) -> np.ndarray[Any, Any]:
    """A number of each row, NaN where unknown."""
    return np.array([math.nan if row[name] is None else float(row[name]) for row in rows])


_PICTURES: dict[str, Callable[[ToolResult, Any, Mapping[str, str]], list[Block]]] = {
    "input-pipeline": _of_steps,
    "monitor": _of_monitor,
    "pod": _of_pod,
    "stragglers": _of_stragglers,
    "roofline": roofline_picture,
    "utilization": _of_utilization,
    "memory": _of_memory,
    "memory-viewer": buffers_picture,
    "tf-data": pipelines_picture,
    "graph-viewer": instructions_picture,
    "op-profile": _of_op_profile,
}

DRAWN_TABLES: Mapping[str, str] = {
    "op-profile": "ops",
    "monitor": "monitor",
    "utilization": "mfu",
}
"""Tables that a picture shows completely, so that they are left out below it."""
