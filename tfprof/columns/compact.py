"""Columns that are kept for long and read seldom, in as few bytes as their values need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tfprof.columns.columns import Int64Array, no_rows


@dataclass(frozen=True, slots=True)
class CompactColumn:
    """One int64 column, as what its values are above the least of them.

    Attributes:
        offsets: Unsigned integers, shape (n,), or one for all, shape (1,); or the values
            themselves, of 64 bits.
        base: The least value, if the offsets are what the values are above it.
        size: Number of values.

    Example:
        >>> CompactColumn(np.array([0, 5], np.uint8), 1000, 2).array().tolist()
        [1000, 1005]
    """

    offsets: npt.NDArray[Any] = field(default_factory=no_rows)
    base: int = 0
    size: int = 0

    def __len__(self) -> int:
        return self.size

    def may_be_negative(self) -> bool:
        """Whether a value can be below 0, told without a look at them."""
        return self.base < 0 or self.offsets.dtype == np.int64

    def array(self) -> Int64Array:
        """The values, shape (n,); not to be written to."""
        if self.offsets.dtype == np.int64:
            kept: Int64Array = self.offsets
            return kept
        values = np.full(self.size, self.base, np.int64)
        np.add(values, self.offsets, out=values, casting="unsafe")
        return values
