"""A connection of DuckDB in which one statement reads, and nothing else can happen."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.errors import MissingDependencyError, UsageError

TOOL = "query"


class Streamed(Protocol):
    """A table that others can read."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Its rows, in Arrow's form."""


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


class Connection:
    """A database in memory, without files, settings and extensions.

    Args:
        limits: How much a question may take.
        unknown: What to say of a table that there is not, by its name.

    Raises:
        MissingDependencyError: DuckDB is not installed.
    """

    def __init__(self, limits: Limits, unknown: Callable[[str], str] = str) -> None:
        self._duckdb = _load_duckdb()
        self._limits, self._unknown = limits, unknown
        self._connection = self._duckdb.connect(
            ":memory:",
            config={
                "enable_external_access": "false",
                "python_enable_replacements": "false",  # no variables of this process
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "memory_limit": f"{limits.memory_bytes // 1024}KiB",
                "max_temp_directory_size": "0KiB",
                "lock_configuration": "true",
            },
        )

    def close(self) -> None:
        """Give back what it holds."""
        self._connection.close()

    def parsed(self, statement: str) -> dict[str, Any]:
        """DuckDB's own reading of a statement.

        Raises:
            UsageError: It is wrong, or not one statement that reads.
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
        read: dict[str, Any] = json.loads(parsed)
        return read

    def statement_of(self, parsed: dict[str, Any]) -> str:
        """The statement of what ``parsed`` has given, perhaps changed."""
        [(statement,)] = self.rows("select json_deserialize_sql(?::json)", [json.dumps(parsed)])
        return str(statement)

    def register(self, name: str, table: Streamed) -> None:
        """Make a table known, to the next statement: older DuckDB reads a stream only once."""
        self._connection.register(name, table)

    def rows(self, statement: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
        """All rows of a statement of our own."""
        with self._errors_of():
            found: list[tuple[Any, ...]] = self._connection.execute(
                statement, values or []
            ).fetchall()
        return found

    def types(self, statement: str) -> list[tuple[str, str]]:
        """Names and types of the columns of a statement that reads.

        Raises:
            UsageError: DuckDB refuses it.
        """
        with self._errors_of():
            described = self._connection.execute(statement).description
        return [(str(one[0]), str(one[1])) for one in described]

    def all_rows(self, statement: str) -> list[tuple[Any, ...]]:
        """All rows of a statement, within the limits of time and memory.

        Raises:
            UsageError: It takes too long or too much.
        """
        with self._in_time():
            return self.rows(statement)

    def answer(self, statement: str) -> ToolResult:
        """The rows of a statement, within the limits, as the table ``rows``.

        Raises:
            UsageError: It is wrong, or takes too long or too much.
        """
        limits = self._limits
        with self._in_time(), self._errors_of():
            cursor = self._connection.execute(statement)
            rows = cursor.fetchmany(limits.rows + 1)
            described = cursor.description
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
    def _in_time(self) -> Iterator[None]:
        """Interrupt what takes longer than it may."""
        has_ended = threading.Event()

        def interrupt() -> None:
            if not has_ended.wait(self._limits.seconds):
                self._connection.interrupt()

        watcher = threading.Thread(target=interrupt, name="tfprof-query", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            has_ended.set()
            watcher.join()

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


def _load_duckdb() -> Any:
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependencyError(
            "queries in SQL need DuckDB: pip install 'tfprof[sql]'"
        ) from error
    return duckdb


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
