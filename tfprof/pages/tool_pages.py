"""Pages of the tools: what each answers, as blocks."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfprof.advisor.captures import finding_of
from tfprof.captures.facts.framework import words_for
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.run.result import ToolResult
from tfprof.errors import UsageError
from tfprof.pages.blocks_of_results import chart_block, findings_block, notes_block, table_block
from tfprof.pages.document import Block, Control, Page, empty, words

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run

Params = Mapping[str, str]
"""Parameters of a page's address."""


@dataclass(frozen=True, slots=True)
class ToolPage:
    """The page of a tool.

    Attributes:
        id: Name of the tool on the command line.
        title: What people read.
        about: One sentence.
    """

    id: str
    title: str
    about: str


TOOL_PAGES = (
    ToolPage("overview", "Overview", "Where the time of steps goes, and what to change first."),
    ToolPage("input-pipeline", "Input pipeline", "Whether the program waits for its input."),
    ToolPage("tf-data", "tf.data", "Which stage of a tf.data pipeline is slow."),
    ToolPage("op-stats", "TensorFlow stats", "Ops of hosts and devices by time."),
    ToolPage("kernel-stats", "Kernel stats", "GPU kernels by time."),
    ToolPage("memory", "Memory profile", "Memory over time, and who holds it at the peak."),
    ToolPage("pod", "Pod viewer", "Steps of every worker and core."),
    ToolPage("op-profile", "Op profile", "XLA ops as a tree: time and utilization."),
    ToolPage("hlo-stats", "HLO stats", "XLA ops as a list."),
    ToolPage("roofline", "Roofline", "How close ops come to the limits of the device."),
    ToolPage("memory-viewer", "Memory viewer", "Memory that XLA programs plan to use."),
    ToolPage("graph-viewer", "Graph viewer", "Instructions of an XLA program around one."),
    ToolPage("monitor", "Monitor", "How busy the devices are, in a few figures."),
)
"""In the order in which people look at them."""


def tool_page(tool: ToolPage, run: Run, params: Params) -> Page:
    """The page of a tool.

    Args:
        tool: Which.
        run: The run.
        params: ``host``, ``step``, ``classic``, and what only some tools have.

    Raises:
        UsageError: A parameter has no such value.
    """
    result = tool_result(tool.id, run, params)
    return Page(
        tool.id, tool.title, tool.about, result_blocks(result, run), controls(tool, run, params)
    )


def tool_result(name: str, run: Run, params: Params) -> ToolResult:
    """The answer of a tool for the parameters of an address.

    Raises:
        UsageError: A parameter has no such value.
    """
    from tfprof import tools

    function = getattr(tools, name.replace("-", "_"))
    known = inspect.signature(function).parameters.keys() - {"run"}  # which has been chosen
    chosen: dict[str, Any] = {
        key: value for key, value in params.items() if key in known and value != ""
    }
    for key in ("step", "width"):
        if key in chosen:
            chosen[key] = whole_number(key, chosen[key])
    if "classic" in chosen:
        chosen["classic"] = chosen["classic"] == "1"
    run.chosen(chosen.get("host"))
    result: ToolResult = function(run, **chosen)
    return result


def whole_number(name: str, text: str) -> int:
    """A parameter that is a whole number.

    Raises:
        UsageError: It is none.
    """
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{name}={text!r} is no whole number") from None


def result_blocks(result: ToolResult, run: Run) -> list[Block]:
    """All that a tool answers, from top to bottom: words, notes, advice, pictures, tables."""
    blocks: list[Block] = [words(result.verdict, lead=True)] if result.verdict else []
    notes = [*(note for note in run.notes if note not in result.notes), *result.notes]
    blocks += notes_block(notes)
    step_micros = Evidence(run, run.hosts).step_ms * 1000 if result.advice else 0.0
    guide = words_for(run.hosts).guide
    blocks += findings_block(finding_of(each, step_micros, guide) for each in result.advice)
    blocks += [chart_block(chart) for chart in result.charts]
    blocks += [table_block(table) for table in result.tables.values() if len(table)]
    if not result.charts and not any(map(len, result.tables.values())):
        why = " ".join(note.message for note in result.notes)
        blocks.append(empty(why or "There is nothing of this kind in the capture."))
    return blocks


def controls(tool: ToolPage, run: Run, params: Params) -> list[Control]:
    """What can be chosen on the page of a tool."""
    from tfprof import tools

    known = inspect.signature(getattr(tools, tool.id.replace("-", "_"))).parameters
    chosen = []
    if "host" in known and len(run.hosts) > 1:
        hosts = [("", "all hosts"), *((host.name, host.name) for host in run.hosts)]
        chosen.append(Control("host", "Host", "choice", params.get("host", ""), "", hosts))
    if "by" in known:
        ways = [(name, name) for name in ("program", "category", "provenance")]
        chosen.append(
            Control("by", "Group by", "choice", params.get("by", "program"), "program", ways)
        )
    return chosen
