"""How long each span of a host took, and where the time went."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tfprof.captures.events.ops.span_work import SpanTimes, span_work
from tfprof.captures.events.steps.program_spans import ANNOTATION, CALL, Spans, program_spans
from tfprof.captures.events.steps.step_events import StepEvents
from tfprof.captures.events.steps.step_times import covered_by_kind
from tfprof.captures.facts.host_devices import uses_gpu, uses_tpu
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import BoolArray, Int64Array

REQUEST = "request"


@dataclass(frozen=True, eq=False, slots=True)
class Latencies:
    """Spans of a host, and after them its requests of several spans; n rows.

    Attributes:
        kinds: What the rows of a kind are, and their name.
        kind: Kind of each row, a place in ``kinds``, shape (n,).
        labels: A name of each row that no other one has.
        events: The name of the event of each span; of a request, of its first one.
        start_ps: Start of each, shape (n,).
        block_ps: Time until its block ended.
        total_ps: Time until also its work on devices was done.
        spent_ps: Parts of the total, which add up to it, shape (n, 5): no part of the request ran,
            host, waiting, queue, device.
        is_known: Whether the end of its work is in the capture.
        is_whole: Whether a request has the parts that most have, once each; true for spans.
        has_compiled: Whether each traced or compiled.
        inside: Pairs of rows, the second one a part of the first one, shape (2, m).
        n_spans: Number of spans: the requests come after them.
        has_queue: Whether the capture has any wait for a batch.
        has_work: Whether it has any work of spans on devices, or ops.
    """

    kinds: tuple[tuple[str, str], ...]
    kind: Int64Array
    labels: tuple[str, ...]
    events: tuple[str, ...]
    start_ps: Int64Array
    block_ps: Int64Array
    total_ps: Int64Array
    spent_ps: Int64Array
    is_known: BoolArray
    is_whole: BoolArray
    has_compiled: BoolArray
    inside: Int64Array
    n_spans: int
    has_queue: bool
    has_work: bool

    def rows_of(self, kind: int) -> Int64Array:
        """The rows of a kind, in order of time."""
        rows = np.flatnonzero(self.kind == kind)
        in_time: Int64Array = rows[np.argsort(self.start_ps[rows], kind="stable")]
        return in_time

    def parts_of(self, row: int) -> Int64Array:
        """The rows inside of a row, in order of time, the outer ones first."""
        rows = self.inside[1, self.inside[0] == row]
        in_time: Int64Array = rows[np.lexsort((-self.total_ps[rows], self.start_ps[rows]))]
        return in_time


@fact
def latencies(host: Host) -> Latencies:
    """The spans and requests of a host.

    A span lasts until its block has ended and the devices have done the work that it launched. Its
    ``device`` time is that in which this work ran on a device, or without devices, its ops on any
    thread; else ``queue`` is the time from joining a batch until the batch began; else ``waiting``
    is in events that only wait; ``host`` is the rest.

    A request of several spans lasts from the first start to the last end. A span around all others
    of its request is not a part of it.
    """
    forest = host.forest()
    timeline, spans = forest.timeline, program_spans(forest)
    has_device = uses_gpu(host) or uses_tpu(host)
    work = span_work(forest, spans, host.eager(), has_device=has_device)
    n_spans = len(spans.events)
    start_ps, block_end = timeline.starts_ps[spans.events], timeline.ends_of(spans.events)
    members = _Members(spans, np.stack([start_ps, block_end], axis=1), work.inside)
    row, span = members.row, members.span
    n_rows = n_spans + len(members.requests)
    begin = np.full(n_rows, np.iinfo(np.int64).max)
    np.minimum.at(begin, row, start_ps[span])
    blocks_end, done = np.zeros((2, n_rows), np.int64)
    np.maximum.at(blocks_end, row, block_end[span])
    np.maximum.at(done, row, work.done_ps[span])
    lost = spans.is_jax & ~work.has_work
    lost[work.inside[0, lost[work.inside[1]]]] = True
    is_known = np.ones(n_rows, np.bool_)
    np.logical_and.at(is_known, row, ~lost[span])
    is_around = (start_ps[span] <= begin[row]) & (work.done_ps[span] >= done[row])
    is_part = ~is_around | (row < n_spans)
    parts = SpanTimes(row[is_part], start_ps[span[is_part]], work.done_ps[span[is_part]])
    after = SpanTimes(np.arange(n_spans), block_end, work.done_ps)
    waited = SpanTimes(*(np.concatenate(pair) for pair in zip(work.waited, after, strict=True)))
    levels = [
        parts, members.spread(waited, is_part), members.spread(work.queued),
        members.spread(work.ran),
    ]  # fmt: skip
    first_span = span[np.lexsort((start_ps[span], row))][
        np.unique(np.sort(row), return_index=True)[1]
    ]
    names = tuple(timeline.name(event) for event in spans.events[first_span].tolist())
    of_requests = [f"{REQUEST} {spans.ids[number]}" for number in members.requests.tolist()]
    return Latencies(
        (*spans.names, (REQUEST, REQUEST)),
        np.concatenate([spans.kinds, np.full(len(members.requests), len(spans.names))]),
        (*_labels(spans, start_ps), *of_requests),
        names,
        begin,
        blocks_end - begin,
        done - begin,
        _spent(np.stack([begin, done], axis=1), levels),
        is_known,
        np.concatenate([np.ones(n_spans, np.bool_), ~members.is_odd]),
        np.bincount(row, work.has_compiled[span], minlength=n_rows) > 0,
        members.inside,
        n_spans,
        bool(len(work.queued.row)),
        bool(len(work.ran.row)),
    )


class _Members:
    """The spans of each row: a span itself, and the spans of each request that has several kinds.

    Attributes:
        requests: Numbers of the requests, a row for each after those of the spans, shape (r,).
        row: Row of each pair of row and span, shape (m,).
        span: Its span.
        inside: Pairs of rows, the second one a part of the first one, shape (2, k).
        is_odd: Whether each request lacks a kind of span that most others have, or is several
            requests with one number, shape (r,).
    """

    def __init__(self, spans: Spans, times: Int64Array, inside: Int64Array) -> None:
        n_spans = len(spans.events)
        own = np.flatnonzero(spans.requests >= 0)
        has = np.zeros((len(spans.ids), len(spans.names)), np.bool_)
        has[spans.requests[own], spans.kinds[own]] = True
        self.requests = np.flatnonzero(has.sum(axis=1) > 1)
        row_of = np.full(len(spans.ids) + 1, -1, np.int64)
        row_of[self.requests] = n_spans + np.arange(len(self.requests))
        own = own[row_of[spans.requests[own]] >= 0]
        rows = row_of[spans.requests[own]]
        self.row = np.concatenate([np.arange(n_spans), rows])
        self.span = np.concatenate([np.arange(n_spans), own])
        has = has[self.requests]
        usual = has.sum(axis=0) * 2 > len(has)
        self.is_odd: BoolArray = (usual & ~has).any(axis=1)
        self.is_odd[rows[_begin_again(rows, spans.kinds[own], times[own])] - n_spans] = True
        is_known = row_of[spans.requests[inside[0]]] >= 0
        below = np.stack([row_of[spans.requests[inside[0]]], inside[1]])[:, is_known]
        pairs = np.concatenate([inside, below, np.stack([rows, own])], axis=1)
        self.inside = np.unique(pairs, axis=1)

    def spread(self, times: SpanTimes, is_chosen: BoolArray | None = None) -> SpanTimes:
        """Intervals of spans as intervals of all rows, or of some pairs of row and span."""
        row, span = (self.row, self.span) if is_chosen is None else (
            self.row[is_chosen], self.span[is_chosen]
        )  # fmt: skip
        order = np.argsort(span, kind="stable")
        row, span = row[order], span[order]
        begin = np.searchsorted(span, times.row)
        counts = np.searchsorted(span, times.row, "right") - begin
        place = np.repeat(np.arange(len(counts)), counts)
        at = np.arange(len(place)) + np.repeat(begin - (np.cumsum(counts) - counts), counts)
        return SpanTimes(row[at], times.start_ps[place], times.end_ps[place])


def _begin_again(rows: Int64Array, kinds: Int64Array, times: Int64Array) -> Int64Array:
    """Spans that begin another request of the same row: of the kind that began the first one, after
    a span of another kind, or while the one before goes on.

    Args:
        rows: Row of each span, shape (n,).
        kinds: Its kind.
        times: Its start and end, shape (n, 2).
    """
    first: dict[int, int] = {}
    until: dict[int, int] = {}
    again = []
    for place in np.lexsort((-times[:, 1], times[:, 0], rows)).tolist():
        row, kind = int(rows[place]), int(kinds[place])
        begin, end = times[place].tolist()
        if kind != first.setdefault(row, kind):
            until[row] = np.iinfo(np.int64).max
        elif begin < until.get(row, begin):
            again.append(place)
        else:
            until[row] = end
    return np.array(again, np.int64)


def _spent(rows: Int64Array, levels: list[SpanTimes]) -> Int64Array:
    """Time of rows with the given starts and ends, by kind; larger levels win."""
    events = StepEvents(
        np.concatenate([one.row for one in levels]),
        np.repeat(np.arange(len(levels)), [len(one.row) for one in levels]),
        np.concatenate([one.start_ps for one in levels]),
        np.concatenate([one.end_ps for one in levels]),
    )
    nothing = np.zeros(len(rows), np.int64)
    by_level = covered_by_kind(events, rows) if len(rows) else {}
    spent = np.stack([by_level.get(level, nothing) for level in range(len(levels))], axis=1)
    whole = rows[:, 1] - rows[:, 0] - spent.sum(axis=1)
    return np.column_stack([whole, spent])


def _labels(spans: Spans, start_ps: Int64Array) -> list[str]:
    """Distinct names of spans.

    The program's own if it has a number and no other span has the same; else that of the kind, with
    a number in order of time, from 1.
    """
    labels = [""] * len(spans.kinds)
    times = Counter(spans.titles)
    seen = [0] * len(spans.names)
    for row in np.argsort(start_ps, kind="stable").tolist():
        kind = int(spans.kinds[row])
        seen[kind] += 1
        what, name = spans.names[kind]
        title = spans.titles[row]
        is_own = times[title] == 1 and title != name and what == ANNOTATION
        numbered = f"{name}{'()' if what == CALL else ''}:{seen[kind]}"
        labels[row] = title if is_own else numbered
    return labels
