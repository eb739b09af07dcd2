"""Asks opened runs with DuckDB: one statement that reads, and that nothing else can happen in."""

from __future__ import annotations

import difflib
import json
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.errors import MissingDependencyError, UsageError
from tfprof.pages.open_paths import open_paths, with_names_of_their_own
from tfprof.pages.opened import Opened, opened_profiler, opened_run
from tfprof.profiler import Profiler
from tfprof.sql.catalog import Catalog, SqlTable

if TYPE_CHECKING:
    from tfprof.files.disk import Watch

TOOL = "query"

Asked = str | os.PathLike[str] | Run | Profiler | Opened
"""What can be asked: paths, captured runs and profilers."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a question may take.

    Attributes:
        seconds: Time, from the start of the statement.
        rows: Rows of the answer; more are left out, and a note says so.
        memory_bytes: Memory of DuckDB, beside that of the tables.

    Raises:
        UsageError: A limit is not above 0.
    """

    seconds: float = 30.0
    rows: int = 10_000
    memory_bytes: int = 2 << 30

    def __post_init__(self) -> None:
        for name in ("seconds", "rows", "memory_bytes"):
            value = getattr(self, name)
            if not value > 0:
                raise UsageError(f"limit {name}={value!r} must be above 0")


class Database:
    """Runs that can be asked in SQL; a context manager.

    Each question is one statement that reads (``SELECT``, ``WITH``, ``FROM``, ``DESCRIBE`` …). It
    cannot read or write files, load extensions, change settings, or see anything but the tables of
    these runs.

    Args:
        asked: Paths, captured runs or profilers. Paths are opened as ``tfprof ui`` opens them.
        limits: How much a question may take.
        watch: Is told of what is read.

    Raises:
        MissingDependencyError: DuckDB is not installed.
        UsageError, InputError: A path cannot be opened.
    """

    def __init__(
        self, *asked: Asked, limits: Limits | None = None, watch: Watch | None = None
    ) -> None:
        self._duckdb = _load_duckdb()
        self._limits = limits or Limits()
        self._catalog = Catalog(opened_of(asked, watch))
        self._registered: set[str] = set()
        self._connection = self._duckdb.connect(
            ":memory:",
            config={
                "enable_external_access": "false",
                "python_enable_replacements": "false",  # no variables of this process
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "memory_limit": f"{self._limits.memory_bytes // 1024}KiB",
                "max_temp_directory_size": "0KiB",
                "lock_configuration": "true",
            },
        )

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back what it holds."""
        self._connection.close()

    def tables(self) -> list[SqlTable]:
        """All tables that can be asked; all tools are asked for theirs."""
        tables = [self._catalog.table(name) for name in self._catalog.names()]
        return [table for table in tables if table is not None]

    def table(self, name: str) -> SqlTable:
        """One table, for data frames: ``polars.DataFrame(database.table("steps"))``.

        Raises:
            UsageError: There is no such table.
        """
        table = self._catalog.table(name)
        if table is None:
            raise UsageError(self._unknown(name))
        return table

    def query(self, statement: str) -> ToolResult:
        """Ask.

        Args:
            statement: One statement that reads, in DuckDB's dialect.

        Returns:
            The answer, with its rows as the table ``rows``.

        Raises:
            UsageError: It is wrong, not one statement that reads, or takes too long or too much.
        """
        with self._errors_of():
            statements = self._connection.extract_statements(statement)
            if len(statements) != 1:
                raise UsageError(
                    f"query: {len(statements)} statements were given; give one, such as "
                    "'select name, sum(self_ps) from events group by name'"
                )
            kind = statements[0].type.name
            if kind != "SELECT":
                raise UsageError(f"query: {kind} is not allowed; a query only reads: SELECT …")
            [(parsed,)] = self._connection.execute(
                "select json_serialize_sql(?::varchar)", [statement]
            ).fetchall()
        for name in sorted(_table_names(json.loads(parsed))):
            self._register(name)
        return self._answer(statement)

    def _register(self, name: str) -> None:
        if name in self._registered:
            return
        table = self._catalog.table(name.lower())
        if table is not None:  # else DuckDB's own error says where it is named
            self._connection.register(name, table)
            self._registered.add(name)

    def _answer(self, statement: str) -> ToolResult:
        limits = self._limits
        has_ended = threading.Event()

        def interrupt() -> None:
            if not has_ended.wait(limits.seconds):
                self._connection.interrupt()

        watcher = threading.Thread(target=interrupt, name="tfprof-query", daemon=True)
        watcher.start()
        try:
            with self._errors_of():
                cursor = self._connection.execute(statement)
                rows = cursor.fetchmany(limits.rows + 1)
                described = cursor.description
        finally:
            has_ended.set()
            watcher.join()
        notes = []
        if len(rows) > limits.rows:
            rows = rows[: limits.rows]
            notes.append(
                Note("warning", f"only the first {limits.rows:,} rows are here, in no certain "
                     "order unless the query has an ORDER BY; aggregate, add LIMIT, or raise "
                     "the limit of rows")
            )  # fmt: skip
        columns = _columns([(str(one[0]), str(one[1])) for one in described])
        cells = [tuple(map(_cell, row)) for row in rows]
        table = Table("rows", columns, cells, title="Rows")
        return ToolResult(TOOL, "Query", tables={"rows": table}, notes=tuple(notes))

    @contextmanager
    def _errors_of(self) -> Iterator[None]:
        """DuckDB's errors as ours."""
        try:
            yield
        except self._duckdb.InterruptException as error:
            raise UsageError(
                f"query: ended after its limit of {self._limits.seconds:g} s; ask for less, or "
                "raise the limit of time"
            ) from error
        except self._duckdb.OutOfMemoryException as error:
            raise UsageError(
                f"query: needs more than its limit of memory; ask for less: {_first_line(error)}"
            ) from error
        except self._duckdb.PermissionException as error:
            raise UsageError(
                "query: it may not read or write files, or reach anything but its tables: "
                f"{_first_line(error)}"
            ) from error
        except self._duckdb.Error as error:
            raise UsageError(f"query: {self._explained(str(error))}") from error

    def _explained(self, message: str) -> str:
        """DuckDB's message; of an unknown table with ours."""
        _, found, rest = message.partition("Table with name ")
        if found and " does not exist" in rest:
            return self._unknown(rest.partition(" does not exist")[0])
        return message.strip()

    def _unknown(self, name: str) -> str:
        names = self._catalog.names()
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"they have {', '.join(names)}"
        return f"these runs have no table {name!r}; {hint}"


