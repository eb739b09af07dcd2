"""The results of an examination, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["ok", "note", "warning", "error", "unknown", "not_applicable"]

SEVERITIES: tuple[Status, ...] = ("error", "warning", "note")
"""The statuses that need attention, worst first."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check.

    Attributes:
        name: Stable short name, for programs.
        status: ``note``: worth knowing; ``warning``: something will be missing or wrong;
            ``error``: something cannot work; ``unknown``: the check had no answer.
        message: The result, with the real values.
        remedy: A description of the remedy.
        command: Shell or Python lines for the remedy, one command a line.
    """

    name: str
    status: Status
    message: str
    remedy: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Area:
    """Results of the checks of one subject; ``title`` is its name, or the path of a file."""

    title: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All results, area by area."""

    areas: tuple[Area, ...]

    def count(self, status: Status) -> int:
        """Number of checks with this status."""
        return sum(check.status == status for area in self.areas for check in area.checks)

    @property
    def worst(self) -> Status:
        """The worst status of any check: ``error``, ``warning``, ``note`` or else ``ok``."""
        return next((status for status in SEVERITIES if self.count(status)), "ok")

    def to_dict(self) -> dict[str, Any]:
        """The report for ``json.dumps``: one row for each check."""
        counts = {status: self.count(status) for status in SEVERITIES}
        rows = [
            {"area": area.title, **asdict(check)} for area in self.areas for check in area.checks
        ]
        return {"worst": self.worst, "counts": counts, "rows": rows}
