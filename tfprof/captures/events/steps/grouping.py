"""Groups events into steps (``group_events.cc``).

A step holds the events inside a root event on its thread, and all that links lead to from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.steps.step_roots import (
    KERAS_BATCH,
    Calls,
    StepKind,
    are_beside_steps,
    called,
    compiled_calls,
    levels_with_marks,
    outermost_roots,
    root_levels,
    tf_data_functions,
)
from tfprof.captures.events.steps.tpu_groups import group_tpus
from tfprof.captures.events.timeline.links import Links, joined, loop_bodies
from tfprof.captures.events.timeline.names import EXECUTOR, IMPLICIT_ROOTS, LOOP_EVENTS
from tfprof.captures.events.timeline.pool_events import fill_pools
from tfprof.captures.events.timeline.runs import Runs, compiled_runs, launched_only
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace import SLICE_STEPS
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.captures.rules import OURS, Rules
from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.core.wire.compiled import is_native, native_module

_native: Any = native_module("nesting")

NO_GROUP = -1
_ALONE = -2


@dataclass(frozen=True, eq=False)
class Groups:
    """Steps of a host.

    Attributes:
        of_event: Number of each event's group, -1 without one, shape (n events,).
        names: Name of each group: ``train 17``.
        roots: The first event of each group; -1 if the file does not state it.
        step_names: Texts to show in place of an event's name, by event.
        kind: How the steps were found.
        calls: The calls that count as steps, if steps are calls; without groups, calls that do not
            count as steps.
        work: Whether each event is part of a run of a compiled program on a CPU's devices with a
            link to its call, shape (n events,); None if the capture does not show it.
        launched: The groups that launched such runs, and -1 if some launches are in no group.
    """

    of_event: IntArray
    names: dict[int, str]
    roots: dict[int, int]
    step_names: dict[int, str]
    kind: StepKind = StepKind.NONE
    calls: Calls | None = None
    work: BoolArray | None = None
    launched: IntArray = field(default_factory=no_rows)

    @property
    def are_given(self) -> bool:
        """Whether the file already had groups."""
        return self.kind is StepKind.GIVEN

    def __len__(self) -> int:
        return len(self.names)


def _has_groups(timeline: Timeline) -> bool:
    """Whether a file states its groups, as old ones and those of other tools do."""
    return any(plane.stat_metadata.keys_of("group_id") for plane in timeline.space.planes)


def find_groups(forest: Forest, *, rules: Rules = OURS) -> Groups:
    """Find the steps.

    Args:
        forest: The events.
        rules: What counts as a step.
    """
    timeline = forest.timeline
    if _has_groups(timeline):
        return _given(timeline)
    if rules.prefers_loops and not LOOP_EVENTS.isdisjoint(timeline.names):
        return Groups(np.full(len(timeline), NO_GROUP, np.int32), {}, {}, {})
    groups = _with_loops_alone(forest) if rules.prefers_loops else _found(forest)
    _fill_devices(timeline, groups.of_event)
    _group_tpus(timeline, groups, rules=rules)
    return groups


def _with_loops_alone(forest: Forest) -> Groups:
    """Take iterations of loops as the only steps, if the host has any."""
    loops, roots = _loop_iterations(forest)
    if roots:
        return grouped(loops, roots)
    return grouped(forest, outermost_roots(forest, root_levels(forest.timeline)))


def _found(forest: Forest) -> Groups:
    """Groups of marks and of other roots of the runtime; without marks, of the program's calls."""
    timeline = forest.timeline
    levels, is_mark = levels_with_marks(forest)
    roots = outermost_roots(forest, levels)
    if not is_mark.any():
        roots += compiled_calls(forest, roots)
    if not roots:
        return grouped(forest, [])
    if is_mark.any():
        groups = replace(grouped(forest, roots), kind=StepKind.MARKED)
        spans = np.intersect1d(list(groups.roots.values()), levels.events[is_mark])
    else:
        calls = called(forest, roots)
        if are_beside_steps(forest, calls):
            return replace(grouped(forest, []), calls=calls)
        groups = grouped(forest, calls.events, calls.function)
        groups = replace(groups, kind=StepKind.CALLED, calls=calls)
        spans = np.array(list(groups.roots.values()), np.int64)
    runs = compiled_runs(timeline, forest.nesting, forest.links)
    work = _with_their_calls(forest, groups.of_event, runs)
    fill_pools(timeline, groups.of_event, spans, work)
    _fill_loop_bodies(forest, groups.of_event)
    launched = np.unique(groups.of_event[runs.launches])
    return replace(groups, work=work, launched=launched)


