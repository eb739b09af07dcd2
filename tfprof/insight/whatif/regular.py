"""Infers waits from their regularity: joined threads, queues of Python, locks, results.

No event records that one thread of a program waits for another, or for a result of JAX. But a
thread that waits goes on right after the other one has done its part, in every step. So a thread
that has no recorded event, and then repeatedly goes on soon after the same mark of another thread,
has waited for that mark. If it does so only now and then, the wait is uncertain.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tfprof.captures.events.steps.host_code import is_frame
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.insight.whatif.marks import Marks

_PS_PER_MS = 10**9

_SOON_PS = _PS_PER_MS
"""A thread goes on within this time after what it has waited for, unless the machine is busy."""

_SOON_SHARE = 0.1
"""And within this share of its wait, so that chance rarely looks like waiting."""

_LEAST_SHARE = 0.02
"""Waits below this share of a step are ignored."""

_FEWEST = 3
"""Fewest cases that count as regular."""

_REGULAR = 0.5
"""Smallest share of regular cases, of all in which the other mark falls into the wait."""

_RARE = 0.2
"""Below this share it is chance; between the two shares the wait is uncertain."""

_MAY_WAIT = re.compile(r"(?i).*(acquire|wait|join|\bget\b|\bput\b|select|recv|result)")
"""Python's functions that wait for another thread."""

Pairs = tuple[Int64Array, Int64Array]


@dataclass(frozen=True, eq=False)
class Regular:
    """Waits among threads of the program itself.

    Attributes:
        earlier: Marks that are waited for, shape (m,).
        later: Marks that wait for them.
        own: Outermost events of threads without a recorded link to the steps, shape (k,).
        waited: Names of events whose ends threads wait for.
        uncertain: Names of events that threads may wait for: too few cases, or not regular enough.
    """

    earlier: Int64Array
    later: Int64Array
    own: Int64Array
    waited: frozenset[str]
    uncertain: frozenset[str]


@dataclass(frozen=True, order=True)
class _Key:
    """A kind of mark: the same place in the program."""

    name: str
    is_begin: bool


def regular_waits(
    timeline: Timeline, marks: Marks, roots: Int64Array, alone: Int64Array, runs: Int64Array,
    explained: Pairs,
) -> Regular:  # fmt: skip
    """Find regular waits.

    Args:
        timeline: The events.
        marks: Their marks.
        roots: The events that steps begin with, shape (n steps,).
        alone: Outermost events of other threads of the host that no event causes, and that belong
            to no step, shape (k,).
        runs: Events of compiled programs that a call launched; threads may wait for their results.
        explained: Pairs of marks with a recorded reason for the wait.
    """
    nothing = np.zeros(0, np.int64)
    if len(roots) < _FEWEST or not len(alone) + len(runs):
        return Regular(nothing, nothing, alone, frozenset(), frozenset())
    usual_ps = int(np.median(np.diff(np.sort(timeline.starts_ps[roots]))))
    of_steps = np.unique(timeline.lines_of(roots))
    lines = np.union1d(of_steps, timeline.lines_of(alone))
    at, begins_ps = _waiting(timeline, marks, roots, lines, usual_ps)
    # Explained pairs show how such a thread waits, but already have their reason.
    earlier, later = explained
    has_reason = np.zeros(len(marks), np.bool_)
    since_ps = np.full(len(marks), np.iinfo(np.int64).max)
    since_ps[at] = begins_ps
    has_reason[later[marks.times_ps[earlier] > since_ps[later]]] = True
    others = np.flatnonzero(np.isin(timeline.line_of, lines))
    kinds = _Kinds(timeline, marks, np.union1d(others, runs))
    # By the place that waits and the place that may be waited for: in which cases, and how late.
    cases: defaultdict[tuple[_Key, str, _Key], list[tuple[int, int, int, int]]] = defaultdict(list)
    for mark, begin_ps in zip(at.tolist(), begins_ps.tolist(), strict=True):
        line, time_ps = int(marks.lines[mark]), int(marks.times_ps[mark])
        owner = int(marks.owners[mark])
        around = "" if owner < 0 else timeline.names[timeline.kinds[owner]]
        for key, other in kinds.last_before(mark, line, begin_ps):
            lag_ps = time_ps - int(marks.times_ps[other])
            cases[kinds.of(mark), around, key].append((mark, other, lag_ps, time_ps - begin_ps))
    best: dict[int, tuple[float, int, int]] = {}
    waited, uncertain, regular = set(), set(), set()
    for (waiter, _, key), found in cases.items():
        lags = np.array([lag for _, _, lag, _ in found])
        waits = np.array([wait for _, _, _, wait in found])
        soon = lags <= np.minimum(_SOON_PS, _SOON_SHARE * waits)
        share = float(soon.mean())
        if soon.sum() < _FEWEST or share < _REGULAR:
            if share >= _RARE and not key.is_begin:
                uncertain.add(key.name)
            continue
        if not key.is_begin:
            waited.add(key.name)
            regular.add((waiter, key))
        for mark, other, lag, wait in found:
            rank = (-share, lag, other)
            if not has_reason[mark] and 2 * lag <= wait and rank < best.get(mark, (1.0, 0, 0)):
                best[mark] = rank
    # A thread that waits in most steps would also wait in the others, where the work was over.
    found_at = {mark: best[mark][2] for mark in best}
    for waiter, key in sorted(regular):
        for mark in kinds.all_of(waiter, of_steps):
            other = kinds.last_of(key, mark, usual_ps)
            if mark not in found_at and other >= 0:
                found_at[mark] = other
    later = np.array(sorted(found_at), np.int64)
    earlier = np.array([found_at[mark] for mark in later.tolist()], np.int64)
    return Regular(earlier, later, alone, frozenset(waited), frozenset(uncertain - waited))


