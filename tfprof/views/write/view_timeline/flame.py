"""Scope and code timelines: a flame chart of total execution times, not of real time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.profiles.accounting.accounting import METRIC_ROW, METRICS
from tfprof.views.result import ViewTree
from tfprof.views.write.trace_json import (
    blocks,
    classic_process_event,
    escaped,
    html_safe,
    process_events,
    thread_event,
)

_INT64 = 1 << 63
_NOT_DRAWN = -1
_KEYS = [*METRICS, *(f"total_{name}" for name in METRICS)]


@dataclass(frozen=True, slots=True)
class FlameChart:
    """The regions of a flame chart in preorder; the root is the first.

    Attributes:
        rows: Row in the view, shape (n,).
        depths: Depth, 0 for the root, shape (n,).
        starts: Start in µs, shape (n,).
        durations: Duration in µs, shape (n,).
    """

    rows: Int64Array
    depths: Int64Array
    starts: Int64Array
    durations: Int64Array


def lay_out_flame(tree: ViewTree) -> FlameChart:
    """Put the children of each row side by side from its start, as wide as their total time.

    Children without a time are left out, with all below them. What would reach beyond its
    parent is cut there: the original aborts on it (``Timeline::EmitTreeNode``).
    """
    totals = tree.total[METRIC_ROW["exec_micros"]]
    cut = _rows_to_cut(tree, totals)
    ends = totals.tolist()
    starts = [0] + [_NOT_DRAWN] * (len(tree) - 1)
    next_starts = starts.copy()  # where the next child of each row starts
    pairs = zip(tree.parent.tolist(), totals.tolist(), strict=True)
    next(pairs)
    for row, (parent, width) in enumerate(pairs, start=1):
        start = next_starts[parent]
        if width <= 0 or start < 0:
            continue
        end = start + width
        if end > ends[parent] and cut[parent]:
            end = ends[parent]
            if end <= start:
                continue
        next_starts[parent] = ends[row] = end
        next_starts[row] = starts[row] = start
    rows = [row for row, start in enumerate(starts) if start >= 0]
    columns = [starts[row] for row in rows], [ends[row] - starts[row] for row in rows]
    if max(columns[0]) >= _INT64:
        columns = [(start + _INT64) % (2 * _INT64) - _INT64 for start in columns[0]], columns[1]
    return FlameChart(
        np.array(rows), tree.depth[rows], *(np.array(column, np.int64) for column in columns)
    )


def _rows_to_cut(tree: ViewTree, totals: Int64Array) -> list[bool]:
    """Rows whose children may not reach beyond them.

    The original's check adds up in 64 bits: a sum that wraps passes, and so do the children.
    """
    if not tree.options.classic:
        return [True] * len(tree)
    sums = np.zeros(len(tree), np.int64)
    np.add.at(sums, tree.parent[1:], np.maximum(totals[1:], 0))
    over: list[bool] = (sums > totals).tolist()
    return over


def classic_flame_events(tree: ViewTree) -> Iterator[list[str]]:
    """The events of ``Timeline::GenerateScopeTimeline``: a process for each depth."""
    chart = lay_out_flame(tree)
    known_depth = -1
    for block in blocks(len(chart.rows)):
        events = []
        names = escaped([tree.names[row] for row in chart.rows[block].tolist()])
        columns = (chart.depths, chart.starts, chart.durations)
        for name, depth, start, duration in zip(
            names, *(column[block].tolist() for column in columns), strict=True
        ):
            if depth > known_depth:  # in preorder depths come one by one
                known_depth = depth
                events.append(classic_process_event(depth, f"Scope:{depth}"))
            events.append(
                f'{{"args":{{"name":"{name}","op":"{name}"}},"cat":"Op","dur":{duration},'
                f'"name":"{name}","ph":"X","pid":{depth},"tid":0,"ts":{start}}}'
            )
        yield events


def flame_events(trees: Iterable[tuple[str, ViewTree]]) -> Iterator[list[str]]:
    """Flame charts of views, each with its title a process of its own, nested in one thread."""
    for pid, (title, tree) in enumerate(trees, start=1):
        yield [*process_events(pid, title), thread_event(pid, pid, "total time")]
        yield from _chart_events(tree, f'"pid":{pid},"tid":{pid}')


def _chart_events(tree: ViewTree, place: str) -> Iterator[list[str]]:
    chart = lay_out_flame(tree)
    durations = np.maximum(chart.durations, 0)  # a root's total may have wrapped at 64 bits
    for block in blocks(len(chart.rows)):
        rows = chart.rows[block]
        names = html_safe([tree.names[row] for row in rows.tolist()])
        columns = (chart.starts, durations)
        yield [
            f'{{"ph":"X","name":"{name}","cat":"{tree.kind}",{place},"ts":{start},'
            f'"dur":{duration},"args":{{{args}}}}}'
            for name, args, start, duration in zip(
                names,
                _metric_texts(tree.own[:, rows], tree.total[:, rows]),
                *(column[block].tolist() for column in columns),
                strict=True,
            )
        ]


def _metric_texts(own: Int64Array, total: Int64Array) -> list[str]:
    """The metrics of rows as arguments: what is not 0, and totals where they say more."""
    values = np.concatenate([own, np.where(total == own, 0, total)])
    texts = [""] * values.shape[1]
    present = values != 0
    kinds = np.left_shift(1, np.arange(len(values))) @ present
    for kind in np.unique(kinds).tolist():  # rows with the same keys share a template
        chosen = np.flatnonzero(kinds == kind)
        keys = np.flatnonzero(present[:, chosen[0]])
        template = ",".join(f'"{_KEYS[key]}":%d' for key in keys.tolist())
        rows = zip(*(values[key, chosen].tolist() for key in keys.tolist()), strict=True)
        for place, text in zip(chosen.tolist(), map(template.__mod__, rows), strict=False):
            texts[place] = text
    return texts
