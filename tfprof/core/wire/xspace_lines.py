"""Walks of an XSpace, natively where the extension was built.

They cut a plane into lines and the events of lines into chunks, count these, and fill columns of
the caller. All but ``elements`` may run in several threads at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfprof.core.wire import xspace_pure as _xspace_pure
from tfprof.core.wire.compiled import is_native, native_module
from tfprof.core.wire.xspace_pure import ALL_OFFSETS, CHANGED, HEADER, MISFIT, prefix_places

__all__ = [
    "ALL_OFFSETS",
    "CHANGED",
    "HEADER",
    "MISFIT",
    "Elements",
    "elements",
    "prefix_places",
    "walks",
]

_native: Any = native_module("xspace")


def walks() -> Any:
    """The module whose ``split``, ``count`` and ``read`` are to be used."""
    return _native if _native is not None and is_native() else _xspace_pure


class Elements(NamedTuple):
    """The fields of a message, in its order.

    Attributes:
        number: Field number, shape (n,).
        tag: First byte of each field.
        start: First byte of its value.
        stop: The byte after it.
        end: Where the fields end, or break: then the last one may be cut off.
    """

    number: Any
    tag: Any
    start: Any
    stop: Any
    end: int


def elements(data: memoryview, start: int, stop: int) -> Elements:
    """List the fields of a message of any length."""
    columns, end = walks().elements(data, start, stop)
    number, tag, first, after = np.frombuffer(columns, np.int64).reshape(-1, 4).T
    return Elements(number, tag, first, after, end)
