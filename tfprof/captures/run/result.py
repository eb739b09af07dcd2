"""What a tool answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tfprof.captures.run.table import Row, Table
from tfprof.columns.in_notebooks import ShownInNotebooks
from tfprof.errors import EmptyProfileError, UsageError

Severity = Literal["error", "warning", "info"]


_MOST_NAMES = 8


def listed(names: Sequence[str]) -> str:
    """Names for a sentence, the middle ones left out if they are many."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return ", ".join([*names[: _MOST_NAMES // 2], "…", *names[-_MOST_NAMES // 2 + 1 :]])


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know about an answer: what is missing, and what that means.

    Attributes:
        severity: ``error`` if nothing can be said because of it, ``warning`` if numbers lack
            something, ``info`` otherwise.
        message: A full sentence, with the remedy where there is one.
        host: The file it is about; empty for all.
    """

    severity: Severity
    message: str
    host: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommendation with its evidence.

    Attributes:
        rule: Short name of the practice, ``input-pipeline/slow-source`` for one.
        message: What was found and what to change.
        evidence: The numbers behind it: op, share of the step, …
        gain_fraction: The part of the step time it may save at most; None if unknown.
    """

    rule: str
    message: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    gain_fraction: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """Data for a chart; nothing is drawn here.

    Attributes:
        name: Unique in a result.
        kind: ``stacked_area``, ``stacked_bar``, ``pie``, ``line``, ``scatter`` or ``bar``.
        title: What people read above it.
        x_label: Of the horizontal axis, or what the parts of a pie are.
        y_label: Of the vertical axis, with the unit.
        x: Labels or positions, shape (n,).
        series: Values by the name of the series, each of shape (n,).
    """

    name: str
    kind: Literal["stacked_area", "stacked_bar", "pie", "line", "scatter", "bar"]
    title: str
    x_label: str
    y_label: str
    x: tuple[Any, ...]
    series: Mapping[str, tuple[float, ...]]


def pie(
    name: str,
    title: str,
    x_label: str,
    parts: Mapping[str, float],
    *,
    most: int = 0,
    series: str = "time",
    per_us: float = 1e6,
) -> list[Chart]:
    """A pie of times, the largest first; none if there is nothing to draw.

    Args:
        name: Unique in a result.
        title: What people read above it.
        x_label: What the parts are.
        parts: Times by name, in any unit.
        most: How many parts to show, the rest as "others"; 0 is all.
        series: What the times are.
        per_us: How many of the unit are a microsecond.
    """
    if not any(parts.values()):
        return []
    ranked = sorted(parts.items(), key=lambda item: -item[1])
    shown = ranked[: most or None]
    rest = sum(value for _, value in ranked[len(shown) :])
    if rest:
        shown.append(("others", rest))
    names, values = zip(*shown, strict=True)
    times = {series: tuple(value / per_us for value in values)}
    return [Chart(name, "pie", title, x_label, "µs", names, times)]


@dataclass(frozen=True)
class ToolResult(ShownInNotebooks):
    """The answer of a tool: plain tables, chart data, and words.

    Attributes:
        tool: Its name, as on the command line: ``input-pipeline``.
        title: What people read.
        verdict: The answer in words, the most important sentence first.
        tables: By name, in the order in which people want to read them.
        charts: Chart data.
        advice: Recommendations.
        notes: What is missing, or was guessed.
        data: For tools whose answer is no table (trees, snapshots): plain data.
        gviz: Makes the reference's JSON.
    """

    tool: str
    title: str
    verdict: tuple[str, ...] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)
    charts: tuple[Chart, ...] = ()
    advice: tuple[Advice, ...] = ()
    notes: tuple[Note, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    gviz: Callable[[], Any] | None = None

    def table(self, name: str = "") -> Table:
        """A table by name; without one, the first.

        Raises:
            UsageError: There is none of this name.
            EmptyProfileError: There are none at all.
        """
        if not self.tables:
            why = " ".join(note.message for note in self.notes if note.severity != "info")
            raise EmptyProfileError(f"{self.tool} has no table of this run. {why}".rstrip())
        if not name:
            return next(iter(self.tables.values()))
        if name not in self.tables:
            names = ", ".join(self.tables)
            raise UsageError(f"{self.tool} has no table {name!r}; it has: {names}")
        return self.tables[name]

    def to_rows(self, table: str = "") -> list[Row]:
        """The rows of a table, by default of the first, as dicts by column id.

        Raises:
            UsageError: There is no such table.
        """
        return self.table(table).to_rows()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data for JSON."""
        data: dict[str, Any] = {"tool": self.tool, "title": self.title}
        data["verdict"] = list(self.verdict)
        data["tables"] = {name: table.to_dict() for name, table in self.tables.items()}
        data["charts"] = [
            {
                "name": chart.name, "kind": chart.kind, "title": chart.title,
                "x_label": chart.x_label, "y_label": chart.y_label, "x": list(chart.x),
                "series": {name: list(values) for name, values in chart.series.items()},
            }
            for chart in self.charts
        ]  # fmt: skip
        data["advice"] = [
            {
                "rule": advice.rule, "message": advice.message,
                "evidence": dict(advice.evidence), "gain_fraction": advice.gain_fraction,
            }
            for advice in self.advice
        ]  # fmt: skip
        data["notes"] = [
            {"severity": note.severity, "message": note.message, "host": note.host}
            for note in self.notes
        ]
        return data | ({"data": dict(self.data)} if self.data else {})

    def to_gviz(self) -> Any:
        """The answer in the form of the reference's JSON.

        In classic mode it has the reference's names, labels and numbers (``docs/differences.md``
        lists what is not the same, and why). What has no counterpart there is not in it.

        Raises:
            UsageError: The reference has no such tool.
        """
        if self.gviz is None:
            raise UsageError(
                f"the reference has no answer of the form of {self.tool!r}; take the JSON of tfprof"
            )
        return self.gviz()
