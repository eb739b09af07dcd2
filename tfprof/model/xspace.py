"""What the TensorFlow 2 profiler captured on one host, as columns: an XSpace.

    >>> plane = space.plane("/host:CPU")                                  # doctest: +SKIP
    >>> op = plane.stat("tf_op")                                          # doctest: +SKIP
    >>> op.present.sum(), op.text(0)                                      # doctest: +SKIP
    (3, 'dense/MatMul:MatMul')

Texts stay where they are in the file until somebody asks for them; the file stays mapped as long
as its columns live, and must not be written to meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.model.columns import BoolArray, Int64Array
from tfprof.model.notices import Notice
from tfprof.model.xspace_stats import (
    ByteArray,
    IntArray,
    Keys,
    StatColumn,
    StatKind,
    StatMetadata,
    StatTable,
    StatValue,
    Texts,
    value_of,
)


@dataclass(frozen=True, eq=False)
class EventMetadata:
    """What events of one kind have in common.

    Attributes:
        keys: Key of each entry, shape (n,); none twice. It counts, not ``ids``.
        ids: The id that the entry itself has.
        names: Its name.
        display_names: What to show instead, if not empty.
        metadata: Serialized metadata; use ``octets``.
        stats: Its stats.
        first_child: The first of its children, and the number of all, shape (n + 1,).
        child_ids: Keys of entries that it contains.
    """

    keys: Int64Array
    ids: Int64Array
    names: Texts
    display_names: Texts
    metadata: Texts
    stats: StatTable
    first_child: Int64Array
    child_ids: Int64Array

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def by_key(self) -> Keys:
        """Rows by key."""
        return Keys(self.keys)

    @cached_property
    def shown(self) -> list[str]:
        """The name to show for each entry."""
        pairs = zip(self.display_names.all, self.names.all, strict=True)
        return [display or name for display, name in pairs]

    def children(self, row: int) -> list[int]:
        """Keys of the entries that an entry contains."""
        return list(self.child_ids[self.first_child[row] : self.first_child[row + 1]].tolist())


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of a plane: threads, streams, and what was derived from them.

    Attributes:
        ids: Thread or stream, shape (n,).
        names: Its name.
        display_names: What to show instead, if not empty.
        display_ids: Its place in the display, 0 for none.
        timestamps_ns: What offsets of events count from.
        durations_ps: As written, mostly 0.
    """

    ids: Int64Array
    names: Texts
    display_names: Texts
    display_ids: Int64Array
    timestamps_ns: Int64Array
    durations_ps: Int64Array

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class Events:
    """Events of a plane, in the order of the file: line by line, not always by time.

    Attributes:
        first: The first event of each line, and the number of events, shape (n lines + 1,).
        metadata_ids: Key in the plane's event metadata, shape (n,).
        values: Offset in ps, or of aggregated events the number of occurrences.
        which: Field number of what ``values`` has: 2, 5, or 0 for neither.
        durations_ps: How long each took.
        stats: Their own stats.
    """

    first: Int64Array
    metadata_ids: IntArray
    values: Int64Array
    which: ByteArray
    durations_ps: Int64Array
    stats: StatTable

    def __len__(self) -> int:
        return len(self.values)

    @property
    def has_offset(self) -> BoolArray:
        """Whether an event has a start."""
        found: BoolArray = self.which == 2
        return found

    @property
    def is_aggregated(self) -> BoolArray:
        """Whether it stands for many that have no starts: neither to be drawn nor nested."""
        found: BoolArray = self.which == 5
        return found

    @property
    def offsets_ps(self) -> Int64Array:
        """Start, from the line's timestamp; 0 without one."""
        return self._those_of(2)

    @property
    def num_occurrences(self) -> Int64Array:
        """How many events an aggregated event stands for; 0 if it is none."""
        return self._those_of(5)

    def _those_of(self, member: int) -> Int64Array:
        if len(self.which) and self.which.strides == (0,):  # all the same
            return self.values if self.which[0] == member else np.zeros_like(self.values)
        return np.where(self.which == member, self.values, 0)

    @property
    def nbytes(self) -> int:
        """Bytes of memory, without the texts."""
        columns = (self.first, self.metadata_ids, self.values, self.durations_ps)
        which = 0 if self.which.strides == (0,) else self.which.nbytes
        return which + self.stats.nbytes + sum(column.nbytes for column in columns)


