"""Pages of the tools: the result of each as blocks."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

from tfprof.captures.all_tools import TOOLS, Tool, tool_function
from tfprof.captures.practices.findings import findings_of
from tfprof.captures.run.result import ToolResult
from tfprof.core.text.wording import sentence
from tfprof.errors import UsageError
from tfprof.ui.pages.blocks_of_results import (
    findings_block,
    notes_block,
    table_block,
)
from tfprof.ui.pages.buffers_picture import memory_space_control
from tfprof.ui.pages.document import Block, Control, Page, Params, empty, tabs, words
from tfprof.ui.pages.host_choice import host_control
from tfprof.ui.pages.last_answers import LastAnswers
from tfprof.ui.pages.links import Names, table_links
from tfprof.ui.pages.step_choice import chosen_steps, chosen_words, step_control
from tfprof.ui.pages.tool_pictures import DRAWN_TABLES, POD_MEASURES, pictures

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.captures.run.table import Table

IDLE_TABS = {"ops": "Without idle time", "ops_with_idle": "With idle time"}
"""The two tables of op stats, which are shown one at a time."""


def tool_page(tool: Tool, run: Run, params: Params) -> Page:
    """The page of a tool.

    Args:
        tool: Its name.
        run: The run.
        params: ``host``, ``step``, ``classic``, and parameters of some tools only.

    Raises:
        UsageError: A parameter has no such value.
    """
    result = tool_result(tool.name, run, params)
    return Page(
        tool.name,
        tool.title,
        tool.line,
        result_blocks(tool.name, result, run, params),
        controls(tool, run, params),
    )


def tool_result(name: str, run: Run, params: Params) -> ToolResult:
    """The answer of a tool for the parameters of an address.

    Raises:
        UsageError: A parameter has no such value.
    """
    function = tool_function(name)
    known = inspect.signature(function).parameters.keys() - {"run"}  # which has been chosen
    chosen: dict[str, Any] = {
        key: value for key, value in params.items() if key in known and value != ""
    }
    key = (name, *sorted(chosen.items()))
    if "step" in chosen:
        chosen["step"] = chosen_steps(chosen["step"])
    for number in ("at_ms", "link"):
        if number in chosen:
            chosen[number] = _number(number, chosen[number])
    for whole in ("width", "memory_space"):
        if whole in chosen:
            chosen[whole] = whole_number(whole, chosen[whole])
    if "classic" in chosen:
        chosen["classic"] = chosen["classic"] == "1"
    run.chosen(chosen.get("host"))
    answers = run.memo.once("answers of pages", LastAnswers)
    return answers.once(key, lambda: function(run, **chosen))


def whole_number(name: str, text: str) -> int:
    """A parameter that is a whole number.

    Raises:
        UsageError: It is none.
    """
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{name}={text!r} is not a whole number") from None


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{name}={text!r} is not a number")
    return value


def result_blocks(tool: str, result: ToolResult, run: Run, params: Params) -> list[Block]:
    """All blocks of a result: the answer in a sentence, pictures, remarks and advice, tables."""
    blocks = chosen_words(run, params) if TOOLS[tool].judges_all_steps else []
    blocks += [words(result.verdict[:1], lead=True)] if result.verdict else []
    has_data = bool(result.charts) or any(map(len, result.tables.values()))
    blocks += pictures(tool, result, run, params)
    blocks += [words(result.verdict[1:])] if result.verdict[1:] else []
    # Without data the notes are the reason, which appears once, in place of the data.
    known = set(run.notes)
    own = [note for note in dict.fromkeys(result.notes) if note not in known]
    blocks += notes_block([*run.notes, *own] if has_data else run.notes)
    blocks += findings_block(findings_of(run, result.advice)) if result.advice else []
    names = Names(run, params)
    made = {
        name: _linked(tool, table, result, names, params)
        for name, table in result.tables.items()
        if len(table) and name != DRAWN_TABLES.get(tool)
    }
    if tool == "op-stats" and len(made) == len(IDLE_TABS):
        blocks.append(tabs("idle", [(IDLE_TABS[name], [block]) for name, block in made.items()]))
    else:
        blocks += made.values()
    if not has_data:
        why = " ".join(f"{sentence(note.message).rstrip('.')}." for note in own)
        if why or not result.verdict:  # a verdict has its own reason
            blocks.append(empty(why or "There is nothing of this kind in the capture."))
    return blocks


def _linked(tool: str, table: Table, result: ToolResult, names: Names, params: Params) -> Block:
    """A table with links."""
    program = _program_of(tool, table, result, params)
    links = table_links(table, names, program.get("program", ""))
    return table_block(table, links=links, **program)


def _program_of(tool: str, table: Table, result: ToolResult, params: Params) -> dict[str, str]:
    """The compiled program of the instructions of a table: a column, or one for all."""
    if any(each.id == "program_id" for each in table.columns):
        return {"program_column": "program_id"}
    if tool == "graph-viewer":
        return {"program": str(result.data.get("program", ""))}
    if tool == "memory-viewer":  # without a choice it shows the one with most memory, the first
        return {"program": params.get("program") or str(result.tables["programs"].rows[0][1])}
    return {}


def controls(tool: Tool, run: Run, params: Params) -> list[Control]:
    """The choices on the page of a tool."""
    known = inspect.signature(tool_function(tool.name)).parameters
    chosen = step_control(run, params) if "step" in known else []
    if "host" in known:
        chosen += host_control(run, params)
    if "at_ms" in known:
        moment = params.get("at_ms", "")
        about = "What was in use then is listed; click into a chart. Empty for the peak."
        chosen.append(Control("at_ms", "Moment", "text", moment, "", help=about, unit="ms"))
    if tool.name == "pod":
        shown = params.get("show", "total_us")
        chosen.append(Control("show", "Show", "choice", shown, "total_us", POD_MEASURES))
    if "link" in known:
        about = "What all links of a device carry in one direction, where captures do not state it."
        rate = params.get("link", "")
        chosen.append(Control("link", "Links, GB/s", "text", rate, "", help=about))
    if "request" in known:
        about = (
            "Whose parts to list: 17, or a name of the table of the slowest; empty for the slowest."
        )
        chosen.append(
            Control("request", "Request", "text", params.get("request", ""), "", help=about)
        )
    if "by" in known:
        ways = [(name, name) for name in ("program", "category", "provenance")]
        chosen.append(Control("by", "By", "choice", params.get("by", "program"), "program", ways))
    if "program" in known:
        chosen.append(_program_control(run, params))
    if "memory_space" in known:
        chosen += memory_space_control(tool_result(tool.name, run, params), run, params)
    if "node" in known:
        chosen.append(Control("node", "Instruction", "text", params.get("node", ""), ""))
        width = params.get("width", "3")
        chosen.append(Control("width", "Steps away", "int", width, "3"))
    for name, label, about in _AMOUNTS:
        if name in known:
            chosen.append(
                Control(
                    name,
                    label,
                    "text",
                    params.get(name, ""),
                    "",
                    help=about,
                    group="Your numbers",
                )
            )
    return chosen


_AMOUNTS = (
    ("device", "Device", "Peak rates: a name such as h100, or operations and bytes per second such "
     "as 989e12,3.35e12; empty for what is known."),
    ("tokens_per_step", "Tokens per step", "On all devices, for tokens per second."),
    ("examples_per_step", "Examples per step", "On all devices, for examples per second."),
    ("flops_per_step", "Model FLOPs per step", "On all devices, by your own formula; empty for "
     "those of the products that ran."),
)  # fmt: skip
"""Parameters of utilization, their labels, and what they are."""


def _program_control(run: Run, params: Params) -> Control:
    """The compiled programs of a run."""
    from tfprof.captures.tools.buffer_memory import memory_viewer

    programs = memory_viewer(run).tables.get("programs")
    rows = [] if programs is None else programs.to_rows()
    names = {str(row["program_id"]): f"{row['module']}({row['program_id']})" for row in rows}
    ways = [("", "the tool's choice"), *names.items()]
    return Control("program", "Program", "choice", params.get("program", ""), "", ways)
