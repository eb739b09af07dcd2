"""What changed from one run to another, as sentences and tables."""

from __future__ import annotations

from dataclasses import replace

from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.insight.diff.difference import Difference, Match, difference
from tfprof.insight.diff.noise import Change
from tfprof.insight.diff.sentence import claims_of
from tfprof.insight.diff.side import Side

TOOL = "diff"
FORMAT_VERSION = 1

_TIMES = (
    Column("before_ms", "Before", unit="ms"),
    Column("after_ms", "After", unit="ms"),
    Column("difference_ms", "Difference", unit="ms"),
    Column("relative", "Relative", unit="fraction"),
    Column("points", "Of the step", unit="fraction"),
    Column("verdict", "Verdict", "string"),
    Column("low_ms", "At least", unit="ms"),
    Column("high_ms", "At most", unit="ms"),
)
_STEP_COLUMNS = (Column("what", "What", "string"), *_TIMES)
_PART_COLUMNS = (
    Column("part", "Part", "string"),
    *_TIMES,
    Column("cause", "What else differs", "string"),
    Column("n_ops", "Ops"),
)
_OP_COLUMNS = (
    Column("op", "Op", "string"),
    Column("type", "Type", "string"),
    *_TIMES,
    Column("cause", "What else differs", "string"),
    Column("op_before", "Name before", "string"),
)

DIFFERENCE_TABLES = {
    "step": ("A step, and what it is spent on", _STEP_COLUMNS),
    "parts": ("Parts of the step that add up: each moment counts once", _PART_COLUMNS),
    "ops": ("Ops, a step on average", _OP_COLUMNS),
}
"""Titles and columns of the tables of an answer."""


def diff(first: Side, second: Side, match: Match = "name") -> ToolResult:
    """Compare, and return sentences and tables; arguments and errors as for the comparison."""
    return answer_of(difference(first, second, match))


def answer_of(found: Difference) -> ToolResult:
    """A difference as sentences and tables."""
    step_ms = found.step.before if found.step is not None else None
    parts = ([("step", found.step)] if found.step is not None else []) + [*found.categories.items()]
    rows: dict[str, list[tuple[Cell, ...]]] = {
        "step": [(name, *_cells(one, step_ms)) for name, one in parts],
        "parts": [(p.name, *_cells(p.time, step_ms), p.cause, p.n_ops) for p in found.parts],
        "ops": [
            (op.name, op.type, *_cells(op.time, step_ms), op.cause, op.name_before)
            for op in found.ops
        ],
    }
    tables = {
        name: Table(name, columns, rows[name], title=title)
        for name, (title, columns) in DIFFERENCE_TABLES.items()
    }
    tables["ops"] = _without_empty(tables["ops"])
    remarks = [note for note in found.mismatches if note.severity == "info"]
    return ToolResult(
        TOOL,
        f"{found.first.name} → {found.second.name}",
        tuple(claims_of(found)),
        {name: table for name, table in tables.items() if len(table)},
        notes=(*remarks, *found.first.warnings, *found.second.warnings),
        data={"format": FORMAT_VERSION, "first": found.first.name, "second": found.second.name},
    )


def _without_empty(table: Table) -> Table:
    """The table without trailing text columns that are empty."""
    columns, rows = table.columns, table.rows
    while columns[-1].type == "string" and not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return replace(table, columns=columns, rows=rows)


def _cells(one: Change, step_ms: float | None) -> tuple[Cell, ...]:
    points = one.difference / step_ms if step_ms else None
    return (
        one.before, one.after, one.difference, one.relative, points, one.verdict, one.low,
        one.high,
    )  # fmt: skip