@dataclass(frozen=True, eq=False)
class Plane:
    """A device, a host or a set of counters.

    Attributes:
        id: As written; not unique.
        name: ``/host:CPU``, ``/device:GPU:0``, …
        lines: Its lines.
        events: Their events.
        event_metadata: What their events are.
        stat_metadata: What their stats are.
        stats: Stats of the plane itself, one owner.
    """

    id: int
    name: str
    lines: Lines
    events: Events
    event_metadata: EventMetadata
    stat_metadata: StatMetadata
    stats: StatTable

    @cached_property
    def event_lines(self) -> IntArray:
        """The line of each event, shape (n events,)."""
        return np.repeat(np.arange(len(self.lines), dtype=np.int32), np.diff(self.events.first))

    @cached_property
    def metadata_rows(self) -> IntArray:
        """The row of each event in the event metadata; -1 if these do not know it."""
        return self.event_metadata.by_key.rows(self.events.metadata_ids)

    def event_name(self, event: int) -> str:
        """What to call an event; empty if the metadata do not know it."""
        row = int(self.metadata_rows[event])
        return self.event_metadata.shown[row] if row >= 0 else ""

    def starts_ps(self, base_ns: int) -> Int64Array:
        """When each event began, since a moment: timestamps since 1970 are too large in ps."""
        events = self.events
        since = (self.lines.timestamps_ns - base_ns) * 1000
        return np.repeat(since, np.diff(events.first)) + events.offsets_ps

    def stat(self, name: str) -> StatColumn:
        """A stat of all events; that of an event wins over that of its metadata."""
        keys = np.array(self.stat_metadata.keys_of(name), np.int64)
        n_events = len(self.events)
        kinds, values = np.zeros(n_events, np.uint8), np.zeros(n_events, np.int64)
        found, shared = _last_of(self.event_metadata.stats, keys)
        if len(found):
            row_of_entry = np.full(len(self.event_metadata) + 1, -1, np.int64)  # -1: unknown
            row_of_entry[found] = shared
            rows = row_of_entry[self.metadata_rows]
            events = np.flatnonzero(rows >= 0)
            kinds[events] = self.event_metadata.stats.kinds[rows[events]]
            values[events] = self.event_metadata.stats.values[rows[events]]
        inherited = kinds != StatKind.NONE
        events, own = _last_of(self.events.stats, keys)
        kinds[events] = self.events.stats.kinds[own]
        values[events] = self.events.stats.values[own]
        inherited[events] = False
        tables = (self.events.stats.data, self.event_metadata.stats.data)
        return StatColumn(kinds, values, inherited, tables, self.stat_metadata)

    def stats_of(self, event: int) -> dict[str, StatValue]:
        """All stats of an event by name: its metadata's, and its own."""
        row = int(self.metadata_rows[event])
        shared = self._stats(self.event_metadata.stats, row) if row >= 0 else {}
        return {**shared, **self._stats(self.events.stats, event)}

    def own_stats(self) -> dict[str, StatValue]:
        """The stats of the plane itself by name."""
        return self._stats(self.stats, 0)

    def _stats(self, table: StatTable, owner: int) -> dict[str, StatValue]:
        names = self.stat_metadata.name_of
        found = {}
        for row in table.rows_of(owner):
            key = int(table.metadata_ids[row])
            value = value_of(
                int(table.kinds[row]), int(table.values[row]), table.data, self.stat_metadata
            )
            found[names.get(key, f"stat {key}")] = value
        return found


def _last_of(table: StatTable, keys: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Owners that have a stat of these keys, and the last such stat of each."""
    if len(keys) == 1:  # not widened to int64
        rows = np.flatnonzero(table.metadata_ids == keys[0])
    else:
        rows = np.flatnonzero(np.isin(table.metadata_ids, keys))
    owners = np.searchsorted(table.first, rows, side="right") - 1
    is_last = np.ones(len(rows), np.bool_)
    is_last[:-1] = owners[1:] != owners[:-1]
    return owners[is_last], rows[is_last]


@dataclass(frozen=True, eq=False)
class XSpace:
    """What one host captured.

    Attributes:
        planes: Its planes, in the order of the file.
        errors: What the profiler could not do.
        warnings: What it complained about.
        hostnames: The machine.
        notices: What could not be read.
    """

    planes: tuple[Plane, ...]
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    hostnames: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    def plane(self, name: str) -> Plane | None:
        """The first plane of a name."""
        return next((plane for plane in self.planes if plane.name == name), None)

    @property
    def n_events(self) -> int:
        """Events of all planes."""
        return sum(len(plane.events) for plane in self.planes)

    @cached_property
    def base_ns(self) -> int:
        """The smallest timestamp of a line that has events: where to count time from."""
        stamps = [
            int(plane.lines.timestamps_ns[np.diff(plane.events.first) > 0].min())
            for plane in self.planes
            if len(plane.events)
        ]
        return min(stamps, default=0)
