"""Keeps answers small enough for a conversation: few rows, short texts, counts of the rest."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from tfprof.captures.run.table import Cell, Table
from tfprof.core.columns.findings import Finding
from tfprof.core.text.claims import Claim

MOST_ROWS: Final = 200
"""Most rows that an assistant may request."""
MOST_LETTERS: Final = 24_000
"""Most letters of an answer as JSON; further rows are left out."""
MOST_COLUMNS: Final = 100
"""Most columns of a table; further ones are left out."""
MOST_IN_ALL: Final = 2 * MOST_LETTERS
"""Most letters of an answer with several tables; a longer one is refused."""
_MOST_TEXT: Final = 400
_MOST_NAME: Final = 100
_MOST_REASON: Final = 4000

Answer = dict[str, Any]
"""Plain data: an answer, or ``cannot_answer`` with the reason."""


def cannot_answer(reason: str) -> Answer:
    """The one form of an answer that cannot be given."""
    return {"cannot_answer": short_text(reason, _MOST_REASON)}


def bounded(answer: Answer) -> Answer:
    """The answer, or the reason why it is too large for a conversation."""
    n_letters = len(json.dumps(answer, ensure_ascii=False))
    if n_letters <= MOST_IN_ALL:
        return answer
    return cannot_answer(
        f"the answer has {n_letters:,} letters, more than {MOST_IN_ALL:,}; ask for fewer rows, for "
        "one table, or for what has shorter names"
    )


def small_table(table: Table, most_rows: int) -> Answer:
    """The first rows of a table and its first columns; those beyond are counted.

    Args:
        table: The table, the most important rows first.
        most_rows: How many rows to keep; fewer if they are long.
    """
    n_columns = len(table.columns)
    columns = [
        {"name": short_text(column.id, _MOST_NAME)} | ({"unit": column.unit} if column.unit else {})
        for column in table.columns[:MOST_COLUMNS]
    ]
    rows = table.rows
    if n_columns > MOST_COLUMNS:
        rows = [row[:MOST_COLUMNS] for row in rows]
    left_out = {"columns_in_all": n_columns} if n_columns > MOST_COLUMNS else {}
    return {"columns": columns, **left_out, **small_rows(rows, most_rows)}


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


def small_claims(claims: Iterable[Claim], most: int = 40) -> list[Answer]:
    """Claims and their parts, as data without sentences; empty fields are left out.

    An unknown value stays, with the reason.
    """
    every = [one for claim in claims for one in claim.every][:most]
    return [
        {
            "subject": short_text(one.subject, _MOST_NAME), "metric": one.metric,
            "value": _small(one.value),
            **{
                name: _small(value)
                for name in ("unit", "low", "high", "scope", "unknown")
                if (value := getattr(one, name)) not in (None, "")
            },
            **({"details": {name: _small(value) for name, value in one.details.items()
                            if name != "sentence"}} if one.details else {}),
        }
        for one in every
    ]  # fmt: skip


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
    if isinstance(cell, float):  # six digits; NaN and infinity are unknown
        return float(f"{cell:.6g}") if math.isfinite(cell) else None
    return cell  # type: ignore[no-any-return]  # whole numbers, booleans and None
