"""Writes tables of columns as messages without the native encoder; the reference in tests.

Functions, arguments and results are those of ``native.encode``. NumPy encodes the numbers of a
table together; the rest is joined as bytes.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.core.wire.varints import (
    encode_int64_fields,
    encode_varint,
    length_delimited_each,
    length_delimited_tag,
)

if TYPE_CHECKING:
    from tfprof.core.wire.lockstep import Int64Array

ROOT: Final = -1
"""In place of a parent: a message by itself, without tag and length."""

ELEMENT: Final = -2
"""In place of a parent: a child, with tag and length, of a message that is not written."""

LEFT_OUT: Final = -3
"""In place of a parent: the row is not written."""

_ALL_BITS: Final = (1 << 64) - 1


class Kind(enum.IntEnum):
    """Content of a field; the native encoder has the same numbers."""

    NUMBERS = 0
    VALUES = 1
    TEXTS = 2
    ROWS = 3


class Field(NamedTuple):
    """One field of a table.

    Attributes:
        number: Field number.
        kind: Its content.
        keep: Write zeros and empty texts, too.
        first: Numbers, ids of values, or where texts or rows start.
        second: Lengths of texts, or where rows stop.
        source: The values, the bytes that texts are in, or the table of the rows.
    """

    number: int
    kind: Kind
    keep: bool
    first: Int64Array
    second: Int64Array | None
    source: Any


class Table(NamedTuple):
    """Messages of one type.

    Attributes:
        n_rows: How many.
        fields: Their fields, in the order of the numbers.
    """

    n_rows: int
    fields: list[Field]


def encode(
    table: Table,
    n_before: int,
    children: int,
    parents: Int64Array,
    starts: Int64Array,
    most: int,
) -> bytes | None:
    """Write the rows of a table in preorder, each in its parent.

    Args:
        table: The rows.
        n_before: Number of fields before the children.
        children: Field number of the children.
        parents: A row before, ``ROOT``, ``ELEMENT`` or ``LEFT_OUT``, shape (n,).
        starts: Receives where each row begins, shape (n,).
        most: Largest number of bytes.

    Returns:
        The bytes; None if they are more than ``most``.

    Raises:
        ValueError: The rows are not in preorder.
    """
    heads = _encoded(table.fields[:n_before], table.n_rows)
    tails = _encoded(table.fields[n_before:], table.n_rows)
    above = parents.tolist()
    prefixes, total = _prefixes(heads, tails, above, length_delimited_tag(children))
    if total > most:
        return None
    parts: list[bytes] = []
    begins = []
    last = ROOT
    for row, parent in enumerate(above):
        if parent == LEFT_OUT:
            begins.append(len(parts))
            continue
        while last >= 0 and last != parent:  # all its children are written
            parts.append(tails[last])
            last = above[last]
        if parent >= 0 and last < 0:
            raise ValueError(f"row {row} does not stand in the subtree of its parent {parent}")
        begins.append(len(parts))
        parts.append(prefixes[row])
        parts.append(heads[row])
        last = row
    while last >= 0:
        parts.append(tails[last])
        last = above[last]
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
    starts[:] = np.append(0, ends)[begins]
    return b"".join(parts)


def heights(parents: Int64Array, levels: Int64Array) -> None:
    """Levels of each subtree.

    Args:
        parents: A row before or a negative number, shape (n,).
        levels: Ones, which are replaced by the levels, shape (n,).
    """
    height_list = levels.tolist()
    above = parents.tolist()
    for row in range(len(above) - 1, -1, -1):
        parent = above[row]
        if parent >= 0 and height_list[row] >= height_list[parent]:
            height_list[parent] = height_list[row] + 1
    levels[:] = height_list


def _prefixes(
    heads: list[bytes], tails: list[bytes], above: list[int], tag: bytes
) -> tuple[list[bytes], int]:
    """Tag and length of each row, from the leaves up, and the bytes of all rows."""
    sizes = [len(head) + len(tail) for head, tail in zip(heads, tails, strict=True)]
    prefixes = [b""] * len(sizes)
    known: dict[int, bytes] = {}
    total = 0
    for row in range(len(sizes) - 1, -1, -1):
        size, parent = sizes[row], above[row]
        if parent == LEFT_OUT:
            continue
        if parent != ROOT:
            prefix = known.get(size)
            if prefix is None:
                prefix = known[size] = tag + encode_varint(size)
            prefixes[row] = prefix
            size += len(prefix)
        if parent >= 0:
            sizes[parent] += size
        else:
            total += size
    return prefixes, total


def _encoded(fields: list[Field], n_rows: int) -> list[bytes]:
    parts: list[Iterable[bytes]] = []
    for together, group in groupby(fields, lambda f: f.kind == Kind.NUMBERS and not f.keep):
        members = list(group)
        if together:
            numbers = np.stack([field.first for field in members])
            parts.append(encode_int64_fields([field.number for field in members], numbers))
        else:
            parts += [_ENCODERS[field.kind](field) for field in members]
    return list(map(b"".join, zip(*parts, strict=True))) if parts else [b""] * n_rows


def _kept_numbers(field: Field) -> list[bytes]:
    """Each distinct number is encoded once."""
    tag = encode_varint(field.number << 3)
    distinct = np.unique(field.first).tolist()
    wholes = {number: tag + encode_varint(number & _ALL_BITS) for number in distinct}
    return list(map(wholes.__getitem__, field.first.tolist()))


def _values(field: Field) -> list[bytes]:
    """Encode each value that a row has once; the others need not be texts."""
    is_used = np.zeros(len(field.source) + 1, np.bool_)  # the last one is for -1
    is_used[field.first] = True
    used = np.flatnonzero(is_used[:-1])
    values = map(field.source.__getitem__, used.tolist())
    texts = [value if isinstance(value, bytes) else value.encode() for value in values]
    wholes = [*_length_delimited(field, texts), b""]
    if len(used) == len(field.first) and (used == field.first).all():
        return wholes[:-1]
    place_of = np.full(len(is_used), -1)
    place_of[used] = np.arange(len(used))
    return list(map(wholes.__getitem__, place_of[field.first].tolist()))


def _texts(field: Field) -> list[bytes]:
    assert field.second is not None
    data = bytes(field.source)
    ends = (field.first + field.second).tolist()
    texts = [data[start:end] for start, end in zip(field.first.tolist(), ends, strict=True)]
    return _length_delimited(field, texts)


def _length_delimited(field: Field, texts: list[bytes]) -> list[bytes]:
    wholes = length_delimited_each(length_delimited_tag(field.number), texts)
    if field.keep or all(texts):
        return wholes
    return [whole if text else b"" for whole, text in zip(wholes, texts, strict=True)]


def _rows(field: Field) -> list[bytes]:
    assert field.second is not None
    inner: Table = field.source
    tag = length_delimited_tag(field.number)
    wholes = length_delimited_each(tag, _encoded(inner.fields, inner.n_rows))
    bounds = np.append(0, np.cumsum(np.fromiter(map(len, wholes), np.int64, len(wholes))))
    data = b"".join(wholes)
    ends = bounds[field.second].tolist()
    return [data[a:b] for a, b in zip(bounds[field.first].tolist(), ends, strict=True)]


_ENCODERS: dict[Kind, Callable[[Field], list[bytes]]] = {
    Kind.NUMBERS: _kept_numbers,
    Kind.VALUES: _values,
    Kind.TEXTS: _texts,
    Kind.ROWS: _rows,
}
