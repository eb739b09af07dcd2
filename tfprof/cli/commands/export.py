"""``tfprof export``."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from tfprof.cli.inputs import RunInputs, input_options, open_profiler
from tfprof.cli.options import Choice, Command, CommandOption, from_params
from tfprof.cli.output import Target
from tfprof.cli.results import ResultChoice, file_options, format_option, print_remarks
from tfprof.cli.view import warnings_as_notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.profiles.model.profile import Profile

TABLE_NAMES = (
    "ops", "op_steps", "steps", "devices", "executions", "memory", "output_buffers", "allocations",
    "allocator_levels", "edges", "call_stacks",
)  # fmt: skip
"""Names of the tables, listed here so that the help text needs no import."""

TEXT_FORMATS = ("csv", "json", "jsonl")
FORMATS = (*TEXT_FORMATS, "parquet", "arrow")
_WIDTH = 100


def run(table: str, names: bool, **params: Any) -> None:
    """Read a profile and write one of its tables."""
    inputs, result = from_params(RunInputs, params), from_params(ResultChoice, params)
    target = result.target()
    if names:
        target.write(tables_text(min(_WIDTH, target.console().width)))
        return
    form = result.format or FORMATS[0]
    if form not in TEXT_FORMATS:
        target.refuse_terminal()
    with warnings_as_notes():
        profiler = open_profiler(inputs)
        from tfprof.inputs.profiler import session_of

        _write(
            _chunks(session_of(profiler).complete(), table, form),
            target,
            is_text=form in TEXT_FORMATS,
        )
    print_remarks(profiler.notices)


def _chunks(profile: Profile, name: str, form: str) -> Iterator[bytes]:
    from tfprof.profiles.write.tables import BY_NAME

    if form in TEXT_FORMATS:
        from tfprof.profiles.write.tables import table_chunks

        return table_chunks(BY_NAME[name], profile, form)
    from tfprof.export.formats import table_writer
    from tfprof.sql.catalog import table_of_profile

    return table_writer(form)(table_of_profile(profile, BY_NAME[name]))


def _write(chunks: Iterable[bytes], target: Target, *, is_text: bool) -> None:
    """Write piece by piece, as a table may be larger than memory."""
    if target.path is not None or not is_text:
        target.write_packed(chunks)
        return
    for chunk in chunks:
        text = chunk.decode()
        target.write(target.data(text))


def tables_text(width: int = _WIDTH) -> str:
    """All tables with their columns.

    Args:
        width: Cells in a line.
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
            help="Describe the tables and their columns; reads no files.",
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
            "csv: an unknown value is an empty cell, a list is JSON. json: one object with the "
            "columns and one row a line. jsonl: one object a line. parquet, arrow: for data frames "
            "(pip install 'tfprof[arrow]').",
            "csv",
            {"ndjson": "jsonl", "feather": "arrow"},
        ),
    ],
    help="Write the tables behind the views, for data frames and spreadsheets: ops, their costs in "
    "each step, executions, memory, edges, call stacks. The names of the columns hold the units.",
    examples=[
        "tfprof export --demo --table steps",
        "tfprof export --demo --table executions -o executions.csv.gz",
        "tfprof export --demo --table op_steps -o op_steps.parquet",
        "tfprof export --list",
    ],
)
