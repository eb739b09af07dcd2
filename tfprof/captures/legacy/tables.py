"""Precomputed answers that are tables: Overview Page and Input Pipeline Analyzer."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from tfprof.captures.run.result import Advice, Chart, Note, ToolResult
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.core.text.claims import quoted

_UNITS: Final = {
    "selfTimePercent": "fraction",
    "cumulativeTimePercent": "fraction",
    "timeInPercent": "fraction",
    "selfTimeInPercent": "fraction",
    "infeedPercentAverage": "percent",
    "infeedPercentMin": "percent",
    "infeedPercentMax": "percent",
    "flopRate": "gflops_per_s",
}
_TAG: Final = re.compile(r"<[^<>]*>")
_LINE_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BULLET: Final = re.compile(r"^\(\d+\)\s*")

_PROPERTY_COLUMNS: Final = (
    Column("what", "What", "string"),
    Column("value", "Value", "string"),
)
_FIGURES: Final = {
    "steptime_ms_average": ("Step time, average", "ms"),
    "steptime_ms_standard_deviation": ("Step time, standard deviation", "ms"),
    "steptime_ms_minimum": ("Step time, least", "ms"),
    "steptime_ms_maximum": ("Step time, most", "ms"),
    "input_percent": ("Waiting for input", "%"),
    "infeed_percent_average": ("Waiting for input", "%"),
    "compute_ms_average": ("Compute time, average", "ms"),
    "input_ms_average": ("Input time, average", "ms"),
    "idle_ms_average": ("Idle time, average", "ms"),
    "device_idle_time_percent": ("Device idle", "%"),
    "host_idle_time_percent": ("Host idle", "%"),
    "device_duty_cycle_percent": ("Device duty cycle", "%"),
    "mxu_utilization_percent": ("MXU utilization", "%"),
    "flop_rate_utilization_relative_to_roofline": ("FLOP rate, of the roofline", "%"),
    "memory_bw_utilization_relative_to_hw_limit": ("Memory bandwidth, of the limit", "%"),
    "flop_rate_utilization_relative_to_roofline_percent": ("FLOP rate, of the roofline", "%"),
    "memory_bw_utilization_relative_to_hw_limit_percent": ("Memory bandwidth, of the limit", "%"),
    "device_compute_16bit_percent": ("Device compute in 16 bits", "%"),
    "device_compute_32bit_percent": ("Device compute in 32 bits", "%"),
    "host_tf_op_percent": ("Ops on the host", "%"),
    "device_tf_op_percent": ("Ops on devices", "%"),
    "host_op_time_eager_percent": ("Eager time on the host", "%"),
    "device_op_time_eager_percent": ("Eager time on devices", "%"),
}
"""Properties of the older profilers that say something by themselves: label and unit."""

_TITLES: Final = {
    "top_ops": "Most expensive ops of the device",
    "steps": "Steps",
    "max_infeed_cores": "Cores that waited longest for input",
    "environment": "Run environment",
    "input_ops": "Input ops of the host",
    "summary": "Summary",
}


def plain_text(markup: str) -> str:
    """What a piece of HTML says: no tags, entities as characters.

    >>> plain_text('use <a href="x">tf.data</a> &amp; prefetch')
    'use tf.data & prefetch'
    """
    return html.unescape(_TAG.sub("", _LINE_BREAK.sub("\n", markup))).strip()


def unit_of(column_id: str) -> str:
    """The unit of a column of the older profilers, as far as its id tells."""
    if column_id in _UNITS:
        return _UNITS[column_id]
    return "ms" if column_id.endswith("Ms") else "us" if column_id.endswith("Us") else ""


def table_of(data: Mapping[str, Any], name: str) -> Table:
    """A table out of JSON for Google's charts."""
    columns = tuple(_column(column) for column in data.get("cols", ()))
    rows = [
        tuple(_cell(cell, column) for cell, column in zip(row.get("c", ()), columns, strict=True))
        for row in data.get("rows", ())
    ]
    properties = {str(key): str(value) for key, value in data.get("p", {}).items()}
    return Table(name, columns, rows, properties, _TITLES.get(name, ""))


