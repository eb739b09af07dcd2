"""Joins consecutive captures of one host into one capture.

Each capture numbers its events' and stats' metadata anew and counts time from its own start. Planes
are the same if they have one name, lines of a plane if they have one number and one name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from tfprof.captures.events.timeline.names import END_OF_STEP, END_STATS, TASK_PLANE
from tfprof.core.wire import messages as pb
from tfprof.core.wire.varints import length_delimited, length_delimited_tag

_START, _STOP = "profile_start_time", "profile_stop_time"
_PLANES, _LINES = length_delimited_tag(1), length_delimited_tag(3)
_UNSTARTED = 0
"""Start of lines that have no events; these do not say when a line begins."""


class Part(NamedTuple):
    """One of the captures.

    Attributes:
        data: A serialized XSpace.
        shift_ns: How much later than the first one it began.
    """

    data: bytes
    shift_ns: int


def merged(parts: Iterable[Part], warnings: Iterable[str] = ()) -> bytes:
    """One serialized XSpace of all events; times count from the start of the first capture.

    One part at a time is held as messages. A step that begins in one part and ends in another
    gets its mark if the program recorded its start and number.

    Args:
        parts: In order of time.
        warnings: Added to those of the parts; every tool shows them.

    Raises:
        MalformedProfileError: A part is not an XSpace.
    """
    planes: dict[str, _Plane] = {}
    rest = pb.XSpace()
    for part in parts:
        space = pb.parse(pb.XSpace, part.data, source="snapshot")
        for field in ("errors", "warnings", "hostnames"):
            known = getattr(rest, field)
            known.extend(text for text in getattr(space, field) if text not in known)
        for plane in space.planes:
            planes.setdefault(plane.name, _Plane(plane)).add(plane, part.shift_ns)
    rest.warnings.extend(text for text in warnings if text not in rest.warnings)
    return b"".join([*(plane.field() for plane in planes.values()), rest.SerializeToString()])


class _Plane:
    """A plane that grows; its lines are bytes, as those of a message may just follow each other."""

    def __init__(self, first: pb.XPlane) -> None:
        self._whole = pb.XPlane(id=first.id, name=first.name)
        self._stat_keys: dict[str, int] = {}
        self._entry_keys: dict[bytes, int] = {}
        self._stats: dict[int, bytes] = {}
        self._lines: dict[tuple[int, str], _Line] = {}

    def add(self, plane: pb.XPlane, shift_ns: int) -> None:
        """Take in the same plane of the next capture, which is changed."""
        add_cut_marks(plane, shift_ns)

        def content(entry: pb.XEventMetadata) -> bytes:
            """The content of an entry; entries with the same content are the same."""
            _renumber(entry.stats, stat_keys)
            entry.id = 0
            return entry.SerializeToString(deterministic=True)

        known = self._whole
        stat_keys = _new_keys(
            known.stat_metadata, plane.stat_metadata, self._stat_keys, lambda entry: entry.name
        )
        entry_keys = _new_keys(
            known.event_metadata, plane.event_metadata, self._entry_keys, content
        )
        _renumber(plane.stats, stat_keys)
        for stat in plane.stats:
            self._keep_stat(stat)
        for line in plane.lines:
            for event in line.events:
                event.metadata_id = entry_keys.get(event.metadata_id, event.metadata_id)
                _renumber(event.stats, stat_keys)
            self._lines.setdefault((line.id, line.name), _Line(line)).add(line, shift_ns)

    def field(self) -> bytes:
        """The plane as a field of an XSpace."""
        del self._whole.stats[:]
        self._whole.stats.extend(map(pb.XStat.FromString, self._stats.values()))
        fields = [self._whole.SerializeToString()]
        fields += [length_delimited(_LINES, line.data()) for line in self._lines.values()]
        return length_delimited(_PLANES, b"".join(fields))

    def _keep_stat(self, stat: pb.XStat) -> None:
        """Keep the latest value of each stat of the plane, but the first start time."""
        name = self._whole.stat_metadata[stat.metadata_id].name
        if self._whole.name == TASK_PLANE and name == _START and stat.metadata_id in self._stats:
            return
        self._stats[stat.metadata_id] = stat.SerializeToString()


class _Line:
    def __init__(self, first: pb.XLine) -> None:
        self._head = pb.XLine(
            id=first.id, name=first.name, display_id=first.display_id,
            display_name=first.display_name,
        )  # fmt: skip
        self._start_ns: int | None = None
        self._end_ps = self._lowest_ps = 0
        self._events: list[bytes] = []

    def add(self, line: pb.XLine, shift_ns: int) -> None:
        """Append the events of a line, which is changed."""
        if not line.events:
            return
        start_ns = line.timestamp_ns + shift_ns
        if self._start_ns is None:
            self._start_ns = start_ns
        later_ps = (start_ns - self._start_ns) * 1000
        if later_ps:
            for event in line.events:
                if event.WhichOneof("data") != "num_occurrences":
                    event.offset_ps += later_ps
        if line.duration_ps:
            self._end_ps = max(self._end_ps, later_ps + line.duration_ps)
        self._lowest_ps = min(self._lowest_ps, *(event.offset_ps for event in line.events))
        self._events.append(pb.XLine(events=line.events).SerializeToString())

    def data(self) -> bytes:
        """The line, serialized."""
        if self._lowest_ps < 0:
            self._begin_earlier()
        self._head.timestamp_ns = self._start_ns or _UNSTARTED
        self._head.duration_ps = self._end_ps
        return self._head.SerializeToString() + b"".join(self._events)

    def _begin_earlier(self) -> None:
        """Start the line at its first event, the mark of a step that began before the line."""
        line = pb.XLine.FromString(b"".join(self._events))
        earlier_ns = -(self._lowest_ps // 1000)
        for event in line.events:
            event.offset_ps += 1000 * earlier_ns
        self._start_ns = (self._start_ns or _UNSTARTED) - earlier_ns
        self._end_ps += 1000 * earlier_ns if self._end_ps else 0
        self._lowest_ps, self._events = 0, [line.SerializeToString()]


def _new_keys(
    known: Any, entries: Any, keys_by_content: dict[Any, int], content: Callable[[Any], Any]
) -> dict[int, int]:
    """Add entries to the whole plane; returns the new numbers of those that change theirs.

    Args:
        known: The entries of the whole plane.
        entries: Further ones.
        keys_by_content: Numbers in the whole plane; is added to.
        content: By which entries are the same.
    """
    keys = {}
    for key, entry in sorted(entries.items()):
        said = content(entry)
        new = keys_by_content.get(said)
        if new is None:  # its own number, if it is free: those of programs mean something
            new = keys_by_content[said] = key if key not in known else max(known) + 1
            known[new].CopyFrom(entry)
            known[new].id = new
        if new != key:
            keys[key] = new
    return keys


def _renumber(stats: Any, keys: dict[int, int]) -> None:
    if not keys:
        return
    for stat in stats:
        stat.metadata_id = keys.get(stat.metadata_id, stat.metadata_id)
        if stat.WhichOneof("value") == "ref_value":
            stat.ref_value = keys.get(stat.ref_value, stat.ref_value)


_STEP, _IS_ROOT = "step_num", "_r"


def add_cut_marks(plane: pb.XPlane, before_ns: int) -> None:
    """Add the marks that are missing to a plane of a snapshot.

    Args:
        plane: Changed in place: a mark becomes the last event of its line, with a negative offset.
        before_ns: How much time before the snapshot was recorded; older marks are left out.
    """
    ends = {key for key, entry in plane.event_metadata.items() if entry.name == END_OF_STEP}
    for line in plane.lines if ends else ():
        cut = [
            mark
            for event in line.events
            if event.metadata_id in ends
            and (mark := _mark_of(plane, line, event)) is not None
            and -before_ns <= mark.start_ns < line.timestamp_ns
        ]
        whole = set(_numbers(plane, line)) if cut else set[int]()
        for mark in cut:
            if mark.number not in whole:
                line.events.append(_event_of(mark, plane, line.timestamp_ns))


class _Mark(NamedTuple):
    name: str
    number: int
    start_ns: int  # since the start of the snapshot: below 0
    duration_ns: int


def _event_of(mark: _Mark, plane: pb.XPlane, line_start_ns: int) -> pb.XEvent:
    """The event of a mark; missing names are added to the plane."""
    stats = [
        pb.XStat(metadata_id=_key(plane.stat_metadata, _STEP), int64_value=mark.number),
        pb.XStat(metadata_id=_key(plane.stat_metadata, _IS_ROOT), int64_value=1),
    ]
    return pb.XEvent(
        metadata_id=_key(plane.event_metadata, mark.name), stats=stats,
        offset_ps=(mark.start_ns - line_start_ns) * 1000, duration_ps=mark.duration_ns * 1000,
    )  # fmt: skip


def _mark_of(plane: pb.XPlane, line: pb.XLine, event: pb.XEvent) -> _Mark | None:
    values = {plane.stat_metadata[stat.metadata_id].name: stat for stat in event.stats}
    if not values.keys() >= set(END_STATS):
        return None
    number, took, ago, kind = (values[name] for name in END_STATS)
    name = kind.str_value or plane.stat_metadata[kind.ref_value].name
    if ago.int64_value > event.offset_ps // 1000:  # it ended before, when nothing was recorded
        return None
    end_ns = line.timestamp_ns + event.offset_ps // 1000 - ago.int64_value
    took_ns = took.int64_value
    return _Mark(name, number.int64_value, end_ns - took_ns, took_ns)


def _numbers(plane: pb.XPlane, line: pb.XLine) -> Iterator[int]:
    keys = {key for key, entry in plane.stat_metadata.items() if entry.name == _STEP}
    for event in line.events:
        yield from (stat.int64_value for stat in event.stats if stat.metadata_id in keys)


def _key(entries: Any, name: str) -> int:
    """The number of the entry with this name, which is added if it is missing."""
    for key, entry in entries.items():
        if entry.name == name:
            return int(key)
    key = max(entries, default=0) + 1
    entries[key].id, entries[key].name = key, name
    return key
