"""Events of many hosts as Parquet files, each written where its host is read.

DuckDB reads them all, so that any query works without memory for events.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tfprof.captures.run.fact import fact
from tfprof.captures.run.memo import Memo
from tfprof.captures.run.run import Host, Run
from tfprof.captures.trace.events import begins_ps
from tfprof.core.columns.arrow import ArrowColumn, Field, Numbers, read_apart
from tfprof.core.columns.described import Described
from tfprof.errors import InputError
from tfprof.sql.capture_tables import CAPTURE_TABLES, NamedRun, NamedTrace, events_of_trace
from tfprof.sql.child import ArrowTable
from tfprof.sql.connection import Connection

EVENTS = "events"
TABLES = (EVENTS, "event_details", "event_arguments")
"""Tables in files: those with rows for each event."""

_OF_ALL = ("run", "host")
"""Columns that a file does not have: names depend on the other hosts."""

_TYPES = {"string": "varchar", "bool": "boolean", "int64": "bigint", "float64": "double"}


@dataclass(frozen=True, slots=True)
class EventFolder:
    """A folder for files of events, and the columns to write.

    Attributes:
        path: The folder.
        columns: Names that include the columns that queries read; None for all.
    """

    path: str
    columns: frozenset[str] | None = None

    def columns_of(self, table: str) -> tuple[str, ...]:
        """The columns of a table that files have."""
        names = [column.name for column in CAPTURE_TABLES[table].columns]
        return tuple(
            name
            for name in names
            if name not in _OF_ALL and (self.columns is None or name in self.columns)
        )


@fact
def file_of_host(
    host: Host, *, table: str, folder: str, columns: tuple[str, ...]
) -> tuple[int, bytes]:
    """A table of the events of one host, written to a file.

    Args:
        host: The host.
        table: Name of the table.
        folder: Where files are.
        columns: The columns to write.

    Returns:
        The number of the file, and its content if the folder is on another machine.

    Raises:
        InputError: It cannot be written.
    """
    rows = CAPTURE_TABLES[table].of([("", Run(host.name, (host,), (), Memo()))])
    with TemporaryDirectory(prefix="tfprof-") as other:
        is_here = Path(folder).is_dir()
        path = _written(folder if is_here else other, columns, *rows)
        return int(path.stem), b"" if is_here else path.read_bytes()


def _written(
    folder: str,
    columns: Sequence[str],
    fields: Sequence[Field],
    chunks: Sequence[Sequence[ArrowColumn]],
) -> Path:
    """A new file, named by its number, with columns of a table and this number."""
    import duckdb

    number = secrets.randbits(62)
    path = _path(folder, number)

    def write() -> None:
        with duckdb.connect(config={"threads": 1}) as connection:
            connection.register("rows", ArrowTable(fields, chunks))
            connection.execute(
                f"copy (select {', '.join((f'{number} as file', *columns))} from rows) "
                f"to {_quoted(path)} (format parquet, compression zstd)"
            )

    try:
        read_apart(write)
    except duckdb.IOException as error:
        raise InputError(f"{folder}: events cannot be written: {error}") from error
    return path


def _path(folder: str, number: int) -> Path:
    return Path(folder, f"{number}.parquet")


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def view_files(
    connection: Connection,
    table: str,
    runs: Sequence[NamedRun],
    traces: Sequence[NamedTrace],
    folder: EventFolder,
) -> None:
    """Register the files of all hosts with DuckDB as one table.

    Args:
        connection: Reads files of the folder.
        table: Name of the table.
        runs: The runs with their names.
        traces: Traces of other programs with their names; they have rows only in ``events``.
        folder: Where the files are.
    """
    described, columns = CAPTURE_TABLES[table], folder.columns_of(table)
    files: list[tuple[int, str, str, int]] = []
    for name, run in runs:
        for host, begin_ps in zip(run.hosts, begins_ps(run.hosts), strict=True):
            number, content = file_of_host(host, table=table, folder=folder.path, columns=columns)
            if content:
                _path(folder.path, number).write_bytes(content)
            files.append((number, name, host.name, begin_ps))
    for name, trace in traces if table == EVENTS else ():
        path = _written(folder.path, columns, *described.of((), events_of_trace(name, trace())))
        files.append((int(path.stem), name, "", 0))
    numbers, names, hosts, begins = zip(*files, strict=True)
    connection.register(
        f"{table}_files",
        [Field("file", "int64"), Field("run", "string"), Field("host", "string"),
         Field("begin_ps", "int64")],
        [[Numbers(np.array(numbers)), names, hosts, Numbers(np.array(begins, np.int64))]],
    )  # fmt: skip
    values = {name: name for name in (*_OF_ALL, *columns)}
    if "start_ps" in values:
        values["start_ps"] = "start_ps + begin_ps"
    shown = ", ".join(
        f"{values.get(one.name) or _unwritten(one)} as {one.name}" for one in described.columns
    )
    paths = ", ".join(_quoted(_path(folder.path, number)) for number in numbers)
    connection.rows(
        f"create view {table} as select {shown} from read_parquet([{paths}]) "
        f"join {table}_files using (file)"
    )


def _unwritten(column: Described) -> str:
    """The value of a column that the files lack: reading it is an error."""
    return f"error('the column {column.name} was not written')::{_TYPES[column.type]}"
