"""Model summaries as HTML for notebooks: one table, no scripts, nothing from the network.

Colours are the page's own with transparent greys, so that it can be read on light and dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from markupsafe import Markup

from tfprof.graphs.costs.layer_tree import LayerRow
from tfprof.graphs.show.flops_text import plain_number, short_number
from tfprof.graphs.show.summary import (
    Summary,
    header_of,
    human_share_of,
    memory_number,
    row_name,
    row_time,
    shapes_text,
    total_lines,
)
from tfprof.text.html_page import html_page, origin_text
from tfprof.text.tables import escaped

_STYLE = """\
.tfprof-summary{border-collapse:collapse;font-variant-numeric:tabular-nums;color:inherit;\
background:transparent}
.tfprof-summary th,.tfprof-summary td{padding:.15em .7em;text-align:right;white-space:nowrap;\
border-bottom:1px solid rgba(128,128,128,.3);background:transparent;color:inherit}
.tfprof-summary .text{text-align:left}
.tfprof-summary .whole{font-weight:bold}
.tfprof-summary meter{width:6em;vertical-align:middle}
.tfprof-notes{white-space:pre-wrap;opacity:.8;color:inherit;background:transparent}
"""


def summary_html(summary: Summary) -> str:
    """A table and the totals as a fragment of HTML; all names are escaped."""
    headers = [header_of(summary.rows), *["type"] * bool(summary.rows[0].kind), "output"]
    numbers = ["params", "FLOPs", "MACs", "share", "weights", "activations"]
    if summary.device is not None:
        numbers.append("least time")
    head = "".join(f'<th class="text" scope="col">{name}</th>' for name in headers)
    head += "".join(f'<th scope="col">{name}</th>' for name in numbers)
    body = "\n".join(_row(summary, row) for row in summary.rows)
    notes = escape("\n".join(total_lines(summary)))
    return (
        f'<style>{_STYLE}</style>\n<table class="tfprof-summary">\n<thead><tr>{head}</tr></thead>\n'
        f'<tbody>\n{body}\n</tbody>\n</table>\n<pre class="tfprof-notes">{notes}</pre>\n'
    )


def summary_page(summary: Summary, source: str = "") -> str:
    """The same as a page of its own; ``source`` is the file or object that was read."""
    about = (
        f"Float operations, parameters and memory of each {header_of(summary.rows)}. Hold the "
        "pointer over a number to see all its digits, over a name to see all of it."
    )
    origin = origin_line(source)
    above = f'<h1>Model summary</h1>\n<p class="quiet">{about}</p>\n{origin}'
    return html_page("tfprof: model summary", "", Markup(above + summary_html(summary)))


def origin_line(source: str) -> str:
    """The source of a page as a paragraph; empty if it is unknown."""
    return f'<p class="quiet"><bdi>{escape(origin_text(source))}</bdi></p>\n' if source else ""


def _row(summary: Summary, row: LayerRow) -> str:
    whole = ' class="whole"' if row.parent < 0 else ""
    return f"<tr{whole}>{''.join(_cells(summary, row))}</tr>"


def _cells(summary: Summary, row: LayerRow) -> Iterator[str]:
    name, path = escape(row_name(row)), escape(escaped(row.path))
    indent = f"padding-left:{0.7 + 1.2 * row.depth:.1f}em"
    yield f'<td class="text" style="{indent}" title="{path}">{name}</td>'
    if summary.rows[0].kind:
        kind = "" if row.kind == "…" else row.kind
        yield f'<td class="text">{escape(escaped(kind))}</td>'
    yield f'<td class="text">{escape(shapes_text(row))}</td>'
    yield f"<td>{row.weights.params:,}</td>"
    for number in (row.total.flops, row.total.macs):
        exact = escape(escaped(plain_number(number)))
        yield f'<td title="{exact}">{escape(escaped(short_number(number)))}</td>'
    yield f"<td>{meter(summary.share(row))}</td>"
    yield f"<td>{memory_number(row.weights.size_bytes)}</td>"
    yield f"<td>{escape(escaped(memory_number(row.total.activation_bytes)))}</td>"
    if summary.device is not None:
        yield f"<td>{escape(row_time(row))}</td>"


def meter(share: float | None) -> str:
    """A share as text and bar; empty for None."""
    if share is None:
        return ""
    text = human_share_of(share)
    return f'{escape(text)} <meter min="0" max="1" value="{min(share, 1.0):.4f}">{text}</meter>'