def _column(data: Mapping[str, Any]) -> Column:
    kind: Literal["string", "number", "boolean"] = "string"
    if data["type"] in ("number", "boolean"):
        kind = data["type"]
    role = data.get("p", {}).get("role", "")
    name = str(data["id"])
    return Column(name, str(data.get("label") or name), kind, unit_of(name), str(role))


def _cell(data: Mapping[str, Any] | None, column: Column) -> Cell:
    value = None if data is None else data.get("v")
    if value is None or column.type == "boolean":
        return None if value is None else bool(value)
    return float(value) if column.type == "number" else str(value)


def overview(data: Any) -> ToolResult:
    """The Overview Page from its JSON: a list of tables."""
    parts = [part for part in data if part.get("cols") or part.get("p")]
    by_column = {_first_id(part): part for part in reversed(parts)}
    tables: list[Table] = []
    for first, name in (("selfTimePercent", "top_ops"), ("stepnum", "steps")):
        if first in by_column:
            tables.append(table_of(by_column[first], name))
    if "stepname" in by_column:
        tables.append(table_of(by_column["stepname"], "steps"))
    around = by_column.get("host_id") or next(
        (part for part in parts if "device_type" in part.get("p", {})), None
    )
    if around is not None:
        tables.append(property_table("environment", around.get("p", {})))
    tips = by_column.get("tip_type", {})
    return overview_result(tables, tips.get("p", {}), _tips(tips), _diagnostics(parts), data)


def input_pipeline(data: Any) -> ToolResult:
    """The Input Pipeline Analyzer from its JSON: a list of tables."""
    names = {
        "stepnum": "steps", "stepname": "steps", "index": "max_infeed_cores", "opName": "input_ops",
    }  # fmt: skip
    parts = [part for part in data if part.get("cols")]
    tables = [table_of(part, names[_first_id(part)]) for part in parts if _first_id(part) in names]
    tips = [text for part in parts if _first_id(part) == "link" for text in _texts(part, 0)]
    return input_result(tables, tips, _diagnostics(parts), data)


def overview_result(
    tables: Sequence[Table],
    statements: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
    notes: Sequence[Note],
    gviz: Any,
) -> ToolResult:
    """The answer of the Overview Page.

    Args:
        tables: Any of ``top_ops``, ``steps`` and ``environment``.
        statements: The verdict as ``statement``, and others that end in ``_statement``.
        tips: What each is about, such as ``host``, and what it says.
        notes: Diagnostics.
        gviz: What ``to_gviz`` is to give.
    """
    shown = {table.name: table for table in tables}
    verdict = [statements.get("statement", "")]
    verdict += [text for key, text in statements.items() if key.endswith("_statement")]
    advice = [_quoted(f"overview/{kind}", text) for kind, text in tips if text]
    summary = _summary(shown)
    return ToolResult(
        tool="overview",
        title="Overview",
        claims=quoted(_sentences(verdict)),
        tables={**({"summary": summary} if len(summary) else {}), **shown},
        charts=step_charts(shown.get("steps")),
        advice=tuple(advice),
        notes=tuple(notes),
        gviz=lambda: gviz,
    )


def input_result(
    tables: Sequence[Table], tips: Sequence[str], notes: Sequence[Note], gviz: Any
) -> ToolResult:
    """The answer of the Input Pipeline Analyzer; the arguments are those of the overview."""
    shown = {table.name: table for table in tables}
    properties = shown["steps"].properties if "steps" in shown else {}
    verdict = [properties.get(key, "") for key in ("summary_conclusion", "input_conclusion")]
    verdict += [text for key, text in properties.items() if key.endswith("_statement")]
    verdict.append(properties.get("summary_nextstep", ""))
    host = shown["input_ops"].properties if "input_ops" in shown else {}
    return ToolResult(
        tool="input-pipeline",
        title="Input pipeline analyzer",
        claims=quoted(_sentences(verdict)),
        tables=shown,
        charts=(*step_charts(shown.get("steps")), *_host_chart(host)),
        advice=tuple(_quoted("input-pipeline/host", tip) for tip in tips),
        notes=tuple(notes),
        gviz=lambda: gviz,
    )


