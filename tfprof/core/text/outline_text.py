"""Lines of an outline: indented names with columns of values.

Natively where the extension was built; the Python here gives the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfprof.core.text.units import classic_count, classic_memory, classic_time
from tfprof.core.wire.compiled import is_native, native_module

Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Texts = Sequence[str | None]
"""A text of each row; None where the item is left out."""

_UNITS: dict[Callable[[int], str], list[bytes]] = {
    classic_count: [b"", b"k", b"m", b"b"],
    classic_time: [b"us", b"ms", b"sec"],
    classic_memory: [b"B", b"KB", b"MB"],
}
"""The units of numbers, each a thousand times the one before."""

_native: Any = native_module("outline")


@dataclass(frozen=True, slots=True)
class Ratios:
    """``own/total`` of each row; own is ``--`` where the row is not accounted.

    Attributes:
        own: Shape (n,).
        total: Shape (n,).
        accounted: Shape (n,).
        form: One of the ``classic_*`` functions of ``tfprof.core.text.units``.
        suffix: Stands behind it.
    """

    own: Int64Array
    total: Int64Array
    accounted: BoolArray
    form: Callable[[int], str]
    suffix: str = ""

    def texts(self) -> list[str]:
        """The text of each row."""
        suffix = self.suffix
        own = _texts(self.own, self.form)
        total = _texts(self.total, self.form)
        return [
            f"{own[row] if accounted else '--'}/{total[row]}{suffix}"
            for row, accounted in enumerate(self.accounted.tolist())
        ]


def outline(
    names: Sequence[str], depth: Int64Array, columns: Sequence[Ratios | Iterable[str | None]]
) -> str:
    """``<indent><name> (<items>)`` for each row.

    Args:
        names: Name of each row.
        depth: Levels of each row, two blanks each.
        columns: The items of each row, column by column.
    """
    listed = [column if isinstance(column, Ratios) else list(column) for column in columns]
    if _native is not None and is_native():
        try:
            return _compiled(names, depth, listed)
        except UnicodeEncodeError:  # lone surrogates have no UTF-8
            pass
    return "".join(outline_lines(names, depth, listed))


def outline_lines(
    names: Sequence[str], depth: Int64Array, columns: Sequence[Ratios | Iterable[str | None]]
) -> Iterator[str]:
    """The outline, line by line, in Python."""
    texts = [column.texts() if isinstance(column, Ratios) else column for column in columns]
    nothing: list[tuple[str, ...]] = [()] * len(names)
    rows: Iterable[tuple[str | None, ...]] = zip(*texts, strict=True) if texts else nothing
    for name, levels, items in zip(names, depth.tolist(), rows, strict=True):
        shown = ", ".join(item for item in items if item is not None)
        yield f"{'  ' * levels}{name} ({shown})\n"


def _compiled(
    names: Sequence[str], depth: Int64Array, columns: list[Ratios | list[str | None]]
) -> str:
    made = [
        _native.Ratios(
            np.ascontiguousarray(column.own, np.int64),
            np.ascontiguousarray(column.total, np.int64),
            np.ascontiguousarray(column.accounted, np.bool_).view(np.uint8),
            _UNITS[column.form],
            column.suffix.encode(),
        )
        if isinstance(column, Ratios)
        else column
        for column in columns
    ]
    text: str = _native.outline(list(names), depth, made)
    return text


def _texts(values: Int64Array, form: Callable[[int], str]) -> list[str]:
    """Each value as text; equal values, which is most of them, are formatted once."""
    distinct, place = np.unique(values, return_inverse=True)
    forms = [form(value) for value in distinct.tolist()]
    return [forms[index] for index in place.reshape(-1).tolist()]
