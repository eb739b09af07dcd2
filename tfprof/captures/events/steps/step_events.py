"""Assigns the events of a step to kinds of time: waiting for input, computing, copying …

The kinds and their order are those of ``event_span.h``: where events overlap, the larger number
wins.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.captures.events.steps.account import Periods
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.steps.host_code import is_compiling, is_input_op, own_code
from tfprof.captures.events.timeline.names import REDUCE_ITERATOR, SCAN
from tfprof.captures.events.timeline.op_events import EAGER, is_part_of_op
from tfprof.captures.events.timeline.op_names import OpKind
from tfprof.captures.events.timeline.threadpool import REGION
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.captures.rules import OURS, Rules
from tfprof.core.columns.columns import (
    BoolArray,
    Int64Array,
    blocks,
    concatenate_tables,
    no_rows,
    taken_rows,
)
from tfprof.core.columns.lookup import looked_up


class Spent(enum.IntEnum):
    """Kinds of time."""

    UNKNOWN = 0
    HOST_CODE = 5
    """Python or its annotations, while nothing else runs; not in the reference."""
    HOST_RUNTIME = 7
    """The framework's runtime, while no op runs: it calls, launches, waits; the reference counts it
    as computation."""
    HOST_CALLBACK = 8
    """The graph calls Python, which may compute or read input; the reference counts it as
    computation."""
    HOST_COMPUTE = 10
    HOST_COMPILE = 60
    HOST_TO_HOST = 70
    HOST_TO_DEVICE = 80
    HOST_PREPARE = 90
    DEVICE_COLLECTIVES = 100
    HOST_WAIT_INPUT = 110
    DEVICE_TO_DEVICE = 120
    DEVICE_TO_HOST = 130
    DEVICE_COMPUTE_32 = 140
    DEVICE_COMPUTE_16 = 150
    DEVICE_WAIT_DEVICE = 160
    DEVICE_WAIT_HOST = 170


DEVICE_COMPUTE = (Spent.DEVICE_COMPUTE_32, Spent.DEVICE_COMPUTE_16)

_COMPUTES = (Spent.HOST_COMPUTE, Spent.HOST_RUNTIME)
"""Kinds that are computation in the reference."""

_IGNORED = -1
_MARKER = -2


@dataclass(frozen=True, slots=True)
class StepEvents:
    """Events of steps, each with its kind of time.

    Attributes:
        group: Group of each, shape (n,).
        spent: Kind of each, a ``Spent`` number.
        start_ps: Start.
        end_ps: End.
    """

    group: Int64Array
    spent: IntArray
    start_ps: Int64Array
    end_ps: Int64Array

    def only(self, chosen: BoolArray) -> StepEvents:
        """Some of the events."""
        if chosen.all():
            return self
        return taken_rows(self, chosen)


@dataclass(frozen=True, slots=True)
class Markers:
    """Spans that show when a step began and ended.

    Attributes:
        group: Group of each, shape (n,).
        start_ps: Start.
        end_ps: End.
        is_device: Whether it is from a device.
    """

    group: Int64Array
    start_ps: Int64Array
    end_ps: Int64Array
    is_device: BoolArray


def joined(parts: list[tuple[StepEvents, Markers]]) -> tuple[StepEvents, Markers]:
    """Events and markers of several parts of a host."""
    events, markers = zip(*parts, strict=True)
    return concatenate_tables(events), concatenate_tables(markers)


def step_markers(timeline: Timeline, groups: Groups, *, rules: Rules = OURS) -> Markers:
    """The spans on the threads of a host that mark its steps.

    Args:
        timeline: Its events.
        groups: Its steps.
        rules: Whether names mark steps.
    """
    is_mark = np.zeros(len(timeline), np.bool_)
    if rules.takes_names_for_markers or groups.are_given:
        is_mark |= timeline.named(_is_marker_name)
    is_mark[list(groups.step_names)] = True
    is_mark &= (groups.of_event >= 0) & timeline.on_threads
    marks = np.flatnonzero(is_mark)
    return Markers(
        groups.of_event[marks].astype(np.int64), timeline.starts_ps[marks],
        timeline.ends_of(marks), np.zeros(len(marks), np.bool_),
    )  # fmt: skip


def host_step_events(
    forest: Forest,
    groups: Groups,
    *,
    has_device: bool,
    rules: Rules = OURS,
    periods: Periods | None = None,
) -> StepEvents:
    """Events of the threads of a host in steps (``xplane_to_step_events.cc``).

    Args:
        forest: Its events.
        groups: Its steps, or those of ``periods``.
        has_device: Whether launches are for a device.
        periods: The periods of the steps; without them, events between steps do not count.
        rules: What counts as computation, and what marks a step.
    """
    timeline = forest.timeline
    of_event = groups.of_event
    if rules.counts_waits_as_work:
        spent = looked_up(_spent_of_kinds(timeline, groups, rules=rules), timeline.kinds)
    else:
        code = own_code(timeline, groups) if periods is None else periods.is_code
        spent = _spent_on_threads(timeline, groups, code, rules)
    spent[list(groups.step_names)] = _MARKER
    if has_device:
        prepares = timeline.kind_mask(_prepares(timeline))
        prepares[timeline.stat("correlation_id").events] = True
        prepares &= np.isin(spent, (*_COMPUTES, Spent.HOST_WAIT_INPUT))
        spent[prepares] = Spent.HOST_PREPARE
    stages = _root_stages(forest)
    spent[stages[np.isin(spent[stages], _COMPUTES)]] = Spent.HOST_WAIT_INPUT
    outside = of_event < 0
    outside |= ~timeline.on_threads
    spent[outside] = _IGNORED
    events = np.flatnonzero((spent >= 0) & ~_is_inside_its_like(forest, spent, of_event))
    starts = timeline.starts_ps[events]
    ends = starts + timeline.durations_ps[events]
    group = of_event[events].astype(np.int64)
    if periods is not None:
        starts = periods.clipped(events, starts)
        ends = np.maximum(ends, starts)
    return StepEvents(group, spent[events], starts, ends)


def _is_inside_its_like(forest: Forest, spent: IntArray, of_event: IntArray) -> BoolArray:
    """Whether each event is directly inside one of the same step and kind, and so adds no time.

    With the Python tracer this holds for nearly all events. Not for those without duration, which
    add time in the reference, and not for those inside the start of a region that the end of the
    capture cuts (``build_forest``), because such a start has no duration itself.
    """
    timeline = forest.timeline
    is_inside = np.zeros(len(spent), np.bool_)
    for block in blocks(0, len(spent)):
        parents = forest.nesting.parents[block]
        is_open = (parents >= 0) & (spent[block] >= 0) & (timeline.durations_ps[block] > 0)
        inner = np.flatnonzero(is_open)
        around = parents[inner].astype(np.intp)
        inner += block.start
        is_alike = (spent[around] == spent[inner]) & (of_event[around] == of_event[inner])
        inner, around = inner[is_alike], around[is_alike]
        is_inside[inner] = timeline.ends_of(around) >= timeline.ends_of(inner)
    return is_inside


_MARKER_NAMES = ("train", "test", "TraceContext")


def _is_marker_name(name: str) -> bool:
    return name.startswith(_MARKER_NAMES) and "/" not in name


_PUTS_ON_DEVICE = "H2D Dispatch"
"""JAX's copy of an array to a device of the CPU."""

