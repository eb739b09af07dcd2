"""All timed events of a host and its devices, line by line and in order of time.

Planes keep events as they were written. Here lines of several planes that are one thread become
one line, times are on one axis, and the events of a line are in the order in which they nest:
by start, those that take longer first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tfprof.analysis.xspace.clocks import TimeAxis, time_axis
from tfprof.analysis.xspace.names import HOST_PLANE, MERGED_PLANES, is_derived, is_device
from tfprof.analysis.xspace.op_names import OpName, parse_op_name
from tfprof.analysis.xspace.sources import Sources, place_type
from tfprof.model.columns import BoolArray, Int64Array, blocks, narrowest
from tfprof.model.xspace import Plane, XSpace
from tfprof.model.xspace_events import AGGREGATED
from tfprof.model.xspace_stats import IntArray, StatKind, StatValue

_NEW_NVTX_ID = 1 << 32

_FEW_KINDS = 4
"""So many comparisons take less time than to look up each event in a table."""


class Line(NamedTuple):
    """A thread, a stream, or what was derived from one.

    Attributes:
        plane: Place of its plane in the space; of several that were merged, the first.
        id: Thread or stream.
        name: What it is called.
        display_id: Its place in the display, 0 for none.
        is_host: It is a thread of the host.
        is_device: It belongs to a device.
        is_derived: A converter has added it.
    """

    plane: int
    id: int
    name: str
    display_id: int
    is_host: bool
    is_device: bool
    is_derived: bool


class SparseStat(NamedTuple):
    """A stat of those events that have it.

    Attributes:
        events: Their places in the timeline, ascending, shape (n,).
        kinds: ``StatKind`` of each value.
        values: Numbers or the bits of a double; of texts the number of one in ``texts``.
        texts: The texts.
    """

    events: Int64Array
    kinds: np.ndarray[tuple[int], np.dtype[np.uint8]]
    values: Int64Array
    texts: list[str]

    def __len__(self) -> int:
        return len(self.events)

    def only(self, chosen: BoolArray) -> SparseStat:
        """Those of some events."""
        if chosen.all():
            return self
        return SparseStat(self.events[chosen], self.kinds[chosen], self.values[chosen], self.texts)

    def is_integer(self) -> BoolArray:
        """Whether each value is an integer, signed or not."""
        found: BoolArray = (self.kinds == StatKind.INT64) | (self.kinds == StatKind.UINT64)
        return found

    def is_text(self) -> BoolArray:
        """Whether each value is a text."""
        found: BoolArray = self.kinds >= StatKind.STR
        return found

    def dense(self, n_events: int, missing: int = 0) -> Int64Array:
        """The integers of all events, shape (n_events,)."""
        found = np.full(n_events, missing, np.int64)
        whole = self.only(self.is_integer())
        found[whole.events] = whole.values
        return found

    def at(self, events: IntArray, missing: int = 0) -> Int64Array:
        """The integers of some events, shape of ``events``: cheaper than those of all."""
        found = np.full(len(events), missing, np.int64)
        rows = self.rows_of(events)
        is_integer = rows >= 0
        is_integer[is_integer] = self.is_integer()[rows[is_integer]]
        found[is_integer] = self.values[rows[is_integer]]
        return found

    def has(self, events: IntArray) -> BoolArray:
        """Whether some events have it, shape of ``events``."""
        return self.rows_of(events) >= 0

    def among(self, events: IntArray) -> SparseStat:
        """Those of some events, in the order of these; events without it are left out."""
        rows = self.rows_of(events)
        rows = rows[rows >= 0]
        return SparseStat(self.events[rows], self.kinds[rows], self.values[rows], self.texts)

    def rows_of(self, events: IntArray) -> Int64Array:
        """The rows of some events, -1 for those without, shape of ``events``."""
        if not len(self):
            return np.full(len(events), -1)
        row = np.searchsorted(self.events, events).clip(max=len(self) - 1)
        return np.where(self.events[row] == events, row, -1)

    def text_ids(self, n_events: int) -> IntArray:
        """The number of each event's text, -1 without one, shape (n_events,)."""
        found = np.full(n_events, -1, np.int32)
        chosen = self.is_text()
        found[self.events[chosen]] = self.values[chosen]
        return found

    def floats(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The numbers as doubles, shape (n,); NaN for texts."""
        found = np.full(len(self), np.nan)
        is_double = self.kinds == StatKind.DOUBLE
        found[is_double] = self.values[is_double].view(np.float64)
        is_signed, is_unsigned = self.kinds == StatKind.INT64, self.kinds == StatKind.UINT64
        found[is_signed] = self.values[is_signed]
        found[is_unsigned] = self.values[is_unsigned].view(np.uint64)
        return found


@dataclass(frozen=True, eq=False)
class Timeline:
    """Events of a space that have a start.

    Attributes:
        space: Where they are from.
        lines: The lines that hold some, those of the host first.
        first: The first event of each line, and the number of events, shape (n lines + 1,).
        starts_ps: When each began, since ``axis.base_ns``, shape (n,).
        durations_ps: How long it took.
        kinds: What it is: a place in ``names``.
        names: Name of each kind of event, once for each plane.
        display_names: What to show instead; empty for most.
        sources: Which event of the space each is.
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

    def __len__(self) -> int:
        return len(self.starts_ps)

    @cached_property
    def axis(self) -> TimeAxis:
        """What times count from."""
        return time_axis(self.space)

    @property
    def ends_ps(self) -> Int64Array:
        """When each event ended, shape (n,); of some events, rather ask ``ends_of``."""
        return self.starts_ps + self.durations_ps

    def ends_of(self, events: Any) -> Int64Array:
        """When some events ended."""
        found: Int64Array = self.starts_ps[events] + self.durations_ps[events]
        return found

    @cached_property
    def line_of(self) -> IntArray:
        """The line of each event, shape (n,)."""
        return np.repeat(np.arange(len(self.lines), dtype=np.int32), np.diff(self.first))

    def lines_of(self, events: Any) -> Int64Array:
        """The line of some events: cheaper than ``line_of`` of all."""
        found: Int64Array = np.searchsorted(self.first, events, side="right") - 1
        return found

    @cached_property
    def ops(self) -> list[OpName]:
        """What the name of each kind says about an op."""
        known: dict[str, OpName] = {}
        for name in self.names:
            if name not in known:
                known[name] = parse_op_name(name)
        return [known[name] for name in self.names]

    @cached_property
    def on_host(self) -> BoolArray:
        """Whether each event is one of the host, shape (n,)."""
        return self.of_lines(lambda line: line.is_host)

    @cached_property
    def on_threads(self) -> BoolArray:
        """Whether each event is one of a host's threads, and not derived, shape (n,)."""
        return self.of_lines(lambda line: line.is_host and not line.is_derived)

    @cached_property
    def on_device(self) -> BoolArray:
        """Whether each event is one of a device, shape (n,)."""
        return self.of_lines(lambda line: line.is_device)

    def of_lines(self, wanted: Callable[[Line], bool]) -> BoolArray:
        """Whether the line of each event is wanted, shape (n,)."""
        found = np.zeros(len(self), np.bool_)
        for number, line in enumerate(self.lines):
            if wanted(line):
                found[self.events_of(number)] = True
        return found

    def named(self, wanted: Callable[[str], bool]) -> BoolArray:
        """Whether the name of each event is wanted, shape (n,)."""
        return self.kind_mask([wanted(name) for name in self.names])

    def kind_mask(self, chosen: Sequence[bool] | BoolArray) -> BoolArray:
        """Whether the kind of each event is chosen, shape (n,)."""
        is_chosen = np.asarray(chosen, np.bool_)
        kinds = np.flatnonzero(is_chosen).tolist()
        if len(kinds) > _FEW_KINDS:
            return is_chosen[self.kinds]
        found = np.zeros(len(self), np.bool_)
        for kind in kinds:
            found |= self.kinds == kind
        return found

    def events_of(self, line: int) -> slice:
        """The events of a line."""
        return slice(int(self.first[line]), int(self.first[line + 1]))

    def name(self, event: int) -> str:
        """Name of an event."""
        return self.names[int(self.kinds[event])]

    def stat(self, name: str, *, keep: bool = True) -> SparseStat:
        """A stat, of those events that have it; own stats win over those of the metadata.

        Args:
            name: Of the stat.
            keep: Keep it for those who ask again; not worth its memory for what is asked once.
        """
        found = self._stats.get(name)
        if found is None:
            found = _sparse_stat(self, name)
            if keep:
                self._stats[name] = found
        return found

    def offsets_ps(self, events: Int64Array) -> Int64Array:
        """When events began, since the timestamps of their lines as written, shape (n,)."""
        found = np.zeros(len(events), np.int64)
        sources = self.sources.of(events)
        planes = np.searchsorted(self._first_source, sources, side="right") - 1
        for plane in np.unique(planes).tolist():
            chosen = (planes == plane) & (sources >= 0)
            offsets = self.space.planes[plane].events.offsets_ps
            found[chosen] = offsets[sources[chosen] - self._first_source[plane]]
        return found

    def stats_of(self, event: int) -> dict[str, StatValue]:
        """All stats of one event by name."""
        source = int(self.sources.of(np.array([event]))[0])
        if source < 0:
            return {}
        plane = int(np.searchsorted(self._first_source, source, side="right")) - 1
        return self.space.planes[plane].stats_of(source - int(self._first_source[plane]))

    @cached_property
    def _stats(self) -> dict[str, SparseStat]:
        return {}

    @cached_property
    def _first_source(self) -> Int64Array:
        sizes = [len(plane.events) for plane in self.space.planes]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def build_timeline(space: XSpace) -> Timeline:
    """Put the events of a space in order.

    Aggregated events, which have no start, and those with impossible times are left out.
    """
    lines, pieces = _merged_lines(space)
    axis = time_axis(space)
    planes = range(len(space.planes))
    starts_of_plane = [axis.starts_ps(number) for number in planes]
    possible_of_plane = [axis.is_possible(number) for number in planes]
    kinds_before = _before([len(plane.event_metadata) + 1 for plane in space.planes])
    kind_type = narrowest(kinds_before[-1] + 1)  # one more for what others add
    runs: list[tuple[int, slice | Int64Array]] = []
    sizes: list[int] = []
    for pairs in pieces:
        size = 0
        for number, line in pairs:
            rows = _timed_events(space.planes[number], line, possible_of_plane[number])
            size += rows.stop - rows.start if isinstance(rows, slice) else len(rows)
            _append_run(runs, number, rows)
        sizes.append(size)
    parts = [
        (
            starts_of_plane[number][rows],
            space.planes[number].events.durations_ps[rows],
            _kinds(space.planes[number], rows, kinds_before[number], kind_type),
        )
        for number, rows in runs
    ]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    starts, durations, kinds = (_joined([part[column] for part in parts]) for column in range(3))
    n_sources, numbers = _numbers(runs, space)
    order = _time_order(starts, durations, first)
    if order is not None:
        starts, durations, kinds = (column[order] for column in (starts, durations, kinds))
        numbers = order.astype(place_type(n_sources)) if numbers is None else numbers[order]
    names: list[str] = []
    shown: list[str] = []
    for plane in space.planes:
        names += ["", *plane.event_metadata.names.all]
        shown += ["", *plane.event_metadata.display_names.all]
    sources = Sources.in_order(n_sources, numbers)
    return Timeline(space, tuple(lines), first, starts, durations, kinds, names, shown, sources)


def _kinds(
    plane: Plane, rows: slice | Int64Array, before: int, kind_type: type[np.signedinteger[Any]]
) -> IntArray:
    """The kind of each of some events: behind those of other planes, and one that is unknown."""
    found = plane.event_metadata.by_key.rows(plane.events.metadata_ids[rows])
    found = found.astype(kind_type, copy=False)
    found += kind_type(before + 1)
    return found


def _append_run(
    runs: list[tuple[int, slice | Int64Array]], number: int, rows: slice | Int64Array
) -> None:
    """Add events of a plane; what follows the events before it becomes one piece with them."""
    if runs and isinstance(rows, slice):
        last_number, last = runs[-1]
        if last_number == number and isinstance(last, slice) and last.stop == rows.start:
            runs[-1] = (number, slice(last.start, rows.stop))
            return
    runs.append((number, rows))


def _numbers(
    runs: Sequence[tuple[int, slice | Int64Array]], space: XSpace
) -> tuple[int, IntArray | None]:
    """How many events a space has, and the numbers of some; None if these are all in order."""
    before = _before([len(plane.events) for plane in space.planes])
    end = 0
    for number, rows in runs:
        if not isinstance(rows, slice) or rows.start + before[number] != end:
            break
        end = rows.stop + before[number]
    else:
        if end == before[-1]:
            return end, None
    narrow = place_type(before[-1])
    numbers = [
        (rows + before[number]).astype(narrow)
        if not isinstance(rows, slice)
        else np.arange(rows.start + before[number], rows.stop + before[number], dtype=narrow)
        for number, rows in runs
    ]
    return before[-1], _joined(numbers)


def _before(sizes: list[int]) -> list[int]:
    """How many there are before each, and of all."""
    return [0, *np.cumsum(sizes, dtype=np.int64).tolist()]


def _timed_events(plane: Plane, line: int, is_possible: BoolArray | None) -> slice | Int64Array:
    """The events of a line that have a start, and times that can be."""
    events = slice(int(plane.events.first[line]), int(plane.events.first[line + 1]))
    is_left_out = plane.events.which[events] == AGGREGATED
    if is_possible is not None:
        is_left_out = is_left_out | ~is_possible[events]
    if not is_left_out.any():
        return events
    return np.flatnonzero(~is_left_out) + events.start


def _joined(parts: list[Any]) -> Any:
    """Parts of a column one behind the other."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _merged_lines(space: XSpace) -> tuple[list[Line], list[list[tuple[int, int]]]]:
    """The lines that hold events, and the (plane, line) pairs that each is made of."""
    places: dict[tuple[str, int], int] = {}
    lines: list[Line] = []
    pieces: list[list[tuple[int, int]]] = []
    hosts = [n for n, plane in enumerate(space.planes) if plane.name in MERGED_PLANES]
    hosts.sort(key=lambda n: space.planes[n].name != HOST_PLANE)
    others = [n for n in range(len(space.planes)) if n not in set(hosts)]
    for number in [*hosts, *others]:
        plane = space.planes[number]
        is_host = plane.name in MERGED_PLANES
        for line in np.flatnonzero(np.diff(plane.events.first)).tolist():
            line_id = int(plane.lines.ids[line])
            place = places.get((HOST_PLANE, line_id)) if is_host else None
            if place is not None and plane.name.startswith("/host:NVTX"):
                line_id, place = _free_id(places), None
            if place is not None and lines[place].plane != number:
                pieces[place].append((number, line))
                continue
            if is_host:
                places.setdefault((HOST_PLANE, line_id), len(lines))
            lines.append(_line(plane, number, line, line_id, is_host=is_host))
            pieces.append([(number, line)])
    return lines, pieces


def _free_id(places: dict[tuple[str, int], int]) -> int:
    found = _NEW_NVTX_ID
    while (HOST_PLANE, found) in places:
        found += 1
    return found


def _line(plane: Plane, number: int, line: int, line_id: int, *, is_host: bool) -> Line:
    return Line(
        number,
        line_id,
        plane.lines.display_names[line] or plane.lines.names[line],
        int(plane.lines.display_ids[line]),
        is_host,
        is_device(plane.name),
        is_derived(line_id),
    )


def _time_order(starts: Int64Array, durations: Int64Array, first: Int64Array) -> IntArray | None:
    """The order by line, start, and duration from long to short; None if it is that already."""
    if len(starts) < 2:
        return None
    pieces = [
        block.start
        + _out_of_order(
            starts[block.start - 1 : block.stop], durations[block.start - 1 : block.stop]
        )
        for block in blocks(1, len(starts))
    ]
    wrong = np.setdiff1d(np.concatenate(pieces), first)
    if not len(wrong):
        return None
    order = np.arange(len(starts))
    for line in np.unique(np.searchsorted(first, wrong, side="right") - 1).tolist():
        events = slice(int(first[line]), int(first[line + 1]))
        order[events] = np.lexsort((-durations[events], starts[events])) + events.start
    return order


def _out_of_order(starts: Int64Array, durations: Int64Array) -> Int64Array:
    """Places of events that belong before the one in front of them, the first left out."""
    earlier = starts[1:] - starts[:-1]
    return np.flatnonzero((earlier < 0) | ((earlier == 0) & (durations[1:] > durations[:-1])))


def _sparse_stat(timeline: Timeline, name: str) -> SparseStat:
    numbers: dict[str, int] = {}
    parts = []
    place_of = timeline.sources.places
    for number, plane in enumerate(timeline.space.planes):
        if not len(plane.events) or not plane.stat_metadata.keys_of(name):
            continue
        column = plane.stat(name)
        kinds, values = column.held_kinds, column.held_values.astype(np.int64)
        is_text = kinds >= StatKind.STR
        if is_text.any():
            texts = [numbers.setdefault(text, len(numbers)) for text in column.known_texts]
            values[is_text] = np.array(texts, np.int64)[values[is_text]]
        places = column.events + int(timeline._first_source[number])
        if place_of is not None:
            places = place_of[places].astype(np.int64)
        parts.append((places, kinds, values))
    if not parts:
        nothing = np.zeros(0, np.int64)
        return SparseStat(nothing, np.zeros(0, np.uint8), nothing, [])
    places, kinds, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    if (np.diff(places) <= 0).any() or (len(places) and places[0] < 0):
        chosen = np.argsort(places, kind="stable")
        chosen = chosen[places[chosen] >= 0]
        places, kinds, values = places[chosen], kinds[chosen], values[chosen]
    return SparseStat(places, kinds, values, list(numbers))
