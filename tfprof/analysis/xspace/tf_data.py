"""Input pipelines of tf.data: calls of their roots, and what each iterator took of them.

After ``xplane_to_tf_data_stats.cc`` and ``tf_data_stats`` of the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tfprof.analysis.xspace.grouping import Forest
from tfprof.analysis.xspace.names import CONSUME, PRODUCE
from tfprof.analysis.xspace.op_names import OpKind, iterator_type, plain_iterator_type
from tfprof.analysis.xspace.timeline import SparseStat
from tfprof.model.columns import BoolArray, Int64Array
from tfprof.model.xspace_stats import StatKind

SLOW_CALL_PS = 50_000_000
"""A call that takes longer keeps a device waiting (``kSlowCallThresholdPs``)."""

_SECOND_STAGE = "Iterator::Prefetch::Generator"
"""Part of a pipeline to a device, whose first part is its parent."""

_MOST_LEVELS = 100

_MOST_VISITS = 1 << 16
"""Iterators that are looked at for one call: damaged files may lead in circles."""


class Iterator(NamedTuple):
    """An iterator of a pipeline.

    Attributes:
        id: Unsigned.
        parent_id: Who consumes it; 0 if nobody.
        type: ``ParallelMap``.
        long_name: ``Iterator::Root::ParallelMapV2``.
    """

    id: int
    parent_id: int
    type: str
    long_name: str


@dataclass(slots=True)
class IteratorTimes:
    """What an iterator did in a call.

    Attributes:
        start_ps: When it was called first, since the capture's base.
        duration_ps: Time of its calls.
        self_ps: The same without what overlaps with iterators below it.
        is_blocking: Whether the call waited for it.
        n_calls: How often it was called.
    """

    start_ps: int
    duration_ps: int = 0
    self_ps: int = 0
    is_blocking: bool = False
    n_calls: int = 0


@dataclass(slots=True)
class Call:
    """One element that was asked for.

    Attributes:
        duration_ps: How long it took.
        times: Of each iterator, by id.
        is_cut: It is of so many parts that only the first were looked at.
    """

    duration_ps: int
    times: dict[int, IteratorTimes] = field(default_factory=dict)
    is_cut: bool = False

    @property
    def bottleneck(self) -> int | None:
        """The blocking iterator with the most time of its own; of equal ones the smallest id."""
        blocking = [
            (-times.self_ps, iterator)
            for iterator, times in self.times.items()
            if times.is_blocking and times.self_ps > 0
        ]
        return min(blocking)[1] if blocking else None


@dataclass(slots=True)
class Pipeline:
    """A pipeline of a host.

    Attributes:
        name: ``Host:0``, or ``Device:0`` for one that feeds a device.
        root: Id of its root iterator.
        feeds_device: Whether it brings data to a device.
        calls: The longest first.
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
    def n_slow(self) -> int:
        """Calls that took longer than 50 µs."""
        return sum(call.duration_ps > SLOW_CALL_PS for call in self.calls)


@dataclass(frozen=True, slots=True)
class TfData:
    """Pipelines of a host.

    Attributes:
        iterators: By id.
        pipelines: In the order in which they were first called.
    """

    iterators: dict[int, Iterator]
    pipelines: Sequence[Pipeline]


def find_pipelines(forest: Forest, *, classic: bool = False) -> TfData:
    """Find the pipelines of a host, and take their calls apart.

    Args:
        forest: The events.
        classic: Take ids that are written as unsigned numbers for 0, as the reference does,
            which makes one of several iterators.
    """
    timeline = forest.timeline
    is_iterator = timeline.on_host & timeline.kind_mask(
        [op.kind is OpKind.DATASET for op in timeline.ops]
    )
    events = np.flatnonzero(is_iterator)
    if not len(events):
        return TfData({}, ())
    ids = _unsigned(timeline.stat("id"), classic)
    parents = _unsigned(timeline.stat("parent_id"), classic)
    iterators: dict[int, Iterator] = {}
    roots: dict[int, list[int]] = {}
    to_device: set[int] = set()
    for event, name in zip(
        events.tolist(), map(timeline.names.__getitem__, timeline.kinds[events].tolist()),
        strict=True,
    ):  # fmt: skip
        if event not in ids:
            continue
        number = ids[event]
        if number not in iterators:
            shown = iterator_type(name) if classic else plain_iterator_type(name)
            iterators[number] = Iterator(number, parents.get(event, 0), shown, name)
        if name == _SECOND_STAGE:
            to_device.add(parents.get(event, 0))
        elif name.count("::") == 1:
            roots.setdefault(number, []).append(event)
    walker = _Walker(forest, is_iterator, ids, parents)
    pipelines = []
    counts = {True: 0, False: 0}
    for root, called in roots.items():
        feeds_device = root in to_device
        name = f"{'Device' if feeds_device else 'Host'}:{counts[feeds_device]}"
        counts[feeds_device] += 1
        called.sort(key=lambda event: -int(timeline.durations_ps[event]))
        calls = [walker.call(event) for event in called]
        pipelines.append(Pipeline(name, root, feeds_device, calls))
    return TfData(iterators, pipelines)


