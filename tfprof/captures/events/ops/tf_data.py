"""Input pipelines of tf.data: calls of their roots, and the time of each iterator in them.

After ``xplane_to_tf_data_stats.cc`` and ``tf_data_stats`` of the reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.timeline.links import Matches, matches
from tfprof.captures.events.timeline.names import CONSUME, PRODUCE, SECOND_STAGE
from tfprof.captures.events.timeline.op_names import OpKind, iterator_type, plain_iterator_type
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import IntArray, StatKind
from tfprof.captures.rules import OURS, Rules
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.lookup import rows_by
from tfprof.core.wire.compiled import is_native, native_module

_native: Any = native_module("calls")

SLOW_CALL_PS = 50_000_000
"""A call that takes longer keeps a device waiting (``kSlowCallThresholdPs``)."""

_BY_FAR = 2
"""A first call that takes this many times as long as any other is not typical."""

_MOST_LEVELS = 100

_COPY = re.compile(r"\[\d+\]")

_MOST_VISITS = 1 << 16
"""Most visits of iterators in one call: links in damaged files may form circles."""


class Iterator(NamedTuple):
    """An iterator of a pipeline.

    Attributes:
        id: Unsigned.
        parent_id: Id of the iterator that consumes it; 0 without one.
        type: ``ParallelMap``.
        long_name: ``Iterator::Root::ParallelMapV2``.
        parallelism: Number of elements for which it calls its function in parallel, from the last
            record; 0 if not recorded.
        n_calls: Number of its calls in the capture.
        total_ps: Time of these calls.
    """

    id: int
    parent_id: int
    type: str
    long_name: str
    parallelism: int = 0
    n_calls: int = 0
    total_ps: int = 0

    @property
    def stage(self) -> str:
        """Its name without the numbers of copies: ``Interleave[3]::Map`` is one of many."""
        return stage_of(self.long_name)


def stage_of(long_name: str) -> str:
    """The name of an iterator without the numbers of copies."""
    return _COPY.sub("", long_name)


@dataclass(slots=True)
class IteratorTimes:
    """The part of an iterator in a call.

    Attributes:
        start_ps: Start of its first call, since the capture's base.
        duration_ps: Time of its calls.
        self_ps: Time of its calls without overlaps with iterators below it.
        is_blocking: Whether the call waited for it.
        n_calls: Number of its calls.
    """

    start_ps: int
    duration_ps: int = 0
    self_ps: int = 0
    is_blocking: bool = False
    n_calls: int = 0


class Taken(NamedTuple):
    """The parts of a call, for ``Call``."""

    times: dict[int, IteratorTimes]
    is_cut: bool


class Call:
    """A call for one element; the parts of its iterators are computed on demand.

    Attributes:
        start_ps: Its start, since the capture's base.
        duration_ps: Its duration.
    """

    def __init__(self, start_ps: int, duration_ps: int, take: Callable[[], Taken]) -> None:
        self.start_ps, self.duration_ps, self._take = start_ps, duration_ps, take

    @cached_property
    def _taken(self) -> Taken:
        return self._take()

    def without_events(self) -> tuple[int, int, Taken | None]:
        """The data without the events of the host; the parts only if already computed."""
        return self.start_ps, self.duration_ps, self.__dict__.get("_taken")

    @classmethod
    def from_parts(cls, start_ps: int, duration_ps: int, taken: Taken | None) -> Call:
        """A call from the result of ``without_events``."""

        def take() -> Taken:
            assert taken is not None, "only the host of this call has its parts"
            return taken

        return cls(start_ps, duration_ps, take)

    @property
    def times(self) -> dict[int, IteratorTimes]:
        """The part of each iterator, by id."""
        return self._taken.times

    def parts(self) -> dict[int, IteratorTimes]:
        """The same as ``times``, but not kept."""
        return (self.__dict__.get("_taken") or self._take()).times

    @property
    def is_cut(self) -> bool:
        """Whether it has so many parts that only the first ones count."""
        return self._taken.is_cut

    @property
    def bottleneck(self) -> int | None:
        """The blocking iterator with the most self time; of equal ones, the smallest id."""
        blocking = [
            (-times.self_ps, iterator)
            for iterator, times in self.times.items()
            if times.is_blocking and times.self_ps > 0
        ]
        return min(blocking)[1] if blocking else None


def _start(call: Call) -> int:
    return call.start_ps


@dataclass(slots=True)
class Pipeline:
    """A pipeline of a host.

    Attributes:
        name: ``Host:0``, or ``Device:0`` for one that feeds a device.
        root: Id of its root iterator.
        feeds_device: Whether it brings data to a device.
        calls: The calls, the longest first.
    """

    name: str
    root: int
    feeds_device: bool
    calls: list[Call]

    @property
    def max_ps(self) -> int:
        """The longest call."""
        return self.calls[0].duration_ps

    @property
    def min_ps(self) -> int:
        """The shortest call."""
        return self.calls[-1].duration_ps

    @property
    def mean_ps(self) -> int:
        """The average call, whole picoseconds."""
        return sum(call.duration_ps for call in self.calls) // len(self.calls)

    @property
    def is_first_slowest(self) -> bool:
        """Whether the first of several calls is the longest by far, because it fills buffers."""
        if len(self.calls) < 2 or self.calls[0] is not min(self.calls, key=_start):
            return False
        return self.max_ps > _BY_FAR * self.calls[1].duration_ps

    @property
    def n_slow(self) -> int:
        """Number of calls that took longer than 50 µs."""
        return sum(call.duration_ps > SLOW_CALL_PS for call in self.calls)


@dataclass(frozen=True, slots=True)
class TfData:
    """Pipelines of a host.

    Attributes:
        iterators: The iterators by id.
        pipelines: The pipelines, in order of their first calls.
    """

    iterators: dict[int, Iterator]
    pipelines: Sequence[Pipeline]


def find_pipelines(forest: Forest, *, rules: Rules = OURS) -> TfData:
    """Find the pipelines of a host.

    Args:
        forest: The events.
        rules: How to read ids and types.
    """
    timeline = forest.timeline
    is_iterator = timeline.on_host & timeline.kind_mask(
        [op.kind is OpKind.DATASET for op in timeline.ops]
    )
    if not len(events := np.flatnonzero(is_iterator)):
        return TfData({}, ())
    seen = _Found(
        events,
        _unsigned(timeline.stat("id").among(events), rules),
        _unsigned(timeline.stat("parent_id").among(events), rules),
    )
    order = _in_order(timeline, seen.ids, rules)
    with_id, ids = seen.ids.events[order], seen.ids.values[order].view(np.uint64)
    parents = seen.parents.at(with_id).view(np.uint64)
    parallelism = timeline.stat("parallelism").at(with_id)
    kinds = timeline.kinds[with_id]
    _, first, place, n_calls = np.unique(
        ids, return_index=True, return_inverse=True, return_counts=True
    )
    total_ps = np.zeros(len(first), np.int64)
    np.add.at(total_ps, place, timeline.durations_ps[with_id])
    iterators = {}
    for at in np.argsort(first).tolist():
        row = int(first[at])
        one = _iterator(
            int(ids[row]),
            int(parents[row]),
            timeline.name(int(with_id[row])),
            int(parallelism[row]),
            rules,
        )
        iterators[one.id] = one._replace(n_calls=int(n_calls[at]), total_ps=int(total_ps[at]))
    names = timeline.names
    is_second = np.array([name == SECOND_STAGE for name in names], np.bool_)[kinds]
    is_root = np.array([name.count("::") == 1 for name in names], np.bool_)[kinds]
    to_device = set(parents[is_second].tolist())
    walker = _Walker(forest, seen)
    pipelines = []
    counts = {True: 0, False: 0}
    for root, events_of_root in _by_first(ids[is_root], with_id[is_root]):
        feeds_device = root in to_device
        name = f"{'Device' if feeds_device else 'Host'}:{counts[feeds_device]}"
        counts[feeds_device] += 1
        called = events_of_root[np.argsort(-timeline.durations_ps[events_of_root], kind="stable")]
        columns = (called, timeline.starts_ps[called], timeline.durations_ps[called])
        calls = [
            Call(start, duration, partial(walker.taken, event))
            for event, start, duration in zip(*(c.tolist() for c in columns), strict=True)
        ]
        pipelines.append(Pipeline(name, root, feeds_device, calls))
    return TfData(iterators, pipelines)


def _in_order(timeline: Timeline, ids: SparseStat, rules: Rules) -> Int64Array | slice:
    """Where the events of iterators are in order of time, which decides what comes first."""
    if rules.takes_file_order:
        return slice(None)
    at = ids.events
    return np.lexsort((ids.values, -timeline.durations_ps[at], timeline.starts_ps[at]))


class _Found(NamedTuple):
    """Events of iterators, ascending, and their ids and parents' ids."""

    events: Int64Array
    ids: SparseStat
    parents: SparseStat


