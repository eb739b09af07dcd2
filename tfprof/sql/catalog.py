"""Tables of queries, and the meaning of their columns.

Four kinds, by the beginning of their names: ``events`` and ``steps`` are the columns of captures,
``profile_…`` the tables behind the views (``tfprof export --list``), ``TOOL_TABLE`` the tables that
tools answer, such as ``op_stats_ops``; ``claims`` has what they state; and ``runs``, ``hosts``,
``notes``, ``tables`` and ``columns`` describe what there is. Each but the last two has a column
``run``, for questions about several. Names of columns are in snake case, also where a tool's JSON
has others (``stepTimeMs``). Names and units change only with ``SCHEMA_VERSION``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from tfprof.captures.all_tools import tool_function
from tfprof.captures.run.contents import tools_of
from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.table import KINDS, Column, Table
from tfprof.core.columns.arrow import ArrowColumn, Coded, Field, stream_of
from tfprof.core.columns.described import Described
from tfprof.core.columns.frames_of_rows import column_of
from tfprof.inputs.opened import Opened
from tfprof.inputs.profiler import session_of
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.write import tables as profile_tables
from tfprof.sql.capture_tables import (
    CAPTURE_TABLES,
    STACK_COLUMNS,
    NamedRun,
    NamedTrace,
    events_of_trace,
    samples_of_stacks,
)
from tfprof.sql.run_tables import (
    CLAIMS,
    HOSTS,
    NOTES,
    RUNS,
    rows_of_claims,
    rows_of_hosts,
    rows_of_notes,
    rows_of_runs,
)

SCHEMA_VERSION = 2
"""Increases when a table or column is renamed or changes its meaning."""

_PROFILE = "profile_"
_STACKS = "stacks"
_RUN = Described("run", "string", "", "name of the run")
_NO_RUN = ""

_OF_RUNS: dict[str, tuple[str, tuple[Described, ...], Any]] = {
    "runs": ("one row for each run", RUNS, rows_of_runs),
    "hosts": ("one row for each host of a captured run", HOSTS, rows_of_hosts),
    "notes": ("one row for each remark on what a captured run lacks", NOTES, rows_of_notes),
}
_CLAIMS = "claims"
_TABLES, _COLUMNS = "tables", "columns"
_OF_TABLES = {
    _TABLES: ("one row for each table", (
        Described("name", "string", "", "its name"),
        Described("about", "string", "", "what its rows are"),
    )),
    _COLUMNS: ("one row for each column of each table", (
        Described("table_name", "string", "", "name of the table"),
        Described("name", "string", "", "name of the column"),
        Described("type", "string", "", "type of its values"),
        Described("unit", "string", "", "unit of its numbers; empty without one"),
        Described("meaning", "string", "", "what it holds"),
    )),
}  # fmt: skip
_BLOCK = 4096
"""Number of rows that become columns at a time."""

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class TableDescription:
    """Description of a table over all opened runs, without its rows.

    Attributes:
        name: Its name.
        about: Meaning of a row.
        columns: Its columns.
    """

    name: str
    about: str
    columns: tuple[Described, ...]


@dataclass(frozen=True, slots=True)
class SqlTable(TableDescription):
    """One table over all opened runs.

    Attributes:
        fields: The types of its columns.
        chunks: Its rows, chunk by chunk.
    """

    fields: tuple[Field, ...]
    chunks: Sequence[Sequence[ArrowColumn]]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, not copied where they are columns."""
        return stream_of(self.fields, self.chunks)


