"""The file of a history: a DuckDB database with a few tables, shared by several writers.

A connection holds a lock on the file, so each is opened for a moment only, and waits for others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final, Literal

from tfprof.captures.run.table import Column, Table
from tfprof.core.columns.arrow import read_apart
from tfprof.errors import (
    InputError,
    MalformedProfileError,
    MissingDependencyError,
    UnknownFormatError,
)
from tfprof.files.disk import read_file
from tfprof.files.local_folder import local_folder
from tfprof.files.remote.path import RemotePath, as_path
from tfprof.insight.budgets.key_figures import KeyFigure
from tfprof.insight.history.owner import check_tables, is_history_file
from tfprof.insight.history.record import RunRecord
from tfprof.insight.history.tables import TABLES

WAIT_SECONDS: Final = 20.0
"""How long to wait for another program that has the file open."""

_PLACES: Final = "select run, min(source) from sources where run <> '' group by run"
_KINDS: Final[dict[str, Literal["string", "boolean"]]] = {"string": "string", "bool": "boolean"}


class Store:
    """A history in a file.

    Args:
        path: The file; on another machine it can only be read.

    Raises:
        MissingDependencyError: DuckDB is not installed.
    """

    def __init__(self, path: str) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise MissingDependencyError(
                "a history is kept with DuckDB: pip install 'tfprof[sql]'"
            ) from error
        self._duckdb, self.path = duckdb, path

    def exists(self) -> bool:
        """Whether there is such a file."""
        return as_path(self.path).exists()

    def sources(self) -> dict[str, tuple[str, str, str]]:
        """State, run and trouble of each place that was read; errors as ``records``."""
        if not self.exists():
            return {}
        return {row[0]: (row[1], row[2], row[3]) for row in self.rows("sources")}

    def records(self) -> list[RunRecord]:
        """All runs, by time.

        Raises:
            InputError: The file cannot be read, or another program keeps it open for too long.
            UnknownFormatError: It is something else.
            MalformedProfileError: It is damaged.
        """
        with self._reading() as connection:
            parts: dict[str, dict[str, Any]] = {}
            for table in ("versions", "labels"):
                for run, name, value in _all(connection, table):
                    parts.setdefault(run, {}).setdefault(table, {})[name] = value
            for run, name, *more in _all(connection, "figures"):
                unit, value, low, high, steps, at_least, remark, unknown = more
                figure = KeyFigure(name, unit, value, low, high, steps, at_least, remark, unknown)
                parts.setdefault(run, {}).setdefault("figures", {})[name] = figure
            for run, source in connection.execute(_PLACES).fetchall():
                parts.setdefault(run, {})["source"] = source
            runs = _all(connection, "runs")
        return sorted(
            (RunRecord(*row, **parts.get(row[0], {})) for row in runs), key=lambda one: one.order
        )

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        """All rows of a table, sorted; errors as ``records``."""
        with self._reading() as connection:
            return _all(connection, table)

    def add(
        self,
        records: Sequence[RunRecord],
        sources: Mapping[str, tuple[str, str, str]],
        replaced: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Add runs and places; what is there already stays, except for new commits and labels.

        Args:
            records: The runs.
            sources: State, run and trouble of places.
            replaced: Runs that give way to others, which keep their commit and labels; unless they
                lie in another place, too.

        Raises:
            InputError: The file cannot be written; and errors of ``records``.
        """
        if not records and not sources:
            return
        with self._writing() as connection:
            connection.begin()
            _add(connection, records)
            _insert(connection, "sources", [(name, *row) for name, row in sources.items()])
            for old, new in replaced.items():
                _replace(connection, old, new)
            connection.commit()

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        path = as_path(self.path)
        if not isinstance(path, RemotePath):
            with self._open(str(path), read_only=True) as connection:
                yield connection
            return
        with TemporaryDirectory(prefix="tfprof-") as folder:
            copy = Path(folder, "history.duckdb")
            copy.write_bytes(read_file(self.path))
            with self._open(str(copy), read_only=True) as connection:
                yield connection

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        with self._open(str(local_folder(self.path)), read_only=False) as connection:
            yield connection

    @contextmanager
    def _open(self, path: str, *, read_only: bool) -> Iterator[Any]:
        if as_path(path).exists() and not is_history_file(path):
            raise UnknownFormatError(
                f"{self.path}: is not a history; give the file of one, or a new name"
            )
        connection = self._connected(path, read_only=read_only)
        try:
            check_tables(connection, self.path, read_only=read_only)
            yield connection
        except self._duckdb.Error as error:
            told = _line(error)
            if not read_only and ("rite" in told or "space" in told):
                raise InputError(
                    f"{self.path}: cannot be written: {told}. Make room on its disk and try again; "
                    "what it held before is still there"
                ) from error
            raise self._damaged(told) from error
        finally:
            connection.close()

    def _connected(self, path: str, *, read_only: bool) -> Any:
        """A connection; waits while another process has the file open."""
        until = time.monotonic() + WAIT_SECONDS
        config = {"enable_external_access": "false", "threads": "1"}
        while True:
            try:
                return self._duckdb.connect(path, read_only=read_only, config=config)
            except self._duckdb.Error as error:
                told = _line(error)
                if "lock" not in told:
                    raise self._unopened(told, error) from error
                if time.monotonic() > until:
                    raise InputError(
                        f"{self.path}: another program has kept this history open for "
                        f"{WAIT_SECONDS:g} s: {told}. Try again when it has ended"
                    ) from error
            time.sleep(0.05)

    def _unopened(self, told: str, error: Exception) -> InputError:
        is_denied = isinstance(error, self._duckdb.IOException) and "Cannot open file" in told
        if is_denied or "ermission" in told:
            return InputError(f"{self.path}: cannot be opened: {told}. Give another file with --db")
        return self._damaged(told)

    def _damaged(self, told: str) -> MalformedProfileError:
        return MalformedProfileError(
            f"{self.path}: this history is damaged: {told}. Build it again from its log folders, "
            "under another name"
        )


