"""The work that spans of a program launched, on any thread or device, and their waits."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.executions import host_executions
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.steps.host_code import is_compiling
from tfprof.captures.events.steps.program_spans import Spans
from tfprof.captures.events.timeline.links import Links, joined
from tfprof.captures.events.timeline.op_names import OpKind
from tfprof.captures.events.timeline.runs import compiled_runs
from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows

_BATCHING = (4, 6, 10)
"""Contexts of links from requests to their batch: SharedBatchScheduler, Batcher, and
AdaptiveSharedBatchScheduler (``context_types.h``)."""

_WAITS = re.compile(
    r"\S*::(Await|Block\w*Until\w*)|BlockHostUntil\w*|np\.asarray\(jax\.Array\)"
    r"|(cu|cuda|hip)\w*Synchronize|(Stream|BFC|Buffer)\w*BlockHost\w*"
    r"|\$.* (block_until_ready|try_to_block|_value|__array__|wait|result|acquire|sleep|select|poll)"
)
"""Events in which a thread waits for others, for a device, or for a time."""

_INPUT_OPS = ("IteratorGetNext", "QueueDequeue", "_Recv", "_HostRecv")
"""Beginnings of types of ops that wait for what others make."""


class SpanTimes(NamedTuple):
    """Intervals that belong to spans; of nested spans, to each of them.

    Attributes:
        row: Span of each, a place in ``Spans``, shape (n,).
        start_ps: Starts.
        end_ps: Ends.
    """

    row: Int64Array
    start_ps: Int64Array
    end_ps: Int64Array


class SpanWork(NamedTuple):
    """The work of spans.

    Attributes:
        done_ps: When each has ended, and all its work on devices, shape (n spans,).
        has_work: Whether the capture holds such work of each, shape (n spans,).
        ran: When its work ran on a device; without devices, its ops on threads.
        queued: When it waited for its batch.
        waited: When a thread waited in it.
        has_compiled: Whether each traced or compiled, shape (n spans,).
        inside: Pairs of spans, the second one in the first one, shape (2, m).
    """

    done_ps: Int64Array
    has_work: BoolArray
    ran: SpanTimes
    queued: SpanTimes
    waited: SpanTimes
    has_compiled: BoolArray
    inside: Int64Array


def span_work(forest: Forest, spans: Spans, eager: BoolArray, *, has_device: bool) -> SpanWork:
    """Find the work of spans.

    Args:
        forest: The events of a host.
        spans: Its spans.
        eager: Which events ran eagerly, shape (n events,).
        has_device: Whether the work is that of devices, else ops on threads.
    """
    timeline, links = forest.timeline, forest.links
    sources, batches = _batches(forest)
    owners = _Owners(forest, spans, sources, batches)
    runs = compiled_runs(timeline, forest.nesting, links)
    of_runs = np.flatnonzero(runs.of_event >= 0)
    launch = runs.calls[runs.of_event[of_runs]]
    of_runs, launch = of_runs[launch >= 0], launch[launch >= 0]
    launched = np.flatnonzero(timeline.on_device & np.isin(np.arange(len(timeline)), links.targets))
    ran = host_executions(timeline, eager)
    is_input = np.array([*(one.type.startswith(_INPUT_OPS) for one in ran.names), False])[ran.ops]
    if has_device:
        work, begun = launched, launched
    else:
        is_work = [one.kind in (OpKind.TENSORFLOW, OpKind.JAX, OpKind.UNKNOWN) for one in ran.names]
        work = ran.events[np.array([*is_work, False])[ran.ops] & ~is_input]
        call = np.full(len(timeline), -1, np.int64)
        call[of_runs] = launch
        begun = np.where(call[work] >= 0, call[work], work)
        begun[(call[work] < 0) & (runs.of_event[work] >= 0)] = -1  # its call was not recorded
    ends = [timeline.ends_of(spans.events)]
    has_work = np.zeros(len(spans.events), np.bool_)
    for events, begins in ((of_runs, launch), (launched, launched), (batches, batches)):
        place, row = owners.of(begins)
        own_end = np.zeros_like(ends[0])
        np.maximum.at(own_end, row, timeline.ends_of(events)[place])
        ends.append(own_end)
        has_work[row] = True
    compiled = np.flatnonzero(timeline.named(is_compiling) & timeline.on_threads)
    waits = np.flatnonzero(timeline.named(lambda name: _WAITS.fullmatch(name) is not None))
    waits = np.union1d(waits[timeline.on_threads[waits]], ran.events[is_input])
    queued = SpanTimes(*_taken(owners.of(sources), timeline.starts_ps[sources],
                               timeline.starts_ps[batches]))  # fmt: skip
    return SpanWork(
        np.max(ends, axis=0),
        has_work,
        _times(forest, owners.of(begun), work),
        queued,
        _times(forest, owners.of(waits), waits),
        np.bincount(owners.of(compiled)[1], minlength=len(spans.events)) > 0,
        owners.inside,
    )


def _times(forest: Forest, owned: tuple[Int64Array, Int64Array], events: Int64Array) -> SpanTimes:
    timeline = forest.timeline
    return SpanTimes(*_taken(owned, timeline.starts_ps[events], timeline.ends_of(events)))


def _taken(
    owned: tuple[Int64Array, Int64Array], starts: Int64Array, ends: Int64Array
) -> tuple[Int64Array, Int64Array, Int64Array]:
    place, row = owned
    return row, starts[place], ends[place]


def _batches(forest: Forest) -> tuple[Int64Array, Int64Array]:
    """Events that put a request into a batch, and the events that process the batch, in pairs."""
    timeline, links = forest.timeline, forest.links
    produced = np.isin(timeline.stat("_pt").at(links.sources, -1), _BATCHING)
    chosen = np.flatnonzero(produced)
    chosen = chosen[np.isin(timeline.stat("_ct").at(links.targets[chosen], -1), _BATCHING)]
    return links.sources[chosen].astype(np.int64), links.targets[chosen].astype(np.int64)


class _Owners:
    """The spans that events belong to: those around them, and those that led to them.

    A batch belongs to all the requests that it answers.
    """

    def __init__(
        self, forest: Forest, spans: Spans, sources: Int64Array, batches: Int64Array
    ) -> None:
        self._forest, self._spans = forest, spans
        n_events = len(forest.timeline)
        self._is_mark = np.zeros(n_events, np.bool_)
        self._is_mark[spans.events] = self._is_mark[batches] = True
        self._is_linked = np.zeros(n_events, np.bool_)
        self._is_linked[forest.links.targets] = True
        marks = np.flatnonzero(self._is_mark)
        above = forest.nearest_of_each(marks, lambda _, at: self._is_mark[at])
        of_source = self._nearest(sources)
        pairs = [(above[above >= 0], marks[above >= 0]),
                 (of_source[of_source >= 0], batches[of_source >= 0])]  # fmt: skip
        self._above = _closure(joined(pairs, n_events), marks)
        self._row = np.full(n_events, -1, np.int64)
        self._row[spans.events] = np.arange(len(spans.events))
        rows = self._row[self._above.sources], self._row[self._above.targets]
        is_span = (rows[0] >= 0) & (rows[1] >= 0)
        self.inside = np.array([side[is_span] for side in rows], np.int64).reshape(2, -1)

    def of(self, events: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Places in ``events``, where -1 belongs to none, and the spans of each."""
        nearest = self._nearest(events)
        known = np.flatnonzero(nearest >= 0)
        place, above = self._above.sources_of_each(nearest[known])
        places = np.concatenate([known, known[place]])
        rows = self._row[np.concatenate([nearest[known], above])]
        return places[rows >= 0], rows[rows >= 0]

    def _nearest(self, events: Int64Array) -> Int64Array:
        """The mark at or above each event; most events need no search through links."""
        stops = np.flatnonzero(self._is_mark | self._is_linked)
        nearest = self._forest.nesting.nearest_among(events, stops).astype(np.int64)
        is_open = (nearest >= 0) & ~self._is_mark[nearest]
        starts, place = np.unique(nearest[is_open], return_inverse=True)
        found = self._forest.nearest_of_each(starts, lambda _, at: self._is_mark[at])
        nearest[is_open] = found[place] if len(starts) else no_rows()
        return nearest


def _closure(direct: Links, marks: Int64Array) -> Links:
    """Marks with all that are above them, not only those next to them."""
    n_events = direct.n_events
    above, below = direct.sources.astype(np.int64), direct.targets.astype(np.int64)
    known = np.unique(above * n_events + below)
    while len(above):
        place, up = direct.sources_of_each(above)
        above, below = up.astype(np.int64), below[place]
        kept = above != below  # only links can form circles
        keys = np.setdiff1d(above[kept] * n_events + below[kept], known)
        known = np.union1d(known, keys)
        above, below = keys // n_events, keys % n_events
    return joined([(known // n_events, known % n_events)], n_events)
