"""Requests that a program served: their duration, and the time of devices and copies in it.

Requests are (``inference_stats.cc``) calls of a batching session; without any, runs of models of
the newer runtimes; without those, runs of sessions. A run inside a batch is not a request itself:
the batch belongs to all requests that contributed to it. A program may also mark requests itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.steps.grouping import Groups, grouped
from tfprof.captures.events.steps.step_events import (
    DEVICE_COMPUTE,
    Spent,
    StepEvents,
    gpu_step_events,
)
from tfprof.captures.events.steps.step_times import spent_by_kind
from tfprof.captures.events.timeline.names import TENSOR_CORE
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array, concatenate_tables
from tfprof.core.columns.covered import extents
from tfprof.core.columns.distinct import distinct_rows

_TYPES = (
    frozenset(("BatchingSessionRun",)),
    frozenset(("TfrtModelRun",)),
    frozenset(("ServingModelRun",)),
    frozenset(("SessionRun", "RunGraph")),
)
"""The first of these sets with events in a capture names its requests."""

_NAMED_BY_USERS = "ModelServerRequest_"
_BATCH = "ProcessBatch"

_TO_DEVICE = frozenset(("WriteHbm", "TransferH2DRequest", "TransferPreprocessedH2DRequest"))
_FROM_DEVICE = frozenset(("ReadHbm", "TransferD2HRequest"))
_BEGUN = "tpu::System::Transfer{}Device=>IssueEvent"

_COPIES = (Spent.HOST_TO_DEVICE, Spent.DEVICE_TO_HOST)
_COMPUTATION = (*DEVICE_COMPUTE, Spent.DEVICE_COLLECTIVES, Spent.DEVICE_TO_DEVICE)


class Requests(NamedTuple):
    """Requests, the fastest first.

    Attributes:
        total_ps: Duration of each, until its batch was done, shape (n,).
        device_ps: The part of it in which a device computed.
        copies_ps: The part of it with copies to and from devices, and nothing else there.
    """

    total_ps: Int64Array
    device_ps: Int64Array
    copies_ps: Int64Array

    def __len__(self) -> int:
        return len(self.total_ps)


def together(parts: Iterable[Requests]) -> Requests:
    """Requests of several hosts."""
    whole = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(whole[0], kind="stable")
    return Requests(*(column[order] for column in whole))


def served_requests(forest: Forest) -> Requests:
    """The requests of a host.

    A request lasts from its start to its end, or to that of its last batch. Of nested requests the
    outermost counts. Events without duration do not count.
    """
    timeline = forest.timeline
    of_batch, calls = _batches(timeline), _calls(timeline)
    if not len(calls):
        return _none()
    in_time = np.lexsort((-timeline.durations_ps[calls], timeline.starts_ps[calls]))
    groups = grouped(forest, [*of_batch.tolist(), *calls[in_time].tolist()])
    begins = np.array([groups.roots[group] for group in range(len(groups))], np.int64)
    chosen = np.flatnonzero(~np.isin(begins, of_batch))
    starts, ends = timeline.starts_ps[begins], timeline.ends_of(begins)
    pairs = _leading(forest, groups)
    above, below = pairs[:, 0], pairs[:, 1]
    in_batch = ~np.isin(below, chosen)
    np.maximum.at(ends, above[in_batch], timeline.ends_of(begins)[below[in_batch]])
    spans = np.stack([starts[chosen], ends[chosen]], axis=1)
    events = [_tpu_events(timeline, groups)]
    if timeline.planes_of_gpus():
        events.append(gpu_step_events(timeline, groups)[0])
    requests = _of_requests(concatenate_tables(events), chosen, pairs)
    start, end = spans[requests.group, 0], spans[requests.group, 1]
    clipped = StepEvents(
        requests.group,
        requests.spent,
        np.maximum(requests.start_ps, start),
        np.minimum(requests.end_ps, end),
    )
    kept = spans[:, 1] > spans[:, 0]
    return _measured(clipped.only(clipped.end_ps > clipped.start_ps), spans, kept)


def reference_requests(forest: Forest, groups: Groups) -> Requests:
    """The requests of a host in the reference.

    A request is a step of the reference, and lasts from the first event of the step to the last, or
    to the end of the first batch that the step leads to. Its device work is that of TPUs only.
    Requests without a model are left out if others have one.
    """
    timeline, group = forest.timeline, groups.of_event
    calls, batches = _calls(timeline), _batches(timeline)
    calls, batches = calls[group[calls] >= 0], batches[group[batches] >= 0]
    chosen = np.setdiff1d(group[calls], group[batches]).astype(np.int64)
    if not len(chosen):
        return _none()
    pairs = _leading(forest, groups)
    spans = _spans_of_groups(timeline, groups, chosen)
    end_of_batch = dict(zip(group[batches].tolist(), timeline.ends_of(batches), strict=True))
    followed: set[int] = set()
    for above, below in pairs.tolist():
        place = int(np.searchsorted(chosen, above))
        is_first = below in end_of_batch and above not in followed
        if is_first and place < len(chosen) and chosen[place] == above:
            spans[place, 1] = max(spans[place, 1], end_of_batch[below])
            followed.add(above)
    requests = _of_requests(_tpu_events(timeline, groups), chosen, pairs)
    kept = (spans[:, 1] > spans[:, 0]) & _has_model(timeline, groups, calls, chosen, pairs)
    return _measured(requests, spans, kept)


def _none() -> Requests:
    nothing = np.zeros(0, np.int64)
    return Requests(nothing, nothing, nothing)


def _batches(timeline: Timeline) -> Int64Array:
    return np.flatnonzero(timeline.named(_BATCH.__eq__) & timeline.on_threads)


def _calls(timeline: Timeline) -> Int64Array:
    """Events that are requests, or inside one."""
    names = set(timeline.names)
    wanted = next((one for one in _TYPES if not one.isdisjoint(names)), frozenset())
    chosen = timeline.named(wanted.__contains__)
    chosen[_named_by_users(timeline)] = True
    return np.flatnonzero(chosen & timeline.on_threads)


def _named_by_users(timeline: Timeline) -> Int64Array:
    """Events that the program marked as requests."""
    marked = timeline.stat("_r")
    is_named = timeline.named(lambda name: name.startswith(_NAMED_BY_USERS))[marked.events]
    marks = (marked.values == -1) | ((marked.values == 1) & is_named)
    named: Int64Array = marked.events[marked.is_integer() & marks]
    return named


def _leading(forest: Forest, groups: Groups) -> Int64Array:
    """Groups that lead to others on threads, in order: from, to, shape (n, 2)."""
    group = groups.of_event
    if groups.are_given or len(groups) < 2:  # the reference does not search there
        return np.zeros((0, 2), np.int64)
    parents, links = forest.nesting.parents, forest.links
    inner = np.flatnonzero((parents >= 0) & (group >= 0))
    inner = inner[group[parents[inner]] != group[inner]]
    sources = np.concatenate([parents[inner].astype(np.int64), links.sources])
    targets = np.concatenate([inner, links.targets])
    on_threads = forest.timeline.on_threads
    pairs = np.stack([group[sources], group[targets]], axis=1).astype(np.int64)
    kept = (pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])
    kept &= on_threads[sources] & on_threads[targets]
    return distinct_rows([pairs[kept, 0], pairs[kept, 1]]).values


def _spans_of_groups(timeline: Timeline, groups: Groups, chosen: Int64Array) -> Int64Array:
    """Start of the first event on threads of each group, and end of the last, shape (n, 2)."""
    events = np.flatnonzero(timeline.on_threads & np.isin(groups.of_event, chosen))
    rows = np.searchsorted(chosen, groups.of_event[events])
    return extents(rows, timeline.starts_ps[events], timeline.ends_of(events), len(chosen))


def _has_model(
    timeline: Timeline, groups: Groups, calls: Int64Array, chosen: Int64Array, pairs: Int64Array
) -> BoolArray:
    """Whether each request has a known model; all True if none has."""
    model_id = timeline.stat("model_id").among(calls)
    says = np.array([bool(text) for text in model_id.texts] or [False])
    with_model = model_id.events[
        ~model_id.is_text() | says[np.where(model_id.is_text(), model_id.values, 0)]
    ]
    known = np.unique(groups.of_event[with_model])
    below = pairs[np.isin(pairs[:, 1], known), 0]
    has_model = np.isin(chosen, known) | np.isin(chosen, below)
    return has_model if has_model.any() else np.ones(len(chosen), np.bool_)


def _tpu_events(timeline: Timeline, groups: Groups) -> StepEvents:
    """Programs that TPUs ran, and transfers that the host records."""
    group = groups.of_event
    modules = timeline.of_lines(
        lambda line: (
            line.name == "XLA Modules"
            and not line.is_derived
            and TENSOR_CORE.fullmatch(timeline.space.planes[line.plane].name) is not None
        )
    )
    parts = [
        (np.flatnonzero(modules & (group >= 0)), Spent.DEVICE_COMPUTE_32),
        (_on_threads(timeline, group, _TO_DEVICE), Spent.HOST_TO_DEVICE),
        (_on_threads(timeline, group, _FROM_DEVICE), Spent.DEVICE_TO_HOST),
    ]
    events_of_cores = [
        StepEvents(
            group[events].astype(np.int64), np.full(len(events), int(spent)),
            timeline.starts_ps[events], timeline.ends_of(events),
        )
        for events, spent in parts
    ]  # fmt: skip
    for way, spent in (("To", Spent.HOST_TO_DEVICE), ("From", Spent.DEVICE_TO_HOST)):
        first, last = _transfers(timeline, group, _BEGUN.format(way))
        events_of_cores.append(StepEvents(
            group[first].astype(np.int64), np.full(len(first), int(spent)),
            timeline.starts_ps[first], timeline.ends_of(last),
        ))  # fmt: skip
    return concatenate_tables(events_of_cores)


def _on_threads(timeline: Timeline, group: Int64Array, names: frozenset[str]) -> Int64Array:
    return np.flatnonzero(timeline.named(names.__contains__) & timeline.on_threads & (group >= 0))


def _transfers(timeline: Timeline, group: Int64Array, begun: str) -> tuple[Int64Array, Int64Array]:
    """Events that begin transfers and those that end them, matched by the consumer's id."""
    ids = timeline.stat("_c")
    begins, ends = (
        _on_threads(timeline, group, frozenset((name,))) for name in (begun, f"{begun}=>Done")
    )
    begins, ends = begins[ids.has(begins)], ends[ids.has(ends)]
    first = dict(zip(ids.at(begins).tolist(), begins.tolist(), strict=True))
    pairs: dict[int, tuple[int, int]] = {}
    for number, end in zip(ids.at(ends).tolist(), ends.tolist(), strict=True):
        begin = first.get(number)
        if begin is not None and timeline.starts_ps[begin] < timeline.starts_ps[end]:
            pairs[number] = begin, end
    both = np.array(list(pairs.values()), np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _of_requests(events: StepEvents, chosen: Int64Array, pairs: Int64Array) -> StepEvents:
    """Events by request: its own, and those of its batches."""
    own = np.stack([chosen, chosen], axis=1)
    whole = np.concatenate([own, pairs[np.isin(pairs[:, 0], chosen)]])
    whole = whole[np.argsort(whole[:, 1], kind="stable")]
    first = np.searchsorted(whole[:, 1], events.group)
    counts = np.searchsorted(whole[:, 1], events.group, side="right") - first
    rows = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(rows)) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    return StepEvents(
        np.searchsorted(chosen, whole[place, 0]), events.spent[rows], events.start_ps[rows],
        events.end_ps[rows],
    )  # fmt: skip


def _measured(events: StepEvents, spans: Int64Array, kept: BoolArray) -> Requests:
    by_kind = spent_by_kind(events, len(spans))

    def of(kinds: tuple[Spent, ...]) -> Int64Array:
        nothing = np.zeros(len(spans), np.int64)
        sums: Int64Array = np.sum([by_kind.get(kind, nothing) for kind in kinds], axis=0)
        return sums

    columns = (spans[:, 1] - spans[:, 0], of(_COMPUTATION), of(_COPIES))
    return together([Requests(*(column[kept] for column in columns))])
