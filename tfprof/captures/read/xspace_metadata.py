"""A plane of an XSpace without its lines: its name, and the metadata of its events and stats."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.captures.model.xspace_events import EventMetadata
from tfprof.captures.model.xspace_stats import DecodedTexts, StatKind, StatMetadata, StatTable
from tfprof.core.wire.plan import Entries, Plan, number, oneof, rows, text
from tfprof.core.wire.scan import Columns, scan
from tfprof.core.wire.walk import read_varint
from tfprof.core.wire.xspace_lines import Elements, prefix_places

if TYPE_CHECKING:
    from tfprof.captures.read.xspace_damage import Damage
    from tfprof.core.columns.columns import Int64Array

_ID, _NAME, _TABLES = 1, 2, (4, 5, 6)
"""Fields of a plane."""


@functools.cache
def _plan() -> Plan:
    """The fields to read of a plane, besides its lines and its name."""
    one: Entries = [number("metadata_id"), oneof("value")]
    entry: Entries = [
        number("key"),
        number("value.id"),
        text("value.name"),
        text("value.display_name"),
        text("value.metadata"),
        rows("value.stats", one),
        rows("value.child_id"),
    ]
    return Plan(
        "tensorflow.profiler.XPlane",
        [
            rows("event_metadata", entry),
            rows("stat_metadata", [number("key"), text("value.name")]),
            rows("stats", one),
        ],
    )


class MetadataReader:
    """Reads the fields of a plane that are not lines.

    Args:
        data: The buffer with the plane.
        fields: Its fields.
        path: Its name in messages.
        damage: Collects unreadable parts.

    Attributes:
        id: As written.
        name: ``/host:CPU``, ...
        events: Metadata of its events.
        stats: Names of its stats.
        own: Stats of the plane.
    """

    def __init__(self, data: memoryview, fields: Elements, path: str, damage: Damage) -> None:
        self._data, self._fields, self._path, self._damage = data, fields, path, damage
        self.id = self._read_id()
        self.name = self._read_name()
        _, entries, stats, children, names, own = self._scanned_tables()
        self.events = _event_metadata(entries, stats, children)
        kept = _last_of_each(names.number("key"))
        self.stats = StatMetadata(names.number("key")[kept], _texts(names, "value.name").take(kept))
        self.own = _stat_table(own, np.array([0, len(own)]), slice(None))

    def _those(self, numbers: tuple[int, ...], wire_type: int) -> Int64Array:
        """Places of the undamaged fields with these numbers."""
        fields = self._fields
        if not len(fields.tag):
            return np.zeros(0, np.int64)
        is_type = np.frombuffer(self._data, np.uint8)[fields.tag] & 7 == wire_type
        return np.flatnonzero(np.isin(fields.number, numbers) & is_type & (fields.tag < fields.end))

    def _last(self, numbers: tuple[int, ...], wire_type: int) -> tuple[int, int] | None:
        """Start and stop of the content of the last of some fields; None without any."""
        places = self._those(numbers, wire_type)
        if not len(places):
            return None
        return int(self._fields.start[places[-1]]), int(self._fields.stop[places[-1]])

    def _read_id(self) -> int:
        bounds = self._last((_ID,), 0)
        if bounds is None:
            return 0
        number, _ = read_varint(self._data, *bounds)
        return number - (1 << 64) if number >> 63 else number

    def _read_name(self) -> str:
        bounds = self._last((_NAME,), 2)
        return "" if bounds is None else str(self._data[slice(*bounds)], "utf-8", "replace")

    def _scanned_tables(self) -> list[Columns]:
        """The readable part of the tables, row by row if there is damage."""
        places = self._those(_TABLES, 2)
        starts, stops = self._fields.tag[places], self._fields.stop[places]
        columns = _scanned(_plan(), _joined(self._data, starts, stops))
        if columns is not None:
            return columns
        sound = []
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            field = bytes(self._data[start:stop])
            if _scanned(_plan(), field) is None:
                self._damage.add(start, self._path, len(field))
            else:
                sound.append(field)
        return scan(_plan(), b"".join(sound))


def _joined(data: memoryview, starts: Int64Array, stops: Int64Array) -> bytes | memoryview:
    """Fields joined to one buffer; without a copy if they are adjacent."""
    if not len(starts):
        return b""
    breaks = np.flatnonzero(starts[1:] != stops[:-1]) + 1
    first, last = starts[np.append(0, breaks)], stops[np.append(breaks - 1, -1)]
    runs = [data[start:stop] for start, stop in zip(first.tolist(), last.tolist(), strict=True)]
    return runs[0] if len(runs) == 1 else b"".join(runs)


def _scanned(plan: Plan, data: bytes | memoryview) -> list[Columns] | None:
    """The columns, or None for broken bytes."""
    from tfprof.core.wire.refusals import REFUSALS

    try:
        return scan(plan, data)
    except REFUSALS:
        return None


def width_of(keys: Int64Array, least: int) -> int:
    """Bytes per id that these keys need, at least ``least``."""
    for width in (1, 2, 4):
        limit = 1 << (8 * width - 1)
        if width >= least and (not len(keys) or (keys.min() >= -limit and keys.max() < limit)):
            return width
    return 8


def _last_of_each(keys: Int64Array) -> Int64Array:
    """The last row of each key, in the order of the rows, as in a map."""
    _, behind = np.unique(keys[::-1], return_index=True)
    return np.sort(len(keys) - 1 - behind)


def _texts(table: Columns, path: str) -> DecodedTexts:
    texts = table.text(path)
    return DecodedTexts(texts.data, texts.start, texts.length)


def _first_of(parents: Int64Array, n_owners: int) -> Int64Array:
    """The first of each owner's rows, which are adjacent, and the number of all."""
    return np.searchsorted(parents, np.arange(n_owners + 1)).astype(np.int64)


