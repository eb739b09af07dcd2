"""Model summaries as text: a tree of layers with columns, and the totals below it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tfprof.core.text.characters import UNICODE, Glyphs, escaped
from tfprof.core.text.metrics import BLUE, GREEN, ORANGE, PINK
from tfprof.core.text.tables import Column, Grid
from tfprof.core.text.units import human_memory
from tfprof.graphs.costs.layer_tree import LayerRow
from tfprof.graphs.costs.params import ParamsReport, totals_line
from tfprof.graphs.costs.roofline import time_text
from tfprof.graphs.model.symbolic import Number, Symbolic
from tfprof.graphs.reports.flops_text import (
    coverage_lines,
    note_lines,
    shape_text,
    short_number,
    totals,
)

if TYPE_CHECKING:
    from tfprof.graphs.reports.summary import ModelSummary

PLAIN_WIDTH = 100
"""Width of plain text."""

_MAX_GUIDES = 20
"""Levels of tree lines; deeper rows show their depth instead."""

_BLANK = "\u00a0"
"""A blank that does not separate a number from its unit."""


@dataclass(frozen=True)
class SummaryTable:
    """A summary as a rich renderable.

    Attributes:
        summary: The summary.
        glyphs: Characters to draw with.
        totals: Show the totals below the table.
    """

    summary: ModelSummary
    glyphs: Glyphs = UNICODE
    totals: bool = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        grid = summary_grid(self.summary, self.glyphs)
        yield grid
        left_out = grid.left_out(options.max_width)
        if left_out:
            yield Text(self.glyphs.text(f"no room for: {', '.join(left_out)}"), style="dim")
        if self.totals:
            width = min(options.max_width, PLAIN_WIDTH)
            yield Text()
            for line in total_lines(self.summary, width):
                yield Text(self.glyphs.text(line), no_wrap=True, overflow="ignore")


def summary_text(summary: ModelSummary) -> str:
    """A summary as plain text."""
    console = Console(
        file=io.StringIO(), width=PLAIN_WIDTH, force_terminal=False, color_system=None,
        highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    console.print(SummaryTable(summary), crop=False)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    return "\n".join(line.rstrip().replace(_BLANK, " ") for line in text.splitlines())


def total_lines(summary: ModelSummary, width: int = PLAIN_WIDTH) -> list[str]:
    """Parameters, float operations, coverage and notes."""
    lines = [params_line(summary.params), *totals(summary.report, width)]
    notes = (*summary.notes, *summary.device_notes)
    return [*lines, *coverage_lines(summary.report, width), *note_lines(notes, width)]


def params_line(params: ParamsReport) -> str:
    """The number of parameters, and the number of trainable ones if known."""
    line = totals_line(params)
    return line.partition(": ")[0] if params.unknown == params.total else line


def summary_grid(summary: ModelSummary, glyphs: Glyphs = UNICODE) -> Grid:
    """The columns of a summary; in a narrow terminal, the least important are left out."""
    rows = summary.rows
    colour = PINK
    shares = [summary.share(row) for row in rows]
    percents = ["" if share is None else human_share_of(share) for share in shares]
    columns = [
        Column(
            header_of(rows), "name",
            [row_name(row, glyphs) for row in rows], guides=_guides(rows, glyphs),
        ),
        Column("type", "text", [_kind(row) for row in rows], leave_out=22),
        Column("output", "number", [_in_one(shapes_text(row)) for row in rows], leave_out=12),
        Column("params", "number", [f"{row.weights.params:,}" for row in rows],
               header_style=GREEN, leave_out=5),
        Column("not trained", "number", [f"{row.weights.non_trainable:,}" for row in rows],
               header_style=GREEN, leave_out=50),
        _numbers("FLOPs", [row.total.flops for row in rows], glyphs, colour, 0),
        _numbers("MACs", [row.total.macs for row in rows], glyphs, colour, 30),
        Column("share", "number", percents, leave_out=10, header_style=colour),
        Column("", "bar", percents, [share or None for share in shares], style=colour,
               leave_out=45, about="bars"),
        _own_flops(rows, glyphs, colour),
        Column("weights", "number", [memory_number(row.weights.size_bytes) for row in rows],
               header_style=ORANGE, leave_out=40),
        _numbers("activations", [row.total.activation_bytes for row in rows], glyphs, ORANGE, 38,
                 is_bytes=True),
    ]  # fmt: skip
    needless = {
        "type": not any(map(_kind, rows)),
        "not trained": not rows[0].weights.non_trainable,
        "own FLOPs": not any(rows[row.parent].own.flops != 0 for row in rows[1:]),
    }
    columns = [column for column in columns if not needless.get(column.header)]
    if summary.device is not None:
        cells = [glyphs.text(row_time(row)) for row in rows]
        columns.insert(-2, Column("least time", "number", cells, header_style=BLUE, leave_out=7))
    return Grid(columns, glyphs, strong_rows=frozenset({0}))


def header_of(rows: Sequence[LayerRow]) -> str:
    """Header of the first column."""
    return "layer" if rows[0].path else "scope"


def row_name(row: LayerRow, glyphs: Glyphs = UNICODE) -> str:
    """Name of a row."""
    if row.folded:
        return glyphs.text(row.name)
    return escaped(row.name) if row.name else "total"


def _kind(row: LayerRow) -> str:
    return "" if row.kind in ("scope", "…") else escaped(row.kind)


def human_share_of(share: float) -> str:
    """A share, 0 to 1, in percent."""
    percent = 100 * share
    return "<0.1 %" if 0 < percent < 0.05 else f"{percent:.1f} %"


def row_time(row: LayerRow) -> str:
    """The least time of a row."""
    picos = row.total.picos
    if not isinstance(picos, int) or (picos == 0 and row.total.untimed):
        return "n/a"
    return time_text(picos / 1e6) if picos else "0"


def shapes_text(row: LayerRow) -> str:
    """The first output shape; of a layer also the number of others."""
    if not row.shapes:
        return ""
    text = escaped(shape_text(row.shapes[0]))
    others = len(row.shapes) - 1
    return f"{text} +{others}" if others and row.kind != "scope" and row.path else text


def _in_one(text: str) -> str:
    """A text whose last word is not aligned like a unit."""
    return text.replace(" ", _BLANK)


def _own_flops(rows: Sequence[LayerRow], glyphs: Glyphs, style: str) -> Column:
    """Own cost of rows that have other rows inside them."""
    column = _numbers("own FLOPs", [row.own.flops for row in rows], glyphs, style, 60)
    around = {row.parent for row in rows}
    cells = [cell if place in around else "" for place, cell in enumerate(column.cells)]
    return replace(column, cells=cells)


def _numbers(
    header: str,
    numbers: Sequence[Number],
    glyphs: Glyphs,
    style: str,
    leave_out: int,
    *,
    is_bytes: bool = False,
) -> Column:
    cells = [memory_number(number) if is_bytes else short_number(number) for number in numbers]
    if any(isinstance(number, Symbolic) for number in numbers):
        cells = [_in_one(cell) for cell in cells]
    cells = [escaped(cell, keep=_BLANK + "…") for cell in map(glyphs.text, cells)]
    return Column(header, "number", cells, header_style=style, leave_out=leave_out)


def memory_number(number: Number) -> str:
    """Bytes with a unit."""
    if isinstance(number, Symbolic):
        return f"{short_number(number)} B".replace("·B B", "·B bytes")
    return human_memory(number) if number else "0"


def _guides(rows: Sequence[LayerRow], glyphs: Glyphs) -> list[str]:
    """Tree lines before each name."""
    last_child = {row.parent: place for place, row in enumerate(rows)}
    below: dict[int, str] = {0: ""}
    guides = []
    for place, row in enumerate(rows):
        if row.parent < 0:
            guides.append("")
            continue
        before = below[row.parent]
        is_last = last_child[row.parent] == place
        if row.depth > _MAX_GUIDES:
            below[place] = before
            guides.append(f"{before}{glyphs.last_branch}({row.depth}) ")
        else:
            below[place] = before + ("  " if is_last else glyphs.line)
            guides.append(before + (glyphs.last_branch if is_last else glyphs.branch))
    return guides
