"""The result of a tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tfprof.captures.run.table import Row, Table
from tfprof.core.columns.mixins import DiffMixin, NotebookMixin
from tfprof.core.text.claims import Claim, Detail, unit_of
from tfprof.errors import EmptyProfileError, UsageError

Severity = Literal["error", "warning", "info"]


_MOST_NAMES = 8


def scope_of(hosts: Sequence[str], step: int | tuple[int, ...] | None = None) -> str:
    """Scope of an answer: ``the capture of worker0``, ``step 3 of worker0, worker1``."""
    steps = () if step is None else (step,) if isinstance(step, int) else step
    word = "step" if len(steps) == 1 else "steps"
    what = f"{word} {listed([*map(str, steps)])}" if steps else "the capture"
    return f"{what} of {listed(hosts)}"


def listed(names: Sequence[str]) -> str:
    """List names for a sentence; a long list omits those in the middle."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return ", ".join([*names[: _MOST_NAMES // 2], "…", *names[-_MOST_NAMES // 2 + 1 :]])


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on an answer: missing data, and its consequences.

    A ``Notice`` is a remark on a profile: it has a count, and no host (ADR 0028).

    Attributes:
        severity: ``error`` if it prevents an answer, ``warning`` if numbers are incomplete,
            ``info`` otherwise.
        message: A full sentence, with the remedy if there is one.
        host: The host it is about; empty for all hosts.
    """

    severity: Severity
    message: str
    host: str = ""

    def __str__(self) -> str:
        return f"{self.message} [{self.host}]" if self.host else self.message


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommendation of a practice or tool, with its evidence.

    Its gain is a fraction of the step, and its evidence has names. For readers,
    ``captures/practices/findings.py`` makes a ``Finding`` of it, as for advice on profiles.

    Attributes:
        rule: Short name of the practice, such as ``input-pipeline/slow-source``.
        words: The problem and the change to make, with the names of evidence in braces, like the
            words of claims. They are part of tfprof; names from files are evidence.
        evidence: The numbers and names behind it: op, share of the step, … Names of numbers end in
            their unit. The first number is the main one.
        gain_fraction: The fraction of the step time that it may save at most; None if unknown.
        share: The fraction of the step time that it is about; None if it is about something else,
            or if unknown.
        parts: Claims that the words list.
    """

    rule: str
    words: str
    evidence: Mapping[str, Detail] = field(default_factory=dict)
    gain_fraction: float | None = None
    share: float | None = None
    parts: tuple[Claim, ...] = ()

    @property
    def message(self) -> str:
        """The words, filled in with their numbers and names."""
        return self.claim.text

    @property
    def claim(self) -> Claim:
        """The problem as data; its value is the first number of the evidence."""
        numbers = [name for name, one in self.evidence.items() if not isinstance(one, str)]
        subject = next((str(self.evidence[k]) for k in _SUBJECTS if k in self.evidence), "run")
        main = numbers[0] if numbers else ""
        return Claim(
            subject, self.rule, float(self.evidence[main]) if main else None,
            unit_of(main) if main else "", basis=main, details=self.evidence, parts=self.parts,
            words=self.words,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data for JSON."""
        return {
            "rule": self.rule, "message": self.message, "evidence": dict(self.evidence),
            "gain_fraction": self.gain_fraction, "share": self.share, "claim": self.claim.to_dict(),
        }  # fmt: skip


_SUBJECTS = ("op", "python", "function", "host", "step")
"""Evidence that names the subject of advice, the most informative first."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Data for a chart, without any drawing.

    Attributes:
        name: Unique in a result.
        kind: ``stacked_area``, ``stacked_bar``, ``pie``, ``line``, ``scatter`` or ``bar``.
        title: Its heading.
        x_label: Label of the horizontal axis, or of the parts of a pie.
        y_label: Label of the vertical axis, with the unit.
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
    parts: Iterable[tuple[str, float]],
    *,
    most: int = 0,
    series: str = "time",
    per_us: float = 1e6,
) -> list[Chart]:
    """Make a pie of times, the largest first; none if all times are 0.

    Args:
        name: Unique in a result.
        title: Its heading.
        x_label: Label of the parts.
        parts: Names and times, in any unit. Times with the same name add up.
        most: How many parts to show, the rest as "others"; 0 is all.
        series: Name of the times.
        per_us: Number of these units in a microsecond.
    """
    sums: dict[str, float] = {}
    for part, time in parts:
        sums[part] = sums.get(part, 0) + time
    if not any(sums.values()):
        return []
    ranked = sorted(sums.items(), key=lambda item: -item[1])
    shown = ranked[: most or None]
    rest = sum(value for _, value in ranked[len(shown) :])
    if rest:
        shown.append(("others", rest))
    names, values = zip(*shown, strict=True)
    times = {series: tuple(value / per_us for value in values)}
    return [Chart(name, "pie", title, x_label, "µs", names, times)]


@dataclass(frozen=True, repr=False)
class ToolResult(NotebookMixin, DiffMixin):
    """The answer of a tool: plain tables, chart data, and sentences.

    Attributes:
        tool: Name of the tool on the command line: ``input-pipeline``.
        title: Its heading.
        claims: The answer, the most important first.
        tables: Tables by name, in the order in which to read them.
        charts: Chart data.
        advice: Recommendations.
        notes: Notes on missing data and on guesses.
        data: Plain data that is not a table, such as a tree.
        gviz: Makes the reference's JSON.
    """

    tool: str
    title: str
    claims: tuple[Claim, ...] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)
    charts: tuple[Chart, ...] = ()
    advice: tuple[Advice, ...] = ()
    notes: tuple[Note, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    gviz: Callable[[], Any] | None = None

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(table):,}" for name, table in self.tables.items())
        return f"<ToolResult {self.tool}: rows of tables: {sizes or 'none'}>"

    @property
    def verdict(self) -> tuple[str, ...]:
        """The answer in sentences, the most important first."""
        return tuple(claim.text for claim in self.claims)

    def table(self, name: str = "") -> Table:
        """Return a table by name; without a name, the first.

        Raises:
            UsageError: There is no table of this name.
            EmptyProfileError: There are no tables.
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
        """Return the rows of a table, by default of the first, as dicts by column id.

        Raises:
            UsageError: There is no such table.
        """
        return self.table(table).to_rows()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        data: dict[str, Any] = {"tool": self.tool, "title": self.title}
        data["verdict"] = list(self.verdict)
        data["claims"] = [claim.to_dict() for claim in self.claims]
        data["tables"] = {name: table.to_dict() for name, table in self.tables.items()}
        data["charts"] = [
            {
                "name": chart.name, "kind": chart.kind, "title": chart.title,
                "x_label": chart.x_label, "y_label": chart.y_label, "x": list(chart.x),
                "series": {name: list(values) for name, values in chart.series.items()},
            }
            for chart in self.charts
        ]  # fmt: skip
        data["advice"] = [one.to_dict() for one in self.advice]
        data["notes"] = [asdict(note) for note in self.notes]
        return data | ({"data": dict(self.data)} if self.data else {})

    def to_gviz(self) -> Any:
        """Return the answer in the form of the reference's JSON.

        In classic mode it has the reference's names, labels and numbers, except for the
        differences in ``docs/differences.md``. It leaves out everything that the reference lacks.

        Raises:
            UsageError: The reference has no such tool.
        """
        if self.gviz is None:
            raise UsageError(f"the reference has no JSON for {self.tool!r}; use that of tfprof")
        return self.gviz()
