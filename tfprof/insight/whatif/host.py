"""Replays the steps of one host."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.insight.whatif.chosen import GAPS, Work
from tfprof.insight.whatif.longest import Factors, Replay, replayed
from tfprof.insight.whatif.marks import IDLE
from tfprof.insight.whatif.waits import Waits
from tfprof.insight.whatif.windows import Windows


@dataclass(frozen=True, eq=False)
class HostReplay:
    """Replayed steps of a host.

    Attributes:
        work: The recorded events of the host.
        windows: Its recorded steps.
        replay: The new times of its marks.
        begin_at: The mark at which each step begins, shape (n steps,).
        end_at: The mark at which it ends.
        begin_ps: Its new begin.
        end_ps: Its new end.
    """

    work: Work
    windows: Windows
    replay: Replay
    begin_at: Int64Array
    end_at: Int64Array
    begin_ps: Int64Array
    end_ps: Int64Array

    @property
    def duration_ps(self) -> Int64Array:
        """How long each step takes, shape (n steps,)."""
        return self.end_ps - self.begin_ps

    def path(self, step: int) -> tuple[Int64Array, Int64Array, Int64Array]:
        """The critical path of a step: kind, name and ps of each part.

        The parts add up to the step; time that belongs to no event, such as before the first
        event of a thread, is a gap.
        """
        begin_ps, end_ps = int(self.begin_ps[step]), int(self.end_ps[step])
        marks, before = self.replay.path(int(self.end_at[step]), begin_ps)
        later, earlier = (
            np.clip(self.replay.times_ps[at], begin_ps, end_ps) for at in (marks, before)
        )
        spans = later - earlier
        spans = np.append(spans, end_ps - begin_ps - spans.sum())
        owners = np.append(self.work.recorded.marks.owners[marks], IDLE)
        names, _ = self.names
        is_gap = owners == IDLE
        return (
            np.where(is_gap, GAPS, self.work.kinds[owners]),
            np.where(is_gap, -1, names[owners]),
            spans,
        )

    @property
    def names(self) -> tuple[Int64Array, list[str]]:
        """Names of events: indices into a list of names."""
        return self.work.called


def host_replay(
    work: Work, windows: Windows, factors: Factors, from_ps: int, waits: Waits | None = None
) -> HostReplay:
    """Replay a host.

    Args:
        work: Its recorded events.
        windows: Its steps.
        factors: The factor of the time of each event.
        from_ps: Begin of the first step that counts; earlier events keep their times.
        waits: The waits of its marks; by default the certain ones.
    """
    recorded = work.recorded
    marks = recorded.marks
    replay = replayed(marks, waits or recorded.waits, factors, from_ps)
    begins = _Bounds(work, replay, marks.begin_at)
    ends = _Bounds(work, replay, marks.end_at)
    begin_at, begin_ps = begins.at(windows.groups, windows.start_ps)
    stop_at, stop_ps = begins.at(windows.groups_at_stop, windows.stop_ps)
    done_at, done_ps = ends.at(windows.groups_at_stop, windows.stop_ps)
    followed = windows.is_followed
    return HostReplay(
        work, windows, replay, begin_at, np.where(followed, stop_at, done_at), begin_ps,
        np.where(followed, stop_ps, done_ps),
    )  # fmt: skip


class _Bounds:
    """Bounds of steps: at their marks, or when earlier launched work has ended.

    Args:
        work: The recorded events of the host.
        replay: The new times of its marks.
        at: The mark of each event that counts: its beginning or its end.
    """

    def __init__(self, work: Work, replay: Replay, at: Int64Array) -> None:
        recorded = work.recorded
        self._replay, self._at = replay, at
        self._by_group = np.argsort(recorded.groups, kind="stable")
        self._groups = recorded.groups[self._by_group]
        self._root_of = {int(recorded.groups[root]): int(at[root]) for root in recorded.roots}
        ends = recorded.marks.end_at[recorded.runs.last]
        self._runs = ends[np.argsort(recorded.marks.times_ps[ends], kind="stable")]

    def at(self, of: Int64Array, times_ps: Int64Array) -> tuple[Int64Array, Int64Array]:
        """The mark that decides each bound, and its new time.

        Args:
            of: The groups, shape (n,).
            times_ps: The recorded times.
        """
        before_ps, now_ps = self._replay.marks.times_ps, self._replay.times_ps
        found, new_ps = np.zeros((2, len(of)), np.int64)
        n_done = np.searchsorted(before_ps[self._runs], times_ps, side="right")
        rows = zip(of.tolist(), times_ps.tolist(), n_done.tolist(), strict=True)
        for row, (group, time_ps, done) in enumerate(rows):
            mark = self._mark(group, time_ps)
            both = [mark, int(self._runs[done - 1])] if done else [mark]
            found[row] = max(both, key=lambda one: int(now_ps[one]))
            late_ps = time_ps - max(int(before_ps[one]) for one in both)
            new_ps[row] = now_ps[found[row]] + late_ps
        return found, new_ps

    def _mark(self, group: int, time_ps: int) -> int:
        """The mark of a step, or else its mark nearest to a time."""
        root = self._root_of.get(group)
        if root is not None:
            return root
        times_ps = self._replay.marks.times_ps
        low, high = np.searchsorted(self._groups, (group, group + 1)).tolist()
        own = self._at[self._by_group[low:high]] if high > low else self._at
        return int(own[int(np.argmin(np.abs(times_ps[own] - time_ps)))])
