"""The steps of one host, gone through again."""

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
    """Steps of a host as they would be.

    Attributes:
        work: What the host did.
        windows: Its steps as they were.
        replay: When it would do it.
        begin_at: The mark at which each step begins, shape (n steps,).
        end_at: The mark at which it ends.
        begin_ps: When it now begins.
        end_ps: When it now ends.
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
        """What decides when a step ends: for each part the kind, what it is called, and ps.

        The parts together are the step; what no event accounts for, such as what came before the
        first event of a thread, is a gap.
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
        """What events are called: places in a list of names."""
        return self.work.called


def host_replay(
    work: Work, windows: Windows, factors: Factors, from_ps: int, waits: Waits | None = None
) -> HostReplay:
    """Go through what a host did again.

    Args:
        work: What it did.
        windows: Its steps.
        factors: The part of its time that each event still takes.
        from_ps: When the first step that counts begins; what was before stays.
        waits: What its marks wait for; by default what they are known to wait for.
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
    """When steps begin, or end: with their marks, or when what was launched before has ended.

    Args:
        work: What the host did.
        replay: When it would do it.
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
        """The mark that decides each bound now, and when that is.

        Args:
            of: The groups, shape (n,).
            times_ps: When it was.
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
        """The mark of a step, or what else of it is nearest to a time."""
        times_ps = self._replay.marks.times_ps
        root = self._root_of.get(group, -1)
        if root >= 0 and times_ps[root] <= time_ps:
            return root
        low, high = np.searchsorted(self._groups, (group, group + 1)).tolist()
        own = self._at[self._by_group[low:high]] if high > low else self._at
        return int(own[int(np.argmin(np.abs(times_ps[own] - time_ps)))])
