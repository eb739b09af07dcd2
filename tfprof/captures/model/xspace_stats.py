"""Stats of planes, events and metadata of an XSpace, as columns."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfprof.core.columns.columns import Int64Array, blocks, narrowest
from tfprof.core.columns.lookup import places_in, rows_by_key

Buffer: TypeAlias = bytes | memoryview
IntArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]
ByteArray: TypeAlias = npt.NDArray[np.uint8]
StatValue: TypeAlias = float | int | str | bytes | None

_DENSE = 1 << 20
"""Allowance for ids of a dense table: the largest one is ``4 * n keys + _DENSE``."""

_FEWEST_INDEXED, _MOST_INDEXED = 1 << 10, 1 << 22
"""Tables with a number of stats in this range are indexed by key, which takes 8 bytes a stat."""

_MOST_KEYS = 1 << 16


class StatKind(enum.IntEnum):
    """Kind of the value of a stat: the field number of its oneof."""

    NONE = 0
    DOUBLE = 2
    UINT64 = 3
    INT64 = 4
    STR = 5
    BYTES = 6
    REF = 7


@dataclass(frozen=True, eq=False)
class DecodedTexts:
    """Texts as places in a buffer, decoded on access.

    Attributes:
        data: The buffer.
        start: First byte of each, shape (n,).
        length: Length in bytes, shape (n,).
    """

    data: Buffer
    start: Int64Array
    length: Int64Array

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, row: int) -> str:
        return str(self.octets(row), "utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return iter(self.all)

    def octets(self, row: int) -> bytes:
        """The bytes of one text."""
        start = int(self.start[row])
        return bytes(self.data[start : start + int(self.length[row])])

    @cached_property
    def all(self) -> list[str]:
        """All texts; equal ones are one object. Bytes that are not UTF-8 become U+FFFD."""
        known: dict[bytes, str] = {}
        return [
            known.setdefault(octets, str(octets, "utf-8", "replace"))
            for octets in map(self.octets, range(len(self)))
        ]

    def take(self, rows: Any) -> DecodedTexts:
        """The texts of some rows."""
        return DecodedTexts(self.data, self.start[rows], self.length[rows])


@dataclass(frozen=True, eq=False)
class StatTable:
    """Stats of events, of event metadata or of a plane; the stats of each owner are adjacent.

    Attributes:
        first: The first stat of each owner, and the number of stats, shape (n owners + 1,).
        metadata_ids: Key in the plane's stat metadata, shape (n stats,).
        kinds: ``StatKind`` of each.
        values: The number, the bits of a double, the key to which a reference points, or the place
            in ``data`` of the length of a text, which directly precedes the text.
        data: The buffer with the texts.
    """

    first: IntArray
    metadata_ids: IntArray
    kinds: ByteArray
    values: Int64Array
    data: Buffer = b""

    def __len__(self) -> int:
        return len(self.values)

    def with_key(self, key: int) -> tuple[IntArray, IntArray]:
        """The stats with a key, ascending, and their owners."""
        if self._by_key is not None:
            rows, owners, first = self._by_key
            of_key = (
                slice(*first[key : key + 2].tolist()) if 0 <= key < len(first) - 1 else slice(0)
            )
            return rows[of_key], owners[of_key]
        narrow = np.int32 if len(self) < 1 << 31 else np.int64
        found = [
            (np.flatnonzero(self.metadata_ids[block] == key) + block.start).astype(narrow)
            for block in blocks(0, len(self))
        ]
        rows = np.concatenate(found) if found else np.zeros(0, narrow)
        return rows, self._owners_of(rows)

    @cached_property
    def _by_key(self) -> tuple[IntArray, IntArray, IntArray] | None:
        """The stats in the order of their keys, their owners, and where each key begins.

        None for very many stats, to save memory, and for few, since there are many small tables.
        """
        ids = self.metadata_ids
        if not _FEWEST_INDEXED <= len(self) <= _MOST_INDEXED:
            return None
        if ids.min() < 0 or ids.max() > _MOST_KEYS:
            return None
        return rows_by_key(ids, int(ids.max()) + 1, self.first)

    def _owners_of(self, rows: IntArray) -> IntArray:
        """The owners of some ascending stats; a column for all stats would be large."""
        narrow = rows.astype(self.first.dtype, copy=False)  # else NumPy copies ``first``
        type_ = np.int32 if len(self.first) < 1 << 31 else np.int64
        owners: IntArray = np.empty(len(rows), type_)
        for block in blocks(0, len(rows)):
            owners[block] = places_in(self.first[1:], narrow[block], "right")
        return owners

    def rows_of(self, owner: int) -> range:
        """The stats of one owner."""
        return range(int(self.first[owner]), int(self.first[owner + 1]))

    def octets(self, row: int) -> bytes:
        """The bytes of a text."""
        return text_at(self.data, int(self.values[row]))

    @property
    def nbytes(self) -> int:
        """Bytes in memory, without the texts."""
        columns = (self.first, self.metadata_ids, self.kinds, self.values)
        return sum(column.nbytes for column in columns)


def text_at(data: Buffer, place: int) -> bytes:
    """The text whose length is at a place."""
    length = shift = 0
    while True:
        octet = data[place]
        length |= (octet & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if octet < 0x80:
            return bytes(data[place : place + length])


def text_bounds(data: Buffer, places: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Start and length of the texts whose lengths are at some places."""
    octets = np.frombuffer(data, np.uint8)
    start, length = places + 1, octets[places].astype(np.int64)
    longer = np.flatnonzero(length >= 0x80)
    length[longer] &= 0x7F
    shift = 7
    while len(longer):
        octet = octets[start[longer]].astype(np.int64)
        start[longer] += 1
        length[longer] |= (octet & 0x7F) << shift
        longer, shift = longer[octet >= 0x80], shift + 7
    return start, length