def _quoted(rule: str, tip: str) -> Advice:
    """Advice of the program that wrote the file, as it is."""
    return Advice(rule, "{sentence}", {"sentence": plain_text(tip)})


def property_table(name: str, properties: Mapping[str, Any]) -> Table:
    """Properties that are not empty, one a row."""
    rows = [
        (key.replace("_", " "), str(value))
        for key, value in sorted(properties.items())
        if value != ""
    ]
    kept = {str(key): str(value) for key, value in properties.items()}
    return Table(name, _PROPERTY_COLUMNS, rows, kept, _TITLES.get(name, ""))


def step_charts(steps: Table | None) -> tuple[Chart, ...]:
    """Where the time of each step went, if that is known."""
    if steps is None or not len(steps):
        return ()
    parts = [
        (place, column)
        for place, column in enumerate(steps.columns)
        if column.unit == "ms" and column.id != "stepTimeMs"
    ]
    series = {
        re.sub(r" time \(in ms\)$", "", column.label): tuple(
            float(row[place] or 0) for row in steps.rows
        )
        for place, column in parts
    }
    labels = tuple(str(row[0]) for row in steps.rows)
    title = "Where the time of each step went"
    return (Chart("step_breakdown", "stacked_bar", title, "step", "time (ms)", labels, series),)


def _host_chart(properties: Mapping[str, str]) -> tuple[Chart, ...]:
    names = {
        "demanded_file_read_us": "reading files on demand",
        "advanced_file_read_us": "reading files in advance",
        "preprocessing_us": "preprocessing",
        "enqueue_us": "enqueuing",
        "unclassified_nonequeue_us": "other",
    }
    known = [key for key in names if key in properties]
    micros = tuple(float(properties[key]) for key in known)
    if not any(micros):
        return ()
    series = {"time": micros}
    title = "What the host did to provide input"
    labels = tuple(names[key] for key in known)
    return (Chart("host_breakdown", "pie", title, "activity", "time (us)", labels, series),)


def _summary(tables: Mapping[str, Table]) -> Table:
    """Figures that the older profilers kept in properties, as rows."""
    properties: dict[str, str] = {}
    for name in ("steps", "top_ops"):
        properties |= tables[name].properties if name in tables else {}
    rows = [
        (label, f"{properties[key].removesuffix('%')} {unit}")
        for key, (label, unit) in _FIGURES.items()
        if properties.get(key, "").removesuffix("%") not in ("", "0.0")
    ]
    return Table("summary", _PROPERTY_COLUMNS, rows, title=_TITLES["summary"])


def _first_id(part: Mapping[str, Any]) -> str:
    return str(part["cols"][0]["id"]) if part.get("cols") else ""


def _texts(part: Mapping[str, Any], place: int) -> list[str]:
    return [str(row["c"][place]["v"]) for row in part.get("rows", ())]


def _tips(part: Mapping[str, Any]) -> list[tuple[str, str]]:
    if not part:
        return []
    return list(zip(_texts(part, 0), _texts(part, 1), strict=True))


def _diagnostics(parts: Iterable[Mapping[str, Any]]) -> list[Note]:
    notes = []
    for part in parts:
        if _first_id(part) == "severity":
            for severity, message in zip(_texts(part, 0), _texts(part, 1), strict=True):
                notes.append(diagnostic(severity, message))
    return notes


def diagnostic(severity: str, message: str) -> Note:
    """A remark of the profiler that wrote the file."""
    kinds: dict[str, Literal["error", "warning", "info"]] = {
        "ERROR": "error",
        "WARNING": "warning",
    }
    return Note(kinds.get(severity.upper(), "info"), plain_text(message))


def _sentences(texts: Iterable[str]) -> list[str]:
    """Texts that say something, each once."""
    plain = (_BULLET.sub("", plain_text(text)) for text in texts)
    return list(dict.fromkeys(text for text in plain if text))
