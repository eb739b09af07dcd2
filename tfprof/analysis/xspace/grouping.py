"""Steps: which events belong together (``group_events.cc``).

A step is what a root event holds, on its thread and wherever links lead from there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfprof._wire.native import is_native, native_module
from tfprof.analysis.xspace.links import Links, find_links, joined
from tfprof.analysis.xspace.names import (
    EXECUTOR,
    GPU_PREFIX,
    IMPLICIT_ROOTS,
    LOOP_EVENTS,
    TF_DATA_FUNCTIONS,
    TRACE_CONTEXT,
)
from tfprof.analysis.xspace.nesting import Nesting, nest
from tfprof.analysis.xspace.threadpool import Regions
from tfprof.analysis.xspace.timeline import SparseStat, Timeline
from tfprof.analysis.xspace.tpu_groups import group_tpus
from tfprof.model.columns import Int64Array
from tfprof.model.xspace_stats import IntArray

_native: Any = native_module("_nesting_native")

NO_GROUP = -1
_ALONE = -2


@dataclass(frozen=True, eq=False)
class Forest:
    """Events with what encloses them and what leads to them.

    Attributes:
        timeline: The events.
        nesting: What encloses what.
        links: What leads where on other threads.
    """

    timeline: Timeline
    nesting: Nesting
    links: Links

    def parents(self, event: int) -> Iterator[int]:
        """What encloses an event, then what leads to it."""
        around = int(self.nesting.parents[event])
        if around >= 0:
            yield around
        yield from self.links.sources_of(event)

    def nearest(self, event: int, wanted: Callable[[int], bool], *, itself: bool) -> int:
        """The nearest event, going up, that is wanted; -1 if there is none."""
        if itself and wanted(event):
            return event
        seen = {event}
        waiting = deque([event])
        while waiting:
            for parent in self.parents(waiting.popleft()):
                if parent in seen:
                    continue
                if wanted(parent):
                    return parent
                seen.add(parent)
                waiting.append(parent)
        return -1


@dataclass(frozen=True, eq=False)
class Groups:
    """Steps of a host.

    Attributes:
        of_event: Number of each event's group, -1 without one, shape (n events,).
        names: What each group is called: ``train 17``.
        roots: The event that each group begins with; -1 if the file does not tell.
        step_names: Shown in place of an event's name, by event.
        are_given: The file had groups already.
    """

    of_event: IntArray
    names: dict[int, str]
    roots: dict[int, int]
    step_names: dict[int, str]
    are_given: bool = False

    def __len__(self) -> int:
        return len(self.names)


def build_forest(timeline: Timeline, regions: Regions | None = None) -> Forest:
    """Nest events, and link threads. Asynchronous events enclose nothing and are in nothing."""
    asynchronous = timeline.stat("_a")
    is_alone = np.zeros(len(timeline), np.bool_)
    is_alone[asynchronous.events] = asynchronous.values != 0
    nesting = nest(timeline.first, timeline.starts_ps, timeline.ends_ps, is_alone)
    return Forest(timeline, nesting, find_links(timeline, regions))


def is_grouped(timeline: Timeline) -> bool:
    """Whether a file tells its groups itself, as old ones and those of other tools do."""
    return any(plane.stat_metadata.keys_of("group_id") for plane in timeline.space.planes)


def find_groups(forest: Forest, *, classic: bool = False) -> Groups:
    """Find the steps.

    Args:
        forest: The events.
        classic: Find none if there is any event of a TFRT loop, as the reference does.
    """
    timeline = forest.timeline
    if is_grouped(timeline):
        return _given(timeline)
    if classic and not LOOP_EVENTS.isdisjoint(timeline.names):
        return Groups(np.full(len(timeline), NO_GROUP, np.int32), {}, {}, {})
    loops, roots = _loop_iterations(forest)
    if roots:
        forest = loops
    else:
        roots = _roots(forest)
    groups = _grouped(forest, roots)
    _fill_devices(timeline, groups.of_event)
    _group_tpus(timeline, groups, classic=classic)
    return groups


def _group_tpus(timeline: Timeline, groups: Groups, *, classic: bool) -> None:
    n_groups = len(groups)
    steps = group_tpus(timeline, groups.of_event, n_groups=n_groups, classic=classic)
    counted = groups.of_event[groups.of_event >= n_groups]
    for group in np.unique(counted).tolist():
        groups.names[group], groups.roots[group] = str(group), NO_GROUP
    groups.step_names.update((event, groups.names[group]) for event, group in steps.items())


def device_events(timeline: Timeline, plane: int) -> Int64Array:
    """What a device did, all its streams together, in order of time; nothing derived."""
    chosen = timeline.of_lines(lambda line: line.plane == plane and not line.is_derived)
    events = np.flatnonzero(chosen)
    order = np.lexsort((-timeline.durations_ps[events], timeline.starts_ps[events]))
    return events[order]


def _fill_devices(timeline: Timeline, of_event: IntArray) -> None:
    """What no launch leads to on a GPU belongs to the step of what came before it."""
    for number, plane in enumerate(timeline.space.planes):
        if not plane.name.startswith(GPU_PREFIX):
            continue
        events = device_events(timeline, number)
        groups = of_event[events]
        last = np.maximum.accumulate(np.where(groups >= 0, np.arange(len(events)), -1))
        is_filled = (groups < 0) & (last >= 0)
        of_event[events[is_filled]] = groups[last[is_filled]]


def _given(timeline: Timeline) -> Groups:
    stat = timeline.stat("group_id")
    of_event = stat.dense(len(timeline), missing=NO_GROUP)
    shown = timeline.stat("step_name")
    step_names = {
        int(event): shown.texts[int(number)]
        for event, number, is_text in zip(shown.events, shown.values, shown.is_text(), strict=True)
        if is_text
    }
    names = {group: str(group) for group in np.unique(of_event[of_event >= 0]).tolist()}
    names |= {
        int(of_event[event]): name for event, name in step_names.items() if of_event[event] >= 0
    }
    return Groups(of_event, names, dict.fromkeys(names, -1), step_names, are_given=True)


def _tf_data_functions(timeline: Timeline) -> Int64Array:
    """Ids of functions that run inside input pipelines."""
    ids = timeline.stat("id")
    inside = timeline.named(TF_DATA_FUNCTIONS.__contains__)
    return np.unique(ids.values[inside[ids.events] & ids.is_integer()])


def _loop_iterations(forest: Forest) -> tuple[Forest, list[int]]:
    """Where a session ran loops: the first event of each iteration, which leads to the others."""
    timeline = forest.timeline
    executor = timeline.named(EXECUTOR.__eq__)
    n_events = len(timeline)
    ids, iterations = timeline.stat("id"), timeline.stat("iter_num")
    has_both = np.zeros(n_events, np.int8)
    has_both[ids.events[ids.is_integer()]] += 1
    has_both[iterations.events[iterations.is_integer()]] += 1
    events = np.flatnonzero(executor & (has_both == 2))
    step, iteration = ids.dense(n_events)[events], iterations.dense(n_events)[events]
    kept = ~np.isin(step, _tf_data_functions(timeline))
    events, step, iteration = events[kept], step[kept], iteration[kept]
    kept = np.isin(step, step[iteration != 0])
    events, step, iteration = events[kept], step[kept], iteration[kept]
    if not len(events):
        return forest, []
    start = timeline.starts_ps[events]
    order = np.lexsort((start, iteration, step))
    events, step, iteration = events[order], step[order], iteration[order]
    is_first = np.ones(len(events), np.bool_)
    is_first[1:] = (np.diff(step) != 0) | (np.diff(iteration) != 0)
    roots = events[is_first]
    leading = roots[np.cumsum(is_first) - 1]
    links = joined(
        [(forest.links.sources, forest.links.targets), (leading[~is_first], events[~is_first])],
        n_events,
    )
    in_time = np.argsort(timeline.starts_ps[roots], kind="stable")
    return Forest(timeline, forest.nesting, links), roots[in_time].tolist()


def _roots(forest: Forest) -> list[int]:
    """Events that may begin a group, in the order in which they are asked."""
    timeline = forest.timeline
    level = root_levels(timeline)
    events = np.flatnonzero(level > 0)
    ids = timeline.stat("id")
    functions = _tf_data_functions(timeline)
    if len(functions):
        known = ids.dense(len(timeline))[events]
        has_id = np.zeros(len(timeline), np.bool_)
        has_id[ids.events[ids.is_integer()]] = True
        events = events[~(has_id[events] & np.isin(known, functions))]
    order = np.lexsort((-timeline.durations_ps[events], timeline.starts_ps[events], -level[events]))
    return _outermost(forest, events[order].tolist(), level)


def root_levels(timeline: Timeline) -> Int64Array:
    """Level of events that may begin a step, 0 for others, shape (n events,)."""
    level = np.zeros(len(timeline), np.int64)
    level[timeline.named(TRACE_CONTEXT.__contains__)] = 1
    level[timeline.named("ProcessBatch".__eq__)] = 2
    level[timeline.named("BatchingSessionRun".__eq__)] = 1
    told = timeline.stat("_r")
    whole = told.only(told.is_integer())
    level[whole.events] = whole.values
    return level


def _outermost(forest: Forest, roots: list[int], level: Int64Array) -> list[int]:
    """Those that no root of the same level is above."""
    levels = {root: int(level[root]) for root in np.flatnonzero(level > 0).tolist()}

    def is_inner(root: int) -> bool:
        own = levels[root]
        return forest.nearest(root, lambda event: levels.get(event) == own, itself=False) >= 0

    return [root for root in roots if not is_inner(root)]


def _grouped(forest: Forest, roots: list[int]) -> Groups:
    timeline, nesting, links = forest.timeline, forest.nesting, forest.links
    groups = np.full(len(timeline), NO_GROUP, np.int32)
    asynchronous = timeline.stat("_a")
    groups[asynchronous.events[asynchronous.values != 0]] = _ALONE
    names: dict[int, str] = {}
    begins: dict[int, int] = {}
    step_names: dict[int, str] = {}
    label = _Labels(forest)
    for root in roots:
        if groups[root] >= 0:
            continue
        number = len(names)
        spread(nesting.ends, links, root, groups, number)
        names[number] = label.of(root, number)
        begins[number] = root
        if timeline.name(root) not in IMPLICIT_ROOTS:
            step_names[root] = names[number]
    groups[groups == _ALONE] = NO_GROUP
    return Groups(groups, names, begins, step_names)


def spread(ends: IntArray, links: Links, root: int, groups: IntArray, group: int) -> None:
    """Put an event, all inside it and all they lead to into a group, where they have none.

    Args:
        ends: The place behind all inside each event, shape (n,).
        links: What events lead to.
        root: The event.
        groups: The group of each event, changed: -1 without one, -2 for those that are reached
            by links only, shape (n,).
        group: The group.
    """
    if is_native() and _native is not None:
        _native.spread(ends, links.sources, links.targets, np.array([root]), groups, group)
        return
    sources, targets = links.sources, links.targets
    waiting = [root]
    while waiting:
        top = waiting.pop()
        if groups[top] >= 0:
            continue
        inside = np.flatnonzero(groups[top : ends[top]] == NO_GROUP) + top
        if groups[top] == _ALONE:
            inside = np.array([top])
        groups[inside] = group
        first, last = np.searchsorted(sources, (top, ends[top])).tolist()
        leads = groups[sources[first:last]] == group
        waiting += targets[first:last][leads].tolist()


class _Labels:
    """Names of groups, from stats of the root and of what is above it."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._graph_types = _texts(forest.timeline.stat("graph_type"))
        self._iterations = _integers(forest.timeline.stat("iter_num"))
        self._steps = _integers(forest.timeline.stat("step_num"))

    def of(self, root: int, group: int) -> str:
        """The name of the group of a root."""
        name = self._forest.timeline.name(root)
        text = self._nearest(root, self._graph_types)
        if text is None and name not in IMPLICIT_ROOTS:
            text = name
        number = self._nearest(root, self._iterations)
        if number is None:
            number = self._nearest(root, self._steps)
        number = group if number is None else number
        return str(number) if text is None else f"{text} {number}"

    def _nearest(self, root: int, values: dict[int, Any]) -> Any:
        if not values:
            return None
        return values.get(self._forest.nearest(root, values.__contains__, itself=True))


def _texts(stat: SparseStat) -> dict[int, str]:
    pairs = zip(stat.events.tolist(), stat.values.tolist(), stat.is_text().tolist(), strict=True)
    return {event: stat.texts[value] for event, value, is_text in pairs if is_text}


def _integers(stat: SparseStat) -> dict[int, int]:
    whole = stat.only(stat.is_integer())
    return dict(zip(whole.events.tolist(), whole.values.tolist(), strict=True))
