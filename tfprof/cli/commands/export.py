"""``tfprof export``."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from tfprof.cli.inputs import RunInputs, input_options, open_profiler
from tfprof.cli.options import Choice, Command, CommandOption, taken
from tfprof.cli.output import Target, harmless
from tfprof.cli.results import ResultChoice, file_options, format_option, tell
from tfprof.cli.view import warnings_as_notes

if TYPE_CHECKING:
    from collections.abc import Iterable

TABLE_NAMES = (
    "ops", "op_steps", "steps", "devices", "executions", "memory", "output_buffers", "allocations",
    "allocator_levels", "edges", "call_stacks",
)  # fmt: skip
"""The tables there are, which a help text should not cost an import."""

FORMATS = ("csv", "json", "jsonl")
_WIDTH = 100


def run(table: str, names: bool, **given: Any) -> None:
    """Read a profile and write one of its tables."""
    inputs, result = taken(RunInputs, given), taken(ResultChoice, given)
    target = result.target()
    if names:
        target.write(tables_text(min(_WIDTH, target.console().width)))
        return
    with warnings_as_notes():
        profiler = open_profiler(inputs)
        from tfprof.profiler import session_of
        from tfprof.profiles.write.table_text import table_chunks
        from tfprof.profiles.write.tables import BY_NAME

        profile = session_of(profiler).complete()
        chunks = table_chunks(BY_NAME[table], profile, result.format or FORMATS[0])
        _write(chunks, target)
    tell(profiler.notices)


def _write(chunks: Iterable[bytes], target: Target) -> None:
    """Write bit by bit; a table may be larger than memory."""
    if target.path is not None:
        from tfprof.files.compressed_output import packed

        target.write_chunks(packed(chunks, target.path.name))
        return
    for chunk in chunks:
        text = chunk.decode()
        target.write(harmless(text) if target.is_terminal else text)


def tables_text(width: int = _WIDTH) -> str:
    """All tables with their columns.

    Args:
        width: Where to wrap.
    """
    from tfprof.profiles.write.tables import TABLES

    parts = []
    for table in TABLES:
        parts += [line + "\n" for line in wrap(f"{table.name}: {table.about}", width)]
        column = max(len(field.name) for field in table.fields) + 4
        for field in table.fields:
            unit = f" [{field.unit}]" if field.unit else ""
            lines = wrap(field.meaning + unit, max(20, width - column))
            parts.append(f"  {field.name:<{column - 2}}{lines[0]}\n")
            parts += [" " * column + line + "\n" for line in lines[1:]]
        parts.append("\n")
    return "".join(parts[:-1])


def _options() -> list[CommandOption]:
    section = "What to write"
    return [
        CommandOption(
            ["--table"], type=Choice(TABLE_NAMES), default="ops", metavar="TABLE",
            section=section, help=f"One of: {', '.join(TABLE_NAMES)}. [default: ops]",
        ),
        CommandOption(
            ["names", "--list"], is_flag=True, section=section,
            help="Say what the tables and their columns are, and read nothing.",
        ),
    ]  # fmt: skip


command = Command(
    "export",
    callback=run,
    params=[
        *input_options(),
        *_options(),
        *file_options("Write to a file, packed if it ends in .gz, .xz or .zst; - is stdout."),
        format_option(
            FORMATS,
            "csv: unknown is an empty cell, lists are JSON. json: one object with the columns and "
            "one row a line. jsonl: one object a line.",
            "csv",
        ),
    ],
    help="Write the tables behind the views, for data frames and spreadsheets: ops, what each cost "
    "in each step, every execution, memory, edges, call stacks. Units are in the names of the "
    "columns.",
    examples=[
        "tfprof export --demo --table steps",
        "tfprof export --demo --table executions -o executions.csv.gz",
        "tfprof export --list",
    ],
)
