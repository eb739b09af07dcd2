"""Waits of marks for other threads and devices: handed-over work, queues, ends.

All of them were recorded, or follow from the recording: a launch leads to a kernel; a thread that
gives work away and then does nothing until it ends has waited for it; an element is taken after it
was made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.captures.events.steps.host_code import is_frame, is_of_runtime
from tfprof.captures.events.timeline.names import (
    CONSUME,
    EXECUTOR,
    PRODUCE,
)
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.insight.whatif.launched import Launched
from tfprof.insight.whatif.marks import Marks, from_around
from tfprof.insight.whatif.regular import Pairs, Regular, regular_waits

_MOST_HOPS = 8
"""Most threads over which work is followed back to the thread that waits for it."""

_LATEST = 1
"""Most steps after which a result may be read."""

_FEWEST = 3
"""Number of steps that show how a program goes on."""

_SOON_PS = 10**9
"""A step ends within this time after the result that it has waited for."""

_DONE = "ExecutorDoneCallback"

_SYNCHRONISES = re.compile(
    r"(?i).*(synchronize|block_?(host_?)?until|blockhost|await|wait ?for|dtoh|d2h)"
)
"""Events of the host in which it waits for a device."""


@dataclass(frozen=True, eq=False)
class Waits:
    """Pairs of marks, by the later one.

    Attributes:
        earlier: The awaited mark, shape (m,).
        later: The mark that waits, ascending.
        order: The rank of every mark in time, shape (2 n,); ``later`` has the higher rank.
    """

    earlier: Int64Array
    later: Int64Array
    order: Int64Array


def waits_of(marks: Marks, pairs: list[Pairs]) -> Waits:
    """Pairs of marks, without those that would lead back in time."""
    by_time = np.lexsort((np.arange(len(marks)), marks.ranks[marks.lines], marks.reached_ps))
    order = np.empty(len(marks), np.int64)
    order[by_time] = np.arange(len(marks))
    earlier, later = _joined(pairs)
    ahead = order[earlier] < order[later]
    earlier, later = earlier[ahead], later[ahead]
    by_later = np.lexsort((order[earlier], later))
    return Waits(earlier[by_later], later[by_later], order)


@dataclass(frozen=True, eq=False)
class Recorded:
    """The recorded events of a host that can be replayed.

    Attributes:
        timeline: Its events without derived and asynchronous ones.
        marks: Their marks.
        sources: Events that cause others, shape (m,).
        targets: The events that they cause.
        groups: The step of each event, -1 for none, shape (n,).
        roots: The events that steps begin with, shape (k,).
        runs: Runs of compiled programs on the devices of a CPU.
    """

    timeline: Timeline
    marks: Marks
    sources: Int64Array
    targets: Int64Array
    groups: Int64Array
    roots: Int64Array
    runs: Launched

    @cached_property
    def waits(self) -> Waits:
        """The waits of the marks."""
        recorded, regular = self._recorded, self.regular
        return waits_of(self.marks, [recorded, (regular.earlier, regular.later)])

    @cached_property
    def most_waits(self) -> Waits:
        """The waits of the marks, and all possible ones: see ``_meetings``."""
        waits = self.waits
        return waits_of(self.marks, [(waits.earlier, waits.later), self._meetings()])

    @cached_property
    def _recorded(self) -> Pairs:
        """Waits that follow from recorded events."""
        found = [self._links(), self._ends_of_work(), *self._queues(), self._executors(),
                 self._unlinked(), self._devices(), *self._launched(), self.results]  # fmt: skip
        waits = waits_of(self.marks, found)
        return waits.earlier, waits.later

    @cached_property
    def regular(self) -> Regular:
        """Waits that are inferred from their regularity."""
        timeline = self.timeline
        alone = self._alone & (self.groups < 0)
        alone &= timeline.named(lambda name: is_frame(name) or not is_of_runtime(name))
        alone &= timeline.kind_mask([not op.type for op in timeline.ops])
        return regular_waits(
            timeline, self.marks, self.roots, np.flatnonzero(alone), self.runs.events,
            self._recorded,
        )  # fmt: skip

    @cached_property
    def _alone(self) -> BoolArray:
        """Outermost events that no event causes, of threads on which no step begins, shape (n,)."""
        is_alone = (self.marks.parents < 0) & self.timeline.on_host
        is_alone[self.targets] = False
        is_alone &= ~np.isin(self.timeline.line_of, self._lines_of_roots)
        return is_alone

    def _of_lines(self, events: Int64Array) -> Int64Array:
        return self.marks.lines[self.marks.begin_at[events]]

    def _after(self, sources: Int64Array, targets: Int64Array) -> Pairs:
        """Each target begins after the marks that its source had passed by then."""
        marks, starts_ps = self.marks, self.timeline.starts_ps
        is_after = starts_ps[sources] <= starts_ps[targets]
        sources, targets = sources[is_after], targets[is_after]
        return marks.last_inside(sources, starts_ps[targets]), marks.begin_at[targets]

    def _links(self) -> Pairs:
        return self._after(self.sources, self.targets)

    def _launched(self) -> list[Pairs]:
        """A run of a compiled program begins after its call, and after the run before.

        Its other ops begin after its first one. A thread that awaits a result, perhaps of an
        earlier step, goes on when its run has ended.
        """
        marks, runs = self.marks, self.runs
        if not len(runs.calls):
            return []
        found = [
            self._after(runs.calls, runs.first),
            self._after(runs.first[runs.of_events], runs.events),
        ]
        for device in np.unique(runs.devices).tolist():
            own = np.flatnonzero(runs.devices == device)
            found.append((marks.end_at[runs.last[own[:-1]]], marks.begin_at[runs.first[own[1:]]]))
        ends = marks.end_at[runs.last]
        ends = ends[np.argsort(marks.times_ps[ends], kind="stable")]
        awaits = np.flatnonzero(self.timeline.named(is_synchronising) & self.timeline.on_host)
        begin_ps, done_ps = (marks.times_ps[at[awaits]] for at in (marks.begin_at, marks.end_at))
        place = np.searchsorted(marks.times_ps[ends], done_ps, side="right") - 1
        before = ends[place]
        is_due = 2 * (marks.times_ps[before] - begin_ps) >= done_ps - begin_ps
        found.append((before[is_due], marks.end_at[awaits[is_due]]))
        return found

    @cached_property
    def last_runs(self) -> Pairs:
        """Marks at which the last run of each step ends, -1 without one, and at which it ends."""
        roots = self.roots[np.argsort(self.timeline.starts_ps[self.roots], kind="stable")]
        of_step = {int(group): place for place, group in enumerate(self.groups[roots].tolist())}
        last = np.full(len(roots), -1, np.int64)
        calls, ends = self.groups[self.runs.calls], self.marks.end_at[self.runs.last]
        for group, end in zip(calls.tolist(), ends.tolist(), strict=True):
            if group in of_step:
                last[of_step[group]] = end
        return last, self.marks.end_at[roots]

    @cached_property
    def results(self) -> Pairs:
        """Steps wait for their own launched work, or for that of the step before: all or none.

        Where the result is ready already, no event shows that the step awaits it. But if no step
        ever ends before it, and some end right after it, the others would wait for it, too.
        """
        last, closes = self.last_runs
        for late in range(_LATEST + 1):
            runs, ends = last[: len(last) - late], closes[late:]
            is_run = runs >= 0
            runs, ends = runs[is_run], ends[is_run]
            rest_ps = self.marks.times_ps[ends] - self.marks.times_ps[runs]
            if len(runs) < _FEWEST or (rest_ps < 0).any():
                continue
            if (rest_ps <= _SOON_PS).sum() >= _FEWEST:
                return runs, ends
        return np.zeros(0, np.int64), np.zeros(0, np.int64)

    def _ends_of_work(self) -> Pairs:
        """A thread that gave work away waits for its end, if it did nothing else meanwhile.

        The event that waits is around the one that gave the work, maybe over several threads. Most
        of its own time there lies before the end of the work; otherwise it was busy itself. Threads
        that hand out elements to be made wait in the gaps between them.
        """
        marks = self.marks
        of_host = ~self.timeline.on_device[self.targets]
        sources, targets = self.sources[of_host], self.targets[of_host]
        makes = _lines_with(self.timeline, PRODUCE)
        led = np.full(len(self.timeline), -1, np.int64)
        led[self.targets] = np.arange(len(self.targets))
        leads = from_around(marks.parents, led)
        found: list[Pairs] = []
        for _ in range(_MOST_HOPS):
            for ends in (marks.end_at[targets], marks.begin_at[targets]):
                lines = self._of_lines(sources)
                later = marks.before(lines, marks.times_ps[ends], strictly=True)
                is_there = (later < marks.first[lines + 1]) & (later > marks.first[lines])
                rows = np.flatnonzero(is_there)
                who, at, giver = ends[rows], later[rows], sources[rows]
                owner = marks.owners[at]
                is_around = (owner >= 0) & (owner <= giver) & (giver < marks.inside[owner])
                is_around |= (owner < 0) & makes[lines[rows]]
                done_ps = marks.times_ps[who]
                rest_ps, waited_ps = marks.times_ps[at] - done_ps, done_ps - marks.times_ps[at - 1]
                waits = is_around & (rest_ps <= waited_ps)
                found.append((who[waits], at[waits]))
            link = leads[sources]
            sources, targets = self.sources[link[link >= 0]], targets[link >= 0]
            if not len(sources):
                break
        return _joined(found)

    def _queues(self) -> list[Pairs]:
        """Elements of tf.data: taken after they were made; made when there was room again."""
        timeline, marks = self.timeline, self.marks
        ids = timeline.stat("element_id")
        made, taken = (
            ids.events[timeline.named(names.__contains__)[ids.events]]
            for names in (PRODUCE, CONSUME)
        )
        # Of several makers of an element, the last one in time counts.
        made = made[np.argsort(timeline.starts_ps[made], kind="stable")]
        maker = dict(zip(ids.at(made).tolist(), made.tolist(), strict=True))
        makers = np.array([maker.get(one, -1) for one in ids.at(taken).tolist()], np.int64)
        known = makers >= 0
        taken, makers = taken[known], makers[known]
        room = []
        line_of_maker = self._of_lines(makers)
        for line in np.unique(line_of_maker).tolist():
            own = taken[line_of_maker == line]
            own = own[np.argsort(marks.times_ps[marks.end_at[own]], kind="stable")]
            ends_ps = marks.times_ps[marks.end_at[own]]
            begun = made[self._of_lines(made) == line]
            begun = begun[~marks.is_first[marks.begin_at[begun]]]
            at = marks.begin_at[begun]
            last = np.searchsorted(ends_ps, marks.times_ps[at], side="right") - 1
            was_idle = (last >= 0) & (marks.owners[at] < 0)
            was_idle &= ends_ps[last] > marks.times_ps[at - 1]
            room.append((marks.end_at[own[last[was_idle]]], at[was_idle]))
        return [self._after(makers, taken), _joined(room)]

    def _executors(self) -> Pairs:
        """A function of the graph ends when each thread has done its part."""
        timeline, ids = self.timeline, self.timeline.stat("id")
        parts = ids.events[timeline.named(EXECUTOR.__eq__)[ids.events]]
        done = ids.events[timeline.named(_DONE.__eq__)[ids.events]]
        # A number can come again: then a part belongs to the next end of that number, and one that
        # goes on after it to the next one, too.
        pairs: list[Pairs] = []
        for times_ps in (timeline.starts_ps[parts], timeline.ends_of(parts)):
            at = last_of_group(ids.at(done), -timeline.starts_ps[done], ids.at(parts), -times_ps)
            pairs.append((parts[at >= 0], done[at[at >= 0]]))
        return self._after(*_joined(pairs))

    def _meetings(self) -> Pairs:
        """Where ops of a function on several threads may meet.

        A thread is done with its part of a function where no op is ready: the next one has another
        input, too. The thread that made this goes on with it: with what it then begins next, or
        with anything behind that. Which one it is was not recorded; this is the earliest.
        """
        timeline, marks, ids = self.timeline, self.marks, self.timeline.stat("id")
        parts = np.sort(ids.events[timeline.named(EXECUTOR.__eq__)[ids.events]])
        functions, lines = ids.at(parts), timeline.lines_of(parts)
        starts_ps, ends_ps = timeline.starts_ps[parts], timeline.ends_of(parts)
        next_begin = np.full(len(marks) + 1, len(marks), np.int64)
        next_begin[marks.begin_at] = marks.begin_at
        next_begin = np.minimum.accumulate(next_begin[::-1])[::-1]
        found: list[Pairs] = []
        for line in np.unique(lines).tolist():
            own = np.flatnonzero(lines == line)
            runs = np.searchsorted(starts_ps[own], ends_ps, side="right") - 1
            beside = own[runs]
            goes_on = (runs >= 0) & (functions[beside] == functions) & (ends_ps[beside] > ends_ps)
            ended = np.flatnonzero(goes_on & (lines != line))
            at = marks.before(np.full(len(ended), line), ends_ps[ended], strictly=False)
            then = next_begin[at]
            is_inside = then < marks.end_at[parts[beside[ended]]]
            found.append((marks.end_at[parts[ended[is_inside]]], then[is_inside]))
        return _joined(found)

    @cached_property
    def _lines_of_roots(self) -> Int64Array:
        """Threads on which steps begin."""
        return np.unique(self.timeline.lines_of(self.roots))

    def _unlinked(self) -> Pairs:
        """A pool's work for a step follows the step's thread, if its origin was not recorded."""
        is_unknown = self._alone & (self.groups >= 0)
        is_unknown[self.runs.events] = False
        events = np.flatnonzero(is_unknown)
        root_of = np.full(int(self.groups.max(initial=0)) + 1, -1, np.int64)
        root_of[self.groups[self.roots]] = self.roots
        roots = root_of[self.groups[events]]
        return self._after(roots[roots >= 0], events[roots >= 0])

    def _devices(self) -> Pairs:
        """A wait for a device, or for pools, ends with their last work for the step."""
        timeline, marks = self.timeline, self.marks
        waiting = np.flatnonzero(timeline.named(is_synchronising) & timeline.on_host)
        elsewhere = ~np.isin(timeline.line_of, self._lines_of_roots)
        done = np.flatnonzero((timeline.on_device | elsewhere) & (self.groups >= 0))
        lines, lines_of_done = timeline.lines_of(waiting), timeline.lines_of(done)
        found: list[Pairs] = []
        for line in np.unique(lines).tolist():
            own, others = waiting[lines == line], done[lines_of_done != line]
            last = last_of_group(
                self.groups[others], timeline.ends_of(others), self.groups[own],
                timeline.ends_of(own),
            )  # fmt: skip
            own, others = own[last >= 0], others[last[last >= 0]]
            is_there = timeline.ends_of(others) > timeline.starts_ps[own]
            found.append((marks.end_at[others[is_there]], marks.end_at[own[is_there]]))
        return _joined(found)


def last_of_group(
    groups: Int64Array, times_ps: Int64Array, asked_groups: Int64Array, asked_ps: Int64Array
) -> Int64Array:
    """The last row of a group up to a time, -1 without one, shape (m,).

    Args:
        groups: The group of each row, shape (n,).
        times_ps: Its time.
        asked_groups: The group to search, shape (m,).
        asked_ps: The time.
    """
    n_rows = len(groups)
    both = np.concatenate([groups, asked_groups])
    is_asked = np.arange(len(both)) >= n_rows
    order = np.lexsort((is_asked, np.concatenate([times_ps, asked_ps]), both))
    is_asked = order >= n_rows
    last = np.maximum.accumulate(np.where(is_asked, -1, np.arange(len(both))))[is_asked]
    asked, rows = order[is_asked], order[last]
    found = np.full(len(asked_groups), -1, np.int64)
    found[asked - n_rows] = np.where((last >= 0) & (both[rows] == both[asked]), rows, -1)
    return found


def _lines_with(timeline: Timeline, names: frozenset[str]) -> BoolArray:
    """Which threads have events of some names, shape (n threads,)."""
    found = np.zeros(len(timeline.lines), np.bool_)
    found[timeline.lines_of(np.flatnonzero(timeline.named(names.__contains__)))] = True
    return found


def is_synchronising(name: str) -> bool:
    """Whether the host waits for a device in an event of this name."""
    return _SYNCHRONISES.match(name) is not None


def is_kept(timeline: Timeline) -> BoolArray:
    """Which events are replayed: those of threads and streams in sequence, shape (n,)."""
    kept = timeline.of_lines(lambda line: not line.is_derived and (line.is_host or line.is_device))
    return kept & ~timeline.is_asynchronous


def _joined(pairs: list[Pairs]) -> Pairs:
    nothing = np.zeros(0, np.int64)
    return (
        np.concatenate([nothing, *[earlier for earlier, _ in pairs]]),
        np.concatenate([nothing, *[later for _, later in pairs]]),
    )
