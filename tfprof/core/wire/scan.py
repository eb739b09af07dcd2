"""Serialized messages as columns, by a plan: natively where the extension was built.

All scanners give the same columns for the same bytes, and refuse the same bytes. The native one
only says that something is wrong; protobuf then finds out what and where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from google.protobuf.message import DecodeError

from tfprof.core.wire.compiled import is_native
from tfprof.core.wire.parsing import MAX_MESSAGE_BYTES, BytesLike, parse
from tfprof.core.wire.plan import Plan
from tfprof.core.wire.refusals import REFUSALS
from tfprof.core.wire.scanned import Columns, Data, Texts
from tfprof.errors import MalformedProfileError

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tfprof.core.wire.lockstep import Int64Array

__all__ = ["Columns", "Data", "Texts", "reordered", "scan", "scan_or_explain", "scan_pure"]


def scan(plan: Plan, data: Data) -> list[Columns]:
    """Read a message.

    Args:
        plan: What to read.
        data: The serialized message.

    Returns:
        The columns of each table of the plan, in its order.

    Raises:
        ValueError: The data are not contiguous bytes.
        DecodeError: Protobuf refuses the bytes.
    """
    view = memoryview(data)
    if view.format != "B" or view.ndim != 1 or not view.c_contiguous:
        raise ValueError("the data must be contiguous bytes; bytes(data) makes them so")
    if is_native():
        tables = plan.native.scan(data)
        if tables is not None:
            return [
                Columns(data, table.columns, [np.frombuffer(slot, np.int64) for slot in slots])
                for table, slots in zip(plan.tables, tables, strict=True)
            ]
    return scan_pure(plan, data)


def reordered(plan: Plan, tables: list[Columns], table: int, order: Int64Array) -> list[Columns]:
    """The tables with the rows of one table, and the rows inside them, in another order.

    Args:
        plan: What was read.
        tables: The columns of its tables.
        table: The table.
        order: The old place of each row.
    """
    result = list(tables)
    result[table] = tables[table].take(order, tables[table].parent[order])
    orders = {table: order}
    for place, inner in enumerate(plan.tables):
        above = orders.get(inner.parent)
        if above is None:
            continue
        new_places = np.empty(len(above), np.int64)
        new_places[above] = np.arange(len(above))
        parent = new_places[tables[place].parent]
        orders[place] = np.argsort(parent, kind="stable")
        result[place] = tables[place].take(orders[place], parent[orders[place]])
    return result


def scan_or_explain(
    plan: Plan, message_class: type[Message], data: BytesLike, *, source: str
) -> list[Columns]:
    """Read the columns of a plan; if that fails, say what is broken and where.

    Args:
        plan: What to read.
        message_class: The message that the plan is of.
        data: The serialized message.
        source: Name of the data in errors, usually the file name.

    Raises:
        MalformedProfileError: The data is truncated or no such message.
    """
    try:
        return scan(plan, data if isinstance(data, bytes) else memoryview(data).cast("B"))
    except REFUSALS as error:
        parse(message_class, data, source=source)
        name = message_class.DESCRIPTOR.name
        raise MalformedProfileError(
            f"{source}: not a readable {name} message ({error}). Record it again"
        ) from error


def scan_pure(plan: Plan, data: Data) -> list[Columns]:
    """``scan`` without the native scanner.

    Raises:
        DecodeError: Protobuf refuses the bytes.
    """
    from tfprof.core.wire.lockstep import IrregularError
    from tfprof.core.wire.scan_numpy import scan_numpy

    if len(data) > MAX_MESSAGE_BYTES:  # before they are copied
        raise DecodeError(f"{len(data)} bytes are more than protobuf reads")
    content = bytes(data)
    try:
        return scan_numpy(plan, content)
    except IrregularError:
        from tfprof.core.wire.scan_messages import scan_messages

        return scan_messages(plan, content)
