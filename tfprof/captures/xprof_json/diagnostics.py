"""Notes as diagnostics of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfprof.captures.rules import Rules
from tfprof.captures.run.result import Note
from tfprof.captures.run.table import Cell, Column, Table

DIAGNOSTICS = (Column("severity", "Severity", "string"), Column("message", "Message", "string"))


def diagnostics_table(notes: Sequence[Note], rules: Rules) -> dict[str, Any]:
    """Make a table of notes."""
    rows: list[tuple[Cell, ...]] = [
        (note.severity.upper(), note.message)
        for note in notes
        if not (rules.omits_notes and note.severity == "info")
    ]
    return Table("diagnostics", DIAGNOSTICS, rows).to_gviz()


def diagnostics_by_severity(notes: Sequence[Note], rules: Rules) -> dict[str, list[str]]:
    """Group notes by severity like the reference; its rules leave out infos."""
    return {
        key: [
            note.message
            for note in notes
            if note.severity == severity and not (rules.omits_notes and severity == "info")
        ]
        for key, severity in (("errors", "error"), ("warnings", "warning"), ("info", "info"))
    }
