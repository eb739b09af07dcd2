"""``tfprof flops``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.cli.costs import (
    CostQuestion,
    Counted,
    cost_options,
    cost_result_options,
    counted,
    path_argument,
    shown_options,
)
from tfprof.cli.options import Choice, Command, CommandOption, from_params
from tfprof.cli.output import Target
from tfprof.cli.results import ResultChoice, as_csv, as_json, as_text
from tfprof.cli.view import warnings_as_notes
from tfprof.cli.web_pages import write_page
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.graphs.reports.report import FlopsReport
    from tfprof.ui.pages.document import Page


def run(by: str | None, explain: bool, **params: Any) -> None:
    """Read and count a program, and write the result."""
    question, result = from_params(CostQuestion, params), from_params(ResultChoice, params)
    rows = by or ("op" if explain else "layer")
    if explain and rows != "op":
        raise UsageError(f"--explain shows ops; leave out --by {rows}")
    target = result.target()
    with warnings_as_notes():
        program = counted(question)
        if result.format == "html":
            page = _page(program, "op" if explain else by or "all")
            write_page(page, question.title, target)
        elif result.format == "text":
            target.write(_text(program, rows, target))
        else:
            target.write(_plain(program, rows, is_json=result.format == "json"))


def _page(program: Counted, shown: str) -> Page:
    """The page; ``shown`` is the kind of its rows, or ``all`` for types and layers."""
    from tfprof.graphs.costs.roofline import roofline
    from tfprof.graphs.reports.flops_text import type_rows
    from tfprof.ui.pages.cost_pages import flops_page

    report, top = program.report, program.question.top or None
    summary = program.summary(for_people=False) if shown in ("layer", "all") else None
    types = type_rows(report)[:top] if shown in ("type", "all") else []
    ops = _ops(program, with_lists=True)[:top] if shown == "op" else []
    device = program.device
    more = [] if device is None else str(roofline(report.ops, device)).splitlines()
    return flops_page(report, types, summary, ops, more)


def _plain(program: Counted, by: str, *, is_json: bool) -> str:
    """All numbers, as JSON or CSV."""
    from tfprof.graphs.reports.flops_text import type_rows

    if by == "layer":
        summary = program.summary(for_people=False)
        return summary.to_json() if is_json else summary.to_csv()
    rows = type_rows(program.report) if by == "type" else _ops(program, with_lists=is_json)
    rows = rows[: program.question.top]
    if is_json:
        return as_json(_head(program.report), rows)
    return as_csv(rows)


def _text(program: Counted, by: str, target: Target) -> str:
    from rich.text import Text

    from tfprof.graphs.costs.roofline import roofline
    from tfprof.graphs.reports.flops_text import (
        WIDTH,
        explanation,
        headline,
        note_lines,
        type_lines,
    )
    from tfprof.graphs.reports.summary_text import SummaryTable

    report, glyphs = program.report, target.glyphs()
    width = min(WIDTH, target.console().width)

    def lines(text: str) -> Text:
        return Text(glyphs.text(text), no_wrap=True, overflow="ignore")

    if by == "op":
        parts: list[Any] = [lines(explanation(report, program.question.top, width))]
    elif by == "type":
        parts = [lines(headline(report, width, most_types=0)), Text()]
        parts += map(lines, type_lines(report, program.question.top or len(report.by_type)))
    else:
        summary = program.summary(for_people=True)
        parts = [
            lines(headline(report, width)),
            Text(),
            SummaryTable(summary, glyphs, totals=False),
        ]
        more = [note for note in summary.notes if note not in report.notes]
        parts += map(lines, note_lines(more, width))
    if program.device is not None:
        parts += [Text(), lines(str(roofline(report.ops, program.device)))]
    return as_text(parts, target)


def _head(report: FlopsReport) -> dict[str, Any]:
    return {
        "flops": report.flops,
        "macs": report.macs,
        "convention": report.convention,
        "phases": report.by_phase,
        "coverage": report.coverage,
        "uncounted": report.uncounted,
        "notes": list(report.notes),
    }


def _ops(program: Counted, *, with_lists: bool) -> list[dict[str, Any]]:
    """Ops, the most expensive first; with a device, only those with float operations."""
    from tfprof.graphs.costs.roofline import roofline
    from tfprof.graphs.model.symbolic import typical

    if program.device is not None:
        rows = roofline(program.report.ops, program.device).to_rows()
    else:
        rows = program.report.to_rows()
    if not with_lists:
        rows = [{name: _cell(value) for name, value in row.items()} for row in rows]
    return sorted(rows, key=lambda row: -typical(row["flops"] or 0))


def _cell(value: Any) -> Any:
    """Lists and dicts as text."""
    if isinstance(value, dict):
        return "; ".join(f"{name}={number}" for name, number in value.items())
    return "; ".join(map(str, value)) if isinstance(value, list) else value


def _options() -> list[CommandOption]:
    section = "What to show"
    return [
        CommandOption(
            ["--by"], type=Choice(["layer", "type", "op"]), default=None, section=section,
            help="Rows: layers (name scopes), op types or ops. [default: layer]",
        ),
        CommandOption(
            ["--explain"], is_flag=True, section=section,
            help="Show how each op was counted: formula, derivation, source and numbers; the "
            "same as --by op.",
        ),
    ]  # fmt: skip


command = Command(
    "flops",
    callback=run,
    is_cached=True,
    params=[
        path_argument(),
        *cost_options(),
        *_options(),
        *shown_options(),
        *cost_result_options(),
    ],
    help="Count the float operations of a GraphDef, MetaGraphDef or SavedModel (file or folder, "
    "binary or text, also .gz, .xz or .zst) without running it and without TensorFlow. Shows the "
    "total, its parts, how many ops could be counted, and a table of name scopes.",
    examples=[
        "tfprof flops --demo",
        "tfprof flops saved_model/ --batch 8 --device a100",
        "tfprof flops graph.pb --input_shape images=1,224,224,3 --explain --top 20",
    ],
)
