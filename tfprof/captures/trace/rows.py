"""Rows of threads with overlapping events: viewers keep a stack per row, and drop misfits."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.layers import layers_of, rows_of
from tfprof.captures.trace.blocks import in_whole_ns
from tfprof.captures.trace.tracks import ThreadNumbers, Track, Tracks, events_of
from tfprof.core.columns.columns import Int64Array

_NONE: Int64Array = np.zeros(0, np.int64)


class Row(NamedTuple):
    """A row of a trace.

    Attributes:
        track: Its thread, with the number and the name of the row.
        events: Its events in the timeline; for a derived line, their places in it. Shape (n,).
    """

    track: Track
    events: Int64Array


class Rows:
    """The rows of a host's trace.

    Args:
        tracks: The threads.
        split: Whether a thread whose events overlap in part becomes several rows.
    """

    def __init__(self, tracks: Tracks, *, split: bool) -> None:
        self._tracks = tracks
        self._more: dict[int, list[Row]] = {}
        if split:
            self._numbers = ThreadNumbers()
            for track in tracks.tracks:
                self._numbers.take(track.pid, track.tid)
            for place, track in enumerate(tracks.tracks):
                if track.is_shown and not track.is_counters:
                    self._split(place, track)

    def _split(self, place: int, track: Track) -> None:
        events = self._all(track)
        if track.derived is not None:
            starts, durations = track.derived.starts_ps, track.derived.durations_ps
            events = np.lexsort((-durations, starts))
        else:
            timeline = self._tracks.timeline
            starts, durations = timeline.starts_ps, timeline.durations_ps
        starts, durations = in_whole_ns(starts[events], durations[events])
        layer = layers_of(starts, starts + durations)
        if layer is None:
            return
        self._more[place] = [
            Row(track if not number else self._added(track, number), np.sort(events[part]))
            for number, part in enumerate(rows_of(layer, len(events)))
        ]

    def _added(self, track: Track, number: int) -> Track:
        tid = self._numbers.take(track.pid, track.tid)
        return track._replace(tid=tid, name=f"{track.name} (row {number + 1})".lstrip())

    def of(self, place: int) -> list[Row]:
        """Return the rows of a thread: one, unless its events overlap.

        Args:
            place: Its place among the threads.
        """
        track = self._tracks.tracks[place]
        return self._more.get(place) or [Row(track, self._all(track))]

    def tracks_of(self, place: int) -> list[Track]:
        """Return the rows of a thread without their events."""
        if place in self._more:
            return [row.track for row in self._more[place]]
        return [self._tracks.tracks[place]]

    def _all(self, track: Track) -> Int64Array:
        if track.derived is not None:
            return np.arange(len(track.derived))
        return events_of(self._tracks, track)

    @cached_property
    def _moved(self) -> tuple[Int64Array, Int64Array]:
        """Events in added rows, ascending, and the numbers of these rows."""
        rows = [row for rows in self._more.values() for row in rows[1:] if row.track.line >= 0]
        events = np.concatenate([_NONE, *(row.events for row in rows)])
        tids = np.repeat(
            np.array([row.track.tid for row in rows], np.int64), [len(row.events) for row in rows]
        )
        order = np.argsort(events)
        return events[order], tids[order]

    def tids(self, events: Int64Array, of_threads: Int64Array) -> Int64Array:
        """Return the number of the row of each event of the timeline, shape (n,).

        Args:
            events: The events, shape (n,).
            of_threads: The number of the thread of each, shape (n,).
        """
        moved, tids = self._moved
        if not len(moved):
            return of_threads
        at = np.searchsorted(moved, events).clip(max=len(moved) - 1)
        found: Int64Array = np.where(moved[at] == events, tids[at], of_threads)
        return found
