"""Reads steps and a few figures from a snapshot, the data since the previous one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tfprof.captures.events.timeline.names import END_OF_STEP, END_STATS, TASK_PLANE
from tfprof.captures.model.xspace import Plane, XSpace
from tfprof.captures.read.xspace import read_xspace
from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.errors import TfprofError

_STEP = "step_num"
_IN_USE = "bytes_allocated"
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps of a snapshot whose time it records, in order of their starts.

    Attributes:
        starts_ns: Since the session's start, shape (n,); below 0 where only the end is in it.
        durations_ns: Shape (n,).
        numbers: Shape (n,); those of the program if ``are_marked``, else 0, 1, ….
        are_marked: Whether the program marks its steps.
        are_cut: Whether the snapshot has the end only, shape (n,); None if it has all whole.
        kinds: Names of steps in the program, without digits.
        of_kind: Index into ``kinds`` of each step, shape (n,); None if there is only one kind.
    """

    starts_ns: Int64Array
    durations_ns: Int64Array
    numbers: Int64Array
    are_marked: bool
    are_cut: BoolArray | None = None
    kinds: tuple[str, ...] = ("",)
    of_kind: Int64Array | None = None

    def __len__(self) -> int:
        return len(self.starts_ns)

    @property
    def has_ended(self) -> BoolArray:
        """Whether each has its end only, shape (n,)."""
        return np.zeros(len(self), bool) if self.are_cut is None else self.are_cut

    def of(self, kind: str) -> Steps:
        """Those of one kind."""
        if self.kinds == (kind,):
            return self
        if kind not in self.kinds:
            return replace(NO_STEPS, are_marked=self.are_marked)
        codes = self.of_kind if self.of_kind is not None else np.zeros(len(self), np.int64)
        rows = np.flatnonzero(codes == self.kinds.index(kind))
        return Steps(
            self.starts_ns[rows], self.durations_ns[rows], self.numbers[rows], self.are_marked,
            self.has_ended[rows], (kind,),
        )  # fmt: skip


NO_STEPS = Steps(no_rows(), no_rows(), no_rows(), are_marked=False, kinds=())


@dataclass(frozen=True, slots=True)
class Times:
    """Start and end of a session, by the clock of the program's machine.

    Attributes:
        start_ns: Since 1970.
        stop_ns: Since 1970.
    """

    start_ns: int
    stop_ns: int


@dataclass(frozen=True, slots=True)
class Look:
    """What is read of each snapshot.

    Attributes:
        times: When it was recorded; None if it does not say.
        steps: Its steps.
        input_share: Share of the step time spent waiting for input; None if not needed or unknown.
        idle_share: Share of the time in which devices are idle; likewise.
        memory: Most bytes in use that an allocator reports; likewise.
        damage: Why nothing of it can be read; empty if it can.
    """

    times: Times | None
    steps: Steps
    input_share: float | None = None
    idle_share: float | None = None
    memory: float | None = None
    damage: str = ""


def look(data: bytes, names: frozenset[str] = frozenset(), *, may_guess: bool = True) -> Look:
    """Read only the values that a condition uses, because this runs on every snapshot.

    Args:
        data: A serialized XSpace.
        names: Names of the condition.
        may_guess: Look for steps where none is marked.
    """
    try:
        space = read_xspace(data, threads=1)
        times = times_of(space)
        steps = marked_steps(space)
        shares: tuple[float | None, float | None] = (None, None)
        guesses = may_guess and not len(steps) and "step_time" in names
        if guesses or {"input_share", "idle_share"} & names:
            guessed, shares = _worked_out(data)
            steps = guessed if guesses else steps
        return Look(times, steps, *shares, _memory(space) if "memory" in names else None)
    except TfprofError as error:
        return Look(None, NO_STEPS, damage=str(error))


def times_of(space: XSpace) -> Times | None:
    """When a capture was recorded."""
    plane = space.plane(TASK_PLANE)
    said = plane.own_stats() if plane is not None else {}
    start, stop = said.get("profile_start_time"), said.get("profile_stop_time")
    return Times(start, stop) if isinstance(start, int) and isinstance(stop, int) else None


