"""Queries opened runs with DuckDB: one read-only statement at a time."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.run import Run
from tfprof.errors import UsageError
from tfprof.inputs.open_paths import open_paths, with_names_of_their_own
from tfprof.inputs.opened import Opened, opened_profiler, opened_run
from tfprof.inputs.profiler import Profiler
from tfprof.sql.capture_tables import CAPTURE_TABLES
from tfprof.sql.catalog import Catalog, SqlTable, TableDescription
from tfprof.sql.connection import Connection, Limits, UnknownTableError
from tfprof.sql.event_files import TABLES, EventFolder, view_files

if TYPE_CHECKING:
    from tfprof.core.progress import Progress

Asked = str | os.PathLike[str] | Run | Profiler | Opened
"""Sources of a database: paths, captured runs and profilers."""

_SHOWN = {
    "show": "select * from tables",
    "show tables": "select name from tables",
    "show all tables": "select * from tables",
}
"""Statements about all tables: DuckDB itself has only the tables of earlier queries."""


class Database:
    """Runs as an SQL database; a context manager.

    Each query is one read-only statement (``SELECT``, ``WITH``, ``FROM``, ``DESCRIBE`` …). It
    cannot read or write files, load extensions, change settings, or access anything but the tables
    of these runs.

    Args:
        asked: Paths, captured runs or profilers. Paths are opened as ``tfprof ui`` opens them.
        limits: Limits of a query.
        watch: Receives the progress of reading.
        folder: Where hosts write their events as files, so that memory holds none of them.

    Raises:
        MissingDependencyError: DuckDB is not installed.
        UsageError, InputError: A path cannot be opened.
    """

    def __init__(
        self,
        *asked: Asked,
        limits: Limits | None = None,
        watch: Progress | None = None,
        folder: EventFolder | None = None,
    ) -> None:
        self._connection = Connection(limits or Limits(), folder.path if folder else None)
        self._catalog = Catalog(opened_of(asked, watch))
        self._folder = folder

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what it holds."""
        self._connection.close()

    def tables(self) -> list[TableDescription]:
        """Descriptions of all tables, including those of all tools; ``table`` gives the rows."""
        return self._catalog.descriptions

    def table(self, name: str) -> SqlTable:
        """One table with its rows, for data frames: ``polars.DataFrame(database.table("steps"))``.

        Raises:
            UsageError: There is no such table.
        """
        table = self._catalog.table(name)
        if table is None:
            raise UsageError(self._unknown(name))
        return table

    def query(self, statement: str) -> ToolResult:
        """Run a query.

        Args:
            statement: One read-only statement in DuckDB's dialect.

        Returns:
            The answer, with its rows as the table ``rows``.

        Raises:
            UsageError: It is wrong, not one statement that reads, or takes too long or too much.
        """
        statement = _as_select(statement)
        while True:  # each time with one table more
            try:
                return self._connection.answer(statement)
            except UnknownTableError as error:
                name = error.table.lower()
                if self._folder is not None and name in TABLES:
                    runs, traces = self._catalog.captured(name)
                    if runs or traces:
                        view_files(self._connection, name, runs, traces, self._folder)
                        continue
                table = self._catalog.table(name)
                if table is None:
                    raise UsageError(f"query: {self._unknown(error.table)}") from None
                self._connection.register(table.name, table.fields, table.chunks)

    def _unknown(self, name: str) -> str:
        names = self._catalog.names()
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"they have {', '.join(names)}"
        return f"these runs have no table {name!r}; {hint}"


def query(statement: str, *asked: Asked, limits: Limits | None = None) -> ToolResult:
    """Run one SQL query on runs.

    Arguments, answer and errors are those of ``Database`` and its ``query``.
    """
    with Database(*asked, limits=limits) as database:
        return database.query(statement)


def opened_of(asked: Sequence[Asked], watch: Progress | None = None) -> list[Opened]:
    """Open paths, runs and profilers; errors as ``Database``."""
    paths = [one for one in asked if isinstance(one, (str, os.PathLike))]
    opened = open_paths(paths, watch=watch) if paths else []
    for one in asked:
        if isinstance(one, Run):
            opened.append(opened_run(one))
        elif isinstance(one, Profiler):
            opened.append(opened_profiler(one))
        elif isinstance(one, Opened):
            opened.append(one)
    if not opened:
        raise UsageError("nothing to ask; give paths, runs or profilers")
    return list(with_names_of_their_own(opened))


def columns_read(statement: str, limits: Limits | None = None) -> frozenset[str] | None:
    """The columns of events that a statement reads, among other words of DuckDB's plan for it.

    None if the statement also reads tables of tools, which have no columns yet.

    Raises:
        UsageError: It is wrong, or not one statement that reads.
    """
    connection = Connection(limits or Limits())
    try:
        for name, table in CAPTURE_TABLES.items():
            connection.register(name, *table.of(()))
        return frozenset(re.findall(r"\w+", connection.plan(_as_select(statement))))
    except UnknownTableError:
        return None
    finally:
        connection.close()


def _as_select(statement: str) -> str:
    return _SHOWN.get(" ".join(statement.lower().rstrip("; \n").split()), statement)
