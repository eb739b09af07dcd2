"""Rows of plain data as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A header and one line for each row; None is an empty cell. Nothing for no rows."""
    if not rows:
        return ""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
