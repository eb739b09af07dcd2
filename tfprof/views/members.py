"""Groups of ops: the ops of each row of the op view or the code view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.views.spans import expand_spans, spans_of


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
