"""Tables of tools as grids for a terminal.

Columns with the same value in each row stand below the grid instead, together with the number of
columns that did not fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len

from tfprof.captures.run.table import Cell, Column, Table
from tfprof.captures.show.tool_values import cell_text, header_of
from tfprof.core.text import tables as grids
from tfprof.core.text.characters import UNICODE, Glyphs, escaped
from tfprof.core.text.folding import fitted
from tfprof.core.text.metrics import BLUE, NOT_AVAILABLE, ORANGE, PINK
from tfprof.core.text.tables import GAP, Grid

_SHARES: Final = ("fraction", "percent")
_COLOURS: Final = {
    "us": BLUE, "ms": BLUE, "ns": BLUE, "ps": BLUE, "s": BLUE, "bytes": ORANGE,
    "gflops_per_s": PINK, "gib_per_s": ORANGE,
}  # fmt: skip
_GROUPS: Final = (("host_or_device",), ("allocator", "host"))
"""Columns that divide a table into lists, each with its own first rows."""

_NAMES: Final = (
    "operation", "opName", "kernel_name", "hlo_op_name", "name", "op_name", "op", "iterator",
    "what",
)  # fmt: skip
"""Columns that name the rows."""

_DEPTHS: Final = ("depth", "level")
"""Columns with the depth of a row in a tree in preorder."""

_HIDDEN: Final = {"rank", "suggestion", *_DEPTHS}
"""Columns that the order of rows, their indentation, or the advice below the tables replaces."""

_FIRST: Final = {
    "total_self_time", "selfTimeInMs", "stepTimeMs", "total_us", "total_duration_us",
    "occurrences", "count", "bottleneck", "peak_bytes", "capacity_bytes", "bound_by", "op_name",
    "is_kernel_using_tensor_core",
    "roofline_efficiency", "relative", "verdict",
}  # fmt: skip
"""Columns that are left out last."""

_COMPARED: Final = ("difference_ms", "_difference")
"""Suffixes of the ids of columns that compare two numbers."""

_DETAILS: Final = {
    "avg_self_time", "avg_time", "avg_duration_us", "cumulative_total_self_time_percent",
    "cumulativeTimePercent",
    "device_cumulative_total_self_time_percent", "Host_cumulative_total_self_time_percent",
    "host_cumulative_total_self_time_percent", "hlo_op_expression", "expression", "description",
    "source_info", "min_duration_us", "max_duration_us", "hlo_module_id", "program_id",
    "tf_op_name", "provenance", "infeedPercentMin", "infeedPercentMax", "chip", "node",
    "timeInPercent", "address", "block_dim", "grid_dim", "registers_per_thread", "shmem_bytes",
    "occupancy_pct", "allocations", "deallocations", "stack_bytes",
    "fragmentation", "include_infeed_outfeed",
}  # fmt: skip
"""Columns that are left out first if there is little room."""

_STEPS: Final = ("step", "stepnum", "stepNum", "stepname")
"""A table with only these columns has no information."""

_NOTHING: Final = ("Unknown", "unknown", "Total")

_WISHED: Final = {"name": 38, "text": 20, "bar": 8}
"""Widths that columns should have before a grid gets more columns."""


@dataclass(frozen=True)
class ToolGrid:
    """A part of a table, ready to be drawn.

    Attributes:
        title: Distinguishes it from the other parts; empty if it is the only one.
        grid: The cells; None if there are no rows.
        remarks: Remarks on data that the grid does not show.
    """

    title: str
    grid: Grid | None
    remarks: tuple[str, ...] = ()


def tool_grids(
    table: Table, top: int, width: int, glyphs: Glyphs = UNICODE, *, whole: bool = False
) -> list[ToolGrid]:
    """Make grids of the first rows of a table, or of each list in it, such as host and device.

    Args:
        table: The table.
        top: Rows to show; 0 is all.
        width: Available width in cells.
        glyphs: Characters to draw with.
        whole: Also show a table without rows, or with nothing but step numbers.
    """
    if not len(table):
        return [ToolGrid("", None, ("no rows",))] if whole else []
    groups = _groups(table)
    if len(groups) < 2 or len(groups) == len(table):
        groups = {"": table.rows}
    grids_of_groups = [
        _tool_grid(escaped(title), replace(table, rows=rows), top, width, glyphs, whole=whole)
        for title, rows in groups.items()
    ]
    return [grid for grid in grids_of_groups if grid is not None]


def _groups(table: Table) -> dict[str, Sequence[tuple[Cell, ...]]]:
    ids = [column.id for column in table.columns]
    dividing = next((group for group in _GROUPS if group[0] in ids), ())
    places = [ids.index(name) for name in dividing if name in ids]
    if not places:
        return {"": table.rows}
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for row in table.rows:
        groups.setdefault(" on ".join(str(row[place]) for place in places), []).append(row)
    return {**groups}


def _tool_grid(
    title: str, table: Table, top: int, width: int, glyphs: Glyphs, *, whole: bool
) -> ToolGrid | None:
    n_rows = min(top, len(table)) if top else len(table)
    places = [
        place
        for place, column in enumerate(table.columns)
        if column.role != "tooltip" and column.id not in _HIDDEN
    ]
    alike = _alike(table, places)
    shown = [place for place in places if place not in alike] or places
    if alike and not whole and all(table.columns[place].id in _STEPS for place in shown):
        return None
    if title:
        dividing = {name for group in _GROUPS for name in group}
        alike = {p: value for p, value in alike.items() if table.columns[p].id not in dividing}
    shown = _name_first(table, shown)
    first = replace(table, rows=table.rows[:n_rows])
    columns, left_out = _fitting(list(_columns(first, shown, glyphs)), width, glyphs)
    if left_out and len(table) == 1:
        return _pairs(title, first, shown, glyphs)
    remarks = tuple(_remarks(table, n_rows, alike, left_out))
    return ToolGrid(title, Grid(columns, glyphs), remarks)


def _pairs(title: str, table: Table, places: Sequence[int], glyphs: Glyphs) -> ToolGrid:
    """A single row that is too wide, with a line for each column with a known value."""
    known: list[tuple[str, str]] = []
    for place in places:
        column, cell = table.columns[place], table.rows[0][place]
        text = cell_text(cell, column)
        if _is_known(cell, column):
            header = glyphs.text(header_of(column))
            known.append((header, text if column.type == "string" else glyphs.text(text)))
    names, values = zip(*known, strict=True) if known else ((), ())
    columns = [grids.Column("what", "name", names), grids.Column("value", "text", values)]
    return ToolGrid(title, Grid(columns, glyphs) if known else None)


def _is_known(cell: Cell, column: Column) -> bool:
    """Whether a cell has information: empty ones, "no" and "unknown" do not."""
    return bool(cell) and cell_text(cell, column) not in (NOT_AVAILABLE, *_NOTHING)


def _alike(table: Table, places: Sequence[int]) -> dict[int, Cell]:
    """Columns with the same value in several rows, and the value."""
    if len(table) < 2:
        return {}
    first = table.rows[0]
    alike = list(places)
    for row in table.rows:  # read once, as each read may make the rows anew
        if any(row[place] != first[place] for place in alike):
            alike = [place for place in alike if row[place] == first[place]]
            if not alike:
                break
    return {place: first[place] for place in alike} if len(alike) < len(places) else {}


def _name_first(table: Table, places: Sequence[int]) -> list[int]:
    by_id = {table.columns[place].id: place for place in places}
    named = next((by_id[name] for name in _NAMES if name in by_id), None)
    return sorted(places, key=lambda place: place != named)


def _columns(table: Table, places: Sequence[int], glyphs: Glyphs) -> Iterator[grids.Column]:
    barred = _barred(table, places)
    main = (barred, _first_difference(table, places))
    for order, place in enumerate(places):
        column = table.columns[place]
        cells = [cell_text(row[place], column) for row in table.rows]
        header, colour = glyphs.text(header_of(column)), _COLOURS.get(column.unit, "")
        leave_out = 0 if order == 0 else _rank(column.id, order, is_main=place in main)
        if column.type == "string":
            guides = _guides(table) if order == 0 else ()
            kind: grids.Kind = "text" if order else "name"
            yield grids.Column(header, kind, cells, guides=guides, leave_out=leave_out)
        elif column.type == "boolean":
            yield grids.Column(header, "text", cells, leave_out=leave_out)
        else:
            cells = [glyphs.text(cell) for cell in cells]
            yield grids.Column(header, "number", cells, header_style=colour, leave_out=leave_out)
        if place == barred:
            yield _bar([row[place] for row in table.rows], leave_out=20)


def _rank(column_id: str, order: int, *, is_main: bool) -> int:
    """Order in which columns are left out, the highest rank first."""
    if is_main or column_id in _FIRST:
        return 1
    return order + (100 if column_id in _DETAILS else 2)


def _barred(table: Table, places: Sequence[int]) -> int | None:
    """The first share that is not a detail. Differences can be negative, which no bar shows."""
    if _first_difference(table, places) is not None:
        return None
    shares = (p for p in places if table.columns[p].unit in _SHARES)
    return next((p for p in shares if table.columns[p].id not in _DETAILS), None)


def _first_difference(table: Table, places: Sequence[int]) -> int | None:
    """The column by which the rows of two compared tables are sorted."""
    return next((p for p in places if table.columns[p].id.endswith(_COMPARED)), None)


def _bar(values: Sequence[Cell], leave_out: int) -> grids.Column:
    """Bars that compare values; the bar of the largest is full."""
    numbers = [float(v) if isinstance(v, (int, float)) and v > 0 else 0.0 for v in values]
    longest = max(numbers, default=0.0)
    shares = [number / longest if number else None for number in numbers]
    return grids.Column("", "bar", [""] * len(values), shares, style=BLUE, leave_out=leave_out)


def _guides(table: Table) -> Sequence[str]:
    """The indentation of a table that is a tree. A comparison has none: changes sort its rows."""
    if any(column.id == "difference_ms" for column in table.columns):
        return ()
    place = next((p for p, column in enumerate(table.columns) if column.id in _DEPTHS), None)
    if place is None:
        return ()
    depths = [row[place] for row in table.rows]
    return [
        "  " * min(int(depth), 20) if isinstance(depth, (int, float)) else "" for depth in depths
    ]


def _fitting(
    columns: Sequence[grids.Column], width: int, glyphs: Glyphs
) -> tuple[list[grids.Column], list[str]]:
    """The columns that fit, and the headers of the others."""
    wishes = {id(column): _wish(column) + GAP for column in columns}
    kept = grids.fitting(columns, [wishes[id(column)] for column in columns], width + GAP)
    shown = set(map(id, kept))
    left_out = [column.header for column in columns if id(column) not in shown and column.header]
    others = sum(wishes[id(column)] for column in kept[1:])
    return [_folded(kept[0], max(width - others, _WISHED["name"]), glyphs), *kept[1:]], left_out


def _folded(names: grids.Column, width: int, glyphs: Glyphs) -> grids.Column:
    """Names, shortened to the width that the other columns leave."""
    if names.kind != "name":
        return names
    guides = names.guides or [""] * len(names.cells)
    rooms = [max(width - len(guide), 12) for guide in guides]
    return replace(names, cells=fitted(names.cells, rooms, glyphs.ellipsis))


def _wish(column: grids.Column) -> int:
    guides = column.guides or [""] * len(column.cells)
    widths = [len(guide) + cell_len(cell) for guide, cell in zip(guides, column.cells, strict=True)]
    natural = max([cell_len(column.header), *widths])
    if column.kind == "bar":
        return _WISHED["bar"]
    return min(natural, _WISHED.get(column.kind, natural))


def _remarks(
    table: Table, n_shown: int, alike: Mapping[int, Cell], left_out: Sequence[str]
) -> Iterator[str]:
    hidden = len(table) - n_shown
    if hidden:
        yield f"{hidden:,} more row{'s' if hidden > 1 else ''}; --top 0 shows all"
    same = [
        f"{header_of(column)} {cell_text(value, column)}"
        for column, value in ((table.columns[place], value) for place, value in alike.items())
        if _is_known(value, column) and column.id not in _DETAILS
    ]
    if same:
        yield f"all rows: {', '.join(same)}"
    if left_out:
        plural = "s" if len(left_out) > 1 else ""
        yield f"{len(left_out)} more column{plural}: widen the terminal, or --format csv"
