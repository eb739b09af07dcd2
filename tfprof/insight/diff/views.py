"""Two views as one table: each row in both runs, and whether its time differs beyond noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tfprof.captures.run.columns import amount, count, text
from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.core.columns.columns import BoolArray
from tfprof.core.columns.matching import matched, numbered
from tfprof.errors import UsageError
from tfprof.insight.diff.answer import BEFORE_AND_AFTER, VERDICT
from tfprof.insight.diff.noise import Change, change
from tfprof.insight.diff.side import Float64Array, op_costs
from tfprof.insight.diff.structure import plain_name
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.profiles.from_captures.captured_lines import OF_LINES
from tfprof.profiles.model.executions import NO_OP
from tfprof.views.result import ViewTree

_COUNTS = (
    amount("requested_bytes", "Memory requested", "bytes", "memory requested"),
    count("float_ops", "Float operations", "float operations of its runs"),
    count("parameters", "Parameters", "size of trainable and other variables"),
    count("run_count", "Runs", "executions per step that have a time"),
)
_TOLERANCE = 0.01
_US_PER_MS = 1000.0


def diff_views(first: ViewTree, second: ViewTree) -> ToolResult:
    """Rows of a view in both runs, the largest difference of time first.

    Rows are the same if all names from the root down are, but for numbers made anew in each run.

    Args:
        first: The view of the run before.
        second: The same view of the run after, with the same options.

    Raises:
        UsageError: They are different views.
    """
    if first.kind != second.kind:
        raise UsageError(
            f"a {first.kind} view and a {second.kind} view have different rows; compare one kind"
        )
    trees, kind = (first, second), first.kind
    metrics = [_metrics(tree) for tree in trees]
    counts = [c for c in _COUNTS if any(each[c.id].any() for each in metrics)]
    rows = []
    for a, b, time in changed_rows(first, second):
        tree, row = (trees[0], a) if b is None else (trees[1], b)
        assert row is not None
        cells: list[Cell] = [tree.names[row], int(tree.depth[row]), *_cells(time)]
        for column in counts:
            before = None if a is None else int(metrics[0][column.id][a])
            after = None if b is None else int(metrics[1][column.id][b])
            cells += [before, after]
        rows.append((-abs(time.difference), tuple(cells)))
    rows.sort(key=lambda row: (row[0], str(row[1][0])))
    lines = {one.text: None for tree in trees for one in tree.notices if one.code == OF_LINES}
    title = f"{kind.capitalize()} view"
    table = Table(kind, (*VIEW_COLUMNS, *_pairs_of(counts)), [cells for _, cells in rows],
                  title=title if lines else f"{title}, a step on average")  # fmt: skip
    notes = tuple(Note("info", text) for text in lines)
    return ToolResult("diff", f"{title}: before and after", (), {kind: table}, notes=notes)


def changed_rows(first: ViewTree, second: ViewTree) -> list[tuple[int | None, int | None, Change]]:
    """Row of either view and its time in both: those of the first in their order, then the others.

    Args:
        first: The view of the run before.
        second: The same view of the run after, with the same options.
    """
    pairs = list(matched(_paths(first), _paths(second)))
    before, after = _micros(first), _micros(second)
    return [(a, b, _time(before, a, after, b, len(pairs))) for a, b in pairs]


VIEW_COLUMNS = (
    text("name", "Name", "name of the row in the view"),
    count("depth", "Depth", "depth in the tree; rows are sorted by their change"),
    *BEFORE_AND_AFTER,
    VERDICT,
)


def _pairs_of(counts: list[Column]) -> list[Column]:
    return [
        replace(column, id=f"{column.id}_{when}", label=f"{column.label} {when}")
        for column in counts
        for when in ("before", "after")
    ]


def _cells(time: Change) -> tuple[Cell, ...]:
    return time.before, time.after, time.difference, time.relative, time.verdict


def _paths(tree: ViewTree) -> list[tuple[Any, ...]]:
    """Names from the root down to each row."""
    paths: list[tuple[Any, ...]] = []
    for name, parent in zip(tree.names, tree.parent.tolist(), strict=True):
        above = paths[parent][:-1] if parent >= 0 else ()
        paths.append((*above, plain_name(name), 0))
    return numbered(path[:-1] for path in paths)


def _metrics(tree: ViewTree) -> dict[str, np.ndarray[Any, Any]]:
    values = tree.own if tree.kind == "op" else tree.total
    return {column.id: values[METRIC_ROW[column.id]] for column in _COUNTS}


def _micros(tree: ViewTree) -> tuple[Float64Array, Float64Array, BoolArray]:
    """Time of each row: on average, in each step, and whether the steps add up to the average.

    They do not where options hide rows whose time is counted, or count lines twice; then the
    noise is unknown.
    """
    values = tree.own if tree.kind == "op" else tree.total
    average = values[METRIC_ROW["exec_micros"]].astype(np.float64)
    costs = op_costs(tree.profile)
    place = np.full(len(tree.profile.ops) + 1, -1, np.int64)
    place[costs.rows] = np.arange(len(costs))
    by_step = np.zeros((len(tree), costs.micros.shape[1]))
    if tree.kind in ("scope", "graph"):
        rows = np.flatnonzero(tree.op_rows != NO_OP)
        ops = place[tree.op_rows[rows]]
    else:
        rows = np.repeat(np.arange(len(tree)), np.diff(tree.member_offsets))
        ops = place[tree.members]
    known = ops >= 0
    np.add.at(by_step, rows[known], costs.micros[ops[known]])
    if tree.kind != "op":
        for row in range(len(tree) - 1, 0, -1):
            by_step[tree.parent[row]] += by_step[row]
    means = by_step.mean(axis=1) if by_step.shape[1] else average
    is_off: BoolArray = np.abs(means - average) > _TOLERANCE * average + 1
    return average / _US_PER_MS, by_step / _US_PER_MS, is_off


def _time(
    before: tuple[Any, ...], a: int | None, after: tuple[Any, ...], b: int | None, n: int
) -> Change:
    if a is None or b is None:
        return Change(None if a is None else before[0][a], None if b is None else after[0][b])
    if before[2][a] or after[2][b]:
        return Change(float(before[0][a]), float(after[0][b]))
    return change(before[1][a], after[1][b], n)
