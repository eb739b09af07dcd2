"""Links from events to those that they cause on another thread or on a device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.driver_calls import calls_of_ops
from tfprof.captures.events.timeline.names import (
    EXECUTOR,
    GET_NEXT,
    REDUCE_ITERATOR,
    SCAN,
    TF_DATA_FUNCTIONS,
    TPU_PREFIX,
)
from tfprof.captures.events.timeline.sources import place_type
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.threadpool import Regions
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import BoolArray, Int64Array, narrowest
from tfprof.core.columns.lookup import looked_up, numbered_rows, rows_by
from tfprof.core.columns.numerals import whole_number

_MOST_PAIRS = 64
"""An id with this many producers and this many consumers is not used for links."""

_THREADPOOL_CONTEXT = 15


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs of events: source and target.

    Attributes:
        sources: Ascending, shape (n,).
        targets: Shape (n,); those of one source in the order of the search.
        n_events: Number of events of the timeline.
    """

    sources: IntArray
    targets: IntArray
    n_events: int

    def sources_of(self, event: int) -> list[int]:
        """The sources of an event."""
        targets, sources = self._by_target
        first, last = np.searchsorted(targets, (event, event + 1)).tolist()
        return sources[first:last].tolist()  # type: ignore[no-any-return]

    def sources_of_each(self, events: Int64Array) -> tuple[Int64Array, Int64Array]:
        """The sources of some events: places in ``events``, ascending, and the source of each."""
        targets, sources = self._by_target
        first = np.searchsorted(targets, events)
        counts = np.searchsorted(targets, events, side="right") - first
        place = np.repeat(np.arange(len(events)), counts)
        rows = np.arange(len(place)) + np.repeat(first - (np.cumsum(counts) - counts), counts)
        return place, sources[rows]

    @cached_property
    def _by_target(self) -> tuple[Int64Array, Int64Array]:
        """Targets, ascending, and their sources."""
        order, _ = rows_by(self.targets, self.n_events)
        return self.targets[order], self.sources[order]


def joined(pairs: Sequence[tuple[Int64Array, Int64Array]], n_events: int) -> Links:
    """Links of several kinds as one table."""
    sources, targets = (
        np.concatenate(column, dtype=place_type(n_events), casting="same_kind")
        for column in zip(*pairs, strict=True)
    )
    if not (sources[1:] >= sources[:-1]).all():
        order = np.argsort(sources, kind="stable")
        sources, targets = sources[order], targets[order]
    return Links(sources, targets, n_events)


def find_links(timeline: Timeline, regions: Regions | None = None) -> Links:
    """All links of a host and its devices (``group_events.cc``).

    Args:
        timeline: The events.
        regions: Regions of thread pools, to link to the events that scheduled them, as calls of
            a driver to their ops; None: as the reference, which links neither, and takes the last
            of several events in the file.
    """
    match = last_match if regions is None else partial(latest_match, timeline)
    pairs = [
        match(*_executor_to_input(timeline)),
        match(*_launch_to_kernel(timeline)),
        _producers_to_consumers(timeline, regions),
        *_legacy(timeline),
        *([] if regions is None else [calls_of_ops(timeline)]),
    ]
    return joined(pairs, len(timeline))


def _executor_to_input(timeline: Timeline) -> tuple[Keyed, Keyed]:
    """The executor's event of a step leads to the input op of the step."""
    stats = (timeline.stat("id"), timeline.stat("iter_num"))
    executors = _keys(stats, timeline.named(EXECUTOR.__eq__))
    return executors, _keys(stats, timeline.named(GET_NEXT.__contains__))


def _launch_to_kernel(timeline: Timeline) -> tuple[Keyed, Keyed]:
    stat = timeline.stat("correlation_id")
    return _keys((stat,), timeline.on_host), _keys((stat,), timeline.on_device)


def loop_bodies(timeline: Timeline, parents: IntArray) -> tuple[Int64Array, Int64Array]:
    """Runs of the bodies of loops over datasets, and the executors that other threads run for them.

    Such a loop in a function may run in a ``Scan``, with its body on threads of tf.data. The ops
    there have no producer; the ``id`` of the run links them.

    Args:
        timeline: The events.
        parents: The event that encloses each, shape (n,).
    """
    is_loop = [name.startswith(REDUCE_ITERATOR) and name.endswith(SCAN) for name in timeline.names]
    if not any(is_loop):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    runs = np.flatnonzero(timeline.named(TF_DATA_FUNCTIONS.__contains__))
    around = parents[runs]
    runs = runs[(around >= 0) & looked_up(np.array(is_loop), timeline.kinds[around])]
    is_run = np.zeros(len(timeline), np.bool_)
    is_run[runs] = True
    ids = (timeline.stat("id"),)
    return latest_match(timeline, _keys(ids, is_run), _keys(ids, timeline.named(EXECUTOR.__eq__)))


