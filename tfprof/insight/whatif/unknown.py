"""Cases in which there is no prediction, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tfprof.captures.events.steps.host_code import is_frame
from tfprof.captures.events.steps.step_times import union_lengths
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.units import short_time
from tfprof.insight.diff.shared_time import Float64Array
from tfprof.insight.whatif.host import HostReplay, host_replay
from tfprof.insight.whatif.longest import Factors

_PS_PER_MS = 1e9

_CLOSE = 1.05
"""Predictions that differ by less count as equal."""

_MORE = 1.02
"""A thread must work longer than the new step by this factor before that rules out a prediction."""


def unknown_because(replays: Sequence[HostReplay], factors: Sequence[Factors]) -> str:
    """Why the new step time is unknown; empty if it is known.

    Args:
        replays: The replay of each host.
        factors: The factor of the time of each event of each host.
    """
    return next((why for one, own in zip(replays, factors, strict=True)
                 for why in (*_reasons(one, own.parts), *_meetings(one, own))), "")  # fmt: skip


def _meetings(replay: HostReplay, factors: Factors) -> Iterator[str]:
    """Steps that would be much longer if ops of several threads meet as early as possible."""
    recorded = replay.work.recorded
    if len(recorded.most_waits.later) == len(recorded.waits.later):
        return
    from_ps = int(replay.windows.start_ps.min())
    early = host_replay(replay.work, replay.windows, factors, from_ps, recorded.most_waits)
    least, most = (float(np.median(one.duration_ps)) for one in (replay, early))
    if most > _CLOSE * least:
        yield (
            "ops of several threads meet before the function ends, and it was not recorded where: "
            f"between {short_time(least / _PS_PER_MS)} and {short_time(most / _PS_PER_MS)}"
        )


def _reasons(replay: HostReplay, factors: Float64Array) -> Iterator[str]:
    """Threads that steps may wait for, although no recorded event shows it."""
    timeline, regular = replay.work.timeline, replay.work.recorded.regular
    windows = np.stack([replay.windows.start_ps, replay.windows.stop_ps], axis=1)
    # The middle one: a busy machine makes some steps long, and so the mean.
    after_ps = float(np.median(replay.duration_ps))
    yield from _results(replay, after_ps)
    for kind in np.unique(timeline.kinds[regular.own]).tolist():
        name = timeline.names[kind]
        events = regular.own[timeline.kinds[regular.own] == kind]
        if is_frame(name) or name in regular.waited or 2 * len(events) < len(windows):
            continue
        if name in regular.uncertain and (factors[events] < 1).any():
            yield (
                f"it was not recorded whether steps wait for {name!r} of another thread: some go "
                "on when it ends, others do not"
            )
        works_ps = float(_inside(windows, timeline.starts_ps[events], timeline.ends_of(events)))
        works_ps *= float(factors[events].mean()) / len(windows)
        if works_ps > _MORE * after_ps:
            yield (
                f"another thread spends {short_time(works_ps / _PS_PER_MS)} of each step in "
                f"{name!r}, "
                f"more than the {short_time(after_ps / _PS_PER_MS)} that the rest would take, "
                "and it "
                "was not recorded whether steps wait for it"
            )


def _results(replay: HostReplay, after_ps: float) -> Iterator[str]:
    """Results that would now come after the step, if it is unknown whether steps await them."""
    recorded = replay.work.recorded
    runs, ends = recorded.last_runs
    is_run = runs >= 0
    runs, ends = runs[is_run], ends[is_run]
    before_ps, now_ps = recorded.marks.times_ps, replay.replay.times_ps
    if len(recorded.results[0]) or (before_ps[runs] > before_ps[ends]).any():
        return
    is_late = now_ps[runs] - now_ps[ends] > (_MORE - 1) * after_ps
    if 2 * is_late.sum() > len(runs):
        yield (
            "what a step launches would run on behind its end, and it was not recorded whether "
            "steps wait for results"
        )


def _inside(windows: Int64Array, starts_ps: Int64Array, ends_ps: Int64Array) -> int:
    """How much of the windows some events cover, each moment once, ps."""
    row = np.repeat(np.arange(len(windows)), len(starts_ps))
    low = np.maximum(np.tile(starts_ps, len(windows)), windows[row, 0])
    high = np.minimum(np.tile(ends_ps, len(windows)), windows[row, 1])
    kept = high > low
    return int(union_lengths(row[kept], low[kept], high[kept], windows).sum())
