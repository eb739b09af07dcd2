"""One axis of time for all lines of a host, and the events that do not fit on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.captures.events.timeline.names import TASK_PLANE
from tfprof.captures.model.xspace import Plane, XSpace
from tfprof.core.columns.columns import BoolArray, Int64Array

MOST_PS = 1 << 60
"""Thirteen days: no capture is longer, and sums of such times stay far below 64 bits."""

MOST_NS = MOST_PS // 1000

_MOST_TOGETHER_PS = 1 << 62


@dataclass(frozen=True, eq=False)
class TimeAxis:
    """The time axis of the events of a host.

    Attributes:
        space: Its events.
        base_ns: Origin of the axis: the first timestamp of the lines that share a clock.
    """

    space: XSpace
    base_ns: int

    def starts_ps(self, number: int) -> Int64Array:
        """Start of each event of a plane since the base, shape (n,).

        Lines with another clock begin at the base. Starts of impossible events are meaningless.
        """
        plane = self.space.planes[number]
        since = np.where(self._is_far(plane), 0, plane.lines.timestamps_ns - self.base_ns) * 1000
        offsets = plane.events.offsets_ps
        starts = np.empty(len(offsets), np.int64)
        for line in np.flatnonzero(np.diff(plane.events.first)).tolist():
            events = plane.events_of(line)
            np.add(offsets[events], since[line], out=starts[events])
        return starts

    def is_possible(self, number: int) -> BoolArray | None:
        """Whether each event's times are possible (see ``MOST_PS``); None if all of a plane are."""
        if self._impossible[number] is None:
            return None
        return ~self._impossible[number]  # type: ignore[operator]

    @cached_property
    def n_impossible(self) -> int:
        """Number of events with impossible times."""
        return sum(int(is_far.sum()) for is_far in self._impossible if is_far is not None)

    @cached_property
    def far_lines(self) -> list[str]:
        """Lines whose clock differs from that of the others by two weeks or more."""
        return [
            f"{plane.name} {plane.lines.shown[row]}".strip()
            for plane in self.space.planes
            for row in np.flatnonzero(self._is_far(plane) & (np.diff(plane.events.first) > 0))
        ]

    def _is_far(self, plane: Plane) -> BoolArray:
        stamps = plane.lines.timestamps_ns
        lowest, highest = -(1 << 63), (1 << 63) - 1
        is_far: BoolArray = (stamps < self.base_ns) | (
            stamps > min(max(self.base_ns + MOST_NS, lowest), highest)
        )
        return is_far

    @cached_property
    def _impossible(self) -> list[BoolArray | None]:
        columns = [(plane.events.offsets_ps, plane.events.durations_ps)
                   for plane in self.space.planes]  # fmt: skip
        together = sum(float(durations.sum(dtype=np.float64)) for _, durations in columns)
        most = MOST_PS
        if together > _MOST_TOGETHER_PS:  # then the longest are not real
            most = _MOST_TOGETHER_PS // max(1, sum(len(durations) for _, durations in columns))
        flags: list[BoolArray | None] = []
        for offsets, durations in columns:
            if not len(offsets) or (
                durations.min() >= 0 and durations.max() <= most
                and offsets.min() >= -MOST_PS and offsets.max() <= MOST_PS
            ):  # fmt: skip
                flags.append(None)
                continue
            is_wrong = (durations < 0) | (durations > most)
            flags.append(is_wrong | (offsets < -MOST_PS) | (offsets > MOST_PS))
        return flags


def time_axis(space: XSpace) -> TimeAxis:
    """The axis of a host: that of the clock of most of its events.

    Lines of one host share a clock, unless a file is damaged or a recorder has none for some.
    """
    stamps: dict[int, int] = {}
    for plane in space.planes:
        add_stamps(stamps, plane)
    return TimeAxis(space, space.base_from(base_of(stamps)))


def recorded_at_ns(space: XSpace) -> int | None:
    """Start of the recorder, by the clock of the host, ns since 1970; None if not recorded."""
    for plane in space.planes:
        if plane.name == TASK_PLANE:
            written = plane.own_stats().get("profile_start_time")
            if isinstance(written, int) and written > 0:
                return written
    return None


def unix_base_ns(axis: TimeAxis) -> int | None:
    """The base of an axis in ns since 1970; None if unknown.

    New files count from the start of the recorder, old ones from 1970.
    """
    if abs(axis.base_ns) > MOST_NS:
        return axis.base_ns
    began = recorded_at_ns(axis.space)
    return None if began is None else began + axis.base_ns


def add_stamps(stamps: dict[int, int], plane: Plane) -> None:
    """Count the events of a plane by the timestamps of their lines.

    Args:
        stamps: Numbers of events by timestamp, changed.
        plane: The plane.
    """
    sizes = np.diff(plane.events.first)
    for stamp, size in zip(plane.lines.timestamps_ns.tolist(), sizes.tolist(), strict=True):
        if size:
            stamps[stamp] = stamps.get(stamp, 0) + size


def base_of(stamps: Mapping[int, int]) -> int:
    """The first timestamp of the clock of most events; 0 without any.

    Args:
        stamps: Numbers of events by timestamp.
    """
    in_order = sorted(stamps)
    if not in_order or in_order[-1] - in_order[0] <= MOST_NS:
        return in_order[0] if in_order else 0
    best, most, end, inside = 0, 0, 0, 0
    for place, stamp in enumerate(in_order):
        while end < len(in_order) and in_order[end] - stamp <= MOST_NS:
            inside += stamps[in_order[end]]
            end += 1
        if inside > most:
            best, most = place, inside
        inside -= stamps[stamp]
    return in_order[best]
