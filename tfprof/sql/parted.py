"""Questions about the events of many hosts: each host answers for itself, and the parts are joined.

A host's answer is a fact, so that an engine asks hosts for it where their files are, and no event
leaves its host.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tfprof.captures.run.fact import fact
from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.run import Host, Run
from tfprof.captures.trace.events import begin_ps, first_ns
from tfprof.core.columns.arrow import ArrowColumn, Field
from tfprof.errors import UsageError
from tfprof.sql.capture_tables import CAPTURE_TABLES, NamedRun, events_of
from tfprof.sql.connection import Connection, Limits, UnknownTableError
from tfprof.sql.split import TABLE, Split, split

_EVENTS = CAPTURE_TABLES[TABLE]

_TYPES = {"string": "varchar", "bool": "boolean", "int64": "bigint", "float64": "double"}


class PartedQuery:
    """A question about events that hosts answer one by one.

    Args:
        statement: A ``SELECT`` that ``split`` can split.
        limits: How much the answer of each host, and joining them, may take.

    Raises:
        UsageError: It is wrong, or cannot be split.
        MissingDependencyError: DuckDB is not installed.
    """

    def __init__(self, statement: str, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        connection = Connection(self._limits)
        try:
            columns = {column.name: _TYPES[column.type] for column in _EVENTS.columns}
            typed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            connection.rows(f"create table {TABLE} ({typed})")
            self._split = split(statement, connection, list(columns))
        except UnknownTableError as error:
            raise UsageError(
                f"query: a question about the events of many hosts has no table {error.table!r}; "
                f"it has {TABLE}"
            ) from None
        finally:
            connection.close()

    def of_hosts(self, name: str, run: Run) -> list[tuple[str | None, ...]]:
        """What the hosts of a run answer: keys and parts of aggregates, as texts.

        Args:
            name: What the run is called.
            run: The run.

        Raises:
            UsageError: It takes too long or too much; or hosts have one name.
        """
        uses = self._split.columns
        first = first_ns(run.hosts) if "start_ps" in uses else None
        rows = []
        for host in run.hosts:
            label, own = rows_of_host(
                host, statement=self._split.of_host, run=name, first_ns=first,
                seconds=self._limits.seconds, memory_bytes=self._limits.memory_bytes,
            )  # fmt: skip
            if label != host.name and "host" in uses:
                raise UsageError(
                    f"query: several files are called {label}, so hosts cannot tell their names; "
                    "rename them, or leave out --engine and --memory"
                )
            rows += own
        return rows

    def join(self, rows: Iterable[tuple[str | None, ...]]) -> ToolResult:
        """The answer of all hosts.

        Args:
            rows: What the hosts of all runs have answered.
        """
        made = self._split
        connection = Connection(self._limits)
        try:
            _register(connection, "parts", [*made.keys, *made.parts], list(rows))
            merged = connection.rows(_merging(made))
            columns = [*made.keys, *made.results]
            _register(connection, "joined", columns, [_with_results(made, r) for r in merged])
            types = [*made.key_types, *(value.type for value in made.values)]
            connection.rows(f"create table {TABLE} as select {_typed(columns, types)} from joined")
            return connection.answer(made.finish)
        finally:
            connection.close()


def ask_parted(
    statement: str, runs: Sequence[NamedRun], limits: Limits | None = None
) -> ToolResult:
    """The answer of runs, open or without events, to a question about events.

    Args:
        statement: A ``SELECT`` that ``split`` can split.
        runs: The runs with their names.
        limits: How much it may take.

    Raises:
        UsageError: It is wrong, cannot be split, or takes too long or too much.
    """
    parted = PartedQuery(statement, limits)
    return parted.join(row for name, run in runs for row in parted.of_hosts(name, run))


@fact
def rows_of_host(
    host: Host, *, statement: str, run: str, first_ns: int | None, seconds: float,
    memory_bytes: int,
) -> tuple[str, list[tuple[str | None, ...]]]:  # fmt: skip
    """The name of a host, and what a statement over its events answers, as texts.

    Args:
        host: The host.
        statement: All of its columns are texts.
        run: What its run is called.
        first_ns: When the first host of the run begins; None if starts do not matter.
        seconds: How long it may take.
        memory_bytes: How much DuckDB may use.
    """
    chunks: list[Sequence[ArrowColumn]] = []
    if len(host.timeline):
        begin = 0 if first_ns is None else begin_ps(host, first_ns)
        chunks.append(events_of(run, host, begin))
    connection = Connection(Limits(seconds, memory_bytes=memory_bytes))
    try:
        connection.register(TABLE, *_EVENTS.of((), chunks))
        return host.name, connection.rows(statement)
    finally:
        connection.close()


def _typed(names: Sequence[str], types: Sequence[str]) -> str:
    pairs = zip(names, types, strict=True)
    return ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in pairs)


def _merging(made: Split) -> str:
    """The statement that joins equal groups; its columns are texts."""
    typed = _typed([*made.keys, *made.parts], [*made.key_types, *made.part_types])
    shown = [f"cast({key} as varchar)" for key in made.keys]
    for merge, part in zip(made.merging, made.parts, strict=True):
        shown.append(f"cast({merge}({part}) as varchar)")
    groups = f" group by {', '.join(made.keys)}" if made.keys else ""
    return f"select {', '.join(shown)} from (select {typed} from parts){groups}"


def _with_results(made: Split, row: Sequence[str | None]) -> tuple[str | None, ...]:
    """A row of keys and merged parts, with aggregates instead of their parts."""
    n_keys = len(made.key_types)
    parts = row[n_keys:]
    return (*row[:n_keys], *(_result([parts[place] for place in v.parts]) for v in made.values))


def _result(parts: Sequence[str | None]) -> str | None:
    if len(parts) == 1:
        return parts[0]
    total, count = parts
    return None if total is None or count is None else repr(average(int(total), int(count)))


def average(total: int, count: int) -> float:
    """A sum by a count.

    It is rounded as DuckDB rounds averages of groups, first to C's ``long double``. Where DuckDB
    makes a sum and a count of an average itself, its last digit may be another one.
    """
    if total < 0:
        return -average(-total, count)
    upper, lower = divmod(total, 1 << 64)
    wide = np.longdouble(np.uint64(lower)) + np.longdouble(upper) * np.longdouble(2.0**64)
    return float(wide / np.longdouble(count))


def _register(
    connection: Connection, table: str, names: Sequence[str], rows: Sequence[tuple[str | None, ...]]
) -> None:
    """Make rows of texts known as a table."""
    fields = [Field(name, "string", {}) for name in names]
    connection.register(
        table, fields, [[[row[place] for row in rows] for place in range(len(names))]]
    )