def _waiting(
    timeline: Timeline, marks: Marks, roots: Int64Array, lines: Int64Array, usual_ps: int
) -> tuple[Int64Array, Int64Array]:
    """Marks before which a thread may have waited, and since when, ps."""
    times_ps, owners = marks.times_ps, marks.owners
    since_ps = np.concatenate([times_ps[:1], times_ps[:-1]])
    is_first = marks.is_first
    since_ps[is_first] = times_ps[is_first] - usual_ps
    long_ = times_ps - since_ps >= _LEAST_SHARE * usual_ps
    may: BoolArray = np.append(
        timeline.named(lambda name: is_frame(name) and _MAY_WAIT.match(name) is not None), True
    )
    may[roots] = True
    found = np.isin(marks.lines, lines) & long_ & may[owners]
    # A new thread does nothing before it begins; a step's own thread has begun long ago.
    found &= ~(is_first & np.isin(marks.lines, np.unique(timeline.lines_of(roots))))
    at = np.flatnonzero(found)
    return at, since_ps[at]


class _Kinds:
    """Marks of some events by their places in the program.

    Args:
        timeline: The events.
        marks: All marks.
        events: Those that threads may wait for.
    """

    def __init__(self, timeline: Timeline, marks: Marks, events: Int64Array) -> None:
        self._timeline, self._marks = timeline, marks
        self._begins = np.zeros(len(marks), np.bool_)
        self._begins[marks.begin_at] = True
        self._kinds = timeline.kinds[marks.events]
        chosen = np.concatenate([marks.begin_at[events], marks.end_at[events]])
        self._chosen = chosen[np.argsort(marks.times_ps[chosen], kind="stable")]
        self._times_ps = marks.times_ps[self._chosen]

    def of(self, mark: int) -> _Key:
        """Which place a mark is of."""
        return _Key(self._timeline.names[self._kinds[mark]], bool(self._begins[mark]))

    def last_before(self, mark: int, line: int, since_ps: int) -> Iterator[tuple[_Key, int]]:
        """The last marks of other threads before a mark, one of each place."""
        last = int(np.searchsorted(self._times_ps, self._marks.times_ps[mark], "right"))
        first = max(int(np.searchsorted(self._times_ps, since_ps, "right")), last - _MOST_BEFORE)
        found = set()
        for other in self._chosen[first:last][::-1].tolist():
            if self._marks.lines[other] != line:
                key = self.of(other)
                if key not in found:
                    found.add(key)
                    yield key, other

    def all_of(self, key: _Key, lines: IntArray) -> list[int]:
        """All marks of a place on some threads."""
        own = self._chosen[np.isin(self._marks.lines[self._chosen], lines)]
        return [mark for mark in own.tolist() if self.of(mark) == key]

    def last_of(self, key: _Key, mark: int, within_ps: int) -> int:
        """The last mark of a place on another thread before a mark; -1 if it is too long ago."""
        time_ps, line = int(self._marks.times_ps[mark]), int(self._marks.lines[mark])
        return next((other for one, other in self.last_before(mark, line, time_ps - within_ps)
                     if one == key), -1)  # fmt: skip


_MOST_BEFORE = 256
"""Number of marks of other threads to examine before each that waits."""
