"""Tables of rows, as any data frame takes them: through Arrow's stream."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np

from tfprof.core.columns.arrow import ArrowColumn, Field, Numbers, stream_of

_LARGEST = 1 << 63


class ReadByDataFrames:
    """A table that pandas, polars, pyarrow and DuckDB take as it is, from its ``to_rows``.

    ``polars.DataFrame(table)``, ``pandas.DataFrame.from_arrow(table)``, ``pyarrow.table(table)``.
    Neither has to be installed for this class.
    """

    __slots__ = ()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an ``ArrowArrayStream``: texts, booleans, and integers or floats.

        Args:
            requested_schema: Ignored, as the protocol permits.
        """
        rows: Sequence[Mapping[str, Any]] = self.to_rows()  # type: ignore[attr-defined]
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = [
            column_of(name, [row.get(name) for row in rows], kind=self._kind_of(name))
            for name in names
        ]
        return stream_of([one for one, _ in columns], [[values for _, values in columns]])

    def _kind_of(self, name: str) -> str:
        """As ``kind`` of ``column_of``; by default it follows from the cells."""
        return ""


def column_of(
    name: str, cells: Sequence[Any], *, unit: str = "", kind: str = ""
) -> tuple[Field, ArrowColumn]:
    """A column of cells; None is unknown.

    Args:
        name: Its name.
        cells: Texts, numbers or booleans. Lists become JSON, anything else a text.
        unit: Unit of its numbers, for the metadata of the field.
        kind: ``string``, ``bool`` or ``number``; empty for a type that holds all cells, and text
            if there are none.

    Returns:
        Its field, of type ``string``, ``bool``, ``int64`` or, if a number is none of these or all
        are unknown, ``float64``; and its values.
    """
    types = set(map(type, cells))
    has_unknown = NoneType in types
    types.discard(NoneType)
    known = [cell for cell in cells if cell is not None] if has_unknown else cells
    wanted = _type_of(known, types, kind)
    told = {"unit": unit} if unit else {}
    if wanted == "string":
        if types <= {str}:
            return Field(name, wanted, told), list(cells)
        return Field(name, wanted, told), [None if cell is None else _text(cell) for cell in cells]
    held = [0 if cell is None else cell for cell in cells] if has_unknown else cells
    if wanted == "float64":
        held = [_float_of(cell) for cell in held]
    is_known = None
    if has_unknown:
        is_known = np.array([cell is not None for cell in cells], np.bool_)
    return Field(name, wanted, told), Numbers(np.array(held, wanted), is_known)


def _float_of(cell: Any) -> float:
    """The number; infinite where no float is as large."""
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf


def _text(cell: Any) -> str:
    if isinstance(cell, (list, tuple, dict)):
        return json.dumps(cell, ensure_ascii=False)
    return str(cell)


def _type_of(known: Sequence[Any], types: Collection[type], kind: str) -> str:
    def are(*wanted: type) -> bool:
        return all(issubclass(each, wanted) for each in types)

    are_flags = are(bool, np.bool_)
    if kind == "string" or (not types and not kind):
        return "string"
    if kind == "bool" or (not kind and are_flags):
        return "bool" if are_flags else "string"
    if not are(int, float, np.integer, np.floating):
        return "string"
    is_whole = types and are(int, np.integer) and -_LARGEST <= min(known) <= max(known) < _LARGEST
    return "int64" if is_whole else "float64"
