"""The events of a space → ``Timeline``: lines of one thread are joined, times are on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfprof.captures.events.timeline.clocks import time_axis
from tfprof.captures.events.timeline.names import HOST_PLANE, MERGED_PLANES, is_derived, is_device
from tfprof.captures.events.timeline.sources import Sources, place_type
from tfprof.captures.events.timeline.timeline import Line, Timeline
from tfprof.captures.model.xspace import Plane, XSpace
from tfprof.captures.model.xspace_events import AGGREGATED
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import BoolArray, Int64Array, blocks, narrowest, no_rows
from tfprof.files.spill import Room

_NEW_NVTX_ID = 1 << 32


def build_timeline(space: XSpace) -> Timeline:
    """Build the timeline of a space.

    Aggregated events, which have no start, and those with impossible times are left out.
    """
    lines, pieces = _merged_lines(space)
    axis = time_axis(space)
    planes = range(len(space.planes))
    starts_of_plane = [axis.starts_ps(number) for number in planes]
    possible_of_plane = [axis.is_possible(number) for number in planes]
    kinds_before = _before([len(plane.event_metadata) + 1 for plane in space.planes])
    kind_type = narrowest(kinds_before[-1] + 1)  # one more for events that others add
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
    room = space.room
    starts, durations, kinds = (
        _joined([part[column] for part in parts], room) for column in range(3)
    )
    n_sources, numbers = _numbers(runs, space)
    order = _time_order(starts, durations, first)
    if order is not None:
        starts, durations, kinds = (
            room.kept(column[order]) for column in (starts, durations, kinds)
        )
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
    """The kind of some events: numbers follow those of other planes and the unknown kind."""
    kinds = plane.event_metadata.by_key.rows(plane.events.metadata_ids[rows])
    kinds = kinds.astype(kind_type, copy=False)
    kinds += kind_type(before + 1)
    return kinds


def _append_run(
    runs: list[tuple[int, slice | Int64Array]], number: int, rows: slice | Int64Array
) -> None:
    """Add events of a plane; a slice that continues the last one is joined to it."""
    if runs and isinstance(rows, slice):
        last_number, last = runs[-1]
        if last_number == number and isinstance(last, slice) and last.stop == rows.start:
            runs[-1] = (number, slice(last.start, rows.stop))
            return
    runs.append((number, rows))


def _numbers(
    runs: Sequence[tuple[int, slice | Int64Array]], space: XSpace
) -> tuple[int, IntArray | None]:
    """Number of events in a space, and the numbers of some; None if these are all, in order."""
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
    return before[-1], _joined(numbers, space.room)


def _before(sizes: list[int]) -> list[int]:
    """The sum of the sizes before each, and of all."""
    return [0, *np.cumsum(sizes, dtype=np.int64).tolist()]


def _timed_events(plane: Plane, line: int, is_possible: BoolArray | None) -> slice | Int64Array:
    """The events of a line that have a start and possible times."""
    events = slice(int(plane.events.first[line]), int(plane.events.first[line + 1]))
    is_left_out = plane.events.which[events] == AGGREGATED
    if is_possible is not None:
        is_left_out = is_left_out | ~is_possible[events]
    if not is_left_out.any():
        return events
    return np.flatnonzero(~is_left_out) + events.start


def _joined(parts: list[Any], room: Room) -> Any:
    """The parts of a column, concatenated."""
    if len(parts) == 1:
        return room.kept(parts[0])
    if not parts:
        return no_rows()
    return np.concatenate(parts, out=room.empty(sum(map(len, parts)), np.result_type(*parts)))


def _merged_lines(space: XSpace) -> tuple[list[Line], list[list[tuple[int, int]]]]:
    """The lines that hold events, and the (plane, line) pairs of each."""
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
    free_id = _NEW_NVTX_ID
    while (HOST_PLANE, free_id) in places:
        free_id += 1
    return free_id


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
    """The order by line, start, and descending duration; None if events are in this order."""
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
    """Places of events that belong before their predecessor; the first event is left out."""
    earlier = starts[1:] - starts[:-1]
    return np.flatnonzero((earlier < 0) | ((earlier == 0) & (durations[1:] > durations[:-1])))