def _fill_loop_bodies(forest: Forest, of_event: IntArray) -> None:
    """Put events of other threads in bodies of loops over datasets into the loops' groups."""
    runs, begun = loop_bodies(forest.timeline, forest.nesting.parents)
    for run, first in zip(runs.tolist(), begun.tolist(), strict=True):
        inside = of_event[first : forest.nesting.ends[first]]
        inside[inside == NO_GROUP] = of_event[run]


def _with_their_calls(forest: Forest, of_event: IntArray, runs: Runs) -> BoolArray | None:
    """Put runs of compiled programs, and all events in them, into the groups of the calls.

    A run whose call began before the capture is in no step. If the capture has no call, the runs
    stay as they are.

    Returns:
        Whether each event belongs to a run: all False if programs were launched but ran after the
        capture; None if no call is known.
    """
    if not (runs.calls >= 0).any():
        return np.zeros(len(of_event), np.bool_) if launched_only(forest.timeline) else None
    of_run = forest.nesting.nearest(runs.of_event)
    groups = np.where(runs.calls >= 0, of_event[runs.calls], NO_GROUP)
    inside = np.flatnonzero(of_run >= 0)
    of_event[inside] = groups[of_run[inside]]
    is_work: BoolArray = of_run >= 0
    return is_work


def _group_tpus(timeline: Timeline, groups: Groups, *, rules: Rules) -> None:
    n_groups = len(groups)
    steps = group_tpus(timeline, groups.of_event, n_groups=n_groups, rules=rules)
    counted = np.unique(groups.of_event[groups.of_event >= n_groups]).tolist()
    for group, number in zip(counted, group_numbers(timeline, counted), strict=True):
        groups.names[group], groups.roots[group] = str(number), NO_GROUP
    groups.step_names.update((event, groups.names[group]) for event, group in steps.items())


def _fill_devices(timeline: Timeline, of_event: IntArray) -> None:
    """Put events on a GPU without a launch into the step of the event before them."""
    for number in timeline.planes_of_gpus():
        events = timeline.device_events(number)
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
    return Groups(of_event, names, dict.fromkeys(names, -1), step_names, StepKind.GIVEN)


def _loop_iterations(forest: Forest) -> tuple[Forest, list[int]]:
    """Loops of a session: the first event of each iteration, with links to its other events."""
    timeline = forest.timeline
    executor = timeline.named(EXECUTOR.__eq__)
    events = np.flatnonzero(executor)
    ids, iterations = (timeline.stat(name).among(events) for name in ("id", "iter_num"))
    ids, iterations = (stat.only(stat.is_integer()) for stat in (ids, iterations))
    events = np.intersect1d(ids.events, iterations.events, assume_unique=True)
    step, iteration = ids.at(events), iterations.at(events)
    kept = ~np.isin(step, tf_data_functions(timeline))
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
        len(timeline),
    )
    in_time = np.argsort(timeline.starts_ps[roots], kind="stable")
    return Forest(timeline, forest.nesting, links), roots[in_time].tolist()


def grouped(forest: Forest, roots: list[int], function: str | None = None) -> Groups:
    """The groups of some root events.

    Args:
        forest: The events.
        roots: Each begins a group unless it is in an earlier one.
        function: The function that they call, for their names; by default names come from stats.
    """
    timeline, nesting, links = forest.timeline, forest.nesting, forest.links
    groups = np.full(len(timeline), NO_GROUP, np.int32)
    groups[timeline.is_asynchronous] = _ALONE
    begins = spread_each(nesting.ends, links, roots, groups)
    groups[groups == _ALONE] = NO_GROUP
    rows = group_numbers(timeline, range(len(begins)))
    if function is None:
        names = _labels(forest, np.array(begins, np.int64), rows)
        shown = [root for root in begins if timeline.name(root) not in IMPLICIT_ROOTS]
    else:
        names = [f"{function} {row}".strip() for row in rows]
        shown = begins
    step_names = dict(zip(begins, names, strict=True))
    return Groups(
        groups, dict(enumerate(names)), dict(enumerate(begins)),
        {root: step_names[root] for root in shown},
    )  # fmt: skip


