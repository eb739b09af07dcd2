"""Columns of whole numbers for the viewer: bytes of seven bits, small numbers in few of them."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from tfprof.core.columns.columns import IntArray
from tfprof.core.wire.varints import put_varints, varint_sizes


def packed(values: IntArray, *, signed: bool = False) -> dict[str, Any]:
    """A column of numbers from 0, or of any numbers.

    Returns:
        ``{"type": "varint" | "zigzag", "n": how many, "data": base64}``: seven bits a byte, the
        lowest first, and the eighth bit where more follow; with sign, 0, -1, 1, -2, … are 0, 1,
        2, 3, ….
    """
    numbers = values.astype(np.int64)
    if signed:
        numbers = (numbers << 1) ^ (numbers >> 63)
    unsigned = numbers.astype(np.uint64)
    sizes = varint_sizes(unsigned)
    ends = np.cumsum(sizes)
    data = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    put_varints(data, ends - sizes, unsigned, sizes)
    text = base64.b64encode(data.tobytes()).decode("ascii")
    return {"type": "zigzag" if signed else "varint", "n": len(values), "data": text}
