"""Time between the steps, in which a program often waits for its input.

``for batch in dataset: with Trace(…): …`` fetches the batch before its step begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.host_code import is_input_op
from tfprof.captures.events.steps.step_times import union_lengths
from tfprof.captures.facts.run_steps import host_steps
from tfprof.captures.facts.steps import HostSteps, RunSteps
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.columns.columns import Int64Array


class Between(NamedTuple):
    """Time between steps, on the host where it is the most.

    Attributes:
        gap_ms: Median time from the end of a step to the start of the next.
        wait_ms: How much of it is waiting for input, on average.
        share: The gap as a part of the time from the start of a step to the start of the next.
        wait_share: Waiting for input as a part of the same time.
    """

    gap_ms: float = 0.0
    wait_ms: float = 0.0
    share: float = 0.0
    wait_share: float = 0.0


def between_steps(steps: RunSteps) -> Between:
    """The time between the steps of the hosts; zeros without any, and for TPUs."""
    by_host = [_of_host(one) for one in steps.whole.hosts if one.core is None]
    return max(by_host, key=lambda one: one.share, default=Between())


def _of_host(steps: HostSteps) -> Between:
    times = steps.times
    ends = times.start_ps + times.duration_ps
    lengths = times.start_ps[1:] - ends[:-1]
    if len(lengths) < 2 or lengths.min() < 0:
        return Between()
    gap_ps = float(np.median(lengths))
    usual = lengths <= 2 * gap_ps  # an epoch ends, or a checkpoint is written, in the others
    waited_after = dict(_waited_after(steps.host).T.tolist())
    waited = np.array(
        [waited_after.get(group, 0) for group in times.groups[:-1][usual].tolist()], np.int64
    )
    period_ps = gap_ps + float(np.median(times.duration_ps))
    if not period_ps:
        return Between()
    wait_ps = float(waited.mean()) if len(waited) else 0.0
    return Between(gap_ps / 1e9, wait_ps / 1e9, gap_ps / period_ps, wait_ps / period_ps)


@fact
def _waited_after(host: Host) -> Int64Array:
    """Steps after which the program waits for input, as groups, and how long, ps, shape (2, n)."""
    times = host_steps(host, 0, classic=False).times
    ends = times.start_ps + times.duration_ps
    gaps = np.stack([ends[:-1], times.start_ps[1:]], axis=1)
    is_gap = gaps[:, 1] >= gaps[:, 0]
    waited = _waited(host, gaps[is_gap])
    return np.stack([times.groups[:-1][is_gap], waited])[:, waited > 0]


def _waited(host: Host, gaps: Int64Array) -> Int64Array:
    """How long each gap is waiting for input on a thread on which steps begin."""
    timeline, groups = host.timeline, host.groups()
    is_input = timeline.named(is_input_op) & (groups.of_event < 0)
    roots = np.array([root for root in groups.roots.values() if root >= 0], np.int64)
    lines = np.unique(timeline.lines_of(roots))
    events = np.flatnonzero(is_input)
    events = events[np.isin(timeline.lines_of(events), lines)]
    starts, ends = timeline.starts_ps[events], timeline.ends_of(events)
    row = np.searchsorted(gaps[:, 0], starts, side="right") - 1
    inside = row >= 0
    row, starts, ends = row[inside], starts[inside], ends[inside]
    ends = np.minimum(ends, gaps[row, 1])
    kept = ends > starts
    return union_lengths(row[kept], starts[kept], ends[kept], gaps)
