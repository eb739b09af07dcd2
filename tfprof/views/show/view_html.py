"""Views as pages: one file, to be opened anywhere and mailed, without scripts or requests.

Rows are ``details`` elements that every browser opens by mouse and by keyboard; each is a grid
with the same columns, so that numbers stand below each other at any depth.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import NamedTuple

from markupsafe import Markup

from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.text.html_page import html_page, origin_text, template
from tfprof.text.metrics import Metric
from tfprof.text.tables import escaped
from tfprof.text.units import human_share
from tfprof.views.heaviest import heaviest
from tfprof.views.result import ViewTree
from tfprof.views.show.view_html_template import BODY, STYLE
from tfprof.views.show.view_rows import NAME_HEADERS, Numbers, ViewRows, options_that_are_set

PAGE_ROWS = 5000
"""A page of so many rows (3 MB) opens at once."""

MAX_NESTING = 100
"""Rows deeper than this stand beside each other: browsers nest no more than 512 elements."""

_INDENTED = 16
"""Levels that are indented; deeper rows only say their level."""

_NAME_EMS = 16
_INDENT_EMS = 0.9
_GAP_EMS = 1

_OPEN_LINES = 40
"""Lines that are visible when the page is opened."""

_TITLES = {
    "scope": "Name scopes",
    "graph": "Graph",
    "op": "Op types",
    "code": "Python code",
}
_ONE = {"scope": "op", "graph": "op", "op": "op type", "code": "line"}
_EXPLANATIONS = {
    "scope": "Ops by name scope. Numbers of a scope are those of all ops in it.",
    "graph": "Ops by data flow. Numbers of an op are its own and those of all that it needs.",
    "op": "All ops of a type are summed up.",
    "code": "Ops by the Python lines that made them. Numbers of a line are those of all its calls.",
}


@dataclass(frozen=True, slots=True)
class _Figure:
    """A number that the whole page is about."""

    title: str
    text: str
    small: bool = False


class _Cell(NamedTuple):
    """One cell: CSS class, what it shows, what the pointer shows, and CSS."""

    kind: str = ""
    text: str = ""
    title: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class _Column:
    """One column: CSS class, header, width, and the cells."""

    kind: str
    header: str
    width_ems: float
    cells: Sequence[_Cell]


@dataclass(frozen=True, slots=True)
class _Row:
    """One row.

    Attributes:
        name: Its name, which may be broken after each scope.
        full_name: Its whole name.
        depth: Levels to indent it.
        level: Its level, if it is not indented so far; else 0.
        left_out: How many of its children are not shown.
        cells: The other cells.
        nests: The rows after it, up to its end tag, can be hidden.
        is_open: They are not hidden at first.
        n_ends: End tags after it.
        is_total: It is a sum in a list.
    """

    name: Markup
    full_name: str
    depth: int
    level: int
    left_out: int
    cells: Sequence[_Cell]
    nests: bool
    is_open: bool
    n_ends: int
    is_total: bool


def view_page(tree: ViewTree, max_rows: int = 0, source: str = "") -> str:
    """A view as a page of its own.

    Args:
        tree: The view.
        source: What was read, such as the names of files.
        max_rows: Show no more rows than this, the largest ones; 0 shows all, however large the
            page gets. ``PAGE_ROWS`` is a good limit.
    """
    rows = ViewRows(tree, max_rows)
    columns = _columns(rows)
    widths = [column.width_ems for column in columns]
    deepest = max(line.depth for line in rows.lines)
    name_ems = _NAME_EMS + _INDENT_EMS * min(deepest, _INDENTED)
    heading = _TITLES[tree.kind]
    body = template(BODY).render(
        heading=heading,
        explanation=_EXPLANATIONS[tree.kind],
        steps=_steps(tree),
        origin=origin_text(source, _recorded(tree)),
        figures=[*_figures(rows)],
        options=[*_options(tree)],
        legend=[*_legend(rows)],
        colour=rows.primary.colour if rows.primary else "transparent",
        columns=" ".join(
            [f"minmax({name_ems:.1f}em,1fr)", *(f"{width:.1f}em" for width in widths)]
        ),
        least_ems=math.ceil(name_ems + sum(widths) + _GAP_EMS * len(widths)),
        header=NAME_HEADERS[tree.kind],
        headers=[(column.kind, column.header) for column in columns],
        rows=_rows(rows, columns),
        remarks=[*rows.remarks()],
        notices=[
            escaped(note.text) + (f" ({note.count:,} times)" if note.count > 1 else "")
            for note in tree.notices
        ],
    )
    about = f" of {escaped(source)}" if source else ""
    return html_page(f"tfprof: {heading.lower()}{about}", STYLE, Markup(body))


# What stands above the rows


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


def _recorded(tree: ViewTree) -> datetime | None:
    """When the first step that the page is about began; None if its run does not tell."""
    records = tree.profile.steps.records
    chosen = records.values() if tree.options.step < 0 else [records[tree.options.step]]
    starts = [int(start) for each in chosen for start in each.window[0].tolist() if start > 0]
    began = min(starts, default=0)
    # Clocks that start with the machine tell no date; that of 2100 is a damaged one.
    return datetime.fromtimestamp(began / 1e6, timezone.utc) if 1e15 < began < 4.1e15 else None


def _figures(rows: ViewRows) -> Iterator[_Figure]:
    tree = rows.tree
    for numbers in rows.numbers():
        if numbers.metric is not None:
            yield _Figure(numbers.title, numbers.texts[0])
    if rows.primary is None:
        return
    most = heaviest(tree, rows.primary.metric)
    if most is not None:
        name, value = most
        share = human_share(value, int(tree.total[METRIC_ROW[rows.primary.metric], 0]))
        text = f"{escaped(name)}: {rows.primary.form(value)}, {share}"
        yield _Figure(f"most {rows.primary.title} in one {_ONE[tree.kind]}", text, True)


def _options(tree: ViewTree) -> Iterator[tuple[str, str]]:
    """Options that are set, as texts."""
    for name, value in options_that_are_set(tree):
        if name != "output":
            text = ", ".join(value) if isinstance(value, list) else str(value)
            yield name, escaped(text) or "(none)"


def _legend(rows: ViewRows) -> Iterator[tuple[str, str]]:
    """CSS class of a sample, and its explanation."""
    if rows.primary is None:
        return
    if rows.is_list:
        yield "", f"Bars: {rows.primary.title}; the longest is the largest of all."
    else:
        yield "", "Bars:"
        yield "all", f"{rows.primary.title} with everything below"
        yield "own", "by itself."


# Columns


def _columns(rows: ViewRows) -> list[_Column]:
    columns = []
    for numbers in rows.numbers():
        title, metric = numbers.title, numbers.metric
        columns.append(_amounts(title, numbers.texts, numbers.values, metric))
        is_cost = metric is not None and metric.select not in ("params", "occurrence")
        if is_cost and any(numbers.own):
            columns.append(_amounts(f"own {title}", numbers.own, numbers.own_values, metric))
        if is_cost and metric == rows.primary:
            columns += [_shares(numbers), _bars(rows, numbers)]
    for title, texts in rows.texts():
        cells = [_Cell("t", text, text) for text in texts]
        width = max(0.7 * len(title), 0.6 * min(max(map(len, texts)), 30))
        columns.append(_Column("t", title, width, cells))
    return columns


def _amounts(
    title: str, texts: Sequence[str], values: Sequence[int | None], metric: Metric | None
) -> _Column:
    unit = _unit(metric)
    own = title.startswith("own ")
    cells = [
        _Cell("q" if own or not value else "", text, f"{value:,}{unit}" if value else "")
        for text, value in zip(texts, values, strict=True)
    ]
    width = max(0.7 * len(title), 0.62 * max(map(len, texts)), 4)
    return _Column("", title, width, cells)


def _unit(metric: Metric | None) -> str:
    name = "" if metric is None else metric.metric
    return " µs" if name.endswith("micros") else " bytes" if name.endswith("bytes") else ""


def _shares(numbers: Numbers) -> _Column:
    cells = [
        _Cell("", human_share(value, numbers.whole) if value and value > 0 else "")
        for value in numbers.values
    ]
    return _Column("", "share", 4.5, cells)


def _bars(rows: ViewRows, numbers: Numbers) -> _Column:
    """Of a list the largest bar is full; a tree's root is the whole anyway."""
    shares = [numbers.share(line) or 0 for line in range(len(rows.lines))]
    if rows.is_list:
        largest = max(shares[1:], default=0) or 1
        shares = [0, *(share / largest for share in shares[1:])]
    cells = []
    for line, share in enumerate(shares):
        own = numbers.own_share(line)
        width = f"--t:{100 * share:.1f}%"
        if own is not None:
            width += f";--o:{100 * own:.1f}%"
        cells.append(_Cell("bar", style=width) if share else _Cell())
    return _Column("", "", 9, cells)


