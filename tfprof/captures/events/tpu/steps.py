"""Duration of the steps of TPU cores, and the time of each category of instructions
(``xplane_to_step_events.cc``, ``tpu_step_breakdown_utils.cc``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.tpu_ops import DeviceSpans, device_spans
from tfprof.captures.events.steps.cut_steps import NOT_ON_ALL_CORES, at_the_ends
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.steps.step_events import Spent, StepEvents
from tfprof.captures.events.steps.step_times import (
    SPENT,
    SPENT_COLUMN,
    StepTimes,
    union_lengths,
)
from tfprof.captures.events.steps.tpu_groups import MODULE_LINES, STEP_LINES
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.events.tpu.categories import (
    ALL_REDUCE,
    INFEED,
    OFF_DUTY,
    SPARSE_INFEED,
    SPARSE_OUTFEED,
    spent_on,
)
from tfprof.captures.events.tpu.cores import Core, tpu_cores
from tfprof.captures.rules import Rules
from tfprof.core.columns.columns import BoolArray, Int64Array, sums_by
from tfprof.core.columns.covered import extents
from tfprof.core.columns.distinct import distinct_rows

OP_LINES = ("XLA Ops", "Sparse Core Ops")


@dataclass(frozen=True, eq=False)
class CoreSteps:
    """Steps of a core.

    Attributes:
        core: The core.
        category_ps: Self time by HLO category, each of shape (n,).
        span_ps: Length of the steps, the same on all cores of a host, shape (n,).
        all_reduce_ps: Time of all-reduce ops by their id, each of shape (n,).
        host_input_ps: Idle time that the host spent on waiting for input, shape (n,).
    """

    core: Core
    category_ps: Mapping[str, Int64Array]
    span_ps: Int64Array
    all_reduce_ps: Mapping[str, Int64Array]
    host_input_ps: Int64Array

    def of(self, categories: Iterable[str]) -> Int64Array:
        """Total time of some categories, shape (n,)."""
        sums_ps = np.zeros(len(self.span_ps), np.int64)
        for category in categories:
            if category in self.category_ps:
                sums_ps += self.category_ps[category]
        return sums_ps

    @property
    def infeed_ps(self) -> Int64Array:
        """Waiting for input, shape (n,)."""
        return self.of(INFEED) + self.host_input_ps

    @property
    def uncovered_ps(self) -> Int64Array:
        """Time that no instruction covers, shape (n,)."""
        left_ps: Int64Array = np.maximum(self.span_ps - self.of(self.category_ps), 0)
        return left_ps

    @property
    def idle_ps(self) -> Int64Array:
        """The uncovered time without the known waiting for the host's input, shape (n,)."""
        return self.uncovered_ps - self.host_input_ps

    @property
    def sparse_transform_ps(self) -> Int64Array:
        """Computation of a SparseCoreV0, shape (n,)."""
        least_ps: Int64Array = np.minimum(self.of((SPARSE_INFEED,)), self.of((SPARSE_OUTFEED,)))
        return least_ps

    @property
    def sparse_wait_ps(self) -> Int64Array:
        """Waiting for a SparseCoreV0, shape (n,)."""
        return self.of((SPARSE_INFEED,)) - self.sparse_transform_ps

    @property
    def active_ps(self) -> Int64Array:
        """Time neither idle nor off duty, shape (n,)."""
        off_duty = self.of(OFF_DUTY) + self.host_input_ps
        return self.span_ps - self.idle_ps - off_duty - self.sparse_wait_ps

    def take(self, rows: Int64Array) -> CoreSteps:
        """Some of the steps."""
        return replace(
            self,
            category_ps={name: values[rows] for name, values in self.category_ps.items()},
            span_ps=self.span_ps[rows],
            all_reduce_ps={name: values[rows] for name, values in self.all_reduce_ps.items()},
            host_input_ps=self.host_input_ps[rows],
        )


