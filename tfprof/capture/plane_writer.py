"""Writes events with named stats into the planes of an XSpace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfprof.captures.events.timeline.clocks import MOST_NS


class PlaneWriter:
    """Adds events with named stats to a plane.

    Args:
        plane: The plane, to which events are added.
        begin_ns: Origin of time of its lines: 0 for 1970.
    """

    def __init__(self, plane: Any, begin_ns: int) -> None:
        self.plane, self._begin_ns = plane, begin_ns
        self._events: dict[str, int] = {e.name: key for key, e in plane.event_metadata.items()}
        self._stats: dict[str, int] = {e.name: key for key, e in plane.stat_metadata.items()}
        self._last_event = max(plane.event_metadata, default=0)
        self._last_stat = max(plane.stat_metadata, default=0)

    def line(self, number: int, name: str, first_ns: int) -> Any:
        """A line whose events count from the first."""
        return self.plane.lines.add(
            id=number, name=name, timestamp_ns=max(0, first_ns - self._begin_ns)
        )

    def add(self, line: Any, name: str, start_ns: int, end_ns: int, **stats: str | int) -> None:
        """An event; empty stats are left out, and events that are weeks away from the line."""
        since_ns, taken_ns = start_ns - self._begin_ns - line.timestamp_ns, end_ns - start_ns
        if not 0 <= since_ns <= MOST_NS or not 0 <= taken_ns <= MOST_NS:
            return
        if name not in self._events:
            self._last_event += 1
            self._events[name] = self._last_event
            entry = self.plane.event_metadata[self._last_event]
            entry.id, entry.name = self._last_event, _written(name)
        event = line.events.add(
            metadata_id=self._events[name],
            offset_ps=since_ns * 1000,
            duration_ps=taken_ns * 1000,
        )
        self._write(event.stats, stats)

    def describe(self, **stats: str | int) -> None:
        """Stats of the plane itself."""
        self._write(self.plane.stats, stats)

    def _write(self, target: Any, stats: Mapping[str, str | int]) -> None:
        for stat, value in stats.items():
            if value == "":
                continue
            if isinstance(value, str):
                target.add(metadata_id=self._stat(stat), str_value=_written(value))
            elif value >= 0:
                target.add(metadata_id=self._stat(stat), uint64_value=value)
            else:
                target.add(metadata_id=self._stat(stat), int64_value=value)

    def _stat(self, name: str) -> int:
        if name not in self._stats:
            self._last_stat += 1
            self._stats[name] = self._last_stat
            entry = self.plane.stat_metadata[self._last_stat]
            entry.id, entry.name = self._last_stat, name
        return self._stats[name]


def _written(text: str) -> str:
    """The text, with a question mark for everything that UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
