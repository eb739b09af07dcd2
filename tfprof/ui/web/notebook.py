"""Results in notebooks: their page in a frame of its own, and the magic ``%%tfprof``.

The frame is sandboxed: what it shows cannot reach the notebook, nor anything else. A notebook that
is not trusted, or a viewer without frames, shows the text of the result instead.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, Final

from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Table
from tfprof.errors import UsageError
from tfprof.graphs.costs.params import ParamsReport
from tfprof.graphs.reports.report import FlopsReport
from tfprof.graphs.reports.summary import ModelSummary
from tfprof.inputs.opened import opened_profiler, opened_run
from tfprof.inputs.profiler import Profiler
from tfprof.ui.pages.blocks_of_results import chart_block, findings_block, notes_block, table_block
from tfprof.ui.pages.cost_pages import flops_page, summary_page
from tfprof.ui.pages.document import Page, words
from tfprof.ui.pages.rows_table import rows_table
from tfprof.ui.pages.start_page import start_page
from tfprof.ui.pages.view_pages import view_page
from tfprof.ui.web.report import one_page
from tfprof.views.result import ViewTree

_HEIGHT_PX: Final = 560
_FRAME: Final = (
    '<iframe sandbox="allow-scripts allow-downloads" style="width:100%;height:{height}px;'
    'border:1px solid #8886" title="tfprof: {title}" srcdoc="{page}"></iframe>'
)


def html_of(result: Any) -> str:
    """A result as HTML: a frame that holds its page.

    Raises:
        UsageError: There is no page of such a thing.
    """
    page = page_of(result)
    text = one_page(page, "").decode("utf-8")
    return _FRAME.format(height=_HEIGHT_PX, title=escape(page.title), page=escape(text))


def page_of(result: Any) -> Page:
    """The page of a result.

    Raises:
        UsageError: There is none of such a thing.
    """
    for kind, make in _PAGES.items():
        if isinstance(result, kind):
            return make(result)
    raise UsageError(f"there is no page of {type(result).__name__}")


def _tool_page(result: ToolResult) -> Page:
    """All blocks of the answer; pictures that need the run are on its pages."""
    from tfprof.captures.practices.findings import finding_of

    blocks = [
        words(result.verdict, lead=True),
        *notes_block(result.notes),
        *findings_block(finding_of(each, 0.0) for each in result.advice),
        *map(chart_block, result.charts),
        *(table_block(table) for table in result.tables.values() if len(table)),
    ]
    return Page(result.tool, result.title, "", blocks)


def _table_page(table: Table) -> Page:
    return Page(table.name, table.title or table.name, "", [table_block(table)])


def _params_page(report: ParamsReport) -> Page:
    table = rows_table("params", "Variables", report.to_rows())
    return Page("params", "Parameters", "", [words([str(report)], lead=True), table])


_PAGES: Final[dict[type, Callable[[Any], Page]]] = {
    Profiler: lambda profiler: start_page(opened_profiler(profiler), {}),
    Run: lambda run: start_page(opened_run(run), {}),
    ViewTree: lambda tree: view_page(tree, "", {}),
    ToolResult: _tool_page,
    Table: _table_page,
    FlopsReport: flops_page,
    ModelSummary: summary_page,
    ParamsReport: _params_page,
}


def add_magics(ipython: Any) -> None:
    """Add ``%%tfprof`` to an IPython session; ``%load_ext tfprof`` calls it."""

    def tfprof(line: str, cell: str | None = None) -> Profiler:
        """Run a cell, or the rest of the line, and show where its time goes.

        ``%%tfprof name`` keeps the profiler in the variable ``name``.
        """
        from tfprof.capture.eager.trace import trace

        name = line.strip() if cell is not None else ""
        if name and not name.isidentifier():
            raise UsageError(f"%%tfprof {name}: give the name of a variable, or nothing")
        with trace() as recorded:
            ipython.run_cell(line if cell is None else cell).raise_error()
        if name:
            ipython.push({name: recorded.profiler})
        return recorded.profiler

    ipython.register_magic_function(tfprof, "line_cell", "tfprof")
