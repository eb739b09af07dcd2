"""The column that says how the ops of kernels were found."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.captures.events.ops.found_by import FoundBy
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.table import Cell, Column


def with_found_by(
    columns: Sequence[Column], rows: list[tuple[Cell, ...]], found_by: Sequence[FoundBy]
) -> tuple[tuple[Column, ...], list[tuple[Cell, ...]]]:
    """Add the column at the end, if the capture has more than annotations.

    Args:
        columns: The other columns.
        rows: Their cells.
        found_by: How the op of each row was found.
    """
    if not any(found_by):
        return tuple(columns), rows
    with_it = [(*row, ", ".join(ways)) for row, ways in zip(rows, found_by, strict=True)]
    return (*columns, shared.FOUND_BY), with_it
