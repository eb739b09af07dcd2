"""Columns in as few bytes as their values need, natively where the extension was built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.wire.compiled import is_native, native_module

if TYPE_CHECKING:
    from tfprof.wire.lockstep import Int64Array

_native: Any = native_module("narrow")

_DTYPES: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def narrowed(values: Int64Array) -> tuple[Any, int] | None:
    """What some numbers are above the least of them, and the least.

    Returns:
        Unsigned numbers of 8, 16 or 32 bits (one 0 if all values are the same), shape (n,) or
        (1,), and the least value; None if there are no values, or 32 bits do not hold them.
    """
    if _native is not None and is_native():
        found = _native.narrowed(values)
        if found is None:
            return None
        data, width, low = found
        return (np.frombuffer(data, _DTYPES[width]) if width else np.zeros(1, np.uint8)), low
    if not len(values):
        return None
    low, high = int(values.min()), int(values.max())
    if high == low:
        return np.zeros(1, np.uint8), low
    for width, dtype in _DTYPES.items():
        if high - low < 1 << 8 * width:
            return (values - low).astype(dtype), low
    return None
