"""Tables as CSV and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tfprof.core.text.csv_text import csv_lines
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.write.table_rows import Row, Value
from tfprof.profiles.write.tables import Table

FORMATS = ("csv", "json", "jsonl")

_CHUNK = 1 << 16
"""Least number of characters of a chunk, except the last one."""


def table_chunks(table: Table, profile: Profile, form: str) -> Iterator[bytes]:
    """A table as text in UTF-8, one chunk at a time.

    Args:
        table: The table.
        profile: What to fill it with.
        form: ``csv``: lists are JSON in a cell, None is an empty cell. ``json``: one object with
            the columns and one row a line. ``jsonl``: one object a line. JSON is plain ASCII, in
            which no name can end a line.
    """
    lines = {"csv": _csv_lines, "json": _json_lines, "jsonl": _jsonl_lines}[form]
    waiting: list[str] = []
    size = 0
    for line in lines(table, table.rows(profile)):
        waiting.append(line)
        size += len(line)
        if size >= _CHUNK:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    yield "".join(waiting).encode()


def _csv_lines(table: Table, rows: Iterator[Row]) -> Iterator[str]:
    return csv_lines([field.name for field in table.fields], (map(_cell, row) for row in rows))


def _cell(value: Value) -> str | int | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, (str, int)):
        return value
    return json.dumps(value)


def _json_lines(table: Table, rows: Iterator[Row]) -> Iterator[str]:
    columns = [
        {"name": field.name, "unit": field.unit, "meaning": field.meaning} for field in table.fields
    ]
    yield f'{{"table": {json.dumps(table.name)}, '
    yield f'"columns": {json.dumps(columns)}, "rows": [\n'
    before = ""
    for line in _jsonl_lines(table, rows):
        yield before + line[:-1]
        before = ",\n"
    yield "\n]}\n"


def _jsonl_lines(table: Table, rows: Iterator[Row]) -> Iterator[str]:
    names = [field.name for field in table.fields]
    for row in rows:
        yield json.dumps(dict(zip(names, row, strict=True))) + "\n"