_MAKES_INPUT = "MakeIterator::"
"""Creation of an iterator of tf.data: it opens files, starts threads, allocates buffers."""

_CONTAINERS = ("EagerExecute", "EagerLocalExecute", "EagerKernelExecute", "FunctionRun")


def _spent_of_kinds(timeline: Timeline, groups: Groups, *, rules: Rules) -> IntArray:
    """Kind of time of each kind of event, as far as names show it, shape (n kinds,)."""
    marks_by_name = rules.takes_names_for_markers or groups.are_given
    is_all_work = rules.counts_waits_as_work
    return np.array(
        [
            _spent_of_name(name, op.kind, op.type, marks_by_name, is_all_work=is_all_work)
            for name, op in zip(timeline.names, timeline.ops, strict=True)
        ],
        np.int16,
    )


def _spent_on_threads(
    timeline: Timeline, groups: Groups, is_code: BoolArray, rules: Rules
) -> IntArray:
    """Kind of time of each event, valid for those on threads, shape (n,)."""
    of_kind = _spent_of_kinds(timeline, groups, rules=rules)
    is_computing = of_kind == Spent.HOST_COMPUTE
    of_kind[_loop_waits(timeline.names)] = Spent.HOST_WAIT_INPUT
    of_kind[_calls_python(timeline) & is_computing] = Spent.HOST_CALLBACK
    spent = looked_up(of_kind, timeline.kinds)
    code = np.flatnonzero(is_code)
    spent[(spent == Spent.HOST_COMPUTE) & ~is_part_of_op(timeline)] = Spent.HOST_RUNTIME
    spent[code[is_computing[timeline.kinds[code]]]] = Spent.HOST_CODE
    return spent


