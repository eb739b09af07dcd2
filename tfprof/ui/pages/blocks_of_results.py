"""From answers of the library to blocks: tables, charts, advice and notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfprof.captures.run.result import Chart, Note
from tfprof.captures.run.table import Column, Table
from tfprof.captures.show.tool_values import header_of
from tfprof.core.columns.findings import Finding
from tfprof.core.columns.remarks import Notice
from tfprof.core.text.characters import escaped
from tfprof.core.text.wording import many
from tfprof.ui.pages.column_traits import column_traits
from tfprof.ui.pages.document import Block, column, remarks
from tfprof.ui.pages.rows_table import MOST_ROWS, shown_title

_OP_COLUMNS = (
    "operation", "total_self_time", "total_self_time_percent", "device_total_self_time_percent",
    "host_total_self_time_percent", "occurrences", "roofline_efficiency", "bound_by",
    "measured_flop_rate", "measured_memory_bw", "type", "category", "host_or_device", "op_found_by",
    "operational_intensity", "total_time", "avg_self_time", "avg_time", "rank",
)  # fmt: skip
_STEP_COLUMNS = ("stepnum", "stepTimeMs")
FIRST: Mapping[str, Sequence[str]] = {
    "ops": _OP_COLUMNS,
    "ops_with_idle": _OP_COLUMNS,
    "programs": (*_OP_COLUMNS, "module"),
    "kernels": (
        "kernel_name", "total_duration_us", "total_duration_share", "occurrences",
        "avg_duration_us", "occupancy_pct", "op_name", "op_found_by",
        "is_kernel_using_tensor_core", "is_op_tensor_core_eligible", "rank",
    ),
    "instructions": (
        "hlo_op_name", "total_self_time", "total_self_time_percent", "occurrences", "bound_by",
        "model_flop_rate", "measured_memory_bw", "category", "operational_intensity",
        "tf_op_name", "op_found_by", "total_time", "avg_self_time", "avg_time", "rank",
    ),
    "steps": _STEP_COLUMNS,
    "top_ops": ("operation", "category", "selfTimePercent", "cumulativeTimePercent"),
    "stages": ("stage", "wait_us", "time_us", "calls", "role", "copies", "parallelism"),
    "iterators": ("iterator", "self_us", "total_us", "calls", "role", "long_name"),
    "peak": ("op", "allocation_bytes", "requested_bytes", "occurrences", "shape", "dtype"),
    "nodes": (
        "instruction", "opcode", "category", "self_us", "bound_by", "flops", "bytes_accessed",
        "tf_op", "distance",
    ),
    "functions": ("function", "compiled", "again", "total_ms", "kinds", "differs", "calls"),
    "compilations": ("function", "differs", "step", "total_ms", "called_at", "kind", "start_ms"),
    "kinds": (
        "name", "what", "p50_ms", "p90_ms", "p99_ms", "max_ms", "mean_ms", "device_ms", "host_ms",
        "waiting_ms", "queue_ms", "between_ms", "block_ms", "count", "timed", "compiled",
    ),
    "slowest": ("span", "what", "latency_ms", "start_ms"),
    "parts": ("part", "what", "since_ms", "latency_ms"),
    "buffers": ("instruction", "kind", "size_bytes", "unpadded_bytes", "opcode", "shape"),
}  # fmt: skip
"""By table: the meaning of a row, and the most important columns, which come first."""

_AXES = {"µs": ("time", "us"), "ms": ("time", "ms"), "bytes": ("memory", "bytes")}
"""Name and unit of axes whose label is a unit: their numbers show it themselves."""


def table_block(table: Table, **more: Any) -> Block:
    """A table with its rows, up to ``MOST_ROWS``.

    Args:
        table: The table.
        more: Keys of some tables only: ``links``, by column: the page with more on a cell, and
            its parameter; ``page``: the page with the whole table.
    """
    # The reference's tooltips repeat other columns.
    shown = [at for at, each in enumerate(table.columns) if each.role != "tooltip"]
    first = {name: at for at, name in enumerate(FIRST.get(table.name, ()))}
    shown.sort(key=lambda at: first.get(table.columns[at].id, len(first)))
    rows = table.rows[:MOST_ROWS]
    columns = [column_dict(table.columns[at]) for at in shown]
    if _has_rows_of_rows(table):
        columns = [{key: each[key] for key in each if key != "adds"} for each in columns]
    return {
        "kind": "table",
        "id": table.name,
        "title": shown_title(escaped(table.title), len(table.rows)),
        "columns": columns,
        "n_rows": len(rows),
        "cells": [column([row[at] for row in rows]) for at in shown],
        **more,
    }


def _has_rows_of_rows(table: Table) -> bool:
    """Whether some rows are of the whole capture, and others of steps in it."""
    if not any(each.id == "step" for each in table.columns):
        return False
    last_words = {str(text).rpartition(" ")[2] for text in table.column("step")}
    return "Total" in last_words and len(last_words) > 1


def column_dict(each: Column) -> dict[str, Any]:
    """A column's description; ``label`` is short, ``about`` whole."""
    return {
        "id": each.id, "label": header_of(each), "about": escaped(each.label), "type": each.type,
        "unit": each.unit, **({"meaning": escaped(each.meaning)} if each.meaning else {}),
        **column_traits(each.id, each.type, each.meaning),
    }  # fmt: skip


