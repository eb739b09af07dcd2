"""Rows as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any


def csv_lines(names: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """A header and one line for each row, each as it is asked for; None is an empty cell."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow(row)
        yield stream.getvalue()
        stream.seek(0)
        stream.truncate()
    yield stream.getvalue()


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The same of rows by name of the column, whole. Nothing for no rows."""
    if not rows:
        return ""
    names = list(rows[0])
    return "".join(csv_lines(names, ([row[name] for name in names] for row in rows)))
