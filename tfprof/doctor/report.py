"""What an examination found, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["ok", "note", "warning", "error", "unknown", "not_applicable"]

SEVERITIES: tuple[Status, ...] = ("error", "warning", "note")
"""What needs attention, the worst first."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: Stable short name, for programs.
        status: ``note``: worth knowing; ``warning``: something will be missing or wrong;
            ``error``: something can not work; ``unknown``: it could not be found out.
        message: What was found, with the real values.
        remedy: What to do about it, in words.
        command: What to paste for that, one command a line.
    """

    name: str
    status: Status
    message: str
    remedy: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Area:
    """Checks of one subject; ``title`` is the subject, or the path of a file."""

    title: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All that was looked at, area by area."""

    areas: tuple[Area, ...]

    def count(self, status: Status) -> int:
        """How many checks ended so."""
        return sum(check.status == status for area in self.areas for check in area.checks)

    @property
    def worst(self) -> Status:
        """``error``, ``warning`` or ``note``, whichever is the worst there is, else ``ok``."""
        return next((status for status in SEVERITIES if self.count(status)), "ok")

    def to_dict(self) -> dict[str, Any]:
        """The same for ``json.dumps``: one row for each check."""
        counts = {status: self.count(status) for status in SEVERITIES}
        rows = [
            {"area": area.title, **asdict(check)} for area in self.areas for check in area.checks
        ]
        return {"worst": self.worst, "counts": counts, "rows": rows}
