"""One plane of an XSpace: its lines are outlined, their events counted, then read."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfprof._wire.native import is_native
from tfprof._wire.plan import Entries, Plan, number, oneof, rows, text
from tfprof._wire.scan import Columns, scan
from tfprof._wire.xspace_lines import (
    ALL_OFFSETS,
    CHANGED,
    HEADER,
    MISFIT,
    Elements,
    elements,
    prefix_places,
    walks,
)
from tfprof.model.xspace import EventMetadata, Events, Lines, Plane
from tfprof.model.xspace_stats import StatKind, StatMetadata, StatTable, Texts

if TYPE_CHECKING:
    from tfprof.model.columns import BoolArray, Int64Array

_CHUNK = 1 << 20
"""Bytes after which a chunk of a line ends, and of the chunks that one task takes."""

_LINES = 3
_OFFSET = 2
_IN_ENTRY = "event_metadata.value"


@functools.cache
def plane_plan() -> Plan:
    """What is read of a plane beside its lines."""
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
            number("id"),
            text("name"),
            rows("event_metadata", entry),
            rows("stat_metadata", [number("key"), text("value.name")]),
            rows("stats", one),
        ],
    )


class Damage:
    """What could not be read, and where."""

    def __init__(self) -> None:
        self.lost = 0
        self.count = 0
        self._first: tuple[int, str] | None = None

    def add(self, offset: int, where: str, lost: int, count: int = 1) -> None:
        """So many bytes from an offset on."""
        self.lost += lost
        self.count += count
        # Of two accounts of one place the inner one tells more.
        if self._first is None or offset < self._first[0]:
            self._first = offset, where

    def extend(self, other: Damage) -> None:
        """Take over what another part has seen."""
        first = other.first()
        if first is not None:
            self.add(*first, other.lost, other.count)

    def first(self) -> tuple[int, str] | None:
        """The first place, and the path to it."""
        return self._first


class PlaneReader:
    """Reads one plane, in steps whose tasks may run in any order and in several threads.

    Args:
        data: Holds the plane.
        start: Its first byte.
        stop: One past its last byte.
        number: Which plane of the space it is.

    Attributes:
        damage: What could not be read.
        is_cut: The plane should be longer.
        has_changed: The data are not those that were counted.
    """

    def __init__(self, data: memoryview, start: int, stop: int, number: int) -> None:
        self.damage = Damage()
        self.is_cut = False
        self.has_changed = False
        self._data, self._start, self._stop = data, start, stop
        self._path = f"planes[{number}]"
        self._walks = walks()
        self._results: list[tuple[int, int, int]] = []

    def outline(self) -> None:
        """Read what is not an event, and find out where the events are."""
        found = elements(self._data, self._start, self._stop)
        octets = np.frombuffer(self._data, np.uint8)
        kinds = octets[found.tag] & 7 if len(octets) else octets
        is_line = (found.number == _LINES) & (kinds == 2)
        self._read_metadata(found, is_line)
        starts = np.ascontiguousarray(found.start[is_line])
        stops = np.ascontiguousarray(found.stop[is_line])
        ends = self._split(starts, stops)
        is_broken = ends < stops
        if self.is_cut or found.end < self._stop:
            if len(found.tag) and is_line[-1] and found.tag[-1] == found.end:
                is_broken[-1] = True
            else:
                self.damage.add(found.end, self._path, self._stop - found.end)
        for line in np.flatnonzero(is_broken).tolist():
            end = int(ends[line])
            self.damage.add(end, f"{self._path}.lines[{line}]", int(stops[line]) - end)

    def _read_metadata(self, found: Elements, is_line: BoolArray) -> None:
        plan = plane_plan()
        columns = None
        if is_native() and found.end == self._stop:
            columns = _scanned(plan, self._data[self._start : self._stop])
        if columns is None:
            columns = self._gathered(plan, found, ~is_line)
        head, entries, stats, children, names, own = columns
        self._id = int(head.number("id")[0])
        self._name = str(head.text("name")[0], "utf-8", "replace")
        self._events_of, self._stats_of = entries, names
        self._event_metadata = _event_metadata(entries, stats, children)
        kept = _last_of_each(names.number("key"))
        self._stat_metadata = StatMetadata(
            names.number("key")[kept], _texts(names, "value.name").take(kept)
        )
        self._own = _stat_table(own, np.array([0, len(own)]), slice(None))

    def _gathered(self, plan: Plan, found: Elements, wanted: BoolArray) -> list[Columns]:
        """What can be read of the fields that are no lines, each by itself if need be."""
        data = self._data
        rest = np.flatnonzero(wanted & (found.tag < found.end)).tolist()
        fields = [data[int(found.tag[i]) : int(found.stop[i])] for i in rest]
        columns = _scanned(plan, b"".join(fields))
        if columns is not None:
            return columns
        sound = [_scanned(plan, bytes(field)) is not None for field in fields]
        for i, field, is_sound in zip(rest, fields, sound, strict=True):
            if not is_sound:
                self.damage.add(int(found.tag[i]), self._path, len(field))
        whole = b"".join(field for field, is_sound in zip(fields, sound, strict=True) if is_sound)
        return scan(plan, whole)

    def _split(self, starts: Int64Array, stops: Int64Array) -> Int64Array:
        """Read the headers of lines, cut their events into chunks; returns where they end."""
        n_lines = len(starts)
        self._headers = np.zeros(n_lines * HEADER, np.int64)
        ends = np.zeros(n_lines, np.int64)
        room = n_lines + int((stops - starts).sum()) // _CHUNK
        chunks = np.empty(3 * room, np.int64)
        n_chunks = self._walks.split(self._data, starts, stops, _CHUNK, self._headers, ends, chunks)
        self._chunks = chunks[: 3 * n_chunks].copy()
        self._n_lines = n_lines
        self._n_events = np.zeros(n_chunks, np.int64)
        self._n_stats = np.zeros(n_chunks, np.int64)
        return ends

    def counting(self) -> Iterator[Callable[[], None]]:
        """Tasks that count events and stats."""
        self._results = []
        for first, last in self._ranges():
            yield functools.partial(self._count, first, last)

    def _count(self, first: int, last: int) -> None:
        n_broken, offset = self._walks.count(
            self._data, self._chunks, first, last, self._n_events, self._n_stats
        )
        if n_broken:
            self._results.append((n_broken, offset, first))

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Chunks that make up a task."""
        of_chunk = self._chunks.reshape(-1, 3)
        behind = np.cumsum(of_chunk[:, 2] - of_chunk[:, 1])
        if not len(behind):
            return
        marks = np.arange(_CHUNK, behind[-1] + _CHUNK, _CHUNK)
        last = np.unique(np.minimum(np.searchsorted(behind, marks) + 1, len(behind))).tolist()
        yield from zip([0, *last[:-1]], last, strict=True)

    def reading(self) -> Iterator[Callable[[], None]]:
        """Tasks that read events and stats, after all are counted."""
        if not hasattr(self, "_columns"):
            self._note_broken("event")
            self._before = _running_total(self._n_events), _running_total(self._n_stats)
            self._allocate(
                _width(self._event_metadata.keys, 4), _width(self._stat_metadata.keys, 2)
            )
        self._results = []
        for first, last in self._ranges():
            yield functools.partial(self._read, first, last)

    def _allocate(self, event_width: int, stat_width: int) -> None:
        n_events, n_stats = int(self._before[0][-1]), int(self._before[1][-1])
        first_type = np.int32 if n_stats < 1 << 31 else np.int64
        self._columns = _EventColumns(
            np.empty(n_events, f"i{event_width}"),
            np.empty(n_events, np.int64),
            np.empty(n_events, np.uint8),
            np.empty(n_events, np.int64),
            np.empty(n_events + 1, first_type),
            np.empty(n_stats, f"i{stat_width}"),
            np.empty(n_stats, np.uint8),
            np.empty(n_stats, np.int64),
        )
        self._columns.first_stats[-1] = n_stats

    def _read(self, first: int, last: int) -> None:
        found = self._columns
        self._results.append(
            self._walks.read(
                self._data,
                self._chunks,
                first,
                last,
                *self._before,
                found.metadata_ids.view(np.uint8),
                found.values,
                found.which,
                found.durations,
                found.first_stats[:-1].view(np.uint8),
                found.stat_ids.view(np.uint8),
                found.stat_kinds,
                found.stat_values,
            )
        )

    def fits(self) -> bool:
        """Whether all ids fit into their columns; if not, they are to be read into larger ones."""
        flags = [flag for flag, _, _ in self._results]
        if any(flag & CHANGED for flag in flags):
            self.has_changed = True
            return True
        if any(flag & MISFIT for flag in flags):
            self._allocate(8, 8)
            return False
        self._has_offsets = all(flag & ALL_OFFSETS for flag in flags)
        self._results = [
            (n_broken, int(self._chunks[3 * chunk + 1]), chunk)
            for _, n_broken, chunk in self._results
            if n_broken
        ]
        self._note_broken("stat")
        return True

    def _note_broken(self, what: str) -> None:
        for n_broken, offset, _ in sorted(self._results):
            chunk = int(np.searchsorted(self._chunks[1::3], offset, side="right")) - 1
            where = f"{self._path}.lines[{self._chunks[3 * chunk]}], {n_broken} broken {what}s"
            self.damage.add(offset, where, n_broken, n_broken)

    def plane(self) -> Plane:
        """What was read."""
        found = self._columns
        which = found.which
        if self._has_offsets and len(which):
            which = np.broadcast_to(np.uint8(_OFFSET), len(which))
        of_line = np.searchsorted(self._chunks[::3], np.arange(self._n_lines + 1))
        stats = StatTable(
            found.first_stats, found.stat_ids, found.stat_kinds, found.stat_values, self._data
        )
        events = Events(
            self._before[0][of_line],
            found.metadata_ids,
            found.values,
            which,
            found.durations,
            stats,
        )
        return Plane(
            self._id,
            self._name,
            self._lines(),
            events,
            self._event_metadata,
            self._stat_metadata,
            self._own,
        )

    def _lines(self) -> Lines:
        ids, stamps, durations, display_ids, *texts = self._headers.reshape(-1, HEADER).T
        names = Texts(self._data, *texts[:2])
        return Lines(ids, names, Texts(self._data, *texts[2:]), display_ids, stamps, durations)


