"""Columns as serialized messages, by a plan: natively where the extension was built.

A plan gives the column of each field, by name; numbers and types of the fields come from the
descriptors:

    >>> import numpy as np
    >>> from tfprof.core.wire import messages as pb
    >>> plan = {
    ...     "name": Values(["a", "b", "c"]),
    ...     "devices": Values(["cpu:0"], np.array([-1, 0, 0])),
    ...     "run_count": np.array([0, 3, 4]),
    ... }
    >>> encoded = encode_tree(pb.GraphNodeProto, plan, np.array([ROOT, 0, 0]))
    >>> [child.run_count for child in pb.GraphNodeProto.FromString(encoded.data).children]
    [3, 4]

Messages can contain messages of their own type to any depth. The result has the bytes that protobuf
writes: fields in the order of their numbers, without the zeros that proto3 leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from tfprof.core.wire import encode_pure as _encode_pure
from tfprof.core.wire.compiled import is_native, native_module
from tfprof.core.wire.encode_pure import ELEMENT, LEFT_OUT, ROOT, Field, Kind, Table
from tfprof.core.wire.parsing import MAX_MESSAGE_BYTES
from tfprof.core.wire.pool import BYTES, MESSAGE, STRING, is_repeated
from tfprof.core.wire.scanned import Texts

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tfprof.core.wire.lockstep import Int64Array

__all__ = [
    "ELEMENT",
    "LEFT_OUT",
    "ROOT",
    "Encoded",
    "Rows",
    "Values",
    "encode_tree",
    "subtree_heights",
]

_VARINTS: Final = frozenset({3, 4, 5, 8, 13, 14})
"""FieldDescriptor.TYPE_* of (u)int64, (u)int32, bool and enum."""

_TEXTS: Final = frozenset({STRING, MESSAGE, BYTES})

_native: Any = native_module("encode")


@dataclass(frozen=True, slots=True)
class Values:
    """Texts or serialized messages, which rows may share.

    Attributes:
        values: The distinct values.
        ids: Value of each row, -1 for none, shape (n,); None if row i has value i.
    """

    values: Sequence[str | bytes]
    ids: Int64Array | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """Messages in a message: rows of another table.

    Attributes:
        columns: Column of each field of the inner messages.
        start: First row of each message, shape (n,).
        stop: One past its last row, shape (n,).
    """

    columns: Mapping[str, Column]
    start: Int64Array
    stop: Int64Array


Column: TypeAlias = "Int64Array | Values | Texts | Rows"
"""Content of a field. Numbers are of the varint types, but not zigzag."""


class Encoded(NamedTuple):
    """Serialized messages.

    Attributes:
        data: The bytes.
        starts: Where each row begins, shape (n,).
    """

    data: bytes
    starts: Int64Array


def encode_tree(
    message_class: type[Message],
    columns: Mapping[str, Column],
    parents: Int64Array,
    children: str = "children",
) -> Encoded:
    """Write rows in preorder, each inside the message of its parent.

    Args:
        message_class: The message type of every row.
        columns: Column of each field.
        parents: Row of the parent, which comes before the row; ``ROOT`` for a message by
            itself, ``ELEMENT`` for a child whose parent is not written, ``LEFT_OUT`` for a row
            that is not written, nor its children. Shape (n,).
        children: The repeated field that contains the child rows.

    Raises:
        OverflowError: The messages would be larger than protobuf's 2 GiB.
        ValueError: A column does not fit its field or the other columns, or rows are not in
            preorder.
    """
    descriptor: Any = message_class.DESCRIPTOR
    table = _table(descriptor, columns, len(parents))
    number = descriptor.fields_by_name[children].number
    n_before = sum(field.number < number for field in table.fields)
    parents = np.array(parents, np.int64)  # a copy that no other thread changes
    _check_range(children, parents, LEFT_OUT, np.arange(len(parents)))
    starts = np.zeros(len(parents), np.int64)
    data = _engine().encode(table, n_before, number, parents, starts, MAX_MESSAGE_BYTES)
    if data is None:
        raise OverflowError(
            f"a {descriptor.name} of {len(parents)} rows would be larger than 2 GiB"
        )
    return Encoded(data, starts)


def subtree_heights(parents: Int64Array) -> Int64Array:
    """Levels of the subtree of each row, itself included, shape (n,).

    Args:
        parents: Row of the parent, which comes before the row, or a negative number.
    """
    parents = np.array(parents, np.int64)
    _check_range("parents", parents, LEFT_OUT, np.arange(len(parents)))
    heights = np.ones(len(parents), np.int64)
    _engine().heights(parents, heights)
    return heights


def _engine() -> Any:
    return _native if _native is not None and is_native() else _encode_pure


def _table(descriptor: Any, columns: Mapping[str, Column], n_rows: int) -> Table:
    fields = [
        _field(descriptor.fields_by_name[name], column, n_rows) for name, column in columns.items()
    ]
    return Table(n_rows, sorted(fields, key=lambda field: field.number))


def _field(field: Any, column: Column, n_rows: int) -> Field:
    if _n_rows(column) != n_rows:
        raise ValueError(f"{field.name} has {_n_rows(column)} rows, not {n_rows}")
    in_map = _is_map_entry(field.containing_type)
    keep = bool(field.has_presence or is_repeated(field) or in_map)
    wanted = _VARINTS if isinstance(column, np.ndarray) else _TEXTS
    if isinstance(column, Rows):
        wanted = frozenset({MESSAGE})
    if field.type not in wanted or (wanted is _VARINTS and is_repeated(field)):
        raise ValueError(f"{field.name} cannot be made of {type(column).__name__}")
    if isinstance(column, Values):
        values = tuple(column.values)
        if column.ids is None:
            ids = np.arange(n_rows, dtype=np.int64)
        else:
            ids = _int64(column.ids)
            _check_range(field.name, ids, -1, len(values))
        return Field(field.number, Kind.VALUES, keep, ids, None, values)
    if isinstance(column, Texts):
        start, length = _int64(column.start), _int64(column.length)
        data = memoryview(column.data).cast("B")
        _check_range(field.name, start, 0, len(data) + 1)
        _check_range(field.name, length, 0, len(data) - start + 1)
        return Field(field.number, Kind.TEXTS, keep, start, length, data)
    if isinstance(column, Rows):
        inner = _table(field.message_type, column.columns, _n_inner(column))
        start, stop = _int64(column.start), _int64(column.stop)
        _check_range(field.name, start, 0, stop + 1)
        _check_range(field.name, stop, 0, inner.n_rows + 1)
        return Field(field.number, Kind.ROWS, keep, start, stop, inner)
    return Field(field.number, Kind.NUMBERS, keep, _int64(column), None, None)


def _is_map_entry(descriptor: Any) -> bool:
    """Checked by its form: reading the option imports descriptor_pb2, which takes 6 ms."""
    return descriptor.has_options and list(descriptor.fields_by_name) == ["key", "value"]


def _n_rows(column: Column) -> int:
    if isinstance(column, Values):
        return len(column.values if column.ids is None else column.ids)
    return len(column.start if isinstance(column, Rows) else column)


def _n_inner(rows: Rows) -> int:
    sizes = [_n_rows(column) for column in rows.columns.values()]
    return sizes[0] if sizes else int(rows.stop.max(initial=0))


def _int64(values: Any) -> Int64Array:
    return np.require(values, np.int64, "A")


def _check_range(name: str, numbers: Int64Array, low: int, end: Any) -> None:
    wrong = np.flatnonzero((numbers < low) | (numbers >= end))
    if len(wrong):
        raise ValueError(
            f"{name}: row {wrong[0]} refers to {numbers[wrong[0]]}, which is not there"
        )
