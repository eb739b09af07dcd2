"""One plane of an XSpace: the reader cuts its lines into chunks, and counts and reads events."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfprof.captures.model.xspace import Plane
from tfprof.captures.model.xspace_events import Events, Lines
from tfprof.captures.model.xspace_stats import DecodedTexts, StatTable
from tfprof.captures.read.xspace_damage import Damage
from tfprof.captures.read.xspace_metadata import MetadataReader, width_of
from tfprof.captures.read.xspace_texts import EventTexts
from tfprof.core.wire.compiled import is_native
from tfprof.core.wire.scan import Texts as WireTexts
from tfprof.core.wire.text_index import TextIndex
from tfprof.core.wire.xspace_lines import ALL_OFFSETS, CHANGED, HEADER, MISFIT, elements, walks
from tfprof.files.spill import Room

if TYPE_CHECKING:
    from tfprof.core.columns.columns import Int64Array

MAX_LINES = 10_000
"""Most lines of all planes of a capture together: 70 times as many as the largest recorded capture
has (142, a TPU host). Each line, even with few events, costs a tool up to a seventh of a
millisecond."""

_CHUNK = 1 << 20
"""Bytes after which a chunk of a line ends."""

_TASK = 4 << 20
"""Bytes of the chunks of one task; handing out smaller tasks takes a tenth of the time."""

_TASKS = 32
"""Tasks of a small plane, with at least a chunk each, which keep all threads busy."""

_ALONE = 1 << 25
"""Bytes of a chunk if one thread reads all, and chunks only serve to release memory."""

_LINES = 3
_OFFSET = 2


class PlaneReader:
    """Reads one plane, in steps whose tasks may run in any order and in several threads.

    Args:
        data: The buffer with the plane.
        start: Its first byte.
        stop: One past its last byte.
        number: Number of the plane in the space.

    Attributes:
        damage: Unreadable parts.
        is_cut: Whether the plane is truncated.
        is_alone: Whether one thread reads all.
        has_changed: Whether the data changed after the count.
        forget: Function that releases bytes, given their bounds; None to keep all.
        room: Storage of columns.
    """

    def __init__(self, data: memoryview, start: int, stop: int, number: int) -> None:
        self.damage = Damage()
        self.is_cut = False
        self.is_alone = False
        self.has_changed = False
        self.forget: Callable[[int, int], None] | None = None
        self.room = Room()
        self._data, self._start, self._stop = data, start, stop
        self._path = f"planes[{number}]"
        self._walks = walks()
        self._results: list[tuple[int, int, int]] = []
        self._misfits: list[tuple[int, int]] = []
        self._texts = EventTexts(data)
        self._columns: _EventColumns | None = None

    def outline(self) -> None:
        """Read all fields but the lines, and find the bounds of the lines."""
        fields = elements(self._data, self._start, self._stop)
        octets = np.frombuffer(self._data, np.uint8)
        kinds = octets[fields.tag] & 7 if len(octets) else octets
        is_line = (fields.number == _LINES) & (kinds == 2)
        self._metadata = MetadataReader(self._data, fields, self._path, self.damage)
        self._starts = np.ascontiguousarray(fields.start[is_line])
        self._stops = np.ascontiguousarray(fields.stop[is_line])
        self._is_last_cut = False
        if self.is_cut or fields.end < self._stop:
            if len(fields.tag) and is_line[-1] and fields.tag[-1] == fields.end:
                self._is_last_cut = True  # the last line
            else:
                self.damage.add(fields.end, self._path, self._stop - fields.end)

    def keep_lines(self, most: int) -> int:
        """Drop the lines beyond ``most``, and return the number of the remaining ones."""
        if len(self._starts) > most:
            start = int(self._starts[most])
            lost = int((self._stops - self._starts)[most:].sum())
            where = f"{self._path}.lines[{most}], beyond the {MAX_LINES:,} lines that are read"
            self.damage.add(start, where, lost)
            self._starts, self._stops = self._starts[:most], self._stops[:most]
            self._is_last_cut = False
        return len(self._starts)

    def split(self) -> None:
        """Cut the lines' events into chunks."""
        n_lines = len(self._starts)
        most = _ALONE if self.is_alone and is_native() else _CHUNK
        self._headers = np.zeros(n_lines * HEADER, np.int64)
        self._ends = np.zeros(n_lines, np.int64)
        room = n_lines + int((self._stops - self._starts).sum()) // most
        chunks = np.empty(3 * room, np.int64)
        n_chunks = self._walks.split(
            self._data, self._starts, self._stops, most, self._headers, self._ends, chunks
        )
        self._chunks = chunks[: 3 * n_chunks].copy()
        self._n_events = np.zeros(n_chunks, np.int64)
        self._n_stats = np.zeros(n_chunks, np.int64)

    def counting(self) -> Iterator[Callable[[], None]]:
        """Tasks that count events and stats."""
        self._results = []
        for first, last in self._ranges():
            yield functools.partial(self._count, first, last)

    def _count(self, first: int, last: int) -> None:
        self._results.append(
            self._walks.count(
                self._data,
                self._chunks,
                first,
                last,
                self._headers,
                self._ends,
                self._n_events,
                self._n_stats,
            )
        )

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """The range of chunks of each task."""
        of_chunk = self._chunks.reshape(-1, 3)
        behind = np.cumsum(of_chunk[:, 2] - of_chunk[:, 1])
        if not len(behind):
            return
        size = min(_TASK, max(_CHUNK, int(behind[-1]) // _TASKS))
        marks = np.arange(size, behind[-1] + size, size)
        last = np.unique(np.minimum(np.searchsorted(behind, marks) + 1, len(behind))).tolist()
        yield from zip([0, *last[:-1]], last, strict=True)

    def reading(self) -> Iterator[Callable[[], None]]:
        """Tasks that read events and stats after the count; then again those that did not fit."""
        again, self._misfits = self._misfits, []
        if self._columns is None:
            self._header = self._lines()
            self._note_ends()
            self._note_broken("event")
            self._has_offsets = all(flags & ALL_OFFSETS for flags, _, _ in self._results)
            self._before = _running_total(self._n_events), _running_total(self._n_stats)
            self._allocate(
                width_of(self._metadata.events.keys, 2), width_of(self._metadata.stats.keys, 1)
            )
            self._results = []
        for first, last in again or self._ranges():
            yield functools.partial(self._read, first, last)

    def _allocate(self, event_width: int, stat_width: int) -> None:
        n_events, n_stats = int(self._before[0][-1]), int(self._before[1][-1])
        empty = self.room.empty
        self._columns = _EventColumns(
            empty(n_events, f"i{event_width}"),
            empty(n_events, np.int64),
            empty(0 if self._has_offsets else n_events, np.uint8),
            empty(n_events, np.int64),
            empty(n_events + 1, np.int32 if n_stats < 1 << 31 else np.int64),
            empty(n_stats, f"i{stat_width}"),
            empty(n_stats, np.uint8),
            empty(n_stats, np.int64),
        )
        self._columns.first_stats[-1] = n_stats

    def _read(self, first: int, last: int) -> None:
        columns = self._columns
        assert columns is not None
        result = self._walks.read(
            self._data,
            self._chunks,
            first,
            last,
            *self._before,
            columns.metadata_ids.view(np.uint8),
            columns.values,
            columns.which,
            columns.durations,
            columns.first_stats[:-1].view(np.uint8),
            columns.stat_ids.view(np.uint8),
            columns.stat_kinds,
            columns.stat_values,
        )
        if result[0] & MISFIT:
            self._misfits.append((first, last))
            return
        self._results.append(result)
        if result[0] & CHANGED:
            return
        rows = slice(int(self._before[1][first]), int(self._before[1][last]))
        self._texts.take(columns.stat_kinds[rows], columns.stat_values[rows])
        if self.forget is not None:
            self._forget(first, last, self.forget)

    def _forget(self, first: int, last: int, forget: Callable[[int, int], None]) -> None:
        """Release the bytes of chunks, but not those between lines, which may be needed."""
        line, start, stop = self._chunks.reshape(-1, 3)[first:last].T
        is_new = np.diff(line, prepend=-1) != 0
        is_last = np.append(is_new[1:], True)
        for bounds in zip(start[is_new].tolist(), stop[is_last].tolist(), strict=True):
            forget(*bounds)

    def fits(self) -> bool:
        """Whether all ids fit into their columns; else widens these for another ``reading``."""
        columns = self._columns
        assert columns is not None
        self.has_changed = any(flags & CHANGED for flags, _, _ in self._results)
        if self._misfits and not self.has_changed:
            self._misfits.sort()
            self._columns = columns._replace(
                metadata_ids=self.room.kept(columns.metadata_ids.astype(np.int64)),
                stat_ids=self.room.kept(columns.stat_ids.astype(np.int64)),
            )
            return False
        self._note_broken("stat")
        return True

    def _note_ends(self) -> None:
        """Note lines that are broken or truncated."""
        is_broken = self._ends < self._stops
        if self._is_last_cut:
            is_broken[-1] = True
        for line in np.flatnonzero(is_broken).tolist():
            end = int(self._ends[line])
            self.damage.add(end, f"{self._path}.lines[{line}]", int(self._stops[line]) - end)

    def _note_broken(self, what: str) -> None:
        """Note skipped parts of lines; the result does not depend on the chunks."""
        n_broken = sum(number for _, number, _ in self._results)
        if not n_broken:
            return
        offset = min(place for _, number, place in self._results if number)
        chunk = int(np.searchsorted(self._chunks[1::3], offset, side="right")) - 1
        line = int(self._chunks[3 * chunk])
        where = f"{self._path}.lines[{line}], {n_broken} broken {what}s in this plane"
        self.damage.add(offset, where, n_broken, n_broken)

    def plane(self) -> Plane:
        """The finished plane."""
        columns = self._columns
        assert columns is not None
        which = columns.which
        if self._has_offsets:
            which = np.broadcast_to(np.uint8(_OFFSET), len(columns.values))
        of_line = np.searchsorted(self._chunks[::3], np.arange(len(self._starts) + 1))
        stats = StatTable(
            columns.first_stats,
            columns.stat_ids,
            columns.stat_kinds,
            columns.stat_values,
            self._texts.placed(columns.stat_kinds, columns.stat_values),
        )
        events = Events(
            self._before[0][of_line],
            columns.metadata_ids,
            columns.values,
            which,
            columns.durations,
            stats,
        )
        return Plane(
            self._metadata.id,
            self._metadata.name,
            self._header,
            events,
            self._metadata.events,
            self._metadata.stats,
            self._metadata.own,
            _number_texts,
        )

    def _lines(self) -> Lines:
        ids, stamps, durations, display_ids, *texts = self._headers.reshape(-1, HEADER).T
        names, display_names = (
            _copied(DecodedTexts(self._data, *bounds)) for bounds in (texts[:2], texts[2:])
        )
        return Lines(ids, names, display_names, display_ids, stamps, durations)


def _copied(texts: DecodedTexts) -> DecodedTexts:
    """Copies of the texts, independent of the buffer."""
    data = b"".join([texts.octets(row) for row in range(len(texts))])
    return DecodedTexts(data, np.cumsum(texts.length) - texts.length, texts.length)


class _EventColumns(NamedTuple):
    """Columns of events and stats while tasks fill them."""

    metadata_ids: Any
    values: Any
    which: Any
    durations: Any
    first_stats: Any
    stat_ids: Any
    stat_kinds: Any
    stat_values: Any


def _number_texts(
    data: bytes | memoryview, start: Int64Array, length: Int64Array
) -> tuple[Int64Array, list[bytes]]:
    index = TextIndex()
    numbers = index.intern(WireTexts(data, start, length))
    return numbers, [index[number] for number in range(len(index))]


def _running_total(counts: Int64Array) -> Int64Array:
    total = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=total[1:])
    return total
