"""The tools of TensorBoard's Profile tab: one command each, all from one table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tfprof.captures.all_tools import TABLE_TOOLS, Tool
from tfprof.cli.captures import (
    SECTION,
    Question,
    answer,
    page_of,
    path_argument,
    question_options,
)
from tfprof.cli.fleet_options import fleet_options
from tfprof.cli.options import (
    Choice,
    Command,
    CommandOption,
    IntType,
    TextFile,
    from_params,
)
from tfprof.cli.output import Target, note, notes
from tfprof.cli.results import ResultChoice, as_text, result_options
from tfprof.cli.view import warnings_as_notes
from tfprof.cli.web_pages import with_choice, write_page
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.captures.run.result import Note, ToolResult
    from tfprof.inputs.opened import Opened

FORMATS = ("text", "json", "csv", "gviz", "html")
TOP = 20
ALL_TABLES = "all"


@dataclass(frozen=True, slots=True)
class _Shown:
    """What to show of a result: one table or ``ALL_TABLES``, and ``top`` rows (0: all) of each.

    None is the default of the format.
    """

    form: str | None
    table: str | None
    top: int | None


def run(tool: Tool, question: Question, shown: _Shown, result: ResultChoice) -> None:
    """Run the tool and write its result."""
    target = result.target()
    _check(shown, target)
    if shown.form == "html":
        with warnings_as_notes():
            page, source = page_of(tool.name, question)
        table = None if shown.table == ALL_TABLES else shown.table
        write_page(with_choice(page, table, shown.top), source, target)
        return
    with warnings_as_notes():
        tool_result, is_interrupted = answer(tool.name, question)
    if shown.form == "csv" and shown.table == ALL_TABLES:
        _write_tables(tool_result, shown.top, target)
    else:
        target.write(_written(tool_result, shown, target))
    if shown.form in ("csv", "gviz") or shown.table:
        print_notes(tool_result.notes)
    if is_interrupted:
        raise KeyboardInterrupt  # as for any command that Ctrl-C has ended


def print_notes(every: Iterable[Note]) -> None:
    """Print errors, then warnings, on stderr, for a result without a place for them."""
    found = list(every)
    for severity in ("error", "warning"):
        notes((str(one) for one in found if one.severity == severity), f"tfprof: {severity}")


def print_notes_of(opened: Iterable[Opened]) -> None:
    """Print the warnings on captures on stderr, for a command that does not show them."""
    for one in opened:
        if one.run is not None:
            print_notes(one.run().notes)


def _check(shown: _Shown, target: Target) -> None:
    top, form = shown.top, shown.form
    if top is not None and top < 0:
        raise UsageError(f"option --top={top} must be 0 (all) or more")
    if top is not None and form == "gviz":
        raise UsageError(
            "--top cannot be used with --format gviz, which is the complete JSON of the reference"
        )
    if shown.table == ALL_TABLES and form == "csv" and target.path is None:
        raise UsageError("--table all writes one file for each table; give -o NAME.csv")


def _written(result: ToolResult, chosen: _Shown, target: Target) -> str:
    table = "" if chosen.table in (None, ALL_TABLES) else chosen.table
    if chosen.form == "gviz":
        from tfprof.captures.show.tool_files import gviz_json

        return target.data(gviz_json(result.table(table).to_gviz() if table else result.to_gviz()))
    if chosen.form == "csv" and not table and len(result.tables) > 1:
        first, *others = result.tables
        note(f"this is the table {first}; --table chooses {', '.join(others)} or all")
    return written(result, chosen.form or FORMATS[0], table, chosen.top, target)


def written(
    result: ToolResult, form: str, name: str, top: int | None, target: Target,
    *, main: str = "", source: str | None = None,
) -> str:  # fmt: skip
    """An answer in a format.

    Args:
        result: The answer.
        form: ``text``, ``json``, ``csv`` or ``html``.
        name: The only table to write; empty for all, or as CSV for the first.
        top: Rows of each table, 0 for all; None for the usual number in a text, else for all.
        target: Where it goes.
        main: The table that CSV has if none is named and there is one of this name.
        source: What a page is about; by default the title of the answer.

    Raises:
        UsageError: ``top`` is negative, or there is no such table.
    """
    if top is not None and top < 0:
        raise UsageError(f"option --top={top} must be 0 (all) or more")
    if form == "html":
        from tfprof.ui.web.notebook import page_of as page_of_answer
        from tfprof.ui.web.report import one_page

        title = result.title if source is None else source
        return one_page(page_of_answer(result), title).decode()
    if form == "text":
        from tfprof.captures.show.tool_text import ToolText

        top = TOP if top is None else top
        return as_text([ToolText(result, name, top, target.glyphs())], target)
    from tfprof.captures.show.tool_files import result_json, table_csv, table_json

    shown = with_top(result, top)
    if form == "json":
        return target.data(table_json(shown.table(name)) if name else result_json(shown))
    return target.data(table_csv(shown.table(name or (main if main in shown.tables else ""))))


def with_top(result: ToolResult, top: int | None) -> ToolResult:
    """The result with the first rows of each table."""
    if not top:
        return result
    tables = {name: replace(table, rows=table.rows[:top]) for name, table in result.tables.items()}
    return replace(result, tables=tables)


def _write_tables(result: ToolResult, top: int | None, target: Target) -> None:
    """Write one file for each table; none if one of them cannot be written."""
    from tfprof.captures.show.tool_files import table_csv, table_paths

    assert target.path is not None
    shown = with_top(result, top)
    result.table()
    paths = table_paths(target.path, shown.tables)
    targets = {name: replace(target, path=path) for name, path in paths.items()}
    for each in targets.values():
        each.check()
    for name, each in targets.items():
        each.write(table_csv(shown.tables[name]))


def shown_options() -> list[CommandOption]:
    """The options that choose tables and rows."""
    section = "What to show"
    return [
        CommandOption(
            ["--table"], metavar="NAME", section=section,
            help="Show only one table. With --format csv -o NAME.csv, all writes each table to "
            "NAME.TABLE.csv. [default: all as text and JSON, the first as CSV]",
        ),
        CommandOption(
            ["--top"], type=IntType(), metavar="N", section=section,
            help=f"Rows of each table; 0 is all. [default: {TOP} as text, else all]",
        ),
    ]  # fmt: skip


_OWN_OPTIONS: dict[str, dict[str, Any]] = {
    "log": {
        "type": TextFile(),
        "metavar": "FILE",
        "help": "Log of the captured program, with lines of JAX's options jax_log_compiles and "
        "jax_explain_cache_misses. [default: none]",
    },
    "request": {
        "metavar": "NAME",
        "help": 'Request or span whose parts to list, as in the tables: 17, "request 17", '
        "decode:3, or decode for the slowest of that name. [default: the slowest]",
    },
    "by": {
        "type": Choice(["program", "category", "provenance"]),
        "help": "Upper levels of the tree: XLA programs, categories of ops, or framework names. "
        "[default: program]",
    },
    "program": {
        "metavar": "NAME",
        "help": "XLA program, by its name or number. [default: the heaviest of those that ran, by "
        "memory or by time]",
    },
    "node": {
        "metavar": "NAME",
        "help": "Instruction in the middle. [default: the one that took the most time, or the "
        "result of the program if none ran]",
    },
    "width": {
        "type": IntType(),
        "metavar": "N",
        "help": "Number of steps to follow from the instruction. [default: 3]",
    },
    "link": {
        "type": float,
        "metavar": "GB/S",
        "help": "What all links of a device carry in one direction, in GB/s, to compare the bus "
        "bandwidth with. [default: the published rate of a TPU; unknown for other devices]",
    },
    "device": {
        "metavar": "NAME",
        "help": "Peak rates of one device: a name such as h100 or tpu-v5e, or operations and bytes "
        "per second, 989e12,3.35e12. [default: what the capture says, or what tfprof doctor "
        "--measure-peaks has measured on its machine]",
    },
    "tokens_per_step": {
        "metavar": "N",
        "help": "Tokens in a step on all devices, for tokens per second.",
    },
    "examples_per_step": {
        "metavar": "N",
        "help": "Examples in a step on all devices, for examples per second.",
    },
    "flops_per_step": {
        "metavar": "N",
        "help": "Float operations of the model in a step on all devices, by your own formula. "
        "[default: those of the products that ran]",
    },
    "costs": {
        "metavar": "FILE",
        "help": "Costs of custom calls as JSON, by target, instruction or kernel, where * stands "
        'for anything: {"my_kernel": {"flops": 1.2e12, "bytes": 3.4e9}}.',
    },
}
"""Options that only some tools have."""


def _own_option(name: str) -> CommandOption:
    written = f"--{name.replace('_', '-')}"
    return CommandOption([written], default=None, section=SECTION, **_OWN_OPTIONS[name])


_FORMATS_HELP = (
    "text: a report. json: everything. csv: one table. gviz: the JSON that TensorBoard's Profile "
    "tab reads; with --classic also with its numbers. html: a page in one file."
)


def _command(tool: Tool) -> Command:
    def callback(table: str | None, top: int | None, **params: Any) -> None:
        result = from_params(ResultChoice, params)
        run(tool, from_params(Question, params), _Shown(result.format, table, top), result)

    return Command(
        tool.name,
        callback=callback,
        is_cached=True,
        params=[
            path_argument(),
            *question_options(with_step=tool.has_step),
            *(_own_option(name) for name in tool.options),
            *shown_options(),
            *([] if tool.shows_events else fleet_options()),
            *result_options(FORMATS, _FORMATS_HELP),
        ],
        help=f"{tool.about} Also reads results that older profilers have left in log folders.",
        examples=[f"tfprof {tool.name} {words}" for words in tool.examples],
    )


commands = {tool.name: _command(tool) for tool in TABLE_TOOLS}