class Keys:
    """Rows by key."""

    def __init__(self, keys: Int64Array) -> None:
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]
        self._dense: IntArray | None = None
        if len(keys) and self._sorted[0] >= 0 and self._sorted[-1] <= 4 * len(keys) + _DENSE:
            self._dense = np.full(int(self._sorted[-1]) + 2, -1, narrowest(len(keys) + 1))
            self._dense[keys] = np.arange(len(keys))

    def rows(self, wanted: IntArray) -> IntArray:
        """The row of each key, -1 for a missing one."""
        if self._dense is not None:
            # The entry after the largest key is -1, for all keys out of range. Negative keys are
            # out of range, too: as unsigned numbers they are large.
            last = len(self._dense) - 1
            if last >> 8 * wanted.itemsize:
                wanted = wanted.astype(np.int64)
            rows: IntArray = np.empty(len(wanted), self._dense.dtype)
            unsigned = wanted.view(f"u{wanted.itemsize}")
            for block in blocks(0, len(wanted)):
                places = np.minimum(unsigned[block], last).astype(np.intp)
                self._dense.take(places, mode="clip", out=rows[block])
            return rows
        if not len(self._sorted):
            return np.full(len(wanted), -1, np.int32)
        place = np.searchsorted(self._sorted, wanted).clip(max=len(self._sorted) - 1)
        return np.where(self._sorted[place] == wanted, self._order[place], -1)


@dataclass(frozen=True, eq=False)
class StatMetadata:
    """Names of stats, and texts to which stats refer.

    Attributes:
        keys: Unique key of each entry, shape (n,).
        names: Its name.
    """

    keys: Int64Array
    names: DecodedTexts

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def by_key(self) -> Keys:
        """Rows by key."""
        return Keys(self.keys)

    @cached_property
    def name_of(self) -> dict[int, str]:
        """Names by key."""
        return dict(zip(self.keys.tolist(), self.names.all, strict=True))

    def keys_of(self, name: str) -> list[int]:
        """The keys with this name."""
        return self._keys_of.get(name, [])

    @cached_property
    def _keys_of(self) -> dict[str, list[int]]:
        keys: dict[str, list[int]] = {}
        for key, name in self.name_of.items():
            keys.setdefault(name, []).append(key)
        return keys


def value_of(kind: int, value: int, data: Buffer, names: StatMetadata) -> StatValue:
    """The value of a stat; for a reference, the text to which it points."""
    if kind == StatKind.REF:
        return names.name_of.get(value, "")
    if kind in (StatKind.STR, StatKind.BYTES):
        octets = text_at(data, value)
        return octets if kind == StatKind.BYTES else str(octets, "utf-8", "replace")
    if kind == StatKind.DOUBLE:
        return float(np.array(value).view(np.float64))
    if kind == StatKind.UINT64:
        return value % 2**64
    return value if kind == StatKind.INT64 else None
