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
"""Largest id for which a table of all ids is made."""

_FEWEST_INDEXED, _MOST_INDEXED = 1 << 10, 1 << 22
"""So many stats are sorted by their keys: that takes eight bytes for each."""

_MOST_KEYS = 1 << 16


class StatKind(enum.IntEnum):
    """What the value of a stat is: the field number of its oneof."""

    NONE = 0
    DOUBLE = 2
    UINT64 = 3
    INT64 = 4
    STR = 5
    BYTES = 6
    REF = 7


@dataclass(frozen=True, eq=False)
class DecodedTexts:
    """Texts as places in a buffer, which are decoded when asked for.

    Attributes:
        data: The buffer.
        start: First byte of each, shape (n,).
        length: In bytes, shape (n,).
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
        """Every text; equal ones are one object. Bytes that are no UTF-8 become U+FFFD."""
        known: dict[bytes, str] = {}
        return [
            known.setdefault(octets, str(octets, "utf-8", "replace"))
            for octets in map(self.octets, range(len(self)))
        ]

    def take(self, rows: Any) -> DecodedTexts:
        """Some of them."""
        return DecodedTexts(self.data, self.start[rows], self.length[rows])


@dataclass(frozen=True, eq=False)
class StatTable:
    """Stats of events, of event metadata or of a plane, those of one owner one after the other.

    Attributes:
        first: The first stat of each owner, and the number of stats, shape (n owners + 1,).
        metadata_ids: Key in the plane's stat metadata, shape (n stats,).
        kinds: ``StatKind`` of each.
        values: The number, the bits of a double, the key that a reference is to, or the place
            in ``data`` where the length of a text stands, right before the text.
        data: What texts are read from.
    """

    first: IntArray
    metadata_ids: IntArray
    kinds: ByteArray
    values: Int64Array
    data: Buffer = b""

    def __len__(self) -> int:
        return len(self.values)

    def with_key(self, key: int) -> tuple[IntArray, IntArray]:
        """The stats of a key, ascending, and their owners."""
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
        """The stats of each key one after the other, their owners, and where each key begins.

        None for so many stats that it is worth more to keep the memory; and for few, of which
        plenty of tables are.
        """
        ids = self.metadata_ids
        if not _FEWEST_INDEXED <= len(self) <= _MOST_INDEXED:
            return None
        if ids.min() < 0 or ids.max() > _MOST_KEYS:
            return None
        return rows_by_key(ids, int(ids.max()) + 1, self.first)

    def _owners_of(self, rows: IntArray) -> IntArray:
        """The owners of some stats, which are ascending; a column of all would be large."""
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
        """Bytes of memory, without the texts."""
        columns = (self.first, self.metadata_ids, self.kinds, self.values)
        return sum(column.nbytes for column in columns)


def text_at(data: Buffer, place: int) -> bytes:
    """The text whose length stands at a place."""
    length = shift = 0
    while True:
        octet = data[place]
        length |= (octet & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if octet < 0x80:
            return bytes(data[place : place + length])


def text_bounds(data: Buffer, places: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Start and length of the texts whose lengths stand at some places."""
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
        """The row of each key, -1 for one that is not there."""
        if self._dense is not None:
            # -1 stands behind the largest key, for whatever is out of range. Negative keys are,
            # too: without a sign they are large.
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
    """Names of stats; of texts, too, that stats refer to.

    Attributes:
        keys: Key of each entry, shape (n,); none twice.
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
        """The keys that have this name."""
        return self._keys_of.get(name, [])

    @cached_property
    def _keys_of(self) -> dict[str, list[int]]:
        keys: dict[str, list[int]] = {}
        for key, name in self.name_of.items():
            keys.setdefault(name, []).append(key)
        return keys


def value_of(kind: int, value: int, data: Buffer, names: StatMetadata) -> StatValue:
    """What a stat says; of a reference, the text that it is to."""
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