def marked_steps(space: XSpace) -> Steps:
    """Steps that the program marks, from the plane with the most marks."""
    best = NO_STEPS
    for plane in space.planes:
        names = plane.stat_metadata.names
        if not {_STEP, END_STATS[0]} & set(names) or plane.name.startswith("/device:"):
            continue
        column = plane.stat(_STEP)
        rows = np.flatnonzero(column.present)
        numbers = column.signed[rows]
        cut = _cut_steps(plane, numbers)
        if len(rows) + len(cut) <= len(best):
            continue
        kinds, of_kind = _kinds(plane, rows, [kind for *_, kind in cut])
        spans = np.array([span for *span, _ in cut], np.int64).reshape(-1, 3).T
        starts = np.concatenate([plane.starts_ps(0)[rows] // 1000, spans[0]])
        durations = np.concatenate([plane.events.durations_ps[rows] // 1000, spans[1]])
        order = np.argsort(starts, kind="stable")
        best = Steps(
            starts[order], durations[order], np.concatenate([numbers, spans[2]])[order],
            are_marked=True, are_cut=order >= len(rows), kinds=kinds, of_kind=of_kind[order],
        )  # fmt: skip
    return best


def _cut_steps(plane: Plane, numbers: Int64Array) -> list[tuple[int, int, int, str]]:
    """Start, time, number and name of steps that end here without a mark."""
    column = plane.stat(END_STATS[0])
    ends = np.flatnonzero(column.present & plane.events_named(END_OF_STEP))
    found = []
    for event in ends[~np.isin(column.signed[ends], numbers)].tolist():
        stats = plane.stats_of(event)
        number, took_ns, ago_ns, kind = (stats.get(name) for name in END_STATS)
        if isinstance(number, int) and isinstance(took_ns, int) and isinstance(ago_ns, int):
            end_ns = int(plane.starts_ps(0)[event]) // 1000 - ago_ns
            found.append((end_ns - took_ns, took_ns, number, str(kind)))
    return found


def _kinds(
    plane: Plane, events: Int64Array, more: Sequence[str]
) -> tuple[tuple[str, ...], Int64Array]:
    """Distinct names of events and further names, without digits, and the index of each."""
    _, first, of_name = np.unique(
        plane.metadata_rows[events], return_index=True, return_inverse=True
    )
    names = [plane.event_name(int(event)) for event in events[first]] + list(more)
    names = [_DIGITS.sub("", name) for name in names]
    kinds = tuple(dict.fromkeys(names))
    places = np.array([kinds.index(name) for name in names], np.int64)
    return kinds, places[np.concatenate([of_name, len(first) + np.arange(len(more))])]


def _worked_out(data: bytes) -> tuple[Steps, tuple[float | None, float | None]]:
    """Steps as tools find them without marks, and shares; a hundred times slower."""
    from tfprof.captures.facts.run_steps import run_steps
    from tfprof.captures.run.run import open_run
    from tfprof.captures.tools.monitor_report import monitor

    run = open_run(data)
    row = monitor(run).table().to_rows()[0]
    percents = row["infeed_percent_average"], row["idle_percent"]
    shares = tuple(None if percent is None else float(percent) / 100 for percent in percents)
    parts = [each.times for each in run_steps(run).whole.hosts]
    if not parts:
        return NO_STEPS, (shares[0], shares[1])
    times, base_ns = parts[0], run.hosts[0].timeline.axis.base_ns
    order = np.argsort(times.start_ps, kind="stable")
    starts, durations = times.start_ps[order] // 1000 + base_ns, times.duration_ps[order] // 1000
    found = Steps(starts, durations, np.arange(len(starts)), are_marked=False)
    return found, (shares[0], shares[1])


def _memory(space: XSpace) -> float | None:
    most = [
        int(column.signed[column.present].max())
        for plane in space.planes
        if _IN_USE in plane.stat_metadata.names and (column := plane.stat(_IN_USE)).present.any()
    ]
    return float(max(most)) if most else None