class Catalog:
    """The tables of some runs; each is made once, when it is first needed.

    Args:
        opened: The runs.
    """

    def __init__(self, opened: Sequence[Opened]) -> None:
        self._opened = opened
        self._captures = [(one.name, one.run) for one in opened if one.run is not None]
        self._traces: list[NamedTrace] = [
            (one.name, one.trace) for one in opened if one.trace is not None and one.run is None
        ]
        self._stacks = [(one.name, one.stacks) for one in opened if one.stacks is not None]
        self._profiles = [(one.name, one.profiler) for one in opened if one.profiler is not None]
        self._answers: dict[str, list[tuple[str, ToolResult]]] = {}
        self._tables: dict[str, SqlTable | None] = {}

    def names(self) -> list[str]:
        """Names of all tables; each tool lists its own."""
        captured = [*CAPTURE_TABLES] if self._captures else ["events"] if self._traces else []
        captured += [_STACKS] if self._stacks else []
        captured += [_CLAIMS] if self._captures else []
        answered = [
            f"{_prefix(tool)}{table}"
            for tool in self._tools
            for table in dict.fromkeys(
                name for _, result in self._answers_of(tool) for name in result.tables
            )
        ]
        behind_views = [f"{_PROFILE}{name}" for name in profile_tables.BY_NAME]
        own = [*_OF_RUNS, *_OF_TABLES]
        return [*captured, *answered, *(behind_views if self._profiles else []), *own]

    def table(self, name: str) -> SqlTable | None:
        """A table by name; None if there is none."""
        if name not in self._tables:
            self._tables[name] = self._made(name)
        return self._tables[name]

    @cached_property
    def descriptions(self) -> list[TableDescription]:
        """Descriptions of all tables; the types of columns come from the rows of one at a time."""
        names = [name for name in self.names() if name not in _OF_TABLES]
        found = [one for one in map(self._described, names) if one is not None]
        return [*found, *(TableDescription(name, *own) for name, own in _OF_TABLES.items())]

    def _described(self, name: str) -> TableDescription | None:
        table = self._tables.get(name) or self._made(name)
        return None if table is None else TableDescription(name, table.about, table.columns)

    def _made(self, name: str) -> SqlTable | None:
        if any(self.captured(name)):
            return self._of_captures(name)
        if name == _STACKS and self._stacks:
            return self._of_stacks()
        if name in _OF_RUNS or name in _OF_TABLES or (name == _CLAIMS and self._captures):
            return self._of_catalog(name)
        if name.startswith(_PROFILE) and self._profiles:
            behind = profile_tables.BY_NAME.get(name[len(_PROFILE) :])
            return None if behind is None else self._of_profiles(name, behind)
        for tool in self._tools:
            if name.startswith(_prefix(tool)):
                return self._of_tool(tool, name)
        return None

    def captured(self, name: str) -> tuple[list[NamedRun], list[NamedTrace]]:
        """The runs and the traces of other programs that have rows in a table of captures."""
        if name not in CAPTURE_TABLES:
            return [], []
        runs = [(run, opened()) for run, opened in self._captures]
        return runs, self._traces if name == "events" else []

    def _of_captures(self, name: str) -> SqlTable:
        table = CAPTURE_TABLES[name]
        runs, traces = self.captured(name)
        more = (chunk for run, trace in traces for chunk in events_of_trace(run, trace()))
        fields, chunks = table.of(runs, more)
        return SqlTable(name, table.about, table.columns, fields, chunks)

    def _of_catalog(self, name: str) -> SqlTable:
        if name in _OF_RUNS:
            about, columns, of_runs = _OF_RUNS[name]
            return _of_rows(name, about, columns, [(_NO_RUN, of_runs(self._opened))])
        if name == _CLAIMS:
            stated = [one for tool in self._tools for one in self._answers_of(tool)]
            about = "one row for each statement of each tool, of its advice, and of their parts"
            return _of_rows(name, about, CLAIMS, [(_NO_RUN, rows_of_claims(stated))])
        about, columns = _OF_TABLES[name]
        rows: list[tuple[Any, ...]] = [(one.name, one.about) for one in self.descriptions]
        if name == _COLUMNS:
            rows = [
                (table.name, one.name, one.type, one.unit, one.meaning)
                for table in self.descriptions
                for one in table.columns
            ]
        return _of_rows(name, about, columns, [(_NO_RUN, rows)])

    def _of_stacks(self) -> SqlTable:
        chunks = [samples_of_stacks(run, stacks()) for run, stacks in self._stacks]
        fields = [
            column.field("int32" if column.type == "string" else "") for column in STACK_COLUMNS
        ]
        about = "one row for each number of each sample of call stacks that were read"
        return SqlTable(_STACKS, about, STACK_COLUMNS, tuple(fields), chunks)

    @cached_property
    def _tools(self) -> list[str]:
        """Tools that have data in one of the runs, in the order of the command line."""
        of_runs = [tools_of(run().hosts) for _, run in self._captures]
        found = {one.tool for tools in of_runs for one in tools if not one.missing}
        return [one.tool for one in tools_of(()) if one.tool in found]

    def _answers_of(self, tool: str) -> list[tuple[str, ToolResult]]:
        if tool not in self._answers:
            ask = tool_function(tool)
            self._answers[tool] = [(name, ask(run())) for name, run in self._captures]
        return self._answers[tool]

    def _of_tool(self, tool: str, name: str) -> SqlTable | None:
        wanted = name[len(_prefix(tool)) :]
        answers = self._answers_of(tool)
        tables = [
            (run, result.tables[wanted]) for run, result in answers if wanted in result.tables
        ]
        if not tables:
            return None
        columns = {column.id: column for _, table in tables for column in table.columns}
        described = [described_column(column) for column in columns.values()]
        about = f"{answers[0][1].title}: {tables[0][1].title or wanted}"
        runs = [(run, _rows_with(list(columns), table)) for run, table in tables]
        return _of_rows(name, about, described, runs)

    def _of_profiles(self, name: str, table: profile_tables.Table) -> SqlTable:
        runs = (
            (run, table.rows(session_of(profiler()).complete())) for run, profiler in self._profiles
        )
        return _of_rows(name, table.about, table.fields, runs)


