"""Pages of float operations and of layers: the costs of a program, and how they were counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfprof.graphs.costs.layer_tree import LayerRow
from tfprof.graphs.model.symbolic import Number, Symbolic, shown, total
from tfprof.graphs.reports.flops_text import (
    CONVENTION,
    coverage_lines,
    coverage_text,
    note_lines,
    plain_number,
    type_rows,
)
from tfprof.graphs.reports.flops_text import number_text as exact_text
from tfprof.graphs.reports.report import FlopsReport
from tfprof.graphs.reports.summary import ModelSummary, summary_of
from tfprof.graphs.reports.summary_text import params_line, shapes_text
from tfprof.graphs.reports.targets import target_of
from tfprof.ui.pages.document import Block, Control, Page, empty, figures, words
from tfprof.ui.pages.rows_table import rows_table

if TYPE_CHECKING:
    from tfprof.inputs.profiler import Profiler

_UNWRAPPED = 1 << 20
"""Width of a paragraph, which a browser wraps."""


def flops_page(
    report: FlopsReport,
    types: Sequence[Mapping[str, Any]] | None = None,
    summary: ModelSummary | None = None,
    ops: Sequence[Mapping[str, Any]] = (),
    more: Iterable[str] = (),
) -> Page:
    """The page of a program's float operations.

    Args:
        report: How many there are.
        types: Op types, the most expensive first, by default all of the report: ``type``,
            ``count`` (None: not counted), ``counted_ops``, ``free_ops``, ``uncounted_ops`` and
            ``reason``.
        summary: Layers, with the shortest possible times on a device if it has one.
        ops: Ops, with keys of their own.
        more: Further sentences, such as those on a device.
    """
    types = type_rows(report) if types is None else types
    blocks: list[Block] = [figures(_figures(report)), words([*_phases(report), CONVENTION])]
    if types:
        blocks.append(_types_table(report, types))
    if summary is not None:
        blocks.append(_layers_table(summary))
    if ops:
        blocks.append(rows_table("ops", "By op", ops))
    if not types and not ops and summary is None:
        blocks.append(empty("No op of this program has float operations."))
    lines = [*coverage_lines(report, _UNWRAPPED), *note_lines(report.notes, _UNWRAPPED), *more]
    if summary is not None:
        notes = [*summary.notes, *summary.device_notes]
        fresh = [note for note in notes if note not in report.notes]
        lines += note_lines(fresh, _UNWRAPPED)
    blocks.append(words(line.strip() for line in lines))
    return Page("flops", "Float operations", "How many, of which ops, and what is not counted.",
                blocks)  # fmt: skip


def summary_page(summary: ModelSummary) -> Page:
    """The page of a program's layers: shapes, parameters, operations and bytes of each."""
    report, params = summary.report, summary.params
    about = [params_line(params), CONVENTION]
    lines = coverage_lines(report, _UNWRAPPED)
    lines += note_lines((*summary.notes, *summary.device_notes), _UNWRAPPED)
    shown = [
        {"label": "parameters", "value": params.total, "unit": "count",
         "detail": f"{params.total:,}"},
        {"label": "weights", "value": params.bytes, "unit": "bytes"},
        *_figures(report),
    ]  # fmt: skip
    return Page(
        "summary", "Model summary",
        "Float operations, parameters and memory of each layer or scope.",
        [figures(shown), words(about), _layers_table(summary),
         words(line.strip() for line in lines)],
    )  # fmt: skip


def flops_of_profile(profiler: Profiler, params: Mapping[str, str]) -> Page:
    """The float operations of the program of a profile; ``convention`` is FLOPs or MACs.

    ``static`` counts the whole graph, including ops that did not run in any step.

    Raises:
        UsageError: There is no such convention.
        InputError: The profile has no graph.
    """
    report, summary = _counted(profiler, params)
    return replace(flops_page(report, summary=summary), controls=_controls(params))


def summary_of_profile(profiler: Profiler, params: Mapping[str, str]) -> Page:
    """The layers of the program of a profile; the same parameters and errors."""
    return replace(summary_page(_counted(profiler, params)[1]), controls=_controls(params))


def _counted(profiler: Profiler, params: Mapping[str, str]) -> tuple[FlopsReport, ModelSummary]:
    from tfprof.graphs.reports.flops import count

    target = target_of(profiler, static=params.get("static") == "1")
    report = count(target, None, None, params.get("convention") or "flops", None)
    return report, summary_of(target, report)