def query(statement: str, *asked: Asked, limits: Limits | None = None) -> ToolResult:
    """Ask runs one question in SQL.

    Arguments, answer and errors are those of ``Database`` and its ``query``.
    """
    with Database(*asked, limits=limits) as database:
        return database.query(statement)


def _load_duckdb() -> Any:
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependencyError(
            "queries in SQL need DuckDB: pip install 'tfprof[sql]'"
        ) from error
    return duckdb


def opened_of(asked: Sequence[Asked], watch: Watch | None = None) -> list[Opened]:
    """Paths, runs and profilers as what was opened; errors as ``Database``."""
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


def _table_names(parsed: Any) -> Iterator[str]:
    """Names that a parsed statement reads; also those it gives itself, of which none is ours."""
    inner: Iterable[Any] = ()
    if isinstance(parsed, dict):
        if parsed.get("type") == "BASE_TABLE":
            yield parsed["table_name"]
        inner = parsed.values()
    elif isinstance(parsed, list):
        inner = parsed
    for each in inner:
        yield from _table_names(each)


_NUMBERS = ("INT", "DECIMAL", "DOUBLE", "FLOAT", "REAL")


def _columns(described: Sequence[tuple[str, str]]) -> tuple[Column, ...]:
    """The columns of an answer; equal names are numbered."""
    columns: list[Column] = []
    taken: set[str] = set()
    for name, type_name in described:
        unique, number = name, 1
        while unique in taken:
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique)
        is_number = any(word in type_name for word in _NUMBERS) and not type_name.endswith("]")
        kind = "boolean" if type_name == "BOOLEAN" else "number" if is_number else "string"
        columns.append(Column(unique, unique, kind))  # type: ignore[arg-type]  # one of the three
    return tuple(columns)


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if type(value).__name__ == "Decimal":
        return float(value)
    return str(value)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
