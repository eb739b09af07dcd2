"""One account of time: when each step begins, when it is done, and the gap until the next one.

All results on steps take their times from here (``docs/adr/0035-one-account-of-time.md``):

* The *mark* is the event that the program put around its step, or the call that counts as one.
* The *work* is all that the step launched: kernels and runs of compiled programs, at any time.
* A step *begins* with its mark, or, if the work of the step before still runs then, at the end of
  that work: launches that wait in a queue take no time of their own.
* It is *done* when both its mark and its work have ended.
* Its *period* lasts until the next step begins. Between a finished step and the next one, a
  program reads input, writes a checkpoint, evaluates, or does something that is not recorded.

So periods follow one another without a gap, and their sum is the time from the first step to the
last. The last period ends with its step. So does a period before missing steps, which their
numbers show: nothing was recorded there. Overlapping marks, such as those of several threads, have
no period: each step is as long as its own span.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.steps.grouping import Groups, led_to
from tfprof.captures.events.steps.host_code import own_code
from tfprof.captures.events.timeline.pool_events import of_xla_pools
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.covered import extents

_REGULAR = 0.9
"""If a program numbers its steps one by one, at least this share of the jumps is the same."""

_LEAST_OF_USUAL = 0.5
"""Missing steps take at least this share of the usual time from step to step."""


@dataclass(frozen=True, slots=True)
class Account:
    """The periods of steps, in the order of their groups.

    Attributes:
        groups: Group of each step, ascending, shape (n,).
        start_ps: Start of each, shape (n,).
        done_ps: End of both its mark and its work, shape (n,).
        end_ps: Start of the next step; ``done_ps`` for the last step, and for those before
            missing steps, shape (n,).
        mark_ps: Start and end of its mark, or of its work if the capture lacks the mark,
            shape (n, 2).
    """

    groups: Int64Array
    start_ps: Int64Array
    done_ps: Int64Array
    end_ps: Int64Array
    mark_ps: Int64Array

    @classmethod
    def of_spans(cls, groups: Int64Array, spans_ps: Int64Array) -> Account:
        """Steps without periods: each is as long as its span, shape (n, 2)."""
        start, end = spans_ps[:, 0], spans_ps[:, 1]
        return cls(groups, start, end, end, spans_ps)

    def until(self, ends_ps: Mapping[int, int]) -> Account:
        """The account with other ends of periods: the starts of steps left out, by group."""
        known = zip(self.groups.tolist(), self.end_ps.tolist(), strict=True)
        ends = np.array([ends_ps.get(group, end) for group, end in known], np.int64)
        return replace(self, end_ps=np.maximum(ends, self.done_ps))


def account(
    groups: Int64Array,
    mark_ps: Int64Array,
    work_ps: Int64Array,
    names: Mapping[int, str] = MappingProxyType({}),
) -> Account:
    """The periods of steps.

    Args:
        groups: Group of each step, ascending, shape (n,).
        mark_ps: Start and end of its mark; -1 where the capture has none, shape (n, 2).
        work_ps: The first start and the last end of the work that it launched; -1 without any,
            shape (n, 2).
        names: Names of steps, by group, with the program's numbers.
    """
    has_mark, has_work = mark_ps[:, 1] >= 0, work_ps[:, 1] >= 0
    mark_ps = np.where(has_mark[:, None], mark_ps, work_ps)
    if not len(groups) or _overlap(mark_ps[has_mark]):
        return Account.of_spans(groups, _hulls(mark_ps, work_ps))
    order = np.lexsort((mark_ps[:, 1], mark_ps[:, 0]))
    begin, closed = mark_ps[order, 0], mark_ps[order, 1]
    worked = np.where(has_work[order], work_ps[order, 1], np.iinfo(np.int64).min)
    worked = np.maximum.accumulate(worked)  # a queue keeps the order
    done = np.maximum(closed, worked)
    start = np.maximum(begin, np.concatenate([begin[:1], worked[:-1]]))
    end = np.append(start[1:], done[-1:])
    is_lost = lost_after([names.get(group, "") for group in groups[order].tolist()], start)
    end[is_lost] = done[is_lost]
    back = np.argsort(order, kind="stable")
    return Account(groups, start[back], done[back], end[back], mark_ps)


def lost_after(names: Sequence[str], starts_ps: Int64Array) -> BoolArray:
    """Whether steps are missing after each step, shape (n,).

    Numbers of one kind of steps go up by one, or by the number of steps in one mark. If this holds
    for nearly all steps, and a larger jump takes as long as the missing steps would, they ran and
    were not recorded, as between two sessions. If a program skips numbers, that takes no time.

    Args:
        names: Names of the steps, in order of time: ``train 17``.
        starts_ps: Their starts, shape (n,).
    """
    is_lost = np.zeros(len(names), np.bool_)
    parts = [name.rpartition(" ") for name in names]
    kinds = np.unique([kind for kind, _, _ in parts], return_inverse=True)[1]
    numbers = np.array(
        [int(text) if text.isdecimal() and len(text) < 19 else -1 for _, _, text in parts], np.int64
    )
    follows = (kinds[1:] == kinds[:-1]) & (numbers[:-1] >= 0)
    jumps = np.where(follows, np.diff(numbers), 0)
    for kind in np.unique(kinds[:-1][jumps > 0]).tolist():
        rows = np.flatnonzero((jumps > 0) & (kinds[:-1] == kind))
        usual, passed = np.median(jumps[rows]), np.diff(starts_ps)[rows]
        is_usual = jumps[rows] == usual
        if is_usual.mean() >= _REGULAR:
            least = _LEAST_OF_USUAL * np.median(passed[is_usual]) * jumps[rows] / usual
            is_lost[rows] = (jumps[rows] > usual) & (passed >= least)
    return is_lost


def _overlap(mark_ps: Int64Array) -> bool:
    """Whether marks of several threads run at the same time."""
    in_time = mark_ps[np.argsort(mark_ps[:, 0], kind="stable")]
    return bool((in_time[1:, 0] < in_time[:-1, 1]).any())


def _hulls(mark_ps: Int64Array, work_ps: Int64Array) -> Int64Array:
    has_work = work_ps[:, 1] >= 0
    end = np.where(has_work, np.maximum(mark_ps[:, 1], work_ps[:, 1]), mark_ps[:, 1])
    return np.stack([mark_ps[:, 0], end], axis=1)


def work_spans(timeline: Timeline, groups: Groups) -> dict[int, tuple[int, int]]:
    """The first start and the last end of the work of each step on a CPU's devices, ps."""
    if groups.work is None:
        return {}
    events = np.flatnonzero(groups.work & (groups.of_event >= 0))
    group = groups.of_event[events]
    counts = np.bincount(group)
    spans = extents(group, timeline.starts_ps[events], timeline.ends_of(events), len(counts))
    return {number: (*spans[number].tolist(),) for number in np.flatnonzero(counts).tolist()}


