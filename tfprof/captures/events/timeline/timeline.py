"""All timed events of a host and its devices, line by line and in order of time.

Planes keep events as recorded. Here the lines of one thread from several planes become one line,
times are on one axis, and the events of a line are in nesting order: by start, longer ones first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tfprof.captures.events.timeline.clocks import TimeAxis, time_axis
from tfprof.captures.events.timeline.names import GPU_PREFIX
from tfprof.captures.events.timeline.op_names import OpName, parse_op_name
from tfprof.captures.events.timeline.sources import Sources, place_type
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.model.xspace import XSpace
from tfprof.captures.model.xspace_stats import IntArray, StatKind, StatValue
from tfprof.core.columns.columns import BoolArray, Int64Array, narrowed
from tfprof.core.columns.lookup import looked_up, places_in

_FEW_KINDS = 4
"""Up to this many comparisons take less time than a lookup of each event in a table."""


class Line(NamedTuple):
    """A thread, a stream, or a derived line.

    Attributes:
        plane: Place of its plane in the space; of several merged planes, the first.
        id: Thread or stream.
        name: Its name.
        display_id: Its place in the display, 0 without one.
        is_host: Whether it is a thread of the host.
        is_device: Whether it belongs to a device.
        is_derived: Whether a converter has added it.
    """

    plane: int
    id: int
    name: str
    display_id: int
    is_host: bool
    is_device: bool
    is_derived: bool


@dataclass(frozen=True, eq=False)
class Timeline:
    """Events of a space that have a start.

    Attributes:
        space: The space with all data.
        lines: The lines that hold such events, those of the host first.
        first: The first event of each line, and the number of events, shape (n lines + 1,).
        starts_ps: Start of each, since ``axis.base_ns``, shape (n,).
        durations_ps: Duration of each.
        kinds: Kind of each: a place in ``names``.
        names: Name of each kind of event, once for each plane.
        display_names: Text to show instead of the name; empty for most.
        sources: The event of the space for each.
        given_stats: Stats that stand in place of those of the space, by name.
    """

    space: XSpace
    lines: tuple[Line, ...]
    first: Int64Array
    starts_ps: Int64Array
    durations_ps: Int64Array
    kinds: IntArray
    names: Sequence[str]
    display_names: Sequence[str]
    sources: Sources
    given_stats: Mapping[str, SparseStat] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.starts_ps)

    @cached_property
    def axis(self) -> TimeAxis:
        """The time axis of the starts."""
        return time_axis(self.space)

    @property
    def ends_ps(self) -> Int64Array:
        """End of each event, shape (n,); for some events, ``ends_of`` is cheaper."""
        return self.starts_ps + self.durations_ps

    def ends_of(self, events: Any) -> Int64Array:
        """Ends of some events."""
        ends_ps: Int64Array = self.starts_ps[events] + self.durations_ps[events]
        return ends_ps

    @cached_property
    def line_of(self) -> IntArray:
        """The line of each event, shape (n,)."""
        return np.repeat(np.arange(len(self.lines), dtype=np.int32), np.diff(self.first))

    def lines_of(self, events: Any) -> Int64Array:
        """The lines of some events: cheaper than ``line_of``."""
        lines: Int64Array = places_in(self.first, events, "right") - 1
        return lines

    @cached_property
    def ops(self) -> list[OpName]:
        """The op in the name of each kind."""
        known: dict[str, OpName] = {}
        for name in self.names:
            if name not in known:
                known[name] = parse_op_name(name)
        return [known[name] for name in self.names]

    @cached_property
    def on_host(self) -> BoolArray:
        """Whether each event is on a line of the host, shape (n,)."""
        return self.of_lines(lambda line: line.is_host)

    @cached_property
    def on_threads(self) -> BoolArray:
        """Whether each event is on a thread of the host, not on a derived line, shape (n,)."""
        return self.of_lines(lambda line: line.is_host and not line.is_derived)

    @cached_property
    def on_device(self) -> BoolArray:
        """Whether each event is on a line of a device, shape (n,)."""
        return self.of_lines(lambda line: line.is_device)

    def of_lines(self, wanted: Callable[[Line], bool]) -> BoolArray:
        """Whether the line of each event is wanted, shape (n,)."""
        is_of_lines = np.zeros(len(self), np.bool_)
        for number, line in enumerate(self.lines):
            if wanted(line):
                is_of_lines[self.events_of(number)] = True
        return is_of_lines

    def events_of_plane(self, plane: int) -> Int64Array:
        """The events of a plane, without those of derived lines, ascending."""
        chosen = self.of_lines(lambda line: line.plane == plane and not line.is_derived)
        return np.flatnonzero(chosen)

    def device_events(self, plane: int) -> Int64Array:
        """Events of all streams of a device, in order of time; nothing derived."""
        known = self._device_events.get(plane)
        if known is None:
            events = self.events_of_plane(plane)
            order = np.lexsort((-self.durations_ps[events], self.starts_ps[events]))
            known = self._device_events[plane] = self.space.room.kept(events[order])
        return known

    @cached_property
    def _device_events(self) -> dict[int, Int64Array]:
        return {}

    def planes_of_gpus(self) -> list[int]:
        """Places of the planes of GPUs in the space."""
        planes = enumerate(self.space.planes)
        return [number for number, plane in planes if plane.name.startswith(GPU_PREFIX)]

    def named(self, wanted: Callable[[str], bool]) -> BoolArray:
        """Whether the name of each event is wanted, shape (n,)."""
        return self.kind_mask([wanted(name) for name in self.names])

    def kind_mask(self, chosen: Sequence[bool] | BoolArray) -> BoolArray:
        """Whether the kind of each event is chosen, shape (n,)."""
        is_chosen = np.asarray(chosen, np.bool_)
        kinds = np.flatnonzero(is_chosen).tolist()
        if len(kinds) > _FEW_KINDS:
            return looked_up(is_chosen, self.kinds)
        mask = np.zeros(len(self), np.bool_)
        for kind in kinds:
            mask |= self.kinds == kind
        return mask

    def only(self, kept: BoolArray) -> Timeline:
        """The timeline of some of the events: ``kept`` has shape (n,)."""
        before = np.concatenate([[0], np.cumsum(kept)])

        def cut(stat: SparseStat) -> SparseStat:
            inside = stat.only(kept[stat.events])
            events = before[inside.events].astype(stat.events.dtype)
            return SparseStat(events, inside.kinds, inside.held, inside.texts)

        return replace(
            self,
            first=before[self.first],
            starts_ps=self.starts_ps[kept],
            durations_ps=self.durations_ps[kept],
            kinds=self.kinds[kept],
            sources=self.sources.only(np.flatnonzero(kept)),
            given_stats={name: cut(stat) for name, stat in self.given_stats.items()},
        )

    def events_of(self, line: int) -> slice:
        """The events of a line."""
        return slice(int(self.first[line]), int(self.first[line + 1]))

    def name(self, event: int) -> str:
        """Name of an event."""
        return self.names[int(self.kinds[event])]

    def stat(self, name: str, *, keep: bool = True) -> SparseStat:
        """A stat, of those events that have it; own stats win over those of the metadata.

        Args:
            name: Name of the stat.
            keep: Keep the column for later calls; not worth its memory for a single use.
        """
        column = self.given_stats.get(name, self._stats.get(name))
        if column is None:
            column = _sparse_stat(self, name)
            if keep:
                column = self.keep_stat(name, column)
        return column

    def keep_stat(self, name: str, column: SparseStat) -> SparseStat:
        """Keep the column of a stat for later calls, and return it."""
        self._stats[name] = column.map_columns(self.space.room.kept)
        return self._stats[name]

    def having(self, stat: str) -> BoolArray:
        """Whether each event has a stat, shape (n,)."""
        return self.stat(stat).mask(len(self))

    @property
    def is_asynchronous(self) -> BoolArray:
        """Whether each event runs beside others, without parent and children, shape (n,)."""
        stat = self.stat("_a")
        return stat.only(stat.values != 0).mask(len(self))

    def offsets_ps(self, events: Int64Array) -> Int64Array:
        """Starts of events since the timestamps of their lines as recorded, shape (n,)."""
        shifts_ps = np.zeros(len(events), np.int64)
        sources = self.sources.of(events)
        planes = np.searchsorted(self.first_sources, sources, side="right") - 1
        for plane in np.unique(planes).tolist():
            chosen = (planes == plane) & (sources >= 0)
            offsets = self.space.planes[plane].events.offsets_ps
            shifts_ps[chosen] = offsets[sources[chosen] - self.first_sources[plane]]
        return shifts_ps

    def stats_of(self, event: int) -> dict[str, StatValue]:
        """All stats of one event by name, as recorded."""
        source = int(self.sources.of(np.array([event]))[0])
        if source < 0:
            return {}
        plane = int(np.searchsorted(self.first_sources, source, side="right")) - 1
        return self.space.planes[plane].stats_of(source - int(self.first_sources[plane]))

    @cached_property
    def _stats(self) -> dict[str, SparseStat]:
        return {}

    @cached_property
    def first_sources(self) -> Int64Array:
        """The number of the first event of each plane in the space, and the number of all."""
        sizes = [len(plane.events) for plane in self.space.planes]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _sparse_stat(timeline: Timeline, name: str) -> SparseStat:
    numbers: dict[str, int] = {}
    parts = []
    place_of = timeline.sources.places
    for number, plane in enumerate(timeline.space.planes):
        if not len(plane.events) or not plane.stat_metadata.keys_of(name):
            continue
        column = plane.stat(name)
        kinds, values = column.held_kinds, column.held_values.astype(np.int64, copy=False)
        is_text = kinds >= StatKind.STR
        if is_text.any():
            texts = [numbers.setdefault(text, len(numbers)) for text in column.known_texts]
            values[is_text] = np.array(texts, np.int64)[values[is_text]]
        places: IntArray = column.events + timeline.first_sources[number]
        if place_of is not None:
            places = place_of[places]
        parts.append((places.astype(place_type(len(timeline)), copy=False), kinds, values))
    if not parts:
        nothing = np.zeros(0, np.int64)
        return SparseStat(nothing, np.zeros(0, np.uint8), nothing, [])
    places, kinds, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    if (np.diff(places) <= 0).any() or (len(places) and places[0] < 0):
        chosen = np.argsort(places, kind="stable")
        chosen = chosen[places[chosen] >= 0]
        places, kinds, values = places[chosen], kinds[chosen], values[chosen]
    return SparseStat(places, kinds, narrowed(values), list(numbers))
