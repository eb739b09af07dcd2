"""Pages of results from an older profiler, which are shown unchanged."""

from __future__ import annotations

from collections.abc import Mapping

from tfprof.captures.all_tools import TOOLS, Tool
from tfprof.captures.run.result import ToolResult
from tfprof.core.columns.once import Once
from tfprof.errors import UsageError
from tfprof.ui.pages.blocks_of_results import chart_block, notes_block, table_block
from tfprof.ui.pages.document import Block, Control, Page, empty, words


def precomputed_page(
    tool: Tool, hosts: Mapping[str, Once[ToolResult]], params: Mapping[str, str]
) -> Page:
    """The answer of a tool.

    Args:
        tool: Its name.
        hosts: Its answers by host.
        params: ``host`` chooses one; by default the first.

    Raises:
        UsageError: There is no such host.
        InputError: The answer cannot be read.
    """
    names = list(hosts)
    chosen = params.get("host") or names[0]
    if chosen not in hosts:
        raise UsageError(f"no host {chosen!r} in this run; it has: {', '.join(names)}")
    controls = []
    if len(names) > 1:
        choices = [(name, name) for name in names]
        controls = [Control("host", "Host", "choice", chosen, names[0], choices)]
    return Page(tool.name, tool.title, tool.line, blocks_of(hosts[chosen]()), controls)


def result_page(tool: str, result: ToolResult) -> Page:
    """The page of one answer.

    Args:
        tool: Name of its tool on the command line.
        result: The answer.
    """
    return Page(tool, TOOLS[tool].title, TOOLS[tool].line, blocks_of(result))


def blocks_of(result: ToolResult) -> list[Block]:
    """All blocks of an answer, from top to bottom."""
    blocks: list[Block] = [words(result.verdict, lead=True)] if result.verdict else []
    blocks += notes_block(result.notes)
    blocks += [chart_block(chart) for chart in result.charts]
    blocks += [table_block(table) for table in result.tables.values() if len(table)]
    if not result.charts and not any(map(len, result.tables.values())):
        blocks.append(empty("The file holds nothing of this kind."))
    return blocks
