"""``tfprof query``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from tfprof.cli.commands.tool import print_notes, written
from tfprof.cli.fleet_options import Reading, fleet_options, read_for
from tfprof.cli.options import Command, CommandOption, HelpedArgument, IntType, from_params
from tfprof.cli.results import ResultChoice, result_options
from tfprof.cli.sites import SiteInputs, chosen_runs, open_runs, site_options
from tfprof.cli.view import warnings_as_notes
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.captures.run.result import ToolResult
    from tfprof.captures.run.run import Run
    from tfprof.inputs.open_paths import ReadRun
    from tfprof.inputs.opened import Opened
    from tfprof.sql import Limits
    from tfprof.sql.catalog import TableDescription

FORMATS = ("text", "json", "csv", "html")
_WIDTH = 100
_SECTION = "Limits"


def run(
    words: Sequence[str], tables: bool, seconds: str, max_rows: int, engine: str | None,
    memory: int | None, **params: Any,
) -> None:  # fmt: skip
    """Query the runs, or list their tables."""
    choice = from_params(ResultChoice, params)
    target = choice.target()
    *paths, statement = words if words and not tables else (*words, "")
    if not tables and not statement.strip():
        raise UsageError(
            "query: no question; give it last, as one word: tfprof query logs/ 'select name, "
            "sum(self_ps) from events group by name'. --tables lists the tables"
        )
    from tfprof.remote.durations import seconds_of
    from tfprof.sql import Database, Limits

    limits = Limits(seconds_of(seconds), max_rows)
    inputs = from_params(SiteInputs, {**params, "paths": tuple(paths)})
    with warnings_as_notes():
        if len(paths) == 1 and _is_history(paths[0]):
            if tables:
                width = min(_WIDTH, target.console().width)
                target.write("\n".join(described(one, width) for one in _tables_of_history()))
                return
            result = _of_history(paths[0], statement, limits)
        elif (engine is not None or memory is not None) and not tables:
            result = _of_many_hosts(inputs, statement, limits, (engine, memory))
        else:
            opened = _chosen(inputs)
            with Database(*opened, limits=limits) as database:
                if tables:
                    width = min(_WIDTH, target.console().width)
                    target.write("\n".join(described(one, width) for one in database.tables()))
                    return
                result = _with_notes(database.query(statement), opened)
    form = choice.format or FORMATS[0]
    target.write(written(result, form, "rows", 0, target, source=""))
    print_notes(result.notes)


def _chosen(inputs: SiteInputs, read_run: ReadRun | None = None) -> Sequence[Opened]:
    return chosen_runs(open_runs(inputs, read_run), inputs.run)


def _is_history(path: str) -> bool:
    from tfprof.files.disk import is_ordinary_file
    from tfprof.insight.history.owner import is_history_file

    return is_ordinary_file(path) and is_history_file(path)


def _tables_of_history() -> Iterator[TableDescription]:
    from tfprof.insight.history.tables import TABLES
    from tfprof.sql.catalog import TableDescription

    for name, (about, columns) in TABLES.items():
        yield TableDescription(name, about, columns)


def _of_history(path: str, statement: str, limits: Limits) -> ToolResult:
    """The answer from the tables of a file of ``tfprof history``."""
    from tfprof.core.columns.frames_of_rows import column_of
    from tfprof.insight.history.store import Store
    from tfprof.sql.connection import Connection

    store = Store(path)
    connection = Connection(limits)
    try:
        for table in _tables_of_history():
            rows = store.rows(table.name)
            cells = list(zip(*rows, strict=True)) or [()] * len(table.columns)
            made = [
                column_of(one.name, own, unit=one.unit, kind=one.type)
                for one, own in zip(table.columns, cells, strict=True)
            ]
            connection.register(table.name, [field for field, _ in made], [[v for _, v in made]])
        return connection.answer(statement)
    finally:
        connection.close()


def _of_many_hosts(
    inputs: SiteInputs, statement: str, limits: Limits, reading: Reading
) -> ToolResult:
    """The answer from hosts that are read one by one; their events go to files."""
    from tfprof.sql.database import Database, columns_read
    from tfprof.sql.event_files import EventFolder

    columns = columns_read(statement, limits)
    with TemporaryDirectory(prefix="tfprof-") as path:
        folder = EventFolder(path, columns)

        def ask(run: Run) -> None:
            with Database(run, limits=limits, folder=folder) as database:
                database.query(statement)

        opened = _chosen(inputs, partial(read_for, ask, reading=reading))
        with Database(*opened, limits=limits, folder=folder) as database:
            return _with_notes(database.query(statement), opened)


def _with_notes(result: ToolResult, opened: Sequence[Opened]) -> ToolResult:
    """The answer with remarks on unreadable data."""
    notes = [note for one in opened if one.run is not None for note in one.run().notes]
    return replace(result, notes=(*result.notes, *notes))


def described(table: TableDescription, width: int = _WIDTH) -> str:
    """A table with its columns, types and units.

    Args:
        table: The table.
        width: Cells in a line.
    """
    parts = [line + "\n" for line in wrap(f"{table.name}: {table.about}", width)]
    column = max(len(one.name) for one in table.columns) + 4
    for one in table.columns:
        said = f"{one.type}{f' [{one.unit}]' if one.unit else ''}  {one.meaning}"
        lines = wrap(said, max(20, width - column), break_long_words=False)
        parts.append(f"  {one.name:<{column - 2}}{lines[0]}\n")
        parts += [" " * column + line + "\n" for line in lines[1:]]
    return "".join(parts)


def _params() -> list[Any]:
    _, _, *options = site_options()
    return [
        HelpedArgument(
            "words", "[PATH...] QUERY",
            "Runs as for tfprof ui, and last the question: one SELECT in DuckDB's SQL.",
            metavar="[PATH]... [QUERY]", nargs=-1,
        ),
        CommandOption(
            ["--run"], metavar="NAME", section="Input",
            help="Query only this run of a log folder. [default: all of them]",
        ),
        *options,
        *fleet_options(),
        CommandOption(
            ["--tables"], is_flag=True, section="What to show",
            help="List the tables of these runs with their columns, and run no query.",
        ),
        CommandOption(
            ["seconds", "--timeout"], default="30s", metavar="DURATION", section=_SECTION,
            help="Time limit of the query. [default: 30s]",
        ),
        CommandOption(
            ["--max-rows"], type=IntType(), default=10_000, metavar="N", section=_SECTION,
            help="Rows of the answer; a note says if there were more. [default: 10000]",
        ),
        *result_options(
            FORMATS, "text: a table. json, csv: its rows. html: a page in one file."
        ),
    ]  # fmt: skip


command = Command(
    "query",
    callback=run,
    params=_params(),
    help="Query captures and profiles in SQL: events, steps, the tables behind the views and those "
    "of all tools, of one run or of many. A query only reads these tables: it cannot reach files, "
    "settings or addresses. Needs DuckDB: pip install 'tfprof[sql]'.",
    examples=[
        "tfprof query logs/ 'select name, sum(self_ps) / 1e9 as self_ms from events group by name "
        "order by self_ms desc limit 10'",
        "tfprof query before/ after/ 'select run, avg(duration_ps) / 1e9 as step_ms from steps "
        "where is_typical group by run'",
        "tfprof query logs/ --tables",
    ],
)