@dataclass(frozen=True, eq=False)
class TpuSteps:
    """Steps of the cores of a host.

    Attributes:
        groups: Group of each step, shape (n,).
        start_ps: Start of each, by the device's clock.
        names: Name of each.
        cores: The cores, in the order of their ids.
        program: The program whose runs count as steps; empty if the file marks steps.
        cut: Steps at the ends that some TensorCores lack, by group, with the reason.
    """

    groups: Int64Array
    start_ps: Int64Array
    names: Sequence[str]
    cores: Sequence[CoreSteps]
    program: str = ""
    cut: Mapping[int, str] = field(default_factory=dict)

    def times(self, steps: CoreSteps, *, rules: Rules) -> StepTimes:
        """The steps of a core, with their time by kind of work.

        Ops that extend beyond a step count in full: such a step is as long as the sum of its parts.
        In the reference it is not.
        """
        spent = np.zeros((len(self.groups), len(SPENT)), np.int64)
        for category, amounts in steps.category_ps.items():
            spent[:, SPENT_COLUMN[spent_on(category, rules=rules)]] += amounts
        spent[:, SPENT_COLUMN[Spent.DEVICE_WAIT_HOST]] += steps.host_input_ps
        spent[:, SPENT_COLUMN[Spent.UNKNOWN]] = steps.idle_ps
        spans = steps.span_ps
        if not rules.bounds_core_steps:
            spans = np.maximum(spans, spent.sum(axis=1))
        return StepTimes.of_columns(self.groups, self.start_ps, spans, spent, (0, 0))


def waiting_for_input(events: StepEvents) -> dict[int, int]:
    """Time that a host waited for input in each of its steps, by group, ps."""
    waiting = events.only(events.spent == Spent.HOST_WAIT_INPUT)
    group, row = np.unique(waiting.group, return_inverse=True)
    if not len(group):
        return {}
    spans = extents(row, waiting.start_ps, waiting.end_ps, len(group))
    amounts = union_lengths(row, waiting.start_ps, waiting.end_ps, spans)
    return dict(zip(group.tolist(), amounts.tolist(), strict=True))


class _Spans(NamedTuple):
    group: Int64Array
    start_ps: Int64Array
    end_ps: Int64Array


def tpu_steps(
    timeline: Timeline, groups: Groups, host_input_ps: Mapping[int, int], *, rules: Rules
) -> TpuSteps:
    """The steps of all cores of a host.

    Args:
        timeline: The events.
        groups: Their groups.
        host_input_ps: Time that the host waited for input in a step, by group. If no instruction
            of any core waits for input, this much of its idle time counts as waiting for input.
        rules: Whether runs of programs are steps if none is marked.
    """
    cores = tpu_cores(timeline)
    markers = {core: _marked(timeline, groups, core, STEP_LINES) for core in cores}
    program = ""
    is_marked = any(len(spans.group) for spans in markers.values())
    if not is_marked and not rules.needs_marked_core_steps:
        program = _longest_program(timeline, cores)
        markers = {core: _marked(timeline, groups, core, MODULE_LINES, program) for core in cores}
    known, start, span = _longest(list(markers.values()))
    steps_of_cores = [_steps_of(timeline, groups, core, known, span) for core in cores]
    if not any(steps.of(INFEED).any() for steps in steps_of_cores):
        waited = np.array([host_input_ps.get(group, 0) for group in known.tolist()], np.int64)
        steps_of_cores = [
            replace(steps, host_input_ps=np.minimum(steps.uncovered_ps, waited))
            for steps in steps_of_cores
        ]
    names = _names(timeline, groups, known, program, rules=rules)
    steps_of_cores.sort(key=lambda steps: steps.core.id)
    cut = _cut(known, [own.group for core, own in markers.items() if not core.is_sparse])
    return TpuSteps(known, start, names, steps_of_cores, program, cut)


def _cut(known: Int64Array, of_cores: Sequence[Int64Array]) -> dict[int, str]:
    """Steps at the ends that some of the cores with steps lack."""
    with_steps = [group for group in of_cores if len(group)]
    n_cores = sum((np.isin(known, group).astype(np.int64) for group in with_steps), np.int64(0))
    if not len(known):
        return {}
    return at_the_ends(known, n_cores == len(with_steps), NOT_ON_ALL_CORES)


def _marked(
    timeline: Timeline, groups: Groups, core: Core, lines: Iterable[str], name: str = ""
) -> _Spans:
    """The span of each group by the events of some lines, only those of a name if one is given;
    consecutive events of the same group form one span."""
    parts = [_grouped(timeline, groups, core, line, name) for line in sorted(lines)]
    group, start, end = (np.concatenate(column) for column in zip(*parts, strict=True))
    if not len(group):
        return _Spans(group, start, end)
    begins = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
    return _Spans(group[begins], start[begins], np.maximum.reduceat(end, begins))


def _grouped(timeline: Timeline, groups: Groups, core: Core, line: str, name: str) -> _Spans:
    spans = device_spans(timeline, core.plane, line)
    group = groups.of_event[spans.events]
    kept = group >= 0
    if name:
        kept &= timeline.named(name.__eq__)[spans.events]
    return _Spans(group[kept], spans.start_ps[kept], spans.end_ps[kept])


