"""Answers that fit into a conversation: few rows, short texts, and what was left out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from tfprof.captures.run.table import Cell, Table
from tfprof.columns.findings import Finding

MOST_ROWS: Final = 200
"""That an assistant may ask for."""
MOST_LETTERS: Final = 24_000
"""Of one answer as JSON; rows are left out beyond."""
_MOST_TEXT: Final = 400

Answer = dict[str, Any]
"""Plain data: an answer, or ``cannot_answer`` with the reason."""


def cannot_answer(reason: str) -> Answer:
    """The one form of an answer that cannot be given."""
    return {"cannot_answer": reason}


def small_table(table: Table, most_rows: int) -> Answer:
    """The first rows of a table; those beyond are counted.

    Args:
        table: The table, the most important rows first.
        most_rows: How many rows to keep; fewer if they are long.
    """
    columns = [
        {"name": column.id} | ({"unit": column.unit} if column.unit else {})
        for column in table.columns
    ]
    return {"columns": columns, **small_rows(table.rows, most_rows)}


def small_rows(rows: Sequence[Sequence[Cell]], most_rows: int) -> Answer:
    """The first rows, and how many there are in all if some are left out."""
    kept: list[list[Cell]] = []
    room = MOST_LETTERS
    for row in rows[:most_rows]:
        cells = [_small(cell) for cell in row]
        room -= len(json.dumps(cells, ensure_ascii=False))
        if room < 0:
            break
        kept.append(cells)
    return {"rows": kept} | ({"rows_in_all": len(rows)} if len(kept) < len(rows) else {})


def small_findings(findings: Iterable[Finding], most: int) -> list[Answer]:
    """Findings with their numbers, gain and line."""
    answers = []
    for finding in list(findings)[:most]:
        answer: Answer = {
            "rule": finding.rule,
            "severity": finding.severity,
            "message": short_text(finding.message, 1200),
            "evidence": {name: _small(value) for name, value in finding.evidence.items()},
        }
        if finding.gain is not None:
            unit = {"micros": "us"}.get(finding.gain.unit, finding.gain.unit)
            answer["gain_per_step_at_most"] = {
                "amount": _small(finding.gain.amount), "unit": unit, "how": finding.gain.how,
            }  # fmt: skip
        if finding.place:
            answer["line"] = short_text(finding.place)
        answers.append(answer)
    return answers


def short_text(text: str, most: int = _MOST_TEXT) -> str:
    """A text, shortened in the middle."""
    if len(text) <= most:
        return text
    half = most // 2 - 2
    return f"{text[:half]} … {text[-half:]}"


def _small(cell: Any) -> Cell:
    if isinstance(cell, str):
        return short_text(cell)
    if isinstance(cell, float):  # six digits; what is no number is unknown
        return float(f"{cell:.6g}") if math.isfinite(cell) else None
    return cell  # type: ignore[no-any-return]  # whole numbers, booleans and None
