"""Joins two tables of one tool: each number before and after, and the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfprof.captures.run.columns import text
from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.core.columns.matching import matched, numbered
from tfprof.core.text.claims import Claim
from tfprof.errors import UsageError

ORDINALS = ("rank",)
"""Columns that number the rows of one table, which mean nothing across two."""

_IN_ORDER = ("depth", "level", "step", "stepnum", "stepNum", "stepname")
"""Columns of tables whose rows stay in order: trees, and steps one after the other."""

_WHICH = text("in", "In", "which of the two runs has the row: both, before or after")

_TIMES = ("us", "ms", "ns", "ps", "s")


def diff_results(first: ToolResult, second: ToolResult) -> ToolResult:
    """Every table that two answers of a tool have.

    Args:
        first: The answer about the run before.
        second: That about the run after.

    Raises:
        UsageError: They are of different tools, or have no table in common.
    """
    if first.tool != second.tool:
        raise UsageError(f"{first.tool} and {second.tool} are different tools; compare one of both")
    common = [name for name in first.tables if name in second.tables]
    if not common:
        raise UsageError(f"the two answers of {first.tool} have no table in common")
    tables = {name: diff_tables(first.tables[name], second.tables[name]) for name in common}
    claims = [
        Claim("run", when.lower(), None, parts=answer.claims[:1], words=f"{when}: {{parts}}")
        for when, answer in (("Before", first), ("After", second))
        if answer.claims
    ]
    notes = tuple(dict.fromkeys([*first.notes, *second.notes]))
    return ToolResult(first.tool, f"{first.title}: before and after", tuple(claims),
                      tables, notes=notes)  # fmt: skip


def diff_tables(first: Table, second: Table) -> Table:
    """Rows of equal texts beside each other, the largest difference first.

    Rows are ordered by their time if they have one. Rows of trees and of steps keep their order.
    Rows of equal texts are matched in their order. A row of only one table stays, with unknown
    numbers for the other, and the column ``in`` names the table.

    Args:
        first: A table.
        second: One of the same tool, which may have other columns.

    Raises:
        UsageError: A column has another unit.
    """
    theirs = {column.id: column for column in second.columns}
    common = [c for c in first.columns if c.id in theirs and c.id not in ORDINALS]
    for one in common:
        if one.unit != theirs[one.id].unit:
            raise UsageError(
                f"column {one.id} of table {first.name} is in {one.unit or 'no unit'} in the first "
                f"and in {theirs[one.id].unit or 'no unit'} in the second"
            )
    texts = [column.id for column in common if column.type != "number"]
    numbers = _main_first([column for column in common if column.type == "number"])
    pairs = list(matched(_keys(first, texts), _keys(second, texts)))
    columns = [column for column in common if column.type != "number"]
    cells: list[list[Cell]] = [
        [(mine[a] if a is not None else other[b] if b is not None else None) for a, b in pairs]
        for mine, other in ((first.column(name), second.column(name)) for name in texts)
    ]
    if any(a is None or b is None for a, b in pairs):
        columns.append(_WHICH)
        cells.append(
            ["after" if a is None else "before" if b is None else "both" for a, b in pairs]
        )
    n_texts = len(columns)
    for one in numbers:
        mine, other = first.column(one.id), second.column(one.id)
        before = [None if a is None else mine[a] for a, _ in pairs]
        after = [None if b is None else other[b] for _, b in pairs]
        cells += [before, after, [_minus(y, x) for x, y in zip(before, after, strict=True)]]
        for suffix in ("before", "after", "difference"):
            label = _label(one.label, suffix)
            columns.append(replace(one, id=f"{one.id}_{suffix}", label=label, role=""))
    rows = list(zip(*cells, strict=True)) if cells else []
    if numbers and not any(column.id in _IN_ORDER for column in common):
        rows.sort(key=lambda row: -_changed(*row[n_texts : n_texts + 2]))
    return Table(first.name, tuple(columns), rows, title=first.title)


def _label(label: str, suffix: str) -> str:
    """The label with a word behind it; a unit in brackets stays last.

    >>> _label("Total time (us)", "before")
    'Total time: before (us)'
    """
    name, bracket, unit = label.partition(" (")
    return f"{name}: {suffix}{bracket}{unit}"


def _main_first(numbers: Sequence[Column]) -> list[Column]:
    """The columns of numbers, with the main one first: self time, time, or bytes."""

    def place(column: Column) -> int:
        if column.unit in _TIMES:
            return 0 if "self" in column.id.lower() else 1
        return 2 if column.unit == "bytes" else 3

    main = min(numbers, key=place, default=None)
    return [column for column in numbers if column is main] + [
        column for column in numbers if column is not main
    ]


def _changed(before: Cell, after: Cell) -> float:
    """The change of a number; a row of only one table counts with its full value."""
    numbers = [value if isinstance(value, (int, float)) else 0.0 for value in (before, after)]
    return abs(numbers[1] - numbers[0])


def _keys(table: Table, texts: Sequence[str]) -> list[tuple[Cell | int, ...]]:
    columns = [table.column(name) for name in texts]
    return numbered(zip(*columns, strict=True) if columns else [()] * len(table))


def _minus(after: Cell, before: Cell) -> Cell:
    if isinstance(after, (int, float)) and isinstance(before, (int, float)):
        return after - before
    return None
