"""Whose database a file is: a history's, another program's, or no one's yet."""

from __future__ import annotations

from typing import Any, Final

from tfprof.errors import UnknownFormatError
from tfprof.files.disk import is_folder, opened
from tfprof.files.remote.path import named
from tfprof.insight.history.tables import TABLES, VERSION

MARK: Final = "tfprof_history"
"""The table that only a history has, with its version."""

_TYPES: Final = {"string": "varchar", "int64": "bigint", "float64": "double", "bool": "boolean"}


def is_history_file(path: str) -> bool:
    """Whether a file begins like a database of DuckDB.

    Raises:
        InputError: It cannot be read.
    """
    if is_folder(path):
        return False
    with opened(path, whole=False) as stream:
        head = stream.read(16)
    return head[8:12] == b"DUCK"


_OWNED: Final = """
select schema_name || '.' || table_name from duckdb_tables() where not internal
union all select schema_name || '.' || view_name from duckdb_views() where not internal
union all select schema_name || '.' || function_name from duckdb_functions() where not internal
union all select schema_name || '.' || sequence_name from duckdb_sequences()
union all select schema_name || '.' || type_name from duckdb_types() where not internal
order by all
"""
"""All that programs have made in a database. Looking through the functions takes a while."""

_COLUMNS: Final = """
select table_name, list(column_name || ' ' || lower(data_type) order by column_index)
from duckdb_columns() join duckdb_tables() using (schema_name, table_name)
where schema_name = 'main' group by table_name
"""


def check_tables(connection: Any, path: str, *, read_only: bool) -> None:
    """Check that the tables are ours, and make those of a new file.

    Args:
        connection: A connection to the database.
        path: Its file, for messages.
        read_only: Whether nothing may be written; an empty file then has empty tables for a while.

    Raises:
        UnknownFormatError: It is a database of another program, or of another version.
    """
    columns = dict(connection.execute(_COLUMNS).fetchall())
    if MARK not in columns or not set(TABLES) <= set(columns):
        held = [name.removeprefix("main.") for (name,) in connection.execute(_OWNED).fetchall()]
        if not held:
            _make(connection, "temp" if read_only else "")
            return
        raise UnknownFormatError(
            f"{named(path)}: is a database of another program, with {', '.join(held[:5])}; give "
            "the file of a history, or a new name"
        )
    for name, (_, described) in TABLES.items():
        if columns[name] != [f"{one.name} {_TYPES[one.type]}" for one in described]:
            raise UnknownFormatError(
                f"{named(path)}: the table {name} has other columns than that of a history: "
                f"{', '.join(columns[name])}; give the file of a history, or a new name"
            )
    [(version,)] = connection.execute(f"select max(version) from {MARK}").fetchall()
    if version != VERSION:
        raise UnknownFormatError(
            f"{named(path)}: this history has version {version}, and this tfprof reads version "
            f"{VERSION}; use the tfprof that wrote it, or build it again"
        )


def _make(connection: Any, kind: str) -> None:
    connection.begin()
    connection.execute(f"create {kind} table {MARK} (version integer)")
    connection.execute(f"insert into {MARK} values ({VERSION})")
    for name, (_, columns) in TABLES.items():
        typed = ", ".join(f'"{one.name}" {_TYPES[one.type]}' for one in columns)
        connection.execute(f"create {kind} table {name} ({typed})")
    connection.commit()
