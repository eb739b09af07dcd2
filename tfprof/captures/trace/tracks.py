"""Processes and threads of a trace: the lines that it shows, their places and their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.derived.all import DerivedLines, derive_lines
from tfprof.captures.events.derived.lines import DerivedLine, HloSource
from tfprof.captures.events.ops.memory import ALLOCATION, DEALLOCATION
from tfprof.captures.events.timeline.names import CUSTOM_PREFIX, INTERNAL_EVENTS, is_device
from tfprof.captures.events.timeline.programs import HloKey
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.facts.hlo_programs import annotated, known_programs
from tfprof.captures.read.hlo import split_title
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import BoolArray, Int64Array

COUNTERS = "_counters_"
_MORE_COUNTERS = "counters_"
"""Prefix of the names of lines that the reference leaves out."""

_ASYNC = "Async XLA Ops"

_HOST_PID, _CUSTOM_PID, _DEVICE_PID = 701, 501, 1
_MOST_DEVICES = 499
_PIDS_PER_HOST = 1000
_TIDS = 1 << 32
"""Viewers can distinguish so many numbers of threads."""


class Track(NamedTuple):
    """A thread of a trace.

    Attributes:
        pid: Number of its process.
        tid: Its number, unique in the process; by the rules of the reference, nearly so.
        name: Its name.
        thread_id: The id of the line.
        order: Its place in the process.
        line: The line of the timeline; -1 if it is derived.
        derived: The derived line, or None.
        is_shown: Whether its events are also in the trace.
    """

    pid: int
    tid: int
    name: str
    thread_id: int
    order: int
    line: int
    derived: DerivedLine | None
    is_shown: bool = True

    @property
    def is_counters(self) -> bool:
        """Whether its events are values of counters."""
        return self.derived is None and self.name.startswith((COUNTERS, _MORE_COUNTERS))


@dataclass(frozen=True)
class Tracks:
    """The threads of a host, and its processes.

    Attributes:
        timeline: Its events.
        processes: Names by process, in the order of the processes' numbers.
        tracks: Threads with events, in the order of lines.
        is_hidden: Whether the trace leaves out each event of the timeline, shape (n,).
    """

    timeline: Timeline
    processes: dict[int, str]
    tracks: tuple[Track, ...]
    is_hidden: BoolArray


class ThreadNumbers:
    """The numbers of threads already in use."""

    def __init__(self) -> None:
        self._next: dict[tuple[int, int], int] = {}

    def take(self, pid: int, tid: int) -> int:
        """Take the first free number of a process, from ``tid`` on; fast even if many are taken."""
        passed = []
        while (pid, tid) in self._next:
            passed.append(tid)
            tid = self._next[pid, tid]
        for each in [*passed, tid]:
            self._next[pid, each] = (tid + 1) % _TIDS
        return tid


def find_tracks(host: Host, place: int | None = None) -> Tracks:
    """Find the threads of a host's trace.

    Args:
        host: The host.
        place: Its place among several hosts in one trace; None if it is alone.
    """
    timeline = host.timeline
    derived, is_viewers = derived_lines(host), host.rules.shows_viewer_events
    pids = _pids(timeline, derived, place, is_viewers=is_viewers)
    processes = {
        pid: timeline.space.planes[plane].name
        if place is None
        else f"{host.name} {timeline.space.planes[plane].name}"
        for plane, pid in pids.items()
    }
    tracks = list(_recorded(timeline, derived, pids, is_viewers=is_viewers))
    for line in derived.lines:
        tracks.append(
            Track(pids[line.plane], line.display_id or line.id, line.name, line.id, 0, -1, line)
        )
    # Derived lines follow the recorded ones of their plane; hosts come first.
    ranks = {pid: rank for rank, pid in enumerate(dict.fromkeys(track.pid for track in tracks))}
    tracks.sort(key=lambda track: ranks[track.pid])
    tracks = _numbered(tracks, is_viewers=is_viewers)
    # Counters show memory. The reference also hides the events that arrows connect.
    hidden = INTERNAL_EVENTS if is_viewers else frozenset((ALLOCATION, DEALLOCATION))
    is_hidden = timeline.named(hidden.__contains__)
    return Tracks(timeline, dict(sorted(processes.items())), tuple(tracks), is_hidden)


def derived_lines(host: Host) -> DerivedLines:
    """Make the derived lines of a host, once."""

    def hlo(program: int | None, module: str, name: str) -> HloSource | None:
        bare, in_title = split_title(module)
        key = HloKey(in_title if program is None else program, bare, name)
        known = known_programs(host).instruction(key)
        if known is None:
            told = annotated(host).get(key)
            return None if told is None else HloSource(told.tf_op, told.place)
        instruction = known.instruction
        place = known.program.module().place(instruction)
        if host.rules.shows_viewer_events:
            tf_op = f"{instruction.op_name}:{instruction.op_type}"
            return HloSource(tf_op, place.rpartition("/")[2])
        return HloSource(instruction.tf_op, place)

    def make() -> DerivedLines:
        return derive_lines(host.timeline, host.groups(), hlo, rules=host.rules)

    return host.memo.once("derived lines", make)


def _pids(
    timeline: Timeline, derived: DerivedLines, place: int | None, *, is_viewers: bool
) -> dict[int, int]:
    """Number of the process of each shown plane."""
    busy = {line.plane for line in timeline.lines} | {line.plane for line in derived.lines}
    pids: dict[int, int] = {}
    base = 0 if place is None else _PIDS_PER_HOST * (place + 1)
    taken: set[int] = set()
    for number, plane in enumerate(timeline.space.planes):
        if is_device(plane.name):
            first = _CUSTOM_PID if plane.name.startswith(CUSTOM_PREFIX) else _DEVICE_PID
            pid = first + (plane.id if 0 <= plane.id <= _MOST_DEVICES else 0)
        elif number in busy and (not is_viewers or plane.name.startswith("/host:")):
            pid = _HOST_PID
        else:
            continue
        pid += base
        while pid in taken and (pid >= base + _HOST_PID or not is_viewers):
            pid += 1
        taken.add(pid)
        pids[number] = pid
    return pids


def _recorded(
    timeline: Timeline, derived: DerivedLines, pids: dict[int, int], *, is_viewers: bool
) -> Iterator[Track]:
    for place, line in enumerate(timeline.lines):
        if line.plane not in pids or (is_viewers and line.name.startswith(_MORE_COUNTERS)):
            continue
        tid = line.display_id or derived.display_ids.get(place, 0) or line.id
        is_shown = not (is_viewers and line.name == _ASYNC)
        yield Track(pids[line.plane], tid, line.name, line.id, 0, place, None, is_shown)


def _numbered(tracks: list[Track], *, is_viewers: bool) -> list[Track]:
    """Give threads numbers that viewers can hold, and their order in the process.

    The reference keeps the lower 32 bits of an id. There, two threads with equal bits get one row;
    here, the second thread gets a number of its own.
    """
    numbered = []
    numbers = ThreadNumbers()
    for place, track in enumerate(_by_origin(tracks)):
        tid = track.tid % _TIDS
        if not is_viewers:
            tid = numbers.take(track.pid, tid)
        numbered.append(track._replace(tid=tid, order=tid if is_viewers else place))
    ranks = {id(track): rank for rank, track in enumerate(_by_origin(tracks))}
    return [numbered[ranks[id(track)]] for track in tracks]


def _by_origin(tracks: list[Track]) -> list[Track]:
    """Tracks derived from all lines of a plane first, then each line with its derived tracks."""

    def key(at: int) -> tuple[int, int, int, int]:
        track = tracks[at]
        if track.derived is None:
            return (ranks[track.pid], track.line, 0, 0)
        return (ranks[track.pid], track.derived.origin, 1, track.derived.display_id)

    ranks = {pid: rank for rank, pid in enumerate(dict.fromkeys(track.pid for track in tracks))}
    return [tracks[at] for at in sorted(range(len(tracks)), key=key)]


def events_of(tracks: Tracks, track: Track) -> Int64Array:
    """Return the shown events of a recorded line, ascending."""
    events = tracks.timeline.events_of(track.line)
    shown: Int64Array = np.flatnonzero(~tracks.is_hidden[events]) + events.start
    return shown
