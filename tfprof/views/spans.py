"""Small steps over sorted columns: runs of equal entries, and the entries of rows."""

from __future__ import annotations

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array


def spans_of(rows: Int64Array, n_rows: int) -> tuple[Int64Array, Int64Array]:
    """Group entries by row.

    Args:
        rows: Row of each entry, at least 0, shape (n,).
        n_rows: Number of rows.

    Returns:
        Entries by row, those of a row in their order, shape (n,); and the start of each row's
        entries there, shape (n_rows + 1,).
    """
    order: Int64Array = np.argsort(rows, kind="stable")
    offsets = np.zeros(n_rows + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n_rows), out=offsets[1:])
    return order, offsets


def expand_spans(offsets: Int64Array, rows: Int64Array) -> tuple[Int64Array, Int64Array]:
    """All entries of some rows, one row after the other.

    Args:
        offsets: Start of each row's entries, shape (n_rows + 1,).
        rows: The rows, repeats allowed, shape (n,).

    Returns:
        The entries, and for each the place in ``rows`` that asked for it.
    """
    counts = offsets[rows + 1] - offsets[rows]
    which: Int64Array = np.repeat(np.arange(len(rows)), counts)
    before = np.cumsum(counts) - counts
    entries = np.arange(len(which)) - before[which] + offsets[rows][which]
    return entries, which


def differs_from_last(*columns: Int64Array) -> BoolArray:
    """Which entries, the first of them included, differ from the one before in some column."""
    differs: BoolArray = np.ones(len(columns[0]), np.bool_)
    differs[1:] = False
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return differs
