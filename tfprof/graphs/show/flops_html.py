"""Float operations as a page: totals, op types, layers, and what was not counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from markupsafe import Markup

from tfprof.graphs.model.symbolic import total
from tfprof.graphs.show.flops_text import (
    Report,
    coverage_lines,
    note_lines,
    number_text,
    plain_number,
    short_number,
    totals,
    unit_of,
)
from tfprof.graphs.show.summary import Summary
from tfprof.graphs.show.summary_html import meter, origin_line, summary_html
from tfprof.text.html_page import html_page
from tfprof.text.tables import escaped

_STYLE = """\
.types{border-collapse:collapse;font-variant-numeric:tabular-nums}
.types th,.types td{padding:.15em .7em;text-align:right;white-space:nowrap;\
border-bottom:1px solid var(--line)}
.types .text{text-align:left}
pre{white-space:pre-wrap}
"""


def flops_page(
    report: Report,
    types: Sequence[Mapping[str, Any]],
    summary: Summary | None = None,
    source: str = "",
) -> str:
    """A page about float operations.

    Args:
        report: The report.
        types: Op types, the most expensive first: ``type``, ``count`` (None: not counted),
            ``counted_ops``, ``free_ops``, ``uncounted_ops`` and ``reason``; none leaves the table
            out.
        summary: Layers to show below them.
        source: The file or object that was read.
    """
    head, *convention = totals(report)
    parts = [
        "<h1>Float operations</h1>\n",
        f'<p><b>{escape(head)}</b></p>\n<p class="quiet">{escape(" ".join(convention))}</p>\n',
        origin_line(source),
        _phases(report),
    ]
    if types:
        parts.append(_types(report, types))
    if summary is not None:
        parts.append(f"<h2>By layer</h2>\n{summary_html(summary)}")
    remarks = [*coverage_lines(report), *note_lines(report.notes)]
    parts.append(f"<h2>What was counted</h2>\n<pre>{escape(chr(10).join(remarks))}</pre>\n")
    return html_page("tfprof: float operations", _STYLE, Markup("".join(parts)))


def _phases(report: Report) -> str:
    phases = {name: count for name, count in report.by_phase.items() if count != 0}
    if not set(phases) - {"forward", "initialization"}:
        return ""
    listed = ", ".join(
        f"{escaped(name)} {number_text(count)}"
        + (", once and not in the total" if name == "initialization" else "")
        for name, count in phases.items()
    )
    return f"<p>{escape(listed)}</p>\n"


def _types(report: Report, types: Sequence[Mapping[str, Any]]) -> str:
    whole = total(report.by_type.values())
    headers = ["type", unit_of(report), "share", "ops counted", "without", "not counted"]
    head = "".join(
        f'<th scope="col"{" class=" + chr(34) + "text" + chr(34) if not place else ""}>{name}</th>'
        for place, name in enumerate(headers)
    )
    rows = "\n".join(_row(row, whole) for row in types)
    return (
        f'<h2>By op type</h2>\n<table class="types">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n"
    )


def _row(row: Mapping[str, Any], whole: object) -> str:
    count = row["count"]
    share = count / whole if isinstance(count, int) and isinstance(whole, int) and whole else None
    exact = "" if count is None else escape(escaped(plain_number(count)))
    shown = "n/a" if count is None else escape(escaped(short_number(count)))
    cells = [
        f'<td class="text">{escape(escaped(row["type"]))}</td>',
        f'<td title="{exact}">{shown}</td>',
        f"<td>{meter(share) if share else ''}</td>",
    ]
    cells += [f"<td>{row[name] or ''}</td>" for name in ("counted_ops", "free_ops")]
    why = escape(escaped(row["reason"]))
    cells.append(f'<td title="{why}">{row["uncounted_ops"] or ""}</td>')
    return f"<tr>{''.join(cells)}</tr>"