def _event_metadata(entries: Columns, stats: Columns, children: Columns) -> EventMetadata:
    keys = entries.number("key")
    kept = _last_of_each(keys)
    row_of_entry = np.full(len(keys), -1, np.int64)
    row_of_entry[kept] = np.arange(len(kept))
    owners, child_owners = row_of_entry[stats.parent], row_of_entry[children.parent]
    of_stats, of_children = np.flatnonzero(owners >= 0), np.flatnonzero(child_owners >= 0)
    return EventMetadata(
        keys[kept],
        entries.number("value.id")[kept],
        _texts(entries, "value.name").take(kept),
        _texts(entries, "value.display_name").take(kept),
        _texts(entries, "value.metadata").take(kept),
        _stat_table(stats, _first_of(owners[of_stats], len(kept)), of_stats),
        _first_of(child_owners[of_children], len(kept)),
        children.number("value")[of_children],
    )


def _stat_table(stats: Columns, first: Int64Array, rows: Any) -> StatTable:
    """The stats of scanned columns, with texts as places of their lengths."""
    which, value, spans = stats.oneof("value")
    which, value = which[rows], value[rows].copy()
    ids = stats.number("metadata_id")[rows]
    data: bytes | memoryview = spans.data
    texts = np.flatnonzero((which == StatKind.STR) | (which == StatKind.BYTES))
    length = spans.length[rows][texts]
    places = prefix_places(data, value[texts], length)
    if (places < 0).any():  # they come from protobuf's messages, without lengths
        data, places = _with_lengths(data, value[texts], length)
    value[texts] = places
    width = width_of(ids, 2)
    return StatTable(first, ids.astype(f"i{width}"), which.astype(np.uint8), value, data)


def _with_lengths(
    data: bytes | memoryview, start: Int64Array, length: Int64Array
) -> tuple[bytes, Int64Array]:
    """Texts in one buffer, each after its length; and the places of the lengths."""
    parts, places, place = [], [], 0
    for first, size in zip(start.tolist(), length.tolist(), strict=True):
        prefix = _varint(size)
        places.append(place)
        parts += [prefix, bytes(data[first : first + size])]
        place += len(prefix) + size
    return b"".join(parts), np.array(places, np.int64)


def _varint(value: int) -> bytes:
    octets = bytearray()
    while value >= 0x80:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    octets.append(value)
    return bytes(octets)
