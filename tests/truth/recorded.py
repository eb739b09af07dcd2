"""What the recorded programs know about themselves, and what tfprof says about them."""

from __future__ import annotations

import json
import re
import statistics
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import tfprof
from tests.truth.own_clock import CAPTURE, FAILURE, TRUTH

CLAIM = re.compile(r"\b(HIGHLY|MODERATELY|POTENTIALLY) input-bound")
"""That the program is held up by its input, however surely."""

DENIAL = "NOT input-bound"

STEP_TIME = re.compile(r"(?:A step takes|From one step to the next) (\S+) ms")
"""How long a step takes, with what lies behind it where that is much."""


@dataclass(frozen=True)
class Recorded:
    """One program: its own clock, and tfprof's answers.

    Attributes:
        folder: Of the program.
    """

    folder: Path

    def __post_init__(self) -> None:
        failure = self.folder / FAILURE
        assert not failure.is_file(), failure.read_text("utf-8")

    # Its measurements.

    @cached_property
    def _truth(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / TRUTH).read_text("utf-8"))
        return found

    def own_ms(self, span: str = "step") -> list[float]:
        """How long each of its spans took, ms."""
        found: list[float] = self._truth["spans_ms"][span]
        return found

    def own_share(self, span: str) -> float:
        """Part of its steps that it spent in a span."""
        return sum(self.own_ms(span)) / sum(self.own_ms())

    def own_shares(self, span: str, left_out: tuple[int, ...]) -> list[float]:
        """The same without so many of the longest steps, of which there is one span in each."""
        parts = sorted(zip(self.own_ms(), self.own_ms(span), strict=True), reverse=True)
        return [
            sum(part for _, part in parts[count:]) / sum(whole for whole, _ in parts[count:])
            for count in left_out
        ]

    def knows(self, fact: str) -> Any:
        """A count or a name."""
        return self._truth["facts"][fact]

    # What tfprof says.

    @property
    def capture(self) -> Path:
        """What it recorded."""
        return self.folder / CAPTURE

    @cached_property
    def run(self) -> tfprof.tools.Run:
        """The capture, opened."""
        return tfprof.open_run(self.capture)

    def asked(self, tool: str) -> tfprof.tools.ToolResult:
        """The answer of a tool."""
        found: tfprof.tools.ToolResult = getattr(tfprof.tools, tool)(self.run)
        return found

    def rows(self, tool: str, table: str) -> list[dict[str, Any]]:
        """The rows of a table; none if the tool has no such table here."""
        found = self.asked(tool)
        return found.to_rows(table) if table in found.tables else []

    @cached_property
    def step_ms(self) -> list[float]:
        """How long each step takes, without what lies between it and the next."""
        rows = self.rows("overview", "steps")
        return [row["stepTimeMs"] - row["betweenMs"] for row in rows]

    @cached_property
    def period_ms(self) -> list[float]:
        """How long each step takes, from its start to that of the next."""
        return [row["stepTimeMs"] for row in self.rows("overview", "steps")]

    @cached_property
    def waiting_ms(self) -> list[float]:
        """How long each step waits for input."""
        return [row["infeedTimeMs"] for row in self.rows("input_pipeline", "steps")]

    @cached_property
    def waiting_share(self) -> float:
        """Part of the steps that is waiting for input."""
        return sum(self.waiting_ms) / sum(self.period_ms) if self.period_ms else 0.0

    @cached_property
    def verdict(self) -> str:
        """What three tools conclude."""
        tools = ("overview", "input_pipeline", "monitor")
        return "\n".join(line for tool in tools for line in self.asked(tool).verdict)

    @cached_property
    def advice(self) -> dict[str, tfprof.tools.Advice]:
        """What to do, by rule."""
        return {one.rule: one for one in tfprof.tools.advice(self.run)}

    @cached_property
    def texts(self) -> str:
        """All sentences: verdicts, notes and advice."""
        overview = self.asked("overview")
        notes = [note.message for note in overview.notes]
        return "\n".join([self.verdict, *notes, *[one.message for one in self.advice.values()]])

    def op_runs(self, ending: str) -> int:
        """How often ops ran whose type, or whose name if they have none, ends so."""
        return sum(
            int(row["occurrences"])
            for row in self.rows("op_stats", "ops")
            if (row["type"] or row["operation"]).endswith(ending)
        )

    @cached_property
    def program_names(self) -> dict[str, str]:
        """The names of compiled programs by their ids, numbers of compilations left out."""
        rows = self.rows("memory_viewer", "programs")
        return {row["program_id"]: row["module"] for row in rows}


ENCLOSED_MS = 0.1
"""By how much a span within another may seem to be longer: clocks are not read at once."""


def median(values: list[float]) -> float:
    """The middle one, which one outlier does not move."""
    return statistics.median(values)


def fills(said_ms: list[float], own_ms: list[float], gap_ms: float) -> bool:
    """Whether each span fits into the one that the program measured around it, and fills it.

    A loaded machine may take its time between two readings of a clock, but not most of the time:
    it is the middle one of the gaps that must not be larger.
    """
    gaps = [own - said for said, own in zip(said_ms, own_ms, strict=True)]
    return min(gaps) > -ENCLOSED_MS and median(gaps) < gap_ms
