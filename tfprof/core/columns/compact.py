"""Columns in as few bytes as possible, for data that are kept long and rarely read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tfprof.core.columns.columns import Int64Array, no_rows

_DTYPES: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32}
"""Types by number of bytes."""


@dataclass(frozen=True, slots=True)
class CompactColumn:
    """One int64 column, as differences from its least value.

    Attributes:
        offsets: The differences, unsigned, shape (n,), or one for all, shape (1,); or the values
            themselves, of 64 bits.
        base: The least value; 0 if ``offsets`` are the values.
        size: Number of values.

    Example:
        >>> column = CompactColumn.of(np.array([1000, 1005]))
        >>> column.offsets, column.base
        (array([0, 5], dtype=uint8), 1000)
        >>> column.array().tolist()
        [1000, 1005]
    """

    offsets: npt.NDArray[Any] = field(default_factory=no_rows)
    base: int = 0
    size: int = 0

    @classmethod
    def of(cls, values: Int64Array) -> CompactColumn:
        """A copy of values, shape (n,), in as few bytes as they need."""
        if len(values):
            low, high = int(values.min()), int(values.max())
            if high == low:
                return cls(np.zeros(1, np.uint8), low, len(values))
            for width, dtype in _DTYPES.items():
                if high - low < 1 << 8 * width:
                    return cls((values - low).astype(dtype), low, len(values))
        return cls(values.copy(), 0, len(values))

    def __len__(self) -> int:
        return self.size

    def may_be_negative(self) -> bool:
        """Whether a value may be below 0; may be True if none is, as the values are not read."""
        return self.base < 0 or self.offsets.dtype == np.int64

    def array(self) -> Int64Array:
        """The values, shape (n,); not to be written to."""
        if self.offsets.dtype == np.int64:
            kept: Int64Array = self.offsets
            return kept
        values = np.full(self.size, self.base, np.int64)
        np.add(values, self.offsets, out=values, casting="unsafe")
        return values