def table_of_profile(profile: Profile, table: profile_tables.Table) -> SqlTable:
    """A table of one profile, without the name of a run."""
    return _of_rows(table.name, table.about, table.fields, [(_NO_RUN, table.rows(profile))])


def _rows_with(columns: Sequence[str], table: Table) -> Iterator[Sequence[Any]]:
    """The rows of a table with these columns, of which it may lack some."""
    places = {column.id: place for place, column in enumerate(table.columns)}
    taken = [places.get(column) for column in columns]
    return ([None if place is None else row[place] for place in taken] for row in table.rows)


def _take(rows: Iterable[Sequence[Any]], cells: Sequence[list[Any]]) -> int:
    """Add rows to columns, and count them, without holding all of them in both forms."""
    before, rest = len(cells[0]), iter(rows)
    while block := list(islice(rest, _BLOCK)):
        for column, added in zip(cells, zip(*block, strict=True), strict=True):
            column.extend(added)
    return len(cells[0]) - before


def snake_case(name: str) -> str:
    """A column's name in SQL: ``step_time_ms`` for ``stepTimeMs``."""
    return _WORD.sub("_", name).lower()


def described_column(column: Column) -> Described:
    """A column of a tool as SQL has it."""
    return Described(
        snake_case(column.id), KINDS[column.type], column.unit, column.meaning or column.label,
        column.clock,
    )  # fmt: skip


def _prefix(tool: str) -> str:
    return f"{tool.replace('-', '_')}_"


def _of_rows(
    name: str,
    about: str,
    described: Sequence[Described],
    rows_of_runs: Iterable[tuple[str, Iterable[Sequence[Any]]]],
) -> SqlTable:
    """A table of rows.

    Args:
        name: Its name.
        about: What its rows are.
        described: Its columns; their types are those of ``Described``, or ``number``, or empty for
            a type that holds all cells.
        rows_of_runs: Rows by the names of runs; those of ``_NO_RUN`` have no column for it.
    """
    cells: list[list[Any]] = [[] for _ in described]
    counts = {run: _take(rows, cells) for run, rows in rows_of_runs}
    fields: list[Field] = []
    values: list[ArrowColumn] = []
    columns: list[Described] = []
    if _NO_RUN not in counts:
        of_run = np.repeat(np.arange(len(counts), dtype=np.int32), list(counts.values()))
        fields.append(_RUN.field("int32"))
        values.append(Coded(of_run, list(counts)))
        columns.append(_RUN)
    cells.reverse()  # each is taken out: cells take several times the memory of columns
    for one in described:
        kind = "number" if one.type in ("int64", "float64") else one.type
        field, stored = column_of(one.name, cells.pop(), unit=one.unit, kind=kind)
        fields.append(field)
        values.append(stored)
        columns.append(replace(one, type=field.type))
    return SqlTable(name, about, tuple(columns), tuple(fields), [values])