class _EventColumns(NamedTuple):
    """Columns that are being filled."""

    metadata_ids: Any
    values: Any
    which: Any
    durations: Any
    first_stats: Any
    stat_ids: Any
    stat_kinds: Any
    stat_values: Any


def _scanned(plan: Plan, data: bytes | memoryview) -> list[Columns] | None:
    """The columns, or None of broken bytes."""
    from google.protobuf.message import DecodeError

    try:
        return scan(plan, data)
    except (DecodeError, RuntimeWarning):
        return None


def _running_total(counts: Int64Array) -> Int64Array:
    total = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=total[1:])
    return total


def _width(keys: Int64Array, least: int) -> int:
    """Bytes of the ids that are in use."""
    for width in (2, 4):
        limit = 1 << (8 * width - 1)
        if width >= least and (not len(keys) or (keys.min() >= -limit and keys.max() < limit)):
            return width
    return 8


def _last_of_each(keys: Int64Array) -> Int64Array:
    """The last row of each key, in the order of the rows: what a map holds."""
    _, behind = np.unique(keys[::-1], return_index=True)
    return np.sort(len(keys) - 1 - behind)


def _texts(table: Columns, path: str) -> Texts:
    found = table.text(path)
    return Texts(found.data, found.start, found.length)


def _first_of(parents: Int64Array, n_owners: int) -> Int64Array:
    """The first of each owner's rows, which follow each other, and the number of all."""
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
    """Stats that a plan has read, with texts as places of their lengths."""
    which, value, found = stats.oneof("value")
    which, value = which[rows], value[rows].copy()
    ids = stats.number("metadata_id")[rows]
    data: bytes | memoryview = found.data
    texts = np.flatnonzero((which == StatKind.STR) | (which == StatKind.BYTES))
    length = found.length[rows][texts]
    places = prefix_places(data, value[texts], length)
    if (places < 0).any():  # protobuf's messages have laid them out, without lengths
        data, places = _with_lengths(data, value[texts], length)
    value[texts] = places
    width = _width(ids, 2)
    return StatTable(first, ids.astype(f"i{width}"), which.astype(np.uint8), value, data)


def _with_lengths(
    data: bytes | memoryview, start: Int64Array, length: Int64Array
) -> tuple[bytes, Int64Array]:
    """Texts one behind the other, each behind its length; and the places of the lengths."""
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
