"""Small captures of the TensorFlow 2 profiler for tests, one line per event.

Times are nanoseconds since the beginning of the capture.

Example:
    >>> from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace
    >>> space = xspace(
    ...     host(
    ...         line(
    ...             event("train", 0, 100, step_num=7, _r=1),
    ...             event("dense/MatMul:MatMul", 10, 30, correlation_id=1),
    ...         ),
    ...     ),
    ...     gpu(line(event("sgemm", 50, 20, correlation_id=1), id=14, name="Stream #14")),
    ... )
    >>> run = opened(space)
    >>> run.hosts[0].groups().names
    {0: 'train 7'}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfprof.captures.events.timeline.names import HOST_PLANE
from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.run.run import Run, open_run
from tfprof.core.wire import messages as pb

Value = Any
"""Value of a stat: int, float, str, bytes, ``Unsigned``, ``Reference``; None: no value."""

START_NS = 1_700_000_000_000_000_000
"""Start of a capture, unless another is given."""


class Unsigned(NamedTuple):
    """A stat that is written as an unsigned number."""

    value: int


class Reference(NamedTuple):
    """A text that is written as a reference to a name among the stat metadata."""

    text: str


@dataclass(frozen=True)
class Event:
    """An event; see ``event``."""

    name: str
    start_ns: float
    duration_ns: float
    stats: Mapping[str, Value] = field(default_factory=dict)
    n_aggregated: int | None = None


@dataclass(frozen=True)
class EventLine:
    """A line; see ``line``."""

    events: tuple[Event, ...]
    id: int
    name: str
    start_ns: int


def event(name: str, start: float, duration: float = 1, /, **stats: Value) -> Event:
    """An event.

    Args:
        name: Its name.
        start: Start, ns since the beginning of its line.
        duration: Duration, ns.
        stats: Its stats, by name.
    """
    return Event(name, start, duration, stats)


def aggregated(name: str, count: int, duration: float = 1, /, **stats: Value) -> Event:
    """An event that stands for ``count`` executions and has no start."""
    return Event(name, 0, duration, stats, count)


def line(*events: Event, id: int = 1, name: str = "", start_ns: int = 0) -> EventLine:
    """A thread or a stream.

    Args:
        events: Its events.
        id: Number of the thread or stream.
        name: Name of the thread or stream.
        start_ns: Start of the line, since the beginning of the capture.
    """
    return EventLine(events, id, name, start_ns)


def plane(
    name: str,
    *lines: EventLine,
    stats: Mapping[str, Value] | None = None,
    metadata: Mapping[str, Mapping[str, Value]] | None = None,
    display: Mapping[str, str] | None = None,
    began_ns: int = START_NS,
) -> pb.XPlane:
    """A plane.

    Args:
        name: Its name.
        lines: Its lines.
        stats: Stats of the plane itself.
        metadata: Stats shared by all events of a name, by event name.
        display: Display names, by event name.
        began_ns: Start of the capture.
    """
    made = pb.XPlane(name=name)
    names = _Names(made)
    names.add_stats(made.stats, stats or {})
    for event_name, shared in (metadata or {}).items():
        names.add_stats(names.event_entry(event_name).stats, shared)
    for event_name, shown in (display or {}).items():
        names.event_entry(event_name).display_name = shown
    for one in lines:
        added = made.lines.add(id=one.id, name=one.name, timestamp_ns=began_ns + one.start_ns)
        for happened in one.events:
            entry = names.event_entry(happened.name)
            row = added.events.add(
                metadata_id=entry.id, duration_ps=round(happened.duration_ns * 1000)
            )
            if happened.n_aggregated is None:
                row.offset_ps = round(happened.start_ns * 1000)
            else:
                row.num_occurrences = happened.n_aggregated
            names.add_stats(row.stats, happened.stats)
    return made


def host(*lines: EventLine, **options: Any) -> pb.XPlane:
    """The threads of a host; options are those of ``plane``."""
    return plane(HOST_PLANE, *lines, **options)


def gpu(*lines: EventLine, ordinal: int = 0, **options: Any) -> pb.XPlane:
    """The streams of a GPU; options are those of ``plane``."""
    return plane(f"/device:GPU:{ordinal}", *lines, **options)


def xspace(
    *planes: pb.XPlane,
    hostname: str = "",
    errors: Iterable[str] = (),
    warnings: Iterable[str] = (),
) -> pb.XSpace:
    """The capture of one host."""
    hostnames = [hostname] if hostname else []
    return pb.XSpace(planes=planes, hostnames=hostnames, errors=errors, warnings=warnings)


def opened(*spaces: pb.XSpace) -> Run:
    """A run of hosts ``host 0``, ``host 1``, …, read from the bytes of the captures."""
    return open_run([space.SerializeToString() for space in spaces])


def timeline_of(space: pb.XSpace) -> Any:
    """The events of one host in order of time."""
    from tfprof.captures.events.timeline.build_timeline import build_timeline

    return build_timeline(read_xspace(space.SerializeToString()))


class _Names:
    """Metadata of a plane: a number for each name."""

    def __init__(self, made: pb.XPlane) -> None:
        self._plane = made
        self._events: dict[str, int] = {}
        self._stats: dict[str, int] = {}

    def event_entry(self, name: str) -> Any:
        return _entry(self._plane.event_metadata, self._events, name)

    def _stat_key(self, name: str) -> int:
        return int(_entry(self._plane.stat_metadata, self._stats, name).id)

    def add_stats(self, rows: Any, stats: Mapping[str, Value]) -> None:
        for name, value in stats.items():
            row = rows.add(metadata_id=self._stat_key(name))
            if isinstance(value, Unsigned):
                row.uint64_value = value.value
            elif isinstance(value, Reference):
                row.ref_value = self._stat_key(value.text)
            elif isinstance(value, float):
                row.double_value = value
            elif isinstance(value, int):
                row.int64_value = value
            elif isinstance(value, str):
                row.str_value = value
            elif isinstance(value, bytes):
                row.bytes_value = value


def _entry(metadata: Any, numbers: dict[str, int], name: str) -> Any:
    number = numbers.setdefault(name, len(numbers) + 1)
    entry = metadata[number]
    entry.id, entry.name = number, name
    return entry
