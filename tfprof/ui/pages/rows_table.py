"""Tables of pages from rows as dicts, and the first rows of tables."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from tfprof.ui.pages.column_traits import column_traits
from tfprof.ui.pages.document import Block, column

MOST_ROWS: Final = 200_000
"""Most rows of a table on a page; the title of a longer one has their number."""

_UNITS: Final = {
    "micros": "us", "bytes": "bytes", "share": "fraction", "fraction": "fraction",
    "flops": "count", "macs": "count", "params": "count",
}  # fmt: skip
"""Units by the last word of a column's name."""


def rows_table(
    name: str,
    title: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    **more: Any,
) -> Block:
    """A table of rows with the same keys, which are its columns.

    Args:
        name: Its name on the page.
        title: Its heading.
        rows: The rows. Lists become texts.
        labels: Labels of columns; by default their keys. If given, only these columns are shown.
        units: Units of columns whose keys do not end in one.
        more: Keys that only some tables have.
    """
    shown = rows[:MOST_ROWS]
    keys = list(labels or (rows[0] if rows else ()))
    columns, cells = [], []
    for key in keys:
        values = [_plain(row[key]) for row in shown]
        unit = (units or {}).get(key, _UNITS.get(key.rpartition("_")[2], ""))
        is_number = any(type(value) in (int, float) for value in values) or (
            bool(unit) and all(value is None for value in values)
        )
        label = (labels or {}).get(key) or key.replace("_", " ")
        columns.append({
            "id": key, "label": label, "about": "", "type": "number" if is_number else "string",
            "unit": unit if is_number else "", **column_traits(key, "number" if is_number else ""),
        })  # fmt: skip
        cells.append(column(values))
    return {
        "kind": "table", "id": name, "title": shown_title(title, len(rows)), "columns": columns,
        "n_rows": len(shown), "cells": cells, **more,
    }  # fmt: skip


def shown_title(title: str, n_rows: int) -> str:
    """The title of a table, with the number of rows if not all fit on the page."""
    if n_rows <= MOST_ROWS:
        return title
    return f"{title} (the first {MOST_ROWS:,} of {n_rows:,} rows)".lstrip()


def first_rows(block: Block, most: int) -> Block:
    """A table with its first rows; other blocks as they are."""
    if block["kind"] != "table" or block["n_rows"] <= most:
        return block
    short = {**block, "n_rows": most, "cells": [_cut(cells, most) for cells in block["cells"]]}
    if "links" in block:
        short["links"] = {
            name: {key: each if key == "ways" else _cut(each, most) for key, each in link.items()}
            for name, link in block["links"].items()
        }
    return short


def _cut(cells: Any, most: int) -> Any:
    if isinstance(cells, list):
        return cells[:most]
    if "texts" in cells:
        return {**cells, "at": _cut(cells["at"], most)}
    n_bytes = most * np.dtype("<i4" if cells["type"] == "i32" else "<f8").itemsize
    kept = base64.b64decode(cells["data"])[:n_bytes]
    return {**cells, "data": base64.b64encode(kept).decode("ascii")}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return "; ".join(f"{name} = {number}" for name, number in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(map(str, value))
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return float(value) if isinstance(value, Fraction) else str(value)
