"""Regions of work of a thread pool: from a start event to the next stop event."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tfprof.captures.events.timeline.sources import place_type
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.lookup import places_in

START, STOP = "ThreadpoolListener::StartRegion", "ThreadpoolListener::StopRegion"
REGION = "ThreadpoolListener::Region"


class Regions(NamedTuple):
    """Regions in a timeline.

    Attributes:
        events: Their places, shape (n,).
        consumers: The id that ties each to the event that scheduled it, shape (n,).
    """

    events: Int64Array
    consumers: Int64Array


def with_regions(timeline: Timeline) -> tuple[Timeline, Regions]:
    """Add an event for each region of a host's threads (``preprocess_xplane.cc``).

    A region begins with the last start before its stop, if that start has a consumer id.
    """
    is_start, is_stop = timeline.named(START.__eq__), timeline.named(STOP.__eq__)
    nothing = np.zeros(0, np.int64)
    is_start &= timeline.on_host
    if not (is_start.any() and is_stop.any()):
        return timeline, Regions(nothing, nothing)
    consumer = timeline.stat("_c", keep=False)
    has_consumer = consumer.mask(len(timeline))
    ends_of_region = np.flatnonzero(is_stop)
    starts_of_region = np.flatnonzero(is_start & has_consumer)
    before = places_in(starts_of_region, ends_of_region) - 1
    stops = ends_of_region[before >= 0]
    starts = starts_of_region[before[before >= 0]]
    lines = timeline.lines_of(starts)
    same_line = lines == timeline.lines_of(stops)
    starts, stops, lines = starts[same_line], stops[same_line], lines[same_line]
    if not len(starts):
        return timeline, Regions(nothing, nothing)
    begin = timeline.starts_ps[starts]
    duration = timeline.starts_ps[stops] - begin
    places = _insertion_places(timeline, lines, begin, duration)
    order = np.argsort(places, kind="stable")
    if (np.diff(places[order]) == 0).any():
        order = np.lexsort((-duration, begin, places))
    ids = consumer.at(starts)[order]
    places = places[order]
    with_them = _inserted(timeline, places, lines[order], begin[order], duration[order])
    moved = consumer.events + places_in(places, consumer.events, "right")
    events = moved.astype(place_type(len(with_them)))
    with_them.keep_stat("_c", SparseStat(events, consumer.kinds, consumer.held, consumer.texts))
    return with_them, Regions(places + np.arange(len(order)), ids)


def cut_regions(timeline: Timeline) -> tuple[Int64Array, Int64Array]:
    """Regions of a host's threads that the end of the capture cuts.

    A thread records a stop when it leaves the region. On a busy machine this may be after the end
    of the capture. So if no stop follows the last start on a thread, all later events belong to
    the region.

    Returns:
        Their starts, and the end of the last event of their thread, ps; shape (n,) each.
    """
    starts, stops = (
        np.flatnonzero(timeline.named(name.__eq__) & timeline.on_host) for name in (START, STOP)
    )
    lines = timeline.lines_of(starts)
    is_last = np.append(lines[1:] != lines[:-1], True)[: len(lines)]
    starts, lines = starts[is_last], lines[is_last]
    after = np.searchsorted(stops, timeline.first[lines + 1])
    is_cut = np.searchsorted(stops, starts) == after
    starts, lines = starts[is_cut], lines[is_cut]
    ends = [timeline.ends_of(timeline.events_of(line)).max() for line in lines.tolist()]
    return starts, np.array(ends, np.int64)


def _insertion_places(
    timeline: Timeline, lines: Int64Array, begin: Int64Array, duration: Int64Array
) -> Int64Array:
    """The place of each region: before later events, and before shorter ones of the same start."""
    places = np.zeros(len(lines), np.int64)
    by_line = np.argsort(lines, kind="stable")
    distinct, first = np.unique(lines[by_line], return_index=True)
    for line, rows in zip(distinct.tolist(), np.split(by_line, first[1:]), strict=True):
        events = timeline.events_of(line)
        places[rows] = places_in(timeline.starts_ps[events], begin[rows]) + events.start
    waiting = np.arange(len(lines))
    while len(waiting):
        at = places[waiting]
        inside = at < timeline.first[lines[waiting] + 1]
        waiting, at = waiting[inside], at[inside]
        is_before = (timeline.starts_ps[at] == begin[waiting]) & (
            timeline.durations_ps[at] >= duration[waiting]
        )
        waiting = waiting[is_before]
        places[waiting] += 1
    return places


def _inserted(
    timeline: Timeline,
    places: Int64Array,
    lines: Int64Array,
    begin: Int64Array,
    duration: Int64Array,
) -> Timeline:
    counts = np.bincount(lines, minlength=len(timeline.lines))
    # New places of the old events, and places of the added ones.
    added = places + np.arange(len(places))
    is_old = np.ones(len(timeline) + len(places), np.bool_)
    is_old[added] = False

    def merged(column: Any, values: Any) -> Any:
        whole = timeline.space.room.empty(len(is_old), column.dtype)
        whole[is_old], whole[added] = column, values
        return whole

    return replace(
        timeline,
        first=timeline.first + np.concatenate([[0], np.cumsum(counts)]),
        starts_ps=merged(timeline.starts_ps, begin),
        durations_ps=merged(timeline.durations_ps, duration),
        kinds=merged(timeline.kinds, len(timeline.names)),
        names=[*timeline.names, REGION],
        display_names=[*timeline.display_names, ""],
        sources=timeline.sources.with_added(added),
    )
