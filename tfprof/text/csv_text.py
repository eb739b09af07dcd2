"""Rows as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any


def csv_lines(names: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """A header and one line for each row, one after the other; None is an empty cell."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    for row in chain([names], rows):
        writer.writerow(row)
        yield stream.getvalue()
        stream.seek(0)
        stream.truncate()


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The same of rows by name of the column, whole. Nothing for no rows."""
    if not rows:
        return ""
    names = list(rows[0])
    return "".join(csv_lines(names, ([row[name] for name in names] for row in rows)))
