"""Limits of runs as people write them: ``20 runs, 5 GiB a day``, ``50 runs, 20 GiB, 30 days``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfprof.core.text.units import bytes_of, human_memory
from tfprof.errors import UsageError

_RUNS = re.compile(r"(\d{1,9})\s*runs?")
_DAYS = re.compile(r"(\d{1,5})\s*days?")
_A_DAY = re.compile(r"\s+(?:a|per)\s+day$")


@dataclass(frozen=True, slots=True)
class Limits:
    """At most so much; None does not limit it.

    Attributes:
        runs: Number of runs.
        n_bytes: Size of all of them together.
        days: Age of a run.
    """

    runs: int | None = None
    n_bytes: int | None = None
    days: int | None = None

    def __str__(self) -> str:
        parts = [
            "" if self.runs is None else f"{self.runs} run{'' if self.runs == 1 else 's'}",
            "" if self.n_bytes is None else human_memory(self.n_bytes),
            "" if self.days is None else f"{self.days} day{'' if self.days == 1 else 's'}",
        ]
        return ", ".join(filter(None, parts))


def budget_of(text: str) -> Limits:
    """The budget of a day in ``20 runs, 5 GiB a day``; each of both may be missing.

    Raises:
        UsageError: The text is not a budget.
    """
    return _limits("budget", _A_DAY.sub("", text.strip()), "20 runs, 5 GiB a day", has_days=False)


def retention_of(text: str) -> Limits:
    """What to keep in ``50 runs, 20 GiB, 30 days``; each of the three may be missing.

    Raises:
        UsageError: The text is none.
    """
    return _limits("retain", text, "50 runs, 20 GiB, 30 days", has_days=True)


def _limits(option: str, text: str, example: str, *, has_days: bool) -> Limits:
    found: dict[str, int] = {}
    for part in map(str.strip, text.split(",")):
        runs, days = _RUNS.fullmatch(part), _DAYS.fullmatch(part) if has_days else None
        try:
            match = runs or days
            name = "runs" if runs else "days" if days else "n_bytes"
            value = int(match[1]) if match else bytes_of(part)
        except UsageError:
            value = 0
        if value < 1 or name in found:
            raise UsageError(f"option {option}={text!r}: {part!r} is not one of its limits, or "
                             f"one of them twice; write it as '{example}'")  # fmt: skip
        found[name] = value
    return Limits(**found)
