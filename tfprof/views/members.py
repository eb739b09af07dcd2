"""Groups of ops: the ops of each row of the op view or the code view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns.columns import Int64Array


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
        order = np.argsort(keys, kind="stable")
        offsets = np.zeros(n_groups + 1, np.int64)
        np.cumsum(np.bincount(keys, minlength=n_groups), out=offsets[1:])
        return cls(offsets, rows[order])

    @property
    def sizes(self) -> Int64Array:
        """Number of ops in each group."""
        return np.diff(self.offsets)

    def only(self, counts: Int64Array) -> Groups:
        """The groups without the ops whose count is 0.

        Args:
            counts: Count of each op of the op table.
        """
        keep = counts[self.rows] > 0
        kept_before = np.zeros(len(self.rows) + 1, np.int64)
        np.cumsum(keep, out=kept_before[1:])
        return Groups(kept_before[self.offsets], self.rows[keep])

    def take(self, groups: Int64Array) -> Groups:
        """The named groups, in the order given."""
        sizes = self.sizes[groups]
        offsets = np.zeros(len(groups) + 1, np.int64)
        np.cumsum(sizes, out=offsets[1:])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        return Groups(offsets, self.rows[np.repeat(self.offsets[:-1][groups], sizes) + within])

    def sums(self, values: Int64Array, counts: Int64Array) -> Int64Array:
        """Sum over each group of its ops' values, each taken ``counts`` times.

        Args:
            values: A value of each op of the op table.
            counts: Count of each op of the op table.
        """
        running = np.zeros(len(self.rows) + 1, np.int64)
        np.cumsum(values[self.rows] * counts[self.rows], out=running[1:])
        sums: Int64Array = running[self.offsets[1:]] - running[self.offsets[:-1]]
        return sums
