"""The three ways to read columns, with answers that can be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError

from tfprof.core.wire.compiled import native
from tfprof.core.wire.lockstep import IrregularError
from tfprof.core.wire.plan import Kind, Plan
from tfprof.core.wire.scan import Columns
from tfprof.core.wire.scan_messages import scan_messages
from tfprof.core.wire.scan_numpy import scan_numpy

by_compiled_protobuf = pytest.mark.skipif(
    api_implementation.Type() == "python",
    reason="protobuf in Python alone reads some damaged messages that compiled ones refuse",
)

Read = Callable[[Plan, Any], "list[dict[str, list[Any]]] | None"]


def by_native(plan: Plan, data: Any) -> list[dict[str, list[Any]]] | None:
    """By the native scanner alone; None if it refuses. By NumPy where it was not built."""
    if native is None:
        return by_pure(plan, data)
    found = plan.native.scan(data)
    if found is None:
        return None
    tables = zip(plan.tables, found, strict=True)
    return shown(
        plan,
        [
            Columns(data, t.columns, [np.frombuffer(c, np.int64) for c in slots])
            for t, slots in tables
        ],
    )


def by_messages(plan: Plan, data: Any) -> list[dict[str, list[Any]]] | None:
    """By way of protobuf's messages; None if they refuse."""
    try:
        return shown(plan, scan_messages(plan, bytes(data)))
    except (DecodeError, RuntimeWarning):
        return None


def by_numpy(plan: Plan, data: Any) -> list[dict[str, list[Any]]] | None:
    """By NumPy alone.

    Raises:
        IrregularError: It declines.
    """
    return shown(plan, scan_numpy(plan, bytes(data)))


def by_pure(plan: Plan, data: Any) -> list[dict[str, list[Any]]] | None:
    """By NumPy; by messages if it declines."""
    try:
        return by_numpy(plan, data)
    except IrregularError:
        return by_messages(plan, data)


needs_native = pytest.mark.skipif(native is None, reason="built without a compiler")

ENGINES = [
    pytest.param(by_native, id="native", marks=needs_native),
    pytest.param(by_pure, id="numpy"),
    pytest.param(by_messages, id="messages"),
]


def shown(plan: Plan, tables: list[Columns]) -> list[dict[str, list[Any]]]:
    """Columns as lists by path, texts as bytes; of a oneof, the member's number and its value."""
    return [
        {
            "parent": columns.parent.tolist(),
            **{
                path: _column(columns, path, form, members_of(plan, place, slot))
                for path, (slot, form) in table.columns.items()
            },
        }
        for place, (table, columns) in enumerate(zip(plan.tables, tables, strict=True))
    ]


def _column(columns: Columns, path: str, form: str, texts: set[int]) -> list[Any]:
    if form == "text":
        return list(columns.text(path))
    if form != "oneof":
        return columns.number(path).tolist()
    which, values, places = columns.oneof(path)
    found: list[Any] = []
    for row, (member, value) in enumerate(zip(which.tolist(), values.tolist(), strict=True)):
        if member in texts:
            found.append((member, places[row]))
        else:
            assert places.length[row] == 0
            found.append((member, value))
    return found


def members_of(plan: Plan, table: int, slot: int) -> set[int]:
    """The members of a oneof that are texts, by field number."""
    levels = _levels_of(plan, table)
    return {
        number
        for level in levels
        for number, action in plan.levels[level].items()
        if action.which == slot and action.kind is Kind.TEXT
    }


def _levels_of(plan: Plan, table: int) -> list[int]:
    """The levels whose fields stand in a table's rows."""
    levels = [plan.tables[table].level] if plan.tables[table].level >= 0 else []
    for level in levels:
        inner = [a.level for a in plan.levels[level].values() if a.kind is Kind.MESSAGE]
        levels += [each for each in inner if each >= 0]
    return levels