def _controls(params: Mapping[str, str]) -> list[Control]:
    chosen = params.get("convention") or "flops"
    ways = [("flops", "FLOPs: a multiply-add is two"), ("macs", "MACs: multiply-adds")]
    static = params.get("static") == "1"
    about = "Count all ops of the graph, also those that no recorded step has run."
    return [
        Control("convention", "Count", "choice", chosen, "flops", ways),
        Control("static", "Static: the whole graph", "bool", static, False, help=about),
    ]


def _figures(report: FlopsReport) -> list[dict[str, Any]]:
    cards = [_figure("FLOPs", report.flops), _figure("MACs", report.macs)]
    counts, inside = report.op_counts, sum(bool(row.function) for row in report.ops)
    cards.append({
        "label": "coverage", "value": coverage_text(counts), "unit": "text",
        "detail": f"of {counts.n_ops:,} ops" + (f", {inside:,} in functions" if inside else ""),
    })  # fmt: skip
    return cards


def _figure(label: str, number: Number) -> dict[str, Any]:
    if isinstance(number, Symbolic):
        return {"label": label, "value": exact_text(number), "unit": "text"}
    return {"label": label, "value": number, "unit": "count", "detail": plain_number(number)}


def _phases(report: FlopsReport) -> list[str]:
    """The parts of a step, if it has more than one."""
    phases = {name: count for name, count in report.by_phase.items() if count != 0}
    if not set(phases) - {"forward", "initialization"}:
        return []
    listed = [
        f"{name} {exact_text(count)}"
        + (", once and not in the total" if name == "initialization" else "")
        for name, count in phases.items()
    ]
    return [f"Of which: {', '.join(listed)}."]


def _types_table(report: FlopsReport, types: Sequence[Mapping[str, Any]]) -> Block:
    whole = total(report.by_type.values())
    rows = [
        {**row, "count": _cell(row["count"]), "share": _share(row["count"], whole)} for row in types
    ]
    unit = "FLOPs" if report.convention == "flops" else "MACs"
    labels = {
        "type": "op type", "count": unit, "share": "share", "counted_ops": "ops counted",
        "free_ops": "ops without", "uncounted_ops": "not counted", "reason": "why not",
    }  # fmt: skip
    if not any(row["uncounted_ops"] for row in rows):
        del labels["uncounted_ops"], labels["reason"]
    return rows_table(
        "types", "By op type", rows, labels=labels, units={"count": "count", "ops": ""}
    )


def _layers_table(summary: ModelSummary) -> Block:
    rows = [_layer(summary, row) for row in summary.rows]
    labels = {
        "path": "layer" if summary.rows[0].path else "scope", "type": "type", "output": "output",
        "params": "params", "not_trained": "not trained", "flops": "FLOPs", "macs": "MACs",
        "share": "share", "own_flops": "own FLOPs", "weight_bytes": "weights",
        "activation_bytes": "activations", "least_micros": "least time",
    }  # fmt: skip
    if summary.device is None:
        del labels["least_micros"]
    if not any(row["type"] for row in rows):
        del labels["type"]
    if not any(row["not_trained"] for row in rows):
        del labels["not_trained"]
    return rows_table("layers", "By layer", rows, labels=labels)


def _layer(summary: ModelSummary, row: LayerRow) -> dict[str, Any]:
    picos = row.total.picos
    is_timed = isinstance(picos, int) and (picos or not row.total.untimed)
    return {
        "path": f"{row.path} {row.name}".strip() if row.folded else row.path or row.name or "total",
        "type": "" if row.kind in ("scope", "…") else row.kind,
        "output": shapes_text(row),
        "params": row.weights.params,
        "not_trained": row.weights.non_trainable,
        "flops": _cell(row.total.flops),
        "macs": _cell(row.total.macs),
        "share": summary.share(row),
        "own_flops": _cell(row.own.flops),
        "weight_bytes": row.weights.size_bytes,
        "activation_bytes": _cell(row.total.activation_bytes),
        "least_micros": picos / 1e6 if is_timed and isinstance(picos, int) else None,
    }


def _cell(number: Number | None) -> int | str | None:
    return shown(number) if isinstance(number, Symbolic) else number


def _share(count: Number | None, whole: Number) -> float | None:
    if isinstance(count, int) and isinstance(whole, int) and whole:
        return count / whole
    return None