def _legacy(timeline: Timeline) -> list[tuple[Int64Array, Int64Array]]:
    """Links between events of TPU runtimes, which use other stats."""
    named = timeline.named
    if _LEGACY_SOURCES.isdisjoint(timeline.names):
        return []
    step = (timeline.stat("id"), timeline.stat("iter_num"))
    queue = (timeline.stat("request_id"), timeline.stat("queue_addr"))
    executors, executes = (_keys(step, named(name.__eq__)) for name in (EXECUTOR, "TpuExecuteOp"))
    locked, requests = (
        _keys(queue, named(wanted)) for wanted in ("EnqueueRequestLocked".__eq__, _is_request)
    )
    return [
        all_matches(executors, executes, _MOST_PAIRS),
        all_matches(locked, requests, _MOST_PAIRS),
        all_matches(*_program_runs(timeline), _MOST_PAIRS),
    ]


_LEGACY_SOURCES = frozenset(("EnqueueRequestLocked", "TpuExecuteOp", "DoEnqueueProgram"))

_RUN_MASK = (1 << 27) - 1
"""Devices keep only these bits of the number of a run."""


def _program_runs(timeline: Timeline) -> tuple[Keyed, Keyed]:
    """Events that queue a program for a core; its runs there, and the callbacks after them."""
    n_events = len(timeline)
    core_type = timeline.stat("core_type").dense(n_events)
    ordinal = timeline.stat("device_ordinal")
    modules = np.zeros(n_events, np.bool_)
    ordinals = ordinal.dense(n_events, missing=-1)
    for number, line in enumerate(timeline.lines):
        name = timeline.space.planes[line.plane].name
        match = _ORDINAL.match(name)
        if line.name == "XLA Modules" and match is not None:
            modules[timeline.events_of(number)] = True
            ordinals[timeline.events_of(number)] = whole_number(match[1])
    stats = (timeline.stat("queue_id"), timeline.stat("run_id"))

    def runs(chosen: BoolArray) -> Keyed:
        events, keys = _keys(stats, chosen & (ordinals >= 0))
        queue, run = keys
        return events, (ordinals[events], queue, run & _RUN_MASK, core_type[events])

    parents = runs(timeline.named("DoEnqueueProgram".__eq__))
    return parents, runs(modules | timeline.named("CompleteCallbacks".__eq__))


_ORDINAL = re.compile(re.escape(TPU_PREFIX) + r"(\d+)")

_REQUESTS = frozenset(
    ("RunProgramRequest", "HostCallbackRequest", "TransferH2DRequest",
     "TransferPreprocessedH2DRequest", "TransferD2HRequest", "OnDeviceSendRequest",
     "OnDeviceRecvRequest", "OnDeviceSendRecvLocalRequest", "CustomWait",
     "OnDeviceSendRequestMulti", "OnDeviceRecvRequestMulti", "PjrtAsyncWait")
)  # fmt: skip


def _is_request(name: str) -> bool:
    return name in _REQUESTS


Keyed = tuple[Int64Array, Sequence[Int64Array]]
"""Events, shape (n,), and their keys, columns of the same shape."""


def _keys(stats: Sequence[SparseStat], chosen: BoolArray | None = None) -> Keyed:
    """The events, or some of them, that have all these integer stats, and their values."""
    whole = [stat.only(stat.is_integer()) for stat in stats]
    events, columns = whole[0].events, [whole[0].values]
    if chosen is not None:
        kept = chosen[events]
        events, columns = events[kept], [columns[0][kept]]
    for stat in whole[1:]:
        if np.array_equal(stat.events, events):  # written together
            columns.append(stat.values)
            continue
        has_stat = stat.has(events)
        events = events[has_stat]
        columns = [*(column[has_stat] for column in columns), stat.at(events)]
    return events, columns


def _numbered(*sides: Keyed) -> tuple[list[IntArray], int]:
    """Numbers of distinct keys, the same on all sides, and how many distinct keys there are."""
    columns = [np.concatenate(column) for column in zip(*(side[1] for side in sides), strict=True)]
    numbers, n_distinct = numbered_rows(columns)
    bounds = np.cumsum([len(side[0]) for side in sides])[:-1]
    return np.split(numbers, bounds), n_distinct


def last_match(parents: Keyed, children: Keyed) -> tuple[Int64Array, Int64Array]:
    """For each child the last parent of the same key, in the order of the file."""
    (above, below), size = _numbered(parents, children)
    return _with_parent(_last(parents[0], above, size)[below], children[0])