def spread_each(ends: IntArray, links: Links, roots: Sequence[int], groups: IntArray) -> list[int]:
    """Give each of some events that has no group yet a new one, and spread it.

    All events inside the event, and all that these lead to, get the group unless they have one.

    Args:
        ends: The place after all events inside each, shape (n,).
        links: Links between events.
        roots: The events.
        groups: The group of each event, changed: -1 without one, -2 for those that only links
            reach, shape (n,). New groups count from 0.

    Returns:
        The events that have begun a group.
    """
    if is_native() and _native is not None:
        places = np.array(roots, np.int64)
        begun: list[int] = _native.spread_each(ends, links.sources, links.targets, places, groups)
        return begun
    begins: list[int] = []
    for root in roots:
        if groups[root] < 0:
            _spread(ends, links, root, groups, len(begins))
            begins.append(root)
    return begins


def led_to(forest: Forest, roots: Int64Array, of_event: IntArray) -> BoolArray:
    """Whether an event without a group is one of ``roots``, inside or caused by one, (n events,).

    Args:
        forest: The events.
        roots: Events without a group.
        of_event: The group of each event, -1 without one, shape (n events,).
    """
    reached = of_event.copy()
    reached[forest.timeline.is_asynchronous & (of_event == NO_GROUP)] = _ALONE
    spread_each(forest.nesting.ends, forest.links, roots.tolist(), reached)
    is_led: BoolArray = (of_event == NO_GROUP) & (reached >= 0)
    return is_led


def _spread(ends: IntArray, links: Links, root: int, groups: IntArray, group: int) -> None:
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


def group_numbers(timeline: Timeline, groups: Iterable[int]) -> list[int]:
    """Numbers of groups: their places, for a slice those in the whole capture."""
    given = timeline.space.slice_facts.get(SLICE_STEPS)
    if not isinstance(given, bytes) or len(given) % 8:
        return list(groups)
    numbers = np.frombuffer(given, "<i8").tolist()
    return [numbers[group] if group < len(numbers) else group for group in groups]


def _labels(forest: Forest, roots: Int64Array, rows: Sequence[int]) -> list[str]:
    """Names of the groups of roots, from stats of these and of events above them.

    Args:
        forest: The events.
        roots: The first event of each group.
        rows: The number of each group, for those without a stat.
    """
    stat = forest.timeline.stat
    types, iterations, steps = stat("graph_type"), stat("iter_num"), stat("step_num")
    typed = _nearest(forest, roots, types.only(types.is_text()))
    counted = _nearest(forest, roots, iterations.only(iterations.is_integer()))
    uncounted = [row for row, number in enumerate(counted) if number is None]
    others = _nearest(forest, roots[uncounted], steps.only(steps.is_integer()))
    for row, number in zip(uncounted, others, strict=True):
        counted[row] = number
    labels = []
    for row, root, text, number in zip(rows, roots.tolist(), typed, counted, strict=True):
        name: str | None = forest.timeline.name(root)
        if number is None and KERAS_BATCH.fullmatch(name or ""):
            labels.append(f"{name}")
            continue
        shown = row if number is None else number
        if text is not None:
            name = types.texts[text]
        elif name in IMPLICIT_ROOTS:
            name = None
        labels.append(f"{shown}" if name is None else f"{name} {shown}")
    return labels


def _nearest(forest: Forest, events: Int64Array, stat: SparseStat) -> list[int | None]:
    """The value of a stat for some events: their own, or that of the nearest above with one."""
    rows = stat.rows_of(events)
    without = np.flatnonzero(rows < 0)
    if len(stat) and len(without):
        above = forest.nearest_of_each(events[without], lambda _, events: stat.has(events))
        rows[without] = stat.rows_of(above)
    values = stat.values
    return [int(values[row]) if row >= 0 else None for row in rows.tolist()]