def _longest_program(timeline: Timeline, cores: Sequence[Core]) -> str:
    """The program whose runs take the most time; empty without any."""
    total: dict[str, int] = {}
    for core in cores:
        for line in sorted(MODULE_LINES):
            spans = device_spans(timeline, core.plane, line)
            kinds, place = np.unique(timeline.kinds[spans.events], return_inverse=True)
            durations = sums_by(place, spans.end_ps - spans.start_ps, len(kinds))
            for kind, duration in zip(kinds.tolist(), durations.tolist(), strict=True):
                name = timeline.names[kind]
                total[name] = total.get(name, 0) + duration
    return max(total, key=lambda name: (total[name], name), default="")


def _longest(markers: Sequence[_Spans]) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Group, start and length of each step: its longest span on any core."""
    nothing = np.zeros(0, np.int64)
    if not markers:
        return nothing, nothing, nothing
    group, start, end = (np.concatenate(column) for column in zip(*markers, strict=True))
    order = np.lexsort((-(end - start), group))
    group, start, end = group[order], start[order], end[order]
    is_first = np.ones(len(group), np.bool_)
    is_first[1:] = group[1:] != group[:-1]
    return group[is_first], start[is_first], (end - start)[is_first]


def _names(
    timeline: Timeline, groups: Groups, known: Int64Array, program: str, *, rules: Rules
) -> list[str]:
    """The name of the host's step; without one, the number from the device."""
    names = [groups.names.get(group, str(group)) for group in known.tolist()]
    if rules.numbers_core_steps or program:
        return names
    shown = {
        int(groups.of_event[event]): timeline.display_names[timeline.kinds[event]]
        or timeline.name(event)
        for event in groups.step_names
        if timeline.lines[timeline.line_of[event]].is_device
    }
    return [
        shown.get(group, name) if groups.roots.get(group, -1) < 0 else name
        for group, name in zip(known.tolist(), names, strict=True)
    ]


def op_spans(timeline: Timeline, core: Core) -> DeviceSpans:
    """The instructions that a core ran."""
    for line in OP_LINES:
        spans = device_spans(timeline, core.plane, line)
        if len(spans.events):
            return spans
    return spans


def self_times(spans: DeviceSpans) -> Int64Array:
    """Durations without those of nested instructions, shape (n,)."""
    durations = spans.end_ps - spans.start_ps
    return durations - spans.nesting().sums_of_children(durations)


def _steps_of(
    timeline: Timeline, groups: Groups, core: Core, known: Int64Array, span: Int64Array
) -> CoreSteps:
    spans = op_spans(timeline, core)
    own = self_times(spans)
    row, is_in = rows_of(groups.of_event[spans.events], known)
    stat = timeline.stat("hlo_category")
    category = stat.texts_at(spans.events)
    sums = np.zeros((len(stat.texts) + 1, len(known)), np.int64)
    np.add.at(sums, (category[is_in], row[is_in]), own[is_in])  # without any: the last row
    names = [*stat.texts, ""]
    by_category = {name: sums[place] for place, name in enumerate(names) if sums[place].any()}
    all_reduces = np.isin(category, [n for n, name in enumerate(stat.texts) if name in ALL_REDUCE])
    chosen = np.flatnonzero(is_in & all_reduces)
    by_id = _by_all_reduce(timeline, spans.events[chosen], row[chosen], own[chosen], len(known))
    return CoreSteps(core, by_category, span, by_id, np.zeros(len(known), np.int64))


def _by_all_reduce(
    timeline: Timeline, events: Int64Array, row: Int64Array, own: Int64Array, n_steps: int
) -> dict[str, Int64Array]:
    """Time of each step by the all-reduce: its unique id, or without one its instruction."""
    unique = timeline.stat("all_reduce_unique_id")
    whole = unique.only(unique.is_integer())
    has_id = whole.has(events)
    keys = np.where(has_id, whole.at(events), timeline.kinds[events])
    distinct, _, which, _ = distinct_rows([has_id, keys])
    sums = np.zeros((len(distinct), n_steps), np.int64)
    np.add.at(sums, (which, row), own)
    names = [f"#{key}" if is_id else timeline.names[key] for is_id, key in distinct.tolist()]
    return dict(zip(names, sums, strict=True))


def rows_of(group: Int64Array, known: Int64Array) -> tuple[Int64Array, BoolArray]:
    """The place of each group in ``known``, which is ascending; and whether it is there."""
    row = np.searchsorted(known, group).clip(max=max(len(known) - 1, 0))
    is_in: BoolArray = np.zeros(len(group), np.bool_)
    if len(known):
        is_in = known[row] == group
    return row, is_in