def _loop_waits(names: Sequence[str]) -> list[int]:
    """Kinds of iterators that a loop over a dataset inside a ``tf.function`` waits for.

    The body may run in a ``Scan``. Then not the ``Scan`` but its input is waited for.
    """
    found = [kind for kind, name in enumerate(names) if name.startswith(REDUCE_ITERATOR)]
    waits = _SCANNED if any(f"{SCAN}::" in names[kind] for kind in found) else _REDUCED
    return [kind for kind in found if waits.fullmatch(names[kind])]


_SCANNED = re.compile(r"ReduceIterator::(?:\w+::)*?Scan::\w+")
_REDUCED = re.compile(r"ReduceIterator::Root(?:::\w+)?")

PYTHON_OPS = frozenset(("PyFunc", "PyFuncStateless", "EagerPyFunc"))
"""Ops that call a Python function."""
_EAGER = "EagerLocalExecute: "
PYTHON_CALLBACK = re.compile(r"((io|pure|debug)_callback|xla_(ffi_)?python)\b.*")
"""Instructions of compiled programs that call Python."""


def _calls_python(timeline: Timeline) -> BoolArray:
    """Whether each kind of event is an op that calls Python, shape (n kinds,)."""
    return np.array(
        [
            op.type in PYTHON_OPS
            or name.removeprefix(_EAGER) in PYTHON_OPS
            or PYTHON_CALLBACK.match(name) is not None
            for name, op in zip(timeline.names, timeline.ops, strict=True)
        ],
        np.bool_,
    )


def _spent_of_name(
    name: str, kind: OpKind, op_type: str, marks_by_name: bool, *, is_all_work: bool
) -> int:
    if marks_by_name and _is_marker_name(name):
        return _MARKER
    is_region = name == REGION and not is_all_work
    if name.startswith(_CONTAINERS) or is_region:  # only the events inside count
        is_op = not is_all_work and EAGER.fullmatch(name) is not None
        return Spent.HOST_COMPUTE if is_op else _IGNORED
    is_enqueue = kind is OpKind.TENSORFLOW and op_type.startswith("InfeedEnqueue")
    is_put = not is_all_work and name.startswith(_PUTS_ON_DEVICE)
    if is_enqueue or is_put or kind is OpKind.COPY_H2D:
        return Spent.HOST_TO_DEVICE
    if kind is OpKind.COPY_H2H:
        return Spent.HOST_TO_HOST
    if is_input_op(name) or (not is_all_work and name.startswith(_MAKES_INPUT)):
        return Spent.HOST_WAIT_INPUT
    is_compiled = not is_all_work and kind is OpKind.UNKNOWN and is_compiling(name)
    return Spent.HOST_COMPILE if is_compiled else Spent.HOST_COMPUTE


def _prepares(timeline: Timeline) -> BoolArray:
    return np.array(
        [name.lower().startswith("executorstate::process") for name in timeline.names], np.bool_
    )


def _root_stages(forest: Forest) -> Int64Array:
    """Stages of instrumented input pipelines for which no other stage waits.

    Such a stage is not inside another one of its line, and it consumes nothing that was produced.
    """
    timeline = forest.timeline
    stages = timeline.stat("_ipl_stage_name").events
    if not len(stages):
        return stages
    around = forest.nesting.nearest_among(forest.nesting.parents[stages], stages)
    return stages[(around < 0) & ~np.isin(stages, forest.links.targets)]


