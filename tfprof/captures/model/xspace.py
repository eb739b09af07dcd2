"""What the TensorFlow 2 profiler captured on one host, as columns: an XSpace.

Everything about events is a column with a row for each event of a plane, in the order of the file;
nothing needs a loop over events::

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

Texts stay where they are in the file until somebody asks for them; the file stays mapped as long
as its columns live, and must not be written to meanwhile.
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
"""What a capture says of itself: it holds the programs."""

SLICE_PLANE = "/tfprof:slice"
"""What a slice says of the capture that it was cut out of, in its stats."""

SLICE_BASE, SLICE_STEPS, SLICE_PLACE = "base_ns", "step_rows", "first_step"
SLICE_ENDS = "period_ends_ps"
"""Its stats: from when times count; what groups are numbered, as int64; and which of the steps
that all hosts have is the first here. The last two are there if steps were chosen."""

_MOST_BEFORE_NS = (1 << 60) // 1000
"""A slice that began longer after its capture, thirteen days, lies."""


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
        number: How the texts of stats are numbered.
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
        """The row of each event in the event metadata; -1 if these do not know it."""
        return self.event_metadata.by_key.rows(self.events.metadata_ids)

    @cached_property
    def stat_names(self) -> list[str]:
        """Names of the stats that events have: most entries of the metadata are no stats, but texts
        that some refer to."""
        tables = (self.events.stats, self.event_metadata.stats)
        keys = np.unique(np.concatenate([np.unique(table.metadata_ids) for table in tables]))
        rows = np.unique(self.stat_metadata.by_key.rows(keys))
        names = self.stat_metadata.names
        return list(dict.fromkeys(names[row] for row in rows[rows >= 0].tolist()))

    def event_name(self, event: int) -> str:
        """What to call an event; empty if the metadata do not know it."""
        row = int(self.metadata_rows[event])
        return self.event_metadata.shown[row] if row >= 0 else ""

    def events_named(self, *names: str) -> BoolArray:
        """Whether each event has one of these names (not: shows it), shape (n events,)."""
        wanted = frozenset(names)
        chosen = [name in wanted for name in self.event_metadata.names]
        is_named: BoolArray = np.array([*chosen, False], np.bool_)[self.metadata_rows]
        return is_named

    def events_of(self, line: int) -> slice:
        """The events of a line."""
        return slice(int(self.events.first[line]), int(self.events.first[line + 1]))

    def starts_ps(self, base_ns: int) -> Int64Array:
        """When each event began, since a moment: timestamps since 1970 are too large in ps."""
        events = self.events
        since = (self.lines.timestamps_ns - base_ns) * 1000
        starts = np.repeat(since, np.diff(events.first))
        starts += events.offsets_ps
        return starts

    def stat(self, name: str) -> StatColumn:
        """A stat of all events; that of an event wins over that of its metadata."""
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
        """A stat of all entries of the event metadata, a row for each entry."""
        own = find_stat(self.event_metadata.stats, self.stat_metadata.keys_of(name))
        nothing = Found(no_rows(), no_rows(), own.table)
        return StatColumn(len(self.event_metadata), own, nothing, self.stat_metadata, self.number)

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
    """What one host captured.

    Attributes:
        planes: Its planes, in the order of the file.
        errors: What the profiler could not do.
        warnings: What it complained about.
        hostnames: The machine.
        notices: What could not be read.
        room: Where columns as long as the capture lie.
    """

    planes: tuple[Plane, ...]
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    hostnames: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    room: Room = field(default_factory=Room)

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
        return self.base_from(min(stamps, default=0))

    def base_from(self, first_ns: int) -> int:
        """Where to count time from, if the first line is from then: in a slice, as in its capture.

        Args:
            first_ns: Timestamp of the first line.
        """
        given = self.slice_facts.get(SLICE_BASE)
        if isinstance(given, int) and 0 <= first_ns - given <= _MOST_BEFORE_NS:
            return given
        return first_ns

    @cached_property
    def slice_facts(self) -> dict[str, StatValue]:
        """What a slice says of its capture; nothing, if this is not a slice."""
        plane = self.plane(SLICE_PLANE)
        return {} if plane is None else plane.own_stats()
