"""The steps of one host, gone through again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns.columns import Int64Array
from tfprof.replay.chosen import GAPS, Work
from tfprof.replay.longest import Factors, Replay, replayed
from tfprof.replay.marks import IDLE
from tfprof.replay.windows import Windows


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


def host_replay(work: Work, windows: Windows, factors: Factors, from_ps: int) -> HostReplay:
    """Go through what a host did again.

    Args:
        work: What it did.
        windows: Its steps.
        factors: The part of its time that each event still takes.
        from_ps: When the first step that counts begins; what was before stays.
    """
    recorded = work.recorded
    replay = replayed(recorded.marks, recorded.waits, factors, from_ps)
    starts_ps, stops_ps = windows.start_ps, windows.stop_ps
    begin_at = _marks_at(work, windows.groups, starts_ps, recorded.marks.begin_at)
    end_at = np.where(
        windows.is_followed,
        _marks_at(work, windows.groups_at_stop, stops_ps, recorded.marks.begin_at),
        _marks_at(work, windows.groups_at_stop, stops_ps, recorded.marks.end_at),
    )
    moved = replay.times_ps - recorded.marks.times_ps
    return HostReplay(
        work,
        windows,
        replay,
        begin_at,
        end_at,
        starts_ps + moved[begin_at],
        stops_ps + moved[end_at],
    )


def _marks_at(work: Work, of: Int64Array, times_ps: Int64Array, at: Int64Array) -> Int64Array:
    """The mark of an event of each group that is nearest to a time.

    Args:
        work: What the host did.
        of: The groups, shape (n,).
        times_ps: The times, shape (n,).
        at: The mark to look at of each event.
    """
    recorded = work.recorded
    marks = recorded.marks
    found = np.zeros(len(times_ps), np.int64)
    by_group = np.argsort(recorded.groups, kind="stable")
    groups = recorded.groups[by_group]
    for row, (group, time) in enumerate(zip(of.tolist(), times_ps.tolist(), strict=True)):
        low, high = np.searchsorted(groups, (group, group + 1)).tolist()
        own = at[by_group[low:high]] if high > low else at
        far = np.abs(marks.times_ps[own] - time)
        found[row] = own[int(np.argmin(far))]
    return found