def _unsigned(stat: SparseStat, classic: bool) -> dict[int, int]:
    """Integers as unsigned numbers, by event."""
    whole = stat.only(stat.is_integer())
    values = whole.values
    if classic:
        values = np.where(whole.kinds == StatKind.UINT64, 0, values)
    return dict(zip(whole.events.tolist(), values.view(np.uint64).tolist(), strict=True))


class _Walker:
    """Walks from a call of a root to all iterators that it waited for or that worked for it."""

    def __init__(
        self, forest: Forest, is_iterator: BoolArray, ids: dict[int, int], parents: dict[int, int]
    ) -> None:
        timeline = forest.timeline
        self._ids = ids
        self._starts, self._ends = timeline.starts_ps, timeline.ends_ps
        events = np.flatnonzero(is_iterator)
        around = forest.nesting.parents[events]
        inner = (around >= 0) & is_iterator[around]
        pairs = [
            (around[inner], events[inner]),
            (forest.links.sources, forest.links.targets),
            _asynchronous(forest, is_iterator, ids, parents),
        ]
        self._children: dict[int, list[int]] = {}
        for sources, targets in pairs:
            both = is_iterator[sources] & is_iterator[targets]
            for source, target in zip(sources[both].tolist(), targets[both].tolist(), strict=True):
                self._children.setdefault(source, []).append(target)

    def call(self, root: int) -> Call:
        """Take a call apart. Iterators are visited in order of the events: a loop in Python."""
        starts, ends, ids = self._starts, self._ends, self._ids
        begin, end = int(starts[root]), int(ends[root])
        call = Call(end - begin)
        waiting = [(root, begin, end, True, 0)]
        visits = 0
        while waiting:
            if visits == _MOST_VISITS:
                call.is_cut = True
                break
            visits += 1
            event, begin, end, is_blocking, level = waiting.pop()
            if event not in ids or level > _MOST_LEVELS:
                continue
            times = call.times.get(ids[event])
            if times is None:
                times = call.times[ids[event]] = IteratorTimes(begin)
            own = end - begin
            for child in reversed(self._children.get(event, ())):
                first, last = int(starts[child]), int(ends[child])
                overlap = max(0, min(end, last) - max(begin, first))
                own -= overlap
                waiting.append((child, first, last, is_blocking and overlap > 0, level + 1))
            times.duration_ps += end - begin
            times.self_ps += own
            times.is_blocking |= is_blocking
            times.n_calls += 1
        return call


def _asynchronous(
    forest: Forest, is_iterator: BoolArray, ids: dict[int, int], parents: dict[int, int]
) -> tuple[Int64Array, Int64Array]:
    """From iterators that consume an element to those that produced it on another thread."""
    timeline = forest.timeline
    elements = timeline.stat("element_id")
    element = dict(zip(elements.events.tolist(), elements.values.tolist(), strict=True))
    produced: dict[tuple[int, int], list[int]] = {}
    produces = np.flatnonzero(timeline.on_host & timeline.named(PRODUCE.__contains__))
    first_inside = _first_inside(forest, is_iterator)
    for event in produces.tolist():
        child = first_inside.get(event)
        if event in element and child is not None and child in parents:
            produced.setdefault((parents[child], element[event]), []).append(child)
    sources: list[int] = []
    targets: list[int] = []
    for event in np.flatnonzero(timeline.on_host & timeline.named(CONSUME.__contains__)).tolist():
        consumer = int(forest.nesting.parents[event])
        if event not in element or consumer < 0 or not is_iterator[consumer]:
            continue
        found = produced.get((ids.get(consumer, -1), element[event]), ())
        sources += [consumer] * len(found)
        targets += found
    return np.array(sources, np.int64), np.array(targets, np.int64)


def _first_inside(forest: Forest, is_iterator: BoolArray) -> dict[int, int]:
    """The first iterator directly inside each event that is none."""
    events = np.flatnonzero(is_iterator)
    around = forest.nesting.parents[events]
    chosen = around >= 0
    pairs = zip(around[chosen].tolist()[::-1], events[chosen].tolist()[::-1], strict=True)
    return dict(pairs)