def gpu_step_events(
    timeline: Timeline,
    groups: Groups,
    *,
    together: Int64Array | None = None,
    rules: Rules = OURS,
) -> tuple[StepEvents, Markers]:
    """Events of the GPUs of a host in steps.

    Args:
        timeline: The events of the host and its GPUs.
        groups: Its steps.
        together: Events that are collectives, whatever their names; None if only names count.
        rules: How copies, collectives and bfloat16 count.
    """
    is_together = np.zeros(len(timeline), np.bool_)
    is_together[no_rows() if together is None else together] = True
    spent_of_kind = np.array([device_kind(name, rules) for name in timeline.names], np.int64)
    is_16_bit = timeline.kind_mask([_is_16_bit(name, rules) for name in timeline.names])
    shapes = timeline.stat("shape")
    has_shape = shapes.only(shapes.is_text())
    wide = np.array([_is_16_bit(text, rules, shape=True) for text in shapes.texts] or [False])
    is_16_bit[has_shape.events] = wide[has_shape.values]
    launched = timeline.having("correlation_id")
    parts = []
    for number in timeline.planes_of_gpus():
        markers = _device_markers(timeline, groups, number)
        events = timeline.device_events(number)
        events = events[launched[events] & (groups.of_event[events] >= 0)]
        spent = spent_of_kind[timeline.kinds[events]]
        spent[(spent == Spent.DEVICE_COMPUTE_32) & is_16_bit[events]] = Spent.DEVICE_COMPUTE_16
        spent[is_together[events]] = Spent.DEVICE_COLLECTIVES
        step_events = StepEvents(
            groups.of_event[events].astype(np.int64), spent,
            timeline.starts_ps[events], timeline.ends_of(events),
        )  # fmt: skip
        parts.append((step_events, markers))
    return joined(parts)


_HALF = ("half", "fp16")
_BRAIN = ("bf16", "bfloat16")


def _is_16_bit(text: str, rules: Rules, *, shape: bool = False) -> bool:
    """Whether a kernel's name, or the shape of its data, names 16-bit numbers."""
    words = ("half",) if shape else _HALF
    if not rules.ignores_bfloat16:
        words = (*words, "f16", *_BRAIN)
    return any(map(text.__contains__, words))


def device_kind(name: str, rules: Rules) -> int:
    """Kind of time of an event of a GPU, by its name."""
    lower = name.lower()
    if lower.startswith("nccl") or (lower.startswith("rccl") and not rules.ignores_rccl):
        return Spent.DEVICE_COLLECTIVES
    if not lower.startswith("memcpy"):
        return Spent.DEVICE_COMPUTE_32
    spellings = ("{}to{}",) if rules.counts_copies_as_compute else ("{}to{}", "{}2{}")
    for source, target, spent in (
        ("h", "d", Spent.HOST_TO_DEVICE),
        ("d", "h", Spent.DEVICE_TO_HOST),
        ("d", "d", Spent.DEVICE_TO_DEVICE),
    ):
        if any(lower.startswith("memcpy" + form.format(source, target)) for form in spellings):
            return spent
    if lower.startswith("memcpyp2p") and not rules.counts_copies_as_compute:
        return Spent.DEVICE_TO_DEVICE
    return Spent.DEVICE_COMPUTE_32


def _device_markers(timeline: Timeline, groups: Groups, plane: int) -> Markers:
    """Spans of steps on a device: those in the file, or those of consecutive events of a step."""
    if groups.are_given:
        steps = timeline.of_lines(
            lambda line: line.plane == plane and line.is_derived and line.name == "Steps"
        )
        events = np.flatnonzero(steps & (groups.of_event >= 0))
        group = groups.of_event[events].astype(np.int64)
        start = timeline.starts_ps[events]
        return Markers(group, start, timeline.ends_of(events), np.ones(len(events), np.bool_))
    events = timeline.device_events(plane)
    events = events[groups.of_event[events] >= 0]
    group = groups.of_event[events].astype(np.int64)
    if not len(events):
        nothing = np.zeros(0, np.int64)
        return Markers(nothing, nothing, nothing, np.zeros(0, np.bool_))
    begins = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
    ends = np.maximum.reduceat(timeline.ends_of(events), begins)
    return Markers(
        group[begins], timeline.starts_ps[events][begins], ends, np.ones(len(begins), np.bool_)
    )
