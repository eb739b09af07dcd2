"""Pages of views: scope, graph, op and code as trees with every number and every option."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.text.metrics import Metric
from tfprof.core.text.units import human_count, human_share
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.profiles.accounting.accounting import METRIC_COLUMNS, METRIC_ROW, Float64Array
from tfprof.profiles.accounting.profile_info import is_trainable
from tfprof.ui.pages.document import Block, Control, Page, empty, facts, figures, remarks, words
from tfprof.ui.pages.host_choice import chosen_profiler, host_control_of
from tfprof.ui.pages.tree_block import HiddenRows, Places, TreeMeasure, tree_block
from tfprof.ui.pages.view_code import code_places, library_rows, own_lines, with_hidden
from tfprof.ui.pages.view_options import on_page, option_controls, options_of
from tfprof.ui.pages.view_titles import TITLES
from tfprof.views.heaviest import heaviest
from tfprof.views.result import ViewKind, ViewTree
from tfprof.views.show.view_rows import NAME_HEADERS, ViewRows
from tfprof.views.show.view_texts import options_that_are_set, weights

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.inputs.opened import Opened

PAGE_ROWS: Final = 200_000
"""Most rows on one page; the lightest are left out of a larger view."""

ABOUT: Final = {
    "scope": "Ops by name scope. Numbers of a scope are those of all ops in it.",
    "graph": "Ops by data flow. Numbers of an op are its own and those of all that it needs.",
    "op": "All ops of a type are summed up.",
    "code": "Ops by the Python lines that made them. Numbers of a line are those of all its calls.",
}
_ONE: Final = {"scope": "op", "graph": "op", "op": "op type", "code": "line"}
_UNITS: Final = {"micros": "us", "bytes": "bytes"}


OF_RUNS: Final = ("micros", "bytes", "params", "float_ops", "occurrence")
OF_GRAPHS: Final = ("params", "float_ops")
"""Attributes that pages show if none are chosen: with and without recorded steps."""


def view_of_opened(kind: ViewKind, opened: Opened, params: Mapping[str, str]) -> Page:
    """The page of a view, with the options in the address.

    With an invalid option, the page has only the controls and the error.

    Raises:
        UsageError: There is no such host.
        InputError: The run cannot be read.
    """
    profiler = chosen_profiler(opened, params)
    select = OF_RUNS if profiler.steps else OF_GRAPHS
    controls = [
        *host_control_of(opened, params), *option_controls(kind, params, select, profiler.steps),
    ]  # fmt: skip
    try:
        options, remark = options_of(params, select)
        tree = profiler.view(kind, options)
    except EmptyProfileError as error:
        return Page(kind, TITLES[kind], ABOUT[kind], [empty(str(error))], controls)
    except UsageError as error:
        blocks = [remarks([("error", str(error), "")])]
        return Page(kind, TITLES[kind], ABOUT[kind], blocks, controls)
    page = view_page(
        tree, opened.source, controls=controls, way_to_drawing=len(tree.ops.input_rows()) > 0,
        source_roots=opened.source_roots,
    )  # fmt: skip
    if not remark:
        return page
    blocks = [remarks([("info", remark, "")]), *page.blocks]
    return Page(page.id, page.title, page.about, blocks, controls)


def view_page(
    tree: ViewTree,
    source: str = "",
    params: Mapping[str, str] | None = None,
    *,
    max_rows: int = PAGE_ROWS,
    controls: Sequence[Control] | None = None,
    way_to_drawing: bool = False,
    source_roots: Sequence[Path] = (),
) -> Page:
    """The page of a view that has been built, with any options.

    Args:
        tree: The view.
        source: Its source, such as the names of files.
        params: Parameters of the page's address.
        max_rows: Show no more rows than this, the largest ones; 0 shows all.
        controls: The choices; by default the options that are set.
        way_to_drawing: Whether rows lead to the page of the drawn graph.
        source_roots: Folders whose Python files may be shown.
    """
    rows = ViewRows(tree, max_rows, spelled=on_page)
    title = TITLES[tree.kind]
    origin = _origin(source, recorded_at(tree))
    about = words([" ".join(filter(None, [origin, _steps(tree)]))])
    items = [*_remarks(rows)]
    urgent = [item for item in items if item[0] != "info"]
    others = [item for item in items if item[0] == "info"]
    blocks: list[Block] = [words([said], lead=True) for said in _answer(rows)]
    blocks.append(figures(_figures(rows)))
    blocks += [remarks(urgent)] if urgent else []
    blocks += [_tree(rows, way_to_drawing, source_roots), about]
    blocks += [remarks(others)] if others else []
    if controls is None and (options := [*_options(tree)]):
        blocks.append(facts(options, "Options"))
    return Page(tree.kind, title, ABOUT[tree.kind], blocks, controls or ())


# Above the rows


def _origin(source: str, recorded: datetime | None) -> str:
    """``From graph.pb, run_meta.pb, recorded 2026-01-31 12:00 UTC.``"""
    parts = [f"from {source}"] if source else []
    parts += [f"recorded {recorded:%Y-%m-%d %H:%M} UTC"] if recorded else []
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _answer(rows: ViewRows) -> Iterator[str]:
    """Which row has most of what the view is ordered by, as a sentence."""
    tree, primary = rows.tree, rows.primary
    most = None if primary is None else _heaviest(tree, primary.metric)
    if primary is not None and most is not None:
        name, value = most
        share = human_share(value, int(tree.total[METRIC_ROW[primary.metric], 0]))
        what = {"params": "parameters"}.get(primary.title, primary.title)
        yield f"{name} has {share} of the {what}, the most of one {_ONE[tree.kind]}."


def _figures(rows: ViewRows) -> Iterator[dict[str, object]]:
    tree = rows.tree
    for metric in rows.metrics:
        found = rows.amounts.of(metric)
        known = not bool(found.unknown[0])
        yield {
            "label": metric.title, "value": int(found.values[0]) if known else rows.absent(metric),
            "unit": _unit(metric) if known else "text",
            "detail": _trainable(tree) if metric.select == "params" else "",
        }  # fmt: skip


def _trainable(tree: ViewTree) -> str:
    """The trainable part of the parameters; empty if all are trainable, or if unknown."""
    counts = tree.op_metrics[METRIC_ROW["parameters"]]
    trained, whole = int(counts[is_trainable(tree.ops)].sum()), int(counts.sum())
    if trained in (0, whole):
        return ""
    return f"{human_count(trained)} trainable; others may be an optimizer's"


def _heaviest(tree: ViewTree, metric: str) -> tuple[str, int] | None:
    """The row with the highest own cost; for Python lines, the user's own."""
    if tree.kind == "code" and not tree.options.classic and (lines := own_lines(tree, metric)):
        return lines[0]
    return heaviest(tree, metric)


