"""Groups of ops, and small steps over sorted columns: runs of equal entries, entries of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array


@dataclass(frozen=True, slots=True)
class Groups:
    """Ops sorted into groups.

    Attributes:
        offsets: Start of each group in ``rows``, shape (n groups + 1,).
        rows: Op rows, group by group, in byte order of their names within a group.
    """

    offsets: Int64Array
    rows: Int64Array

    @classmethod
    def from_keys(cls, rows: Int64Array, keys: Int64Array, n_groups: int) -> Groups:
        """Group ``rows``, given in byte order of names, by their key (a group number)."""
        order, offsets = spans_of(keys, n_groups)
        return cls(offsets, rows[order])

    @property
    def sizes(self) -> Int64Array:
        """Number of ops in each group."""
        return np.diff(self.offsets)

    def only(self, counts: Int64Array) -> Groups:
        """The groups without the ops whose count is 0; ``counts`` are of the op table."""
        keep = counts[self.rows] > 0
        kept_before = np.zeros(len(self.rows) + 1, np.int64)
        np.cumsum(keep, out=kept_before[1:])
        return Groups(kept_before[self.offsets], self.rows[keep])

    def take(self, groups: Int64Array) -> Groups:
        """The named groups, in the order given."""
        places, _ = expand_spans(self.offsets, groups)
        offsets = np.concatenate([[0], np.cumsum(self.sizes[groups])])
        return Groups(offsets, self.rows[places])

    def sums(self, values: Int64Array, counts: Int64Array) -> Int64Array:
        """Sum over each group of its ops' values, each taken ``counts`` times.

        Both are of the ops of the op table.
        """
        running = np.zeros(len(self.rows) + 1, np.int64)
        np.cumsum(values[self.rows] * counts[self.rows], out=running[1:])
        sums: Int64Array = running[self.offsets[1:]] - running[self.offsets[:-1]]
        return sums


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
        The entries, and for each the place in ``rows`` that it belongs to.
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
