"""The data that the TensorFlow 2 profiler captured on one host, as columns: an XSpace.

All data of events are columns with a row for each event of a plane, in the order of the file, so
that no code needs a loop over events::

    plane = space.plane("/host:CPU")
    plane.lines.shown                       # names of threads
    plane.event_lines                       # which line each event is on
    plane.starts_ps(space.base_ns)          # when it began, plane.events.durations_ps: how long
    plane.events.is_aggregated              # stands for many, has no start

    shown = plane.event_metadata.shown      # names, once for each kind of event
    plane.metadata_rows                     # the kind of each event
    plane.events_named("MatMul")            # whether each event is of this name

    step = plane.stat("step_num")           # own stats of events, else those of their metadata
    step.present, step.signed               # dense: a row for each event
    step.events, step.held_values           # sparse: only those that have it
    ids, texts = plane.stat("tf_op").texts  # texts by number, whether written there or referred to

    plane.entry_stat("flops").floats        # a stat of the metadata, a row for each kind of event
    plane.own_stats()                       # stats of the plane

Texts stay in the file until they are needed. The file stays mapped as long as its columns exist,
and must not be written to meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tfprof.captures.model.xspace_columns import (
    Found,
    StatColumn,
    TextNumbers,
    find_stat,
    number_texts,
)
from tfprof.captures.model.xspace_events import EventMetadata, Events, Lines
from tfprof.captures.model.xspace_stats import (
    IntArray,
    StatMetadata,
    StatTable,
    StatValue,
    value_of,
)
from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.core.columns.remarks import Notice
from tfprof.files.spill import Room

METADATA_PLANE = "/host:metadata"
"""A plane with data about the capture; it holds the programs."""

SLICE_PLANE = "/tfprof:slice"
"""A plane of a slice; its stats describe the capture from which the slice was cut."""

SLICE_BASE, SLICE_STEPS, SLICE_PLACE = "base_ns", "step_rows", "first_step"
SLICE_ENDS = "period_ends_ps"
"""Its stats: the origin of times; the numbers of groups and the ends of their periods, as int64;
and the place of its first step among the steps that all hosts have. The steps' stats exist if the
slice was made by steps."""

_MOST_BEFORE_NS = (1 << 60) // 1000
"""The latest possible start of a slice after that of its capture, thirteen days; later is wrong."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A device, a host or a set of counters.

    Attributes:
        id: As written; not unique.
        name: ``/host:CPU``, ``/device:GPU:0``, …
        lines: Its lines.
        events: Events of its lines.
        event_metadata: Names and common stats of its events.
        stat_metadata: Names of its stats.
        stats: Stats of the plane itself, one owner.
        number: Function that numbers the texts of stats.
    """

    id: int
    name: str
    lines: Lines
    events: Events
    event_metadata: EventMetadata
    stat_metadata: StatMetadata
    stats: StatTable
    number: TextNumbers = number_texts

    @cached_property
    def event_lines(self) -> IntArray:
        """The line of each event, shape (n events,)."""
        return np.repeat(np.arange(len(self.lines), dtype=np.int32), np.diff(self.events.first))

    @cached_property
    def metadata_rows(self) -> IntArray:
        """The row of each event in the event metadata; -1 if it has none."""
        return self.event_metadata.by_key.rows(self.events.metadata_ids)

    @cached_property
    def stat_names(self) -> list[str]:
        """Names of the stats that events have.

        Most entries of the metadata are not stats, but texts to which stats refer.
        """
        tables = (self.events.stats, self.event_metadata.stats)
        keys = np.unique(np.concatenate([np.unique(table.metadata_ids) for table in tables]))
        rows = np.unique(self.stat_metadata.by_key.rows(keys))
        names = self.stat_metadata.names
        return list(dict.fromkeys(names[row] for row in rows[rows >= 0].tolist()))

    def event_name(self, event: int) -> str:
        """The name to show for an event; empty if the metadata lack it."""
        row = int(self.metadata_rows[event])
        return self.event_metadata.shown[row] if row >= 0 else ""

    def events_named(self, *names: str) -> BoolArray:
        """Whether each event has one of these names (not display names), shape (n events,)."""
        wanted = frozenset(names)
        chosen = [name in wanted for name in self.event_metadata.names]
        is_named: BoolArray = np.array([*chosen, False], np.bool_)[self.metadata_rows]
        return is_named

    def events_of(self, line: int) -> slice:
        """The events of a line."""
        return slice(int(self.events.first[line]), int(self.events.first[line + 1]))

    def starts_ps(self, base_ns: int) -> Int64Array:
        """Start of each event since ``base_ns``: timestamps since 1970 are too large in ps."""
        events = self.events
        since = (self.lines.timestamps_ns - base_ns) * 1000
        starts = np.repeat(since, np.diff(events.first))
        starts += events.offsets_ps
        return starts

    def stat(self, name: str) -> StatColumn:
        """A stat of all events; a stat of the event takes precedence over one of its metadata."""
        keys = self.stat_metadata.keys_of(name)
        n_events, n_entries = len(self.events), len(self.event_metadata)
        own = find_stat(self.events.stats, keys)
        shared = find_stat(self.event_metadata.stats, keys)
        inherited = Found(no_rows(), no_rows(), shared.table)
        if len(shared.owners):
            row_of_entry = np.full(n_entries + 1, -1, np.int64)  # -1: unknown
            row_of_entry[shared.owners] = shared.rows
            rows = row_of_entry[self.metadata_rows]
            rows[own.owners] = -1
            heirs = np.flatnonzero(rows >= 0)
            inherited = Found(heirs, rows[heirs], shared.table)
        return StatColumn(n_events, own, inherited, self.stat_metadata, self.number)

    def entry_stat(self, name: str) -> StatColumn:
        """A stat of all entries of the event metadata, with a row for each entry."""
        own = find_stat(self.event_metadata.stats, self.stat_metadata.keys_of(name))
        nothing = Found(no_rows(), no_rows(), own.table)
        return StatColumn(len(self.event_metadata), own, nothing, self.stat_metadata, self.number)

    def stats_of(self, event: int) -> dict[str, StatValue]:
        """All stats of an event by name: those of its metadata, and its own."""
        row = int(self.metadata_rows[event])
        shared = self._stats(self.event_metadata.stats, row) if row >= 0 else {}
        return {**shared, **self._stats(self.events.stats, event)}

    def own_stats(self) -> dict[str, StatValue]:
        """The stats of the plane itself by name."""
        return self._stats(self.stats, 0)

    def _stats(self, table: StatTable, owner: int) -> dict[str, StatValue]:
        names = self.stat_metadata.name_of
        values = {}
        for row in table.rows_of(owner):
            key = int(table.metadata_ids[row])
            value = value_of(
                int(table.kinds[row]), int(table.values[row]), table.data, self.stat_metadata
            )
            values[names.get(key, f"stat {key}")] = value
        return values


@dataclass(frozen=True, eq=False)
class XSpace:
    """The capture of one host.

    Attributes:
        planes: Its planes, in the order of the file.
        errors: Errors of the profiler.
        warnings: Warnings of the profiler.
        hostnames: Names of the machine.
        notices: Notices of unreadable parts.
        room: Storage of columns that are as long as the capture.
    """

    planes: tuple[Plane, ...]
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    hostnames: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    room: Room = field(default_factory=Room)

    def plane(self, name: str) -> Plane | None:
        """The first plane with this name."""
        return next((plane for plane in self.planes if plane.name == name), None)

    @property
    def n_events(self) -> int:
        """Events of all planes."""
        return sum(len(plane.events) for plane in self.planes)

    @cached_property
    def base_ns(self) -> int:
        """Origin of times: the smallest timestamp of a line that has events."""
        stamps = [
            int(plane.lines.timestamps_ns[np.diff(plane.events.first) > 0].min())
            for plane in self.planes
            if len(plane.events)
        ]
        return self.base_from(min(stamps, default=0))

    def base_from(self, first_ns: int) -> int:
        """Origin of times for a timestamp of the first line; a slice has that of its capture.

        Args:
            first_ns: Timestamp of the first line.
        """
        given = self.slice_facts.get(SLICE_BASE)
        if isinstance(given, int) and 0 <= first_ns - given <= _MOST_BEFORE_NS:
            return given
        return first_ns

    @cached_property
    def slice_facts(self) -> dict[str, StatValue]:
        """Stats with which a slice describes its capture; empty if this is not a slice."""
        plane = self.plane(SLICE_PLANE)
        return {} if plane is None else plane.own_stats()