def latest_match(
    timeline: Timeline, parents: Keyed, children: Keyed
) -> tuple[Int64Array, Int64Array]:
    """For each child the parent of the same key that began last before it, or else the first.

    Of parents that begin together, it is the shortest, then that of the line with the highest id.
    """
    (above, below), size = _numbered(parents, children)
    found = _last(parents[0], above, size)[below]
    is_shared = np.bincount(above, minlength=size) > 1
    rivals, choosers = np.flatnonzero(is_shared[above]), np.flatnonzero(is_shared[below])
    if len(choosers):
        one = parents[0][rivals], above[rivals].astype(np.int64)
        other = children[0][choosers], below[choosers].astype(np.int64)
        found[choosers] = _latest(timeline, *one, *other)
    return _with_parent(found, children[0])


def _last(parents: Int64Array, keys: IntArray, size: int) -> Int64Array:
    """The last parent of each key, or -1."""
    last = np.full(size, -1, np.int64)
    last[keys] = parents  # the last one stays
    return last


def _with_parent(found: Int64Array, children: Int64Array) -> tuple[Int64Array, Int64Array]:
    return found[found >= 0], children[found >= 0]


def _latest(
    timeline: Timeline,
    parents: Int64Array,
    above: Int64Array,
    children: Int64Array,
    below: Int64Array,
) -> Int64Array:
    """``latest_match`` for children that have parents, by the numbers of their keys."""
    starts, ids = timeline.starts_ps, np.array([line.id for line in timeline.lines])
    times = np.unique(starts[parents])
    in_time = above * len(times) + np.searchsorted(times, starts[parents])
    durations, ids = timeline.durations_ps[parents], ids[timeline.lines_of(parents)]
    order = np.lexsort((ids, -durations, in_time))
    in_time, first = in_time[order], below * len(times)
    last = np.searchsorted(in_time, first + np.searchsorted(times, starts[children], "right")) - 1
    return parents[order[np.maximum(last, np.searchsorted(in_time, first))]]


class Matches(NamedTuple):
    """Parents and the children of the same key.

    Attributes:
        parents: Parents whose key has children.
        keys: Number of the key of each.
        children: All children, grouped by key.
        first: The first child of each key, and the number of children, shape (n keys + 1,).
    """

    parents: Int64Array
    keys: IntArray
    children: Int64Array
    first: IntArray


def matches(parents: Keyed, children: Keyed, most: int = 0) -> Matches:
    """Parents and the children of the same key, without the pairs: these may be very many.

    Args:
        parents: Events that cause others.
        children: Events that they cause.
        most: Leave out keys with this many of both; 0 for no limit.
    """
    (above, below), size = _numbered(parents, children)
    n_above, n_below = (np.bincount(side, minlength=size) for side in (above, below))
    is_kept = (n_above > 0) & (n_below > 0)
    if most:
        is_kept &= (n_above < most) | (n_below < most)
    by_key, ends = rows_by(below, size)
    leading = np.flatnonzero(is_kept[above])
    first = np.concatenate([np.zeros(1, ends.dtype), ends])
    return Matches(parents[0][leading], above[leading], children[0][by_key], first)


def all_matches(parents: Keyed, children: Keyed, most: int = 0) -> tuple[Int64Array, Int64Array]:
    """Every parent with every child of the same key; arguments are those of ``matches``."""
    found = matches(parents, children, most)
    begins = found.first[found.keys]
    repeats = found.first[found.keys + 1] - begins
    # Children of a key are consecutive, and so are all pairs of a parent.
    before = np.cumsum(repeats, dtype=np.int64) - repeats
    n_pairs = int(repeats.sum())
    narrow = narrowest(len(found.children) + n_pairs)
    rows = np.repeat((begins - before).astype(narrow), repeats)
    rows += np.arange(len(rows), dtype=narrow)
    return np.repeat(found.parents, repeats), looked_up(found.children, rows)


def _producers_to_consumers(
    timeline: Timeline, regions: Regions | None
) -> tuple[Int64Array, Int64Array]:
    producers, consumers = (
        _keys([timeline.stat(name, keep=False) for name in names])
        for names in (("_pt", "_p"), ("_ct", "_c"))
    )
    if regions is not None and len(regions.events):
        types = np.full(len(regions.events), _THREADPOOL_CONTEXT)
        (events, keys), more = consumers, (types, regions.consumers)
        consumers = (
            np.concatenate([events, regions.events]),
            [np.concatenate(columns) for columns in zip(keys, more, strict=True)],
        )
    return all_matches(producers, consumers, _MOST_PAIRS)