def _all(connection: Any, table: str) -> list[tuple[Any, ...]]:
    """All rows of a table, sorted; texts are never null, even if another program wrote them."""
    columns = ", ".join(
        f"coalesce(\"{one.name}\", '')" if one.type == "string" else f'"{one.name}"'
        for one in TABLES[table][1]
    )
    rows: list[tuple[Any, ...]] = connection.execute(
        f"select {columns} from {table} order by all"
    ).fetchall()
    return rows


def _add(connection: Any, records: Sequence[RunRecord]) -> None:
    known = {run for (run,) in connection.execute("select run from runs").fetchall()}
    new: dict[str, RunRecord] = {}
    again: list[RunRecord] = []
    for one in records:
        if one.id in known or one.id in new:
            again.append(one)
        else:
            new[one.id] = one
    _insert(connection, "runs", [
        (one.id, one.name, one.program, one.began_ns, one.machine, one.hardware, one.framework,
         one.commit) for one in new.values()
    ])  # fmt: skip
    _insert(connection, "figures", [
        (one.id, each.name, each.unit, each.value, each.low, each.high, each.n_steps,
         each.at_least, each.remark, each.unknown)
        for one in new.values() for each in one.figures.values()
    ])  # fmt: skip
    for table in ("versions", "labels"):
        rows = [(one.id, *item) for one in new.values() for item in getattr(one, table).items()]
        _insert(connection, table, rows)
    for one in again:
        if one.commit:
            connection.execute(
                'update runs set "commit" = ? where run = ?', [_text(one.commit), one.id]
            )
        for item in one.labels.items():
            name, value = map(_text, item)
            connection.execute("delete from labels where run = ? and label = ?", [one.id, name])
            connection.execute("insert into labels values (?, ?, ?)", [one.id, name, value])


def _replace(connection: Any, old: str, new: str) -> None:
    if connection.execute("select 1 from sources where run = ?", [old]).fetchall():
        return
    connection.execute(
        'update runs set "commit" = (select max("commit") from runs where run = ?) '
        "where run = ? and \"commit\" = ''",
        [old, new],
    )
    known = "select label from labels where run = ?"
    connection.execute(
        f"update labels set run = ? where run = ? and label not in ({known})", [new, old, new]
    )
    for table in ("runs", "figures", "versions", "labels"):
        connection.execute(f"delete from {table} where run = ?", [old])


def _insert(connection: Any, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows at once; places that were read before are replaced."""
    if not rows:
        return
    columns = tuple(
        Column(one.name, one.name, _KINDS.get(one.type, "number")) for one in TABLES[table][1]
    )
    clean = [tuple(_text(each) if isinstance(each, str) else each for each in row) for row in rows]

    def insert() -> None:
        connection.register("added", Table("added", columns, clean))
        if table == "sources":
            connection.execute("delete from sources where source in (select source from added)")
        connection.execute(f"insert into {table} select * from added")
        connection.unregister("added")

    read_apart(insert)


def _text(value: str) -> str:
    """Text that a database can hold: without halves of surrogate pairs and zeros."""
    return value.encode("utf-8", "replace").decode().replace("\0", "?")


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
