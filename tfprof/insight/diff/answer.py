"""What changed from one run to another, as sentences and tables."""

from __future__ import annotations

from dataclasses import replace

from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.table import Cell, Table
from tfprof.insight.diff.difference import Difference, Match, difference
from tfprof.insight.diff.noise import Change
from tfprof.insight.diff.sentence import claims_of
from tfprof.insight.diff.side import Side

TOOL = "diff"
FORMAT_VERSION = 1

BEFORE_AND_AFTER = timed_by(
    "both",
    amount("before_ms", "Before", "ms", "mean of the steps of the first run"),
    amount("after_ms", "After", "ms", "the same of the second run"),
    amount("difference_ms", "Difference", "ms", "second minus first"),
    amount("relative", "Relative", "fraction", "the difference as a part of the first"),
)
VERDICT = text("verdict", "Verdict", "longer, shorter, within noise, cannot tell, appeared or gone")
_TIMES = (
    *BEFORE_AND_AFTER,
    amount("points", "Of the step", "fraction", "the difference as a part of the first run's step",
           "both"),
    VERDICT,
    amount("low_ms", "At least", "ms",
           "the difference is at least this; empty if steps are too few to tell", "both"),
    amount("high_ms", "At most", "ms", "it is at most this", "both"),
)  # fmt: skip
_CAUSE = text(
    "cause", "What else differs",
    "what else differs: type, element type, output shape, runs, device",
)  # fmt: skip
_STEP_COLUMNS = (text("what", "What", "the step, or the category of its time"), *_TIMES)
_PART_COLUMNS = (
    text("part", "Part", "ops of a type in a scope, or time outside of ops"),
    *_TIMES,
    _CAUSE,
    count("n_ops", "Ops", "how many ops it is made of"),
)
_OP_COLUMNS = (
    text("op", "Op", "name of the op, in the second run if both have it"),
    text("type", "Type", "op type"),
    *_TIMES,
    _CAUSE,
    text("op_before", "Name before", "name of the op in the first run, where it is another"),
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
