"""Answers to statements in SQL about the events of a trace: rows, and the events that they name."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from tfprof.captures.run.table import Table
from tfprof.captures.trace.model import TraceModel, id_of
from tfprof.core.columns.columns import Int64Array
from tfprof.errors import UsageError
from tfprof.inputs.opened import Opened
from tfprof.sql import Database, Limits
from tfprof.ui.pages.blocks_of_results import table_block
from tfprof.ui.pages.document import to_json
from tfprof.ui.pages.trace.search import found_events

_LIMITS: Final = Limits(seconds=20.0)
_one_at_a_time = threading.Lock()
"""Each statement has its own process, with its own limit of memory."""

_EXAMPLE: Final = "select * from events where duration_ps > 1e9 order by duration_ps desc"


def sql_data(opened: Opened, path: str, params: Mapping[str, str]) -> bytes:
    """The answer to a request of the viewer, as JSON.

    Args:
        opened: The run.
        path: ``sql``: the answer to ``statement``; ``sql/here``: whether there are answers, for
            which DuckDB must be installed.
        params: Its parameters.

    Raises:
        UsageError: There is no such path, or the statement is wrong.
    """
    if path == "sql/here":
        return to_json({"is_here": find_spec("duckdb") is not None})
    if path != "sql":
        raise UsageError(f"no data {path!r} of a trace; there is: sql, sql/here")
    return to_json(answered(opened, params.get("statement", "")))


def answered(opened: Opened, statement: str) -> dict[str, Any]:
    """The answer to a statement, as plain data.

    A row with the columns ``host`` and ``event_id`` of the table ``events`` stands for that event;
    one with ``start_ps``, and perhaps ``duration_ps``, for that time.

    Args:
        opened: The run.
        statement: One statement that reads; its own process runs it (``tfprof.sql``).

    Returns:
        As ``found_events``, of the events of its rows; ``table``, its rows; ``ids``, the event of
        each row, empty without one; ``spans``, begin and end of its time in ps, None without one;
        and ``remarks`` on the answer.

    Raises:
        UsageError: The statement is wrong, or takes too long or too much.
        MissingDependencyError: DuckDB is not installed.
    """
    if not statement.strip():
        raise UsageError(f"there is no statement; write one such as {_EXAMPLE}")
    with _one_at_a_time, Database(opened, limits=_LIMITS) as database:
        answer = database.query(statement)
    table = answer.tables["rows"]
    model = opened.events()
    tracks, places = _events_of(opened, model, table)
    is_here = tracks >= 0
    chosen = {
        number: np.unique(places[tracks == number])
        for number in np.unique(tracks[is_here]).tolist()
    }
    ids = [
        id_of(*each) if each[0] >= 0 else ""
        for each in zip(tracks.tolist(), places.tolist(), strict=True)
    ]
    notes = [note.message for note in answer.notes]
    spans = _spans_of(table)
    if table.rows and not is_here.any() and not any(spans):
        notes.append(
            "No row names an event: select host and event_id, too, to find rows in the timeline."
        )
    return {
        **found_events(model, chosen), "table": table_block(table), "ids": ids, "spans": spans,
        "remarks": notes,
    }  # fmt: skip


def _spans_of(table: Table) -> list[tuple[int, int] | None]:
    columns = {each.id: at for at, each in enumerate(table.columns)}
    spans: list[tuple[int, int] | None] = []
    for row in table.rows:
        start, lasting = (row[columns[name]] if name in columns else 0
                          for name in ("start_ps", "duration_ps"))  # fmt: skip
        if "start_ps" in columns and isinstance(start, int) and isinstance(lasting, int):
            spans.append((start, start + lasting))
        else:
            spans.append(None)
    return spans


def _events_of(opened: Opened, model: TraceModel, table: Table) -> tuple[Int64Array, Int64Array]:
    """Track and place of the event of each row; -1 without one."""
    columns = {each.id: at for at, each in enumerate(table.columns)}
    none = np.full(len(table.rows), -1, np.int64)
    if "event_id" not in columns:
        return none, none
    numbers = np.array(
        [each if isinstance(each := row[columns["event_id"]], int) else -1 for row in table.rows],
        np.int64,
    )
    if opened.run is None:
        return _of_whole_trace(model, numbers)
    hosts = list(dict.fromkeys(model.hosts))
    if "host" in columns:
        host_of_row = np.array(
            [hosts.index(each) if (each := row[columns["host"]]) in hosts else -1
             for row in table.rows], np.int64,
        )  # fmt: skip
    else:
        host_of_row = np.full(len(table.rows), 0 if len(hosts) == 1 else -1, np.int64)
    return _of_hosts(model, hosts, host_of_row, numbers)


def _of_hosts(
    model: TraceModel, hosts: Sequence[str], host_of_row: Int64Array, numbers: Int64Array
) -> tuple[Int64Array, Int64Array]:
    tracks, places = (np.full(len(numbers), -1, np.int64) for _ in range(2))
    for number, track in enumerate(model.tracks):
        if not len(track.events):
            continue
        at = track.places_of(numbers)
        is_here = (at >= 0) & (host_of_row == hosts.index(model.hosts[track.process]))
        tracks[is_here], places[is_here] = number, at[is_here]
    return tracks, places


def _of_whole_trace(model: TraceModel, numbers: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Of a trace of another program events are numbered track by track."""
    firsts = np.cumsum([0, *map(len, model.tracks)])
    tracks = np.searchsorted(firsts, numbers, side="right") - 1
    is_here = (numbers >= 0) & (numbers < firsts[-1])
    places = numbers - firsts[tracks.clip(max=len(model.tracks) - 1)]
    return np.where(is_here, tracks, -1), np.where(is_here, places, -1)