# Rows


def _rows(rows: ViewRows, columns: Sequence[_Column]) -> Iterator[_Row]:
    """The rows, each with the number of elements that end behind it."""
    lines = rows.lines
    parents = {line.parent for line in lines} if not rows.is_list else set()
    is_open = _open_at_first(rows)
    around: list[int] = []
    for place, line in enumerate(lines):
        nests = place in parents and line.depth < MAX_NESTING
        if nests:
            around.append(line.depth)
        next_depth = lines[place + 1].depth if place + 1 < len(lines) else 0
        n_around = len(around)
        while around and around[-1] >= next_depth:
            around.pop()
        yield _Row(
            name=Markup("/<wbr>").join(line.name.split("/")),
            full_name=escaped(line.full_name) if line.row > 0 else "",
            depth=min(line.depth, _INDENTED),
            level=line.depth if line.depth > _INDENTED else 0,
            left_out=line.left_out,
            cells=[column.cells[place] for column in columns],
            nests=nests,
            is_open=place in is_open,
            n_ends=n_around - len(around),
            is_total=rows.is_list and line.row <= 0,
        )


def _open_at_first(rows: ViewRows) -> set[int]:
    """Lines to open: the largest ones first, as long as there is room for what is in them."""
    if rows.is_list:
        return set()
    children: dict[int, list[int]] = {}
    for place, line in enumerate(rows.lines):
        children.setdefault(line.parent, []).append(place)
    weights = rows.weights()
    waiting = [(0, 0)]
    room = _OPEN_LINES
    opened = set()
    while waiting:
        place = heapq.heappop(waiting)[1]
        inside = children.get(place, [])
        if not inside or (place and len(inside) > room):
            continue
        opened.add(place)
        room -= len(inside)
        for child in inside:
            heapq.heappush(waiting, (-int(weights[rows.lines[child].row]), child))
    return opened