def _iterator(number: int, parent: int, name: str, parallelism: int, rules: Rules) -> Iterator:
    shown = (iterator_type if rules.keeps_iterator_suffix else plain_iterator_type)(name)
    return Iterator(number, parent, shown, name, parallelism)


def _unsigned(stat: SparseStat, rules: Rules) -> SparseStat:
    """Integers, to be viewed as unsigned numbers."""
    whole = stat.only(stat.is_integer())
    if not rules.drops_unsigned_ids:
        return whole
    values = np.where(whole.kinds == StatKind.UINT64, 0, whole.values)
    return SparseStat(whole.events, whole.kinds, values, whole.texts)


def _by_first(
    ids: np.ndarray[Any, np.dtype[np.uint64]], events: Int64Array
) -> list[tuple[int, Int64Array]]:
    """Events of each id, in order of the ids' first appearance."""
    distinct, first, place = np.unique(ids, return_index=True, return_inverse=True)
    rows = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
    return [(int(distinct[n]), events[rows[n]]) for n in np.argsort(first).tolist()]


class _Walker:
    """Walks from a call of a root to all iterators that it waited for or that worked for it.

    Events are numbered by their places among those of iterators.
    """

    def __init__(self, forest: Forest, seen: _Found) -> None:
        self._events = events = seen.events
        timeline = forest.timeline
        self._starts, self._ends = timeline.starts_ps[events], timeline.ends_of(events)
        place_of = np.full(len(timeline) + 1, -1, np.int32)  # last: of events without parent
        place_of[events] = np.arange(len(events))
        known, numbers = np.unique(seen.ids.values.view(np.uint64), return_inverse=True)
        self._ids: list[int] = known.tolist()
        self._iterators = np.full(len(events), -1, np.int32)
        self._iterators[place_of[seen.ids.events]] = numbers
        around = forest.nesting.parents[events]
        pairs = [(around, events), (forest.links.sources, forest.links.targets)]
        sources, targets = (np.concatenate([place_of[pair[side]] for pair in pairs])
                            for side in (0, 1))  # fmt: skip
        both = (sources >= 0) & (targets >= 0)
        elements = _asynchronous(forest, seen, place_of)
        # All producers of an element form one child: an element may have very many of them.
        # NumPy 1 adds a scalar in the type of the array.
        shared = elements.keys.astype(np.int64) + len(events)
        targets = np.concatenate([targets[both], shared])
        order, ends = rows_by(np.concatenate([sources[both], elements.parents]), len(events))
        self._children = targets[order]
        self._first_child = np.concatenate([[0], ends])
        self._first_member = elements.first.astype(np.int64)
        self._members = elements.children.astype(np.int64)
        self._times = np.zeros((len(known), 5), np.int64)

    def taken(self, event: int) -> Taken:
        """Compute the parts of a call."""
        root = int(np.searchsorted(self._events, event))
        if not (is_native() and _native is not None):
            return self._taken_pure(root)
        met = np.empty(len(self._ids), np.int32)
        n_met, is_cut = _native.taken(
            self._starts, self._ends, self._iterators, self._first_child, self._children,
            self._first_member, self._members, root, _MOST_VISITS, _MOST_LEVELS, self._times,
            met,
        )  # fmt: skip
        rows = met[:n_met]
        times_of = {
            self._ids[row]: IteratorTimes(start, duration, own, is_blocking > 0, n_calls)
            for row, (start, duration, own, is_blocking, n_calls) in zip(
                rows.tolist(), self._times[rows].tolist(), strict=True
            )
        }
        self._times[rows] = 0
        return Taken(times_of, is_cut)

    @cached_property
    def _lists(self) -> tuple[list[int], ...]:
        columns = (
            self._starts, self._ends, self._iterators, self._first_child, self._children,
            self._first_member, self._members,
        )  # fmt: skip
        return tuple([column.tolist() for column in columns])

    def _children_of(self, place: int) -> list[int]:
        *_, first_child, children, first_member, members = self._lists
        found: list[int] = []
        for child in children[first_child[place] : first_child[place + 1]]:
            element = child - len(self._events)
            if element < 0:
                found.append(child)
            else:
                found += members[first_member[element] : first_member[element + 1]]
        return found

    def _taken_pure(self, root: int) -> Taken:
        """``taken`` in Python."""
        starts, ends, iterators, *_ = self._lists
        times_of: dict[int, IteratorTimes] = {}
        waiting = [(root, True, 0)]
        visits = 0
        while waiting:
            if visits == _MOST_VISITS:
                return Taken(times_of, is_cut=True)
            visits += 1
            place, is_blocking, level = waiting.pop()
            if iterators[place] < 0 or level > _MOST_LEVELS:
                continue
            number = self._ids[iterators[place]]
            begin, end = starts[place], ends[place]
            times = times_of.get(number)
            if times is None:
                times = times_of[number] = IteratorTimes(begin)
            own = end - begin
            for child in reversed(self._children_of(place)):
                overlap = max(0, min(end, ends[child]) - max(begin, starts[child]))
                own -= overlap
                waiting.append((child, is_blocking and overlap > 0, level + 1))
            times.duration_ps += end - begin
            times.self_ps += own
            times.is_blocking |= is_blocking
            times.n_calls += 1
        return Taken(times_of, is_cut=False)


