"""Reports for people and scripts: text in columns, and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich.cells import cell_len

from tfprof.core.columns.frames import Frame
from tfprof.core.text.characters import escaped
from tfprof.core.version import __version__
from tfprof.insight.budgets.check import Outcome, Report

SCHEMA_VERSION = 1
"""Increases when a key of the JSON is renamed or changes its meaning."""


def text_report(report: Report) -> str:
    """A line for each limit, in columns; then the contributors to exceeded limits."""
    several = len({outcome.subject for outcome in report.outcomes}) > 1
    rows = [
        [outcome.verdict, *([outcome.subject] if several else []), outcome.limit.name,
         outcome.value_text, outcome.most_text]
        for outcome in report.outcomes
    ]  # fmt: skip
    lines = [*_aligned([[escaped(cell) for cell in row] for row in rows]), ""]
    for outcome in report.outcomes:
        if outcome.verdict != "met":
            lines += _details(outcome)
    return "\n".join([*lines, report.summary]) + "\n"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        )
        yield "  ".join(padded).rstrip()


def _details(outcome: Outcome) -> Iterator[str]:
    yield escaped(outcome.message)
    if outcome.verdict == "exceeded" and outcome.contributors:
        yield "  most of it:"
        yield from (f"    {escaped(line)}" for line in outcome.from_where)
    yield ""


def json_report(report: Report) -> str:
    """All outcomes with their numbers, in the units that ``unit`` names."""
    document = {
        "schema": SCHEMA_VERSION,
        "tfprof": __version__,
        "budget": report.budget.path,
        "exit_code": report.exit_code,
        "strict": report.strict,
        "counts": {
            verdict: report.count(verdict)
            for verdict in ("met", "exceeded", "undecided", "missing")
        },
        "limits": [_as_dict(outcome) for outcome in report.outcomes],
    }
    return json.dumps(document, indent=2) + "\n"


def _as_dict(outcome: Outcome) -> dict[str, Any]:
    limit, interval = outcome.limit, outcome.interval
    return {
        "subject": outcome.subject,
        "metric": limit.metric.name,
        "pattern": limit.pattern or None,
        "verdict": outcome.verdict,
        "unit": limit.metric.dimension.unit or None,
        "value": outcome.value,
        "interval": None if interval is None else [interval.low, interval.high],
        "steps": outcome.n_steps or None,
        "limit": outcome.most,
        "limit_text": limit.bound.text,
        "baseline": outcome.baseline,
        "budget_line": limit.line or None,
        "message": outcome.message,
        "claim": outcome.claim.to_dict(),
        "from": [
            {"name": part.name, "amount": part.amount, "line": _line(part.frame)}
            for part in outcome.contributors
        ],
    }


def _line(frame: Frame | None) -> dict[str, Any] | None:
    if frame is None:
        return None
    return {"file": frame.file, "line": frame.line_number, "function": frame.function}
