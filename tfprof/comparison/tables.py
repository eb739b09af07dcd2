"""Two tables of the same tool as one: for each number that of either, and the difference."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.columns.matching import matched, numbered
from tfprof.errors import UsageError

ORDINALS = ("rank",)
"""Columns that number the rows of one table; of two runs they say nothing."""


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
    verdict = [f"Before: {text}" for text in first.verdict[:1]]
    verdict += [f"After: {text}" for text in second.verdict[:1]]
    notes = tuple(dict.fromkeys([*first.notes, *second.notes]))
    return ToolResult(first.tool, f"{first.title}: before and after", tuple(verdict), tables,
                      notes=notes)  # fmt: skip


def diff_tables(first: Table, second: Table) -> Table:
    """Rows of equal texts beside each other, the largest difference first.

    Rows of equal texts are matched in their order. What only one table has stays, with unknown
    numbers for the other.

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
    numbers = [column for column in common if column.type == "number"]
    pairs = list(matched(_keys(first, texts), _keys(second, texts)))
    columns: list[Column] = [column for column in common if column.type != "number"]
    cells: list[list[Cell]] = [
        [(mine[a] if a is not None else other[b] if b is not None else None) for a, b in pairs]
        for mine, other in ((first.column(name), second.column(name)) for name in texts)
    ]
    for one in numbers:
        mine, other = first.column(one.id), second.column(one.id)
        before = [None if a is None else mine[a] for a, _ in pairs]
        after = [None if b is None else other[b] for _, b in pairs]
        cells += [before, after, [_minus(y, x) for x, y in zip(before, after, strict=True)]]
        for suffix in ("before", "after", "difference"):
            columns.append(Column(f"{one.id}_{suffix}", f"{one.label}: {suffix}", unit=one.unit))
    rows = list(zip(*cells, strict=True)) if cells else []
    return Table(first.name, tuple(columns), rows, title=first.title)


def _keys(table: Table, texts: Sequence[str]) -> list[tuple[Cell | int, ...]]:
    columns = [table.column(name) for name in texts]
    return numbered(zip(*columns, strict=True) if columns else [()] * len(table))


def _minus(after: Cell, before: Cell) -> Cell:
    if isinstance(after, (int, float)) and isinstance(before, (int, float)):
        return after - before
    return None
