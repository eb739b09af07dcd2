"""Rows as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

_FORMULAS: Final = tuple("=+-@\t\r＝＋－＠")
"""First characters of formulas in spreadsheets, which may run programs or send cells elsewhere."""


def no_formula(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula: with ``'`` before it.

    Numbers stay as they are: ``-1.5`` is one.
    """
    if not text.startswith(_FORMULAS):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def csv_lines(names: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """A header and one line for each row, line by line; None is an empty cell."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)  # ends lines with \r\n, so that cells with either have quotes
    for row in chain([names], rows):
        writer.writerow([no_formula(cell) if isinstance(cell, str) else cell for cell in row])
        yield stream.getvalue()[:-2] + "\n"
        stream.seek(0)
        stream.truncate()


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A whole CSV text of rows by column name; empty without rows."""
    if not rows:
        return ""
    names = list(rows[0])
    return "".join(csv_lines(names, ([row[name] for name in names] for row in rows)))
