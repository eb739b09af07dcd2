"""The bytes of a capture with room for other times: one copy and some numbers make another host.

Moments and durations are written as varints of as many bytes as the largest value of any host
takes, so that every host has its numbers at the same places, and nothing is encoded anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof.captures.read.xspace import read_xspace
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.intervals import Float64Array
from tfprof.core.wire.lockstep import PADDING, Messages, read_fields
from tfprof.core.wire.varints import (
    encode_varint,
    length_delimited,
    length_delimited_tag,
    put_varints,
    varint_sizes,
)
from tfprof.core.wire.xspace_lines import elements

_PLANES, _LINES, _HOSTNAMES = 1, 3, 4
_STAMP, _EVENTS = 3, 4
_OFFSET, _DURATION = 2, 3
_SESSION = ("profile_start_time", "profile_stop_time")

_DAY_NS = 86_400_000_000_000
_STAMP_BYTES = 9
"""Of any time since 1970, in ns, until 2262; a host may have a smaller one."""

_LARGEST_STAMP = (1 << 7 * _STAMP_BYTES) - 1
_SINCE_1970_NS = 1 << 59
"""Timestamps from here on, July 1988, count since 1970; smaller ones since the profiler started."""


class Clock(NamedTuple):
    """How a host counts time.

    Attributes:
        ahead_ns: How far its clock goes before that of the others.
        early_ns: How long before the others its profiler was started.
    """

    ahead_ns: int
    early_ns: int


class Moments(NamedTuple):
    """Where moments lie in the cut time.

    Attributes:
        segments: Segment of each, shape (n,).
        within_ps: How far from its beginning, shape (n,).
    """

    segments: Int64Array
    within_ps: Float64Array

    @classmethod
    def of(cls, times_ps: Float64Array, bounds_ps: Float64Array) -> Moments:
        """Moments of the recorded time; what is outside belongs to the first or last segment."""
        last = len(bounds_ps) - 2
        segments = np.clip(np.searchsorted(bounds_ps, times_ps, side="right") - 1, 0, last)
        return cls(segments, times_ps - bounds_ps[segments])

    def moved(self, bounds_ps: Float64Array, slopes: Float64Array) -> Int64Array:
        """The same moments where each segment takes so many times as long, ps."""
        begins = np.concatenate([[0.0], np.cumsum(np.diff(bounds_ps) * slopes)])
        return np.rint(begins[self.segments] + self.within_ps * slopes[self.segments]).astype(int)


class Recorded(NamedTuple):
    """The times of a capture, relative to its origin; events in the order of the file.

    Attributes:
        origin_ns: The first timestamp.
        stamps_ps: Of each line, shape (n lines,).
        lines: Line of each event, shape (n,).
        starts_ps: When each begins, shape (n,).
        stops_ps: When each ends, shape (n,).
        has_start: Whether it begins at all, shape (n,).
        names: Of what each is, all planes after each other, shape (n names,).
        kinds: Its place among these names, -1 for none, shape (n,).
        numbered: Whether it says a number of a step, shape (n,).
    """

    origin_ns: int
    stamps_ps: Float64Array
    lines: Int64Array
    starts_ps: Float64Array
    stops_ps: Float64Array
    has_start: BoolArray
    names: list[str]
    kinds: Int64Array
    numbered: BoolArray

    @property
    def is_absolute(self) -> bool:
        """Whether timestamps count since 1970, not since the profiler started."""
        return self.origin_ns >= _SINCE_1970_NS

    @property
    def end_ps(self) -> float:
        """When the last event ends."""
        return float(self.stops_ps.max())

    @property
    def is_moved(self) -> BoolArray:
        """Whether the clock of a line is that of the others; other lines stay, shape (n lines,)."""
        moved: BoolArray = np.abs(self.stamps_ps) < _DAY_NS * 1e3
        return moved


def recorded_times(space: Any) -> Recorded:
    """The times of an XSpace message."""
    read = read_xspace(space)
    planes = read.planes
    stamps = np.concatenate([plane.lines.timestamps_ns for plane in planes])
    busy = np.concatenate([np.diff(plane.events.first) > 0 for plane in planes])
    near = stamps[busy & (stamps > stamps[busy].max() - _DAY_NS)]
    origin = int(near.min())
    stamps_ps = (stamps - origin) * 1e3
    counts = np.concatenate([np.diff(plane.events.first) for plane in planes])
    lines = np.repeat(np.arange(len(stamps)), counts)
    offsets = np.concatenate([plane.events.offsets_ps for plane in planes])
    durations = np.concatenate([plane.events.durations_ps for plane in planes])
    starts = stamps_ps[lines] + offsets
    names = [name for plane in planes for name in plane.event_metadata.shown]
    kinds, before = [], 0
    for plane in planes:
        rows = plane.metadata_rows
        kinds.append(np.where(rows >= 0, rows + before, -1))
        before += len(plane.event_metadata)
    return Recorded(
        origin,
        stamps_ps,
        lines,
        starts,
        starts + durations,
        np.concatenate([plane.events.has_offset for plane in planes]),
        names,
        np.concatenate(kinds),
        np.concatenate([plane.stat("step_num").present for plane in planes]),
    )


class Template:
    """A capture whose times can be written anew.

    Args:
        space: The XSpace message; its times and its host are lost.
        bounds_ps: How the recorded time is cut, shape (n segments + 1,).
        longest: How many times as long each segment may take, shape (n segments,).
        origin_ns: From when the cut time counts.
    """

    def __init__(
        self, space: Any, bounds_ps: Float64Array, longest: Float64Array, origin_ns: int
    ) -> None:
        times = recorded_times(space)
        shift_ps = (times.origin_ns - origin_ns) * 1e3
        self._bounds_ps, self._origin_ns = bounds_ps, origin_ns
        self._is_absolute = times.is_absolute
        self._is_moved = times.is_moved
        self._stamps = Moments.of(times.stamps_ps + shift_ps, bounds_ps)
        self._lines = times.lines
        self._starts = Moments.of(times.starts_ps + shift_ps, bounds_ps)
        self._stops = Moments.of(times.stops_ps + shift_ps, bounds_ps)
        self._end = Moments.of(np.array([times.end_ps + shift_ps]), bounds_ps)
        self._make_room(space, longest)
        data = space.SerializeToString()
        self._find(data)
        self._data = np.frombuffer(data, np.uint8)
        self._session = _session(space, data)

    def __len__(self) -> int:
        return len(self._data)

    def host(
        self, name: str, slopes: Float64Array, clock: Clock, tail: bytes = b""
    ) -> list[bytes | memoryview]:
        """The chunks of the capture of a host.

        Args:
            name: Its name.
            slopes: How many times as long each segment takes, shape (n segments,).
            clock: Its clock.
            tail: More fields of an XSpace.
        """
        data = self._data.copy()
        stamps_ns, offsets, durations = self._times(slopes)
        moved = self._is_moved
        stamps_ns += self._origin_ns + (clock.ahead_ns if self._is_absolute else clock.early_ns)
        _put(data, self._stamp_places[moved], stamps_ns[moved])
        self._put_session(data, slopes, clock)
        put_varints(data, self._offset_places, offsets.view(np.uint64), self._offset_sizes)
        put_varints(data, self._duration_places, durations.view(np.uint64), self._duration_sizes)
        named = length_delimited(length_delimited_tag(_HOSTNAMES), name.encode())
        return [data.data, named + tail]

    def _put_session(self, data: npt.NDArray[np.uint8], slopes: Float64Array, clock: Clock) -> None:
        """Write when the profiler was started and stopped, where that is recorded."""
        if self._session is not None:
            (start_place, start_ns), (stop_place, stop_ns) = self._session
            recorded_ns = int(self._bounds_ps[-1] - self._bounds_ps[0]) // 1000
            longer_ns = self._length_ns(slopes) - recorded_ns
            started_ns = start_ns + clock.ahead_ns - clock.early_ns
            stopped_ns = stop_ns + clock.ahead_ns + longer_ns
            for place, value in ((start_place, started_ns), (stop_place, stopped_ns)):
                _put(data, np.array([place]), np.array([value]))

    def _length_ns(self, slopes: Float64Array) -> int:
        return int(self._end.moved(self._bounds_ps, slopes)[0]) // 1000

    def _times(self, slopes: Float64Array) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Timestamps of lines since the origin, and offsets and durations that are written."""
        stamps_ns = self._stamps.moved(self._bounds_ps, slopes) // 1000
        starts = self._starts.moved(self._bounds_ps, slopes)
        durations = self._stops.moved(self._bounds_ps, slopes) - starts
        offsets = np.maximum(starts - stamps_ns[self._lines] * 1000, 0)
        return stamps_ns, offsets[self._with_offset], durations[self._with_duration]

    def _make_room(self, space: Any, longest: Float64Array) -> None:
        """Write the largest times, and find out which events have any."""
        self._with_offset = self._with_duration = np.arange(len(self._lines))
        _, offsets, durations = self._times(longest)
        moved = self._is_moved.tolist()
        offsets_left, durations_left = iter(offsets.tolist()), iter(durations.tolist())
        lines_left = iter(moved)
        del space.hostnames[:]
        for plane in space.planes:
            for line in plane.lines:
                if next(lines_left) and line.events:
                    line.timestamp_ns = _LARGEST_STAMP
                for event in line.events:
                    offset, duration = next(offsets_left), next(durations_left)
                    # A number that is not written has no place.
                    if event.HasField("offset_ps"):
                        event.offset_ps = offset + 1
                    if event.duration_ps > 0:
                        event.duration_ps = duration + 1

    def _find(self, data: bytes) -> None:
        """The places of all numbers."""
        view = memoryview(data)
        stamps, starts, stops = [], [], []
        for plane in _fields(view, 0, len(view), _PLANES):
            for first, behind in _fields(view, *plane, _LINES):
                inside = elements(view, first, behind)
                stamp = inside.start[inside.number == _STAMP]
                stamps.append(int(stamp[0]) if len(stamp) else -1)
                is_event = inside.number == _EVENTS
                starts.append(inside.start[is_event])
                stops.append(inside.stop[is_event])
        events = Messages(data + PADDING, np.concatenate(starts), np.concatenate(stops))
        found = read_fields(events, _OFFSET, _DURATION)
        moved = self._is_moved[self._lines[found.owner]]
        sizes = varint_sizes(found.value.view(np.uint64))
        of_offset, of_duration = (
            np.flatnonzero(moved & (found.number == number)) for number in (_OFFSET, _DURATION)
        )
        self._stamp_places = np.array(stamps, np.int64)
        self._is_moved = self._is_moved & (self._stamp_places >= 0)
        self._with_offset, self._offset_sizes = found.owner[of_offset], sizes[of_offset]
        self._offset_places = found.start[of_offset] - self._offset_sizes
        self._with_duration, self._duration_sizes = found.owner[of_duration], sizes[of_duration]
        self._duration_places = found.start[of_duration] - self._duration_sizes


def _fields(data: memoryview, start: int, stop: int, number: int) -> list[tuple[int, int]]:
    """Where the messages of a field lie."""
    inside = elements(data, start, stop)
    chosen = inside.number == number
    return list(zip(inside.start[chosen].tolist(), inside.stop[chosen].tolist(), strict=True))


def _session(space: Any, data: bytes) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the file says when the profiler was started and stopped, and when that was, ns."""
    found: list[tuple[int, int]] = []
    for plane in space.planes:
        for stat in plane.stats:
            name = plane.stat_metadata[stat.metadata_id].name
            size = len(encode_varint(stat.uint64_value))
            if name in _SESSION and size == _STAMP_BYTES:
                written = stat.SerializeToString()  # which ends with the number
                found.append((data.find(written) + len(written) - size, stat.uint64_value))
    return (found[0], found[1]) if len(found) == len(_SESSION) else None


def _put(data: npt.NDArray[np.uint8], places: Int64Array, values: Int64Array) -> None:
    sizes = np.full(len(places), _STAMP_BYTES)
    put_varints(data, places, values.astype(np.uint64), sizes)
