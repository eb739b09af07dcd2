"""A history as an answer: what changed in sentences, with tables and a chart of each key figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.captures.run.columns import amount, count, text
from tfprof.captures.run.result import Chart, Note, ToolResult
from tfprof.captures.run.table import Cell, Table
from tfprof.core.columns.intervals import interval_of
from tfprof.core.text.claims import Claim, Detail
from tfprof.core.text.wording import plural
from tfprof.insight.budgets.metrics import METRICS
from tfprof.insight.budgets.quantities import stated_in
from tfprof.insight.history.change_points import FEWEST
from tfprof.insight.history.changes import (
    EXACT,
    Change,
    changed_with,
    changes_of,
    level_of,
    levels,
)
from tfprof.insight.history.record import RunRecord
from tfprof.insight.history.series import Series

TOOL = "history"
_ENDINGS = {"fraction": "share", "FLOPs": "flops"}
_CHANGES = (
    text("metric", "Key figure", "the key figure that changed"),
    text("series", "Series", "the runs: program, hardware"),
    amount("relative", "Change", "fraction", "as a part of the level before; empty if that is 0"),
    amount("low", "At least", "fraction", "the change is at least this, with 95 % probability"),
    amount("high", "At most", "fraction", "it is at most this"),
    count("before", "Before", "level before, in the unit of the row"),
    count("after", "After", "level after"),
    text("unit", "Unit", "unit of both"),
    text("run", "From run", "the first run of the new level"),
    text("earliest", "Earliest", "the earliest run that it may begin with, with 95 % probability"),
    text("latest", "Latest", "the latest such run"),
    text("commits", "Commits", "the commits in between"),
    text("changed_with", "Changed with it", "what else the runs on both sides differ in"),
)
_LEVELS = (
    text("metric", "Key figure", "the key figure"),
    text("series", "Series", "the runs"),
    count("value", "Latest", "its value in the latest run that has it"),
    count("mean", "Level", "mean of the runs since the last change, single far ones drawn near"),
    count("low", "At least", "the level is at least this, with 95 % probability"),
    count("high", "At most", "it is at most this"),
    text("unit", "Unit", "unit of all these"),
    count("runs", "Runs", "runs since the last change"),
    count("all_runs", "Of all", "runs that have it"),
)
_RUNS = (
    text("name", "Run", "its name in its log folder"),
    text("began", "Began", "its start, or when it was added, UTC; empty if unknown"),
    text("series", "Series", "the series that it belongs to"),
    amount("step_time_ms", "Step time", "ms", "mean of its steps", "both"),
    text("machine", "Machine", "names of its machines"),
    text("commit", "Commit", "commit of the program; empty if unknown"),
    text("source", "Source", "where it was read"),
)
_UNREAD = (
    text("source", "Source", "what could not be read"),
    text("trouble", "Why", "the reason"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """The changes of a series.

    Attributes:
        series: The series.
        changes: Changes by metric, for each metric that any run has.
    """

    series: Series
    changes: Mapping[str, Sequence[Change]]

    def around(self, change: Change) -> tuple[RunRecord, RunRecord]:
        """The last run that surely has the old level, and the first that surely has the new one."""
        runs = self.series.runs
        return runs[max(change.first - 1, 0)], runs[change.last]


def found_in(series: Series, metrics: Sequence[str] = ()) -> Found:
    """The changes of a series.

    Args:
        series: The runs.
        metrics: Which key figures; empty for all that any run has.
    """
    chosen = [name for name in METRICS if (not metrics or name in metrics)]
    known = [name for name in chosen if series.known(name)[1]]
    return Found(series, {name: changes_of(series, name) for name in known})


def answer_of(
    found: Sequence[Found],
    title: str,
    unread: Mapping[str, str],
    causes: Mapping[int, Sequence[Claim]],
) -> ToolResult:
    """A history as an answer.

    Args:
        found: The changes of each series.
        title: The history that they are of.
        unread: Why a place could not be read.
        causes: What a comparison of runs around a change has found, by number of the change.
    """
    claims: list[Claim] = []
    charts: list[Chart] = []
    rows: dict[str, list[tuple[Cell, ...]]] = {"changes": [], "levels": [], "runs": []}
    number = 0
    for one in found:
        if not any(one.changes.values()):
            claims.append(_unchanged(one))
        told: list[Claim] = []
        for change in changes_in_order(one):
            claims.append(_claim(one, change))
            told += causes.get(number, ())
            rows["changes"].append(_row_of_change(one, change))
            number += 1
        claims += told
        charts += _charts(one)
        rows["levels"] += _rows_of_levels(one)
        rows["runs"] += _rows_of_runs(one.series)
    rows["runs"].sort(key=lambda row: str(row[1]), reverse=True)
    tables = {
        name: Table(name, columns, rows[name], title=heading)
        for name, columns, heading in (
            ("changes", _CHANGES, "Changes"),
            ("levels", _LEVELS, "Key figures since the last change"),
            ("runs", _RUNS, "Runs, the latest first"),
        )
        if rows[name]
    }
    if unread:
        tables["unread"] = Table("unread", _UNREAD, list(unread.items()), title="Not read")
    return ToolResult(
        TOOL, title, tuple(claims), tables, charts=tuple(charts), notes=tuple(_notes(found, unread))
    )  # fmt: skip


def changes_in_order(found: Found) -> list[Change]:
    """All changes of a series, the latest first, those of step time before others."""
    every = [change for changes in found.changes.values() for change in changes]
    order = list(METRICS)
    return sorted(every, key=lambda one: (-one.place, one.metric != "step_time",
                                          order.index(one.metric)))  # fmt: skip


def _claim(found: Found, change: Change) -> Claim:
    unit, _, form = stated_in(METRICS[change.metric].dimension)
    ending = _ENDINGS.get(unit, unit)
    before, after = found.around(change)
    runs = found.series.runs
    details: dict[str, Detail] = {
        f"before_{ending}": change.before, f"after_{ending}": change.after,
        "figure": change.metric, "verb": "rose" if change.after > change.before else "fell",
        "run": runs[change.place].name,
    }  # fmt: skip
    words = "{figure} of {subject} {verb}"
    if change.relative is not None:
        words += " by {value}" + (" ({low} to {high})" if change.low is not None else "")
    words += f", from {{before_{ending}:{form}}} to {{after_{ending}:{form}}}, with run {{run}}"
    if change.first != change.last:
        details |= {"earliest": runs[change.first].name, "latest": runs[change.last].name}
        words += " (it may begin from {earliest} to {latest})"
    if commits := _commits(before, after):
        details["commits"] = commits
        words += ", commits {commits}"
    if others := "; ".join(changed_with(before, after)):
        details["others"] = others
        words += ". What else changed: {others}"
    if any(found.series.is_least(change.metric, place) for place in range(*change.runs[::2])):
        words += ". In some of these runs not all of it could be counted"
    value, low, high = _signless(change)
    return Claim(
        found.series.name, f"{change.metric}_change", value, "fraction", low, high,
        scope=plural(change.runs[2] - change.runs[0], "run"),
        basis="levels of the runs, and how much runs differ (permutation test)",
        details=details, words=words + ".",
    )  # fmt: skip


def _signless(change: Change) -> tuple[float | None, float | None, float | None]:
    """The size of a change without its direction, which the sentence has as a word."""
    if change.relative is None or change.relative >= 0:
        return change.relative, change.low, change.high
    if change.low is None or change.high is None:
        return -change.relative, None, None
    return -change.relative, -change.high, -change.low


def _commits(before: RunRecord, after: RunRecord) -> str:
    if not before.commit and not after.commit:
        return ""
    return f"{before.commit[:12] or 'unknown'}..{after.commit[:12] or 'unknown'}"


def _unchanged(found: Found) -> Claim:
    series, n_runs = found.series, len(found.series.runs)
    counts = {metric: len(series.known(metric)[0]) for metric in found.changes}
    few = [metric for metric, n in counts.items() if n < (2 if metric in EXACT else FEWEST)]
    details: dict[str, Detail] = {
        "run_count": n_runs, "fewest": FEWEST, "few": ", ".join(few),
    }  # fmt: skip
    why = ""
    words = (
        "No key figure of {subject} has changed in {run_count:run}, beyond how much runs differ."
    )
    if n_runs < FEWEST:
        why = "too few runs"
        words = (
            "{subject} has {run_count:run}, too few to show a change beyond chance: {fewest} are "
            "needed."
        )
    elif len(few) == len(counts):
        why = "too few runs hold a key figure"
        words = (
            "Whether {subject} has changed is unknown: of its {run_count:run}, fewer than {fewest} "
            "hold the same key figure."
        )
    elif few:
        words += " Unknown is whether {few} has changed: fewer than {fewest} runs hold it."
    value = None if why else 0.0
    return Claim(series.name, "change_count", value, "count", unknown=why, details=details,
                 words=words)  # fmt: skip


def _charts(found: Found) -> Iterator[Chart]:
    """Step time, and each key figure that changed."""
    for metric, changes in found.changes.items():
        if not changes and metric != "step_time":
            continue
        places, values = found.series.known(metric)
        if len(values) < 2:
            continue
        unit = found.series.unit(metric)
        yield Chart(
            f"{metric}-{found.series.name}", "line", f"{metric} of {found.series.name}", "run",
            "fraction" if unit == "fraction" else f"{metric} ({unit})",
            tuple(place + 1 for place in places),
            {"runs": tuple(values), "level": tuple(levels(found.series, metric, changes))},
        )  # fmt: skip


def _row_of_change(found: Found, change: Change) -> tuple[Cell, ...]:
    before, after = found.around(change)
    runs = found.series.runs
    return (
        change.metric, found.series.name, change.relative, change.low, change.high, change.before,
        change.after, change.unit, runs[change.place].name, runs[change.first].name,
        runs[change.last].name, _commits(before, after), "; ".join(changed_with(before, after)),
    )  # fmt: skip


def _rows_of_levels(found: Found) -> Iterator[tuple[Cell, ...]]:
    series = found.series
    for metric, changes in found.changes.items():
        places, values = series.known(metric)
        start = changes[-1].place if changes else 0
        own = [value for place, value in zip(places, values, strict=True) if place >= start]
        level = level_of(np.array(own, np.float64))
        low, high = (None, None)
        if metric not in EXACT and len(own) > 1:
            low, _, high = interval_of(level)
            low = max(low, 0.0)
        yield (metric, series.name, values[-1], level.value, low, high, series.unit(metric),
               len(own), len(values))  # fmt: skip


def _rows_of_runs(series: Series) -> Iterator[tuple[Cell, ...]]:
    for one in series.runs:
        step = one.figures.get("step_time")
        began = "" if one.began is None else f"{one.began:%Y-%m-%d %H:%M:%S}"
        yield (one.name, began, series.name, None if step is None else step.value, one.machine,
               one.commit, one.source)  # fmt: skip


def _notes(found: Sequence[Found], unread: Mapping[str, str]) -> Iterator[Note]:
    if unread:
        first = next(iter(unread.items()))
        yield Note("warning", f"{plural(len(unread), 'place')} could not be read, such as "
                   f"{first[0]}: {first[1]}")  # fmt: skip
    n_untimed = sum(one.began_ns is None for each in found for one in each.series.runs)
    if n_untimed:
        yield Note("warning", f"{plural(n_untimed, 'run')} have no time: they are sorted by name, "
                   "before the others")  # fmt: skip