@dataclass(frozen=True, slots=True)
class Periods:
    """The events that count in the periods of steps.

    Attributes:
        steps: The steps.
        groups: Their events, with those between two steps in the group of the first of them.
        is_between: Whether each event is between two steps, shape (n events,).
        is_code: Whether each event is the program's own code, shape (n events,).
    """

    steps: Account
    groups: Groups
    is_between: BoolArray
    is_code: BoolArray

    def clipped(self, events: Int64Array, starts_ps: Int64Array) -> Int64Array:
        """The starts of events; those between two steps start when the first one is done."""
        late = np.flatnonzero(self.is_between[events])
        row = np.searchsorted(self.steps.groups, self.groups.of_event[events[late]])
        starts_ps = starts_ps.copy()
        starts_ps[late] = np.maximum(starts_ps[late], self.steps.done_ps[row])
        return starts_ps


def with_between(forest: Forest, groups: Groups, steps: Account) -> Periods:
    """Assign each event to the step in whose period it counts.

    A period holds the events of its step, and events between it and the next step that belong to
    no other step: those on the threads on which steps begin, those that these lead to, and those on
    XLA's pools.
    """
    timeline = forest.timeline
    of_event = groups.of_event.copy()
    is_between = np.zeros(len(of_event), np.bool_)
    is_code = own_code(timeline, groups)
    if not (steps.end_ps > steps.done_ps).any():
        return Periods(steps, groups, is_between, is_code)
    free = np.flatnonzero(~np.isin(of_event, steps.groups) & (timeline.durations_ps > 0))
    free = free[timeline.on_threads[free] | (of_event[free] >= 0)]
    order = np.argsort(steps.start_ps, kind="stable")
    start, done, end = steps.start_ps[order], steps.done_ps[order], steps.end_ps[order]
    at = np.maximum(np.searchsorted(start, timeline.starts_ps[free], side="right") - 1, 0)
    starts, ends = timeline.starts_ps[free], timeline.ends_of(free)
    inside = (starts >= start[at]) & (starts < end[at])
    inside &= (ends > done[at]) & (ends <= end[at])  # a later end encloses another step
    free, at = free[inside], at[inside]
    counts = _counts(forest, groups, free)
    free, at = free[counts], at[counts]
    of_event[free], is_between[free] = steps.groups[order[at]], True
    return Periods(steps, replace(groups, of_event=of_event), is_between, is_code)


def _counts(forest: Forest, groups: Groups, events: Int64Array) -> BoolArray:
    """Events between steps on, or caused by, the program's own threads, or on XLA's pools."""
    timeline, of_event = forest.timeline, groups.of_event
    roots = np.array([root for root in groups.roots.values() if root >= 0], np.int64)
    is_own = np.zeros(len(timeline.lines) + 1, np.bool_)
    is_own[np.unique(timeline.lines_of(roots))] = True
    counts: BoolArray = (of_event[events] >= 0) | is_own[timeline.lines_of(events)]
    led = led_to(forest, events[counts & (of_event[events] < 0)], of_event)
    return counts | led[events] | of_xla_pools(timeline)[events]