def _asynchronous(forest: Forest, seen: _Found, place_of: IntArray) -> Matches:
    """Matches iterators that consume an element with those that produced it on another thread.

    Both record the number of the element; the producer's parent id is the consumer's id. Events are
    numbered by ``place_of``.
    """
    timeline, around = forest.timeline, forest.nesting.parents
    elements = timeline.stat("element_id")
    consumed = elements.among(
        np.flatnonzero(timeline.on_host & timeline.named(CONSUME.__contains__))
    )
    consumers = around[consumed.events]
    known = seen.ids.has(consumers)
    keys = [seen.ids.at(consumers[known]), consumed.values[known]]
    consuming = place_of[consumers[known]], keys
    produced = elements.among(
        np.flatnonzero(timeline.on_host & timeline.named(PRODUCE.__contains__))
    )
    producers = _first_inside(forest, seen.events, produced.events)
    known = seen.parents.has(producers)
    keys = [seen.parents.at(producers[known]), produced.values[known]]
    producing = place_of[producers[known]], keys
    return matches(consuming, producing)


def _first_inside(forest: Forest, iterators: Int64Array, events: Int64Array) -> Int64Array:
    """The first iterator directly inside each of some events; -1 without one."""
    outer, first = np.unique(forest.nesting.parents[iterators], return_index=True)
    place = np.searchsorted(outer, events).clip(max=len(outer) - 1)
    return np.where(outer[place] == events, iterators[first[place]], -1)