def chart_block(chart: Chart, **more: Any) -> Block:
    """A chart; ``more`` are keys that only some charts have, such as ``log``."""
    y_label, unit = _AXES.get(chart.y_label, (chart.y_label, ""))
    x_label = chart.x_label.removesuffix(", ms") if "x_unit" in more else chart.x_label
    return {
        "kind": "chart",
        "id": chart.name,
        "form": chart.kind,
        "title": escaped(chart.title),
        "x_label": escaped(x_label),
        "y_label": escaped(y_label),
        "x": column(chart.x),
        "series": [
            {"name": escaped(name), "values": column(values)}
            for name, values in chart.series.items()
        ],
        **({"unit": unit} if unit else {}),
        **more,
    }


def notes_block(notes: Iterable[Note]) -> list[Block]:
    """Notes as remarks: the errors, which stand on the page, and the others; nothing of none."""
    known = [*dict.fromkeys(notes)]
    errors = [note for note in known if note.severity == "error"]
    others = [note for note in known if note.severity != "error"]
    return [
        remarks([(note.severity, note.message, note.host) for note in some])
        for some in (errors, others)
        if some
    ]


def notices_block(notices: Iterable[Notice]) -> list[Block]:
    """Remarks on a profile as a block; nothing if there are none."""
    items = [("info", str(notice), "") for notice in notices]
    return [remarks(items)] if items else []


def findings_block(findings: Iterable[Finding]) -> list[Block]:
    """Findings as a block; nothing if there are none."""
    items = [finding_dict(each) for each in findings]
    return [{"kind": "findings", "items": items}] if items else []


def finding_dict(finding: Finding) -> dict[str, Any]:
    """A finding of a checker, in the form of all findings on pages."""
    gain = finding.gain
    return {
        "rule": finding.rule, "page": _page_of(finding.rule), "severity": finding.severity,
        "text": escaped(finding.message),
        "evidence": _evidence(finding.evidence),
        "gain": None if gain is None else
        {"amount": gain.amount, "unit": _GAINS[gain.unit], "how": gain.how},
        "place": escaped(finding.place), "link": finding.link,
    }  # fmt: skip


_PAGE_OF = {
    "ExpensiveOperationChecker": "op",
    "PeakMemoryChecker": "memory-over-time",
    "SmallOperationChecker": "op",
    "RecomputedConstantChecker": "graph",
}
"""The page for a finding on a profile."""


def _page_of(rule: str) -> str:
    if "/" not in rule:
        return _PAGE_OF.get(rule, "")
    from tfprof.captures.practices.findings import subject_of  # imports all practices

    tool = subject_of(rule).tool
    return "start" if tool == "overview" else tool


_GAINS = {"micros": "us", "bytes": "bytes"}
_UNITS = {
    "_micros": "us", "_bytes": "bytes", "_share": "fraction", "_count": "",
}  # fmt: skip


def _evidence(evidence: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Numbers behind a finding, with the unit from the end of each name."""
    items = []
    for name, value in evidence.items():
        ending = next((end for end in _UNITS if name.endswith(end)), "")
        label = name.removesuffix(ending)
        label = label if ":" in label else label.replace("_", " ")  # names of ops stay as they are
        unit = _UNITS.get(ending, "fraction" if "share" in name.split("_") else "")
        if ending == "_count" and value != 1:
            label = many(label)
        shown = escaped(value) if isinstance(value, str) else value
        items.append({"name": escaped(label), "value": shown, "unit": unit})
    return items