def _steps(tree: ViewTree) -> str:
    steps = tree.profile.steps.steps
    step = tree.options.step
    if not steps:
        return "No step was recorded."
    if step >= 0:
        return f"Step {step}."
    if len(steps) == 1:
        return f"Step {steps[0]}."
    listed = ", ".join(map(str, steps)) if len(steps) <= 12 else f"{steps[0]} … {steps[-1]}"
    return f"Average of {len(steps):,} steps: {listed}."


def recorded_at(tree: ViewTree) -> datetime | None:
    """Start of the page's first step; None if its run has no date."""
    steps = tree.profile.steps
    began = steps.began_micros
    if tree.options.step >= 0:
        starts = steps.records[tree.options.step].window[0]
        began = min(starts[starts > 0].tolist(), default=0)
    # Clocks that start with the machine have no date; a date after 2100 is damaged.
    return datetime.fromtimestamp(began / 1e6, timezone.utc) if 1e15 < began < 4.1e15 else None


def _remarks(rows: ViewRows) -> Iterator[tuple[str, str, str]]:
    for text in rows.remarks():
        yield "info", text, ""
    for notice in rows.tree.notices:
        severity = notice.code.removeprefix("capture-")
        known = severity if severity in ("error", "warning") else "info"
        yield known, str(notice), ""


def _options(tree: ViewTree) -> Iterator[tuple[str, str]]:
    """Options that are set, as texts."""
    for name, value in options_that_are_set(tree):
        if name != "output":
            text = ", ".join(value) if isinstance(value, list) else str(value)
            yield name, text or "(none)"


# The rows


def _tree(rows: ViewRows, way_to_drawing: bool, source_roots: Sequence[Path]) -> Block:
    tree, lines = rows.tree, rows.lines
    hidden: HiddenRows | None = None
    places: Places | None = None
    parent = np.array([line.parent for line in lines], np.int64)
    if tree.kind == "code":
        at = np.array([line.row for line in lines], np.int64)
        hidden = library_rows(tree, at)
        of_lines = weights(tree)[at]
        places = code_places(tree, at, of_lines, source_roots)
    way = ("model-graph", "at", "Show it in the drawn graph") if way_to_drawing else None
    return tree_block(
        [line.name for line in lines],
        parent,
        [*_measures(rows, parent, hidden)],
        id=tree.kind,
        title=TITLES[tree.kind],
        header=NAME_HEADERS[tree.kind],
        full_names=["total", *(line.full_name for line in lines[1:])],
        texts=[(title.replace(" ", "_"), title, cells) for title, cells in rows.texts()],
        primary=rows.primary.select if rows.primary else "",
        is_list=rows.is_list,
        left_out=[line.left_out for line in lines],
        hidden=hidden,
        places=places,
        is_called=tree.kind == "code",
        row_page=way if tree.kind in ("scope", "graph") else None,
    )


def _measures(
    rows: ViewRows, parent: Int64Array, hidden: HiddenRows | None
) -> Iterator[TreeMeasure]:
    for metric in rows.metrics:
        found = rows.amounts.of(metric)
        own = _with_gaps(found.own, found.own_unknown)
        has_own = bool(np.any(found.own[~found.own_unknown]))
        folded = with_hidden(parent, hidden.rows, own) if has_own and hidden else None
        yield TreeMeasure(
            metric.select,
            metric.title,
            _unit(metric),
            _with_gaps(found.values, found.unknown),
            own if has_own else None,
            folded,
            float(found.whole),
            rows.absent(metric),
            meaning=METRIC_COLUMNS[METRIC_ROW[metric.metric]].meaning,
        )
        if metric.select == "occurrence" and rows.tree.kind != "code":
            counts = np.array(rows.definition_counts(), np.float64)
            yield TreeMeasure("defined", "defined", "count", counts, is_cost=False)


def _with_gaps(values: Int64Array, unknown: BoolArray) -> Float64Array:
    return np.where(unknown, np.nan, values.astype(np.float64))


def _unit(metric: Metric) -> str:
    ending = metric.metric.rpartition("_")[2]
    return _UNITS.get(ending, "count")
