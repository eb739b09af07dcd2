"""The events of a recording → the runs of ops, and their callers.

TensorFlow writes one event for each run of an op (``scope/name:Type``) on the thread that ran it.
Which function the op belongs to follows from the events around it and those that lead to these:
the run of an executor follows from an event inside the eager call, the op or the input pipeline
that started it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from tfprof.capture.eager.recorder import EAGER_MARK, STEP_MARK
from tfprof.captures.events.ops.op_memory import allocator_uses, op_memory
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.timeline.clocks import unix_base_ns
from tfprof.captures.events.timeline.names import EAGER_EXECUTE, TF_DATA_FUNCTIONS
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.events.timeline.op_names import OpKind, iterator_type
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import BoolArray, Int64Array

_ITERATOR_INDEX = re.compile(r"\[\d+\]$")
_BORDERS = ("_Arg", "_Retval")
"""Ops that TensorFlow adds around a function, which are not the program's."""

_ASYNC_DONE = "ExecutorState::ProcessAsync::Done"
"""Event at which an asynchronous op ends, later than its start call."""
_NONE = -1


@dataclass(frozen=True, slots=True)
class Dataset:
    """A stage of an input pipeline that calls a function; its name is ``""`` if unknown."""

    name: str


class Memory(NamedTuple):
    """Memory of an op from an allocator, bytes: total, peak, and at its end."""

    allocator: str
    total: int
    peak: int
    live: int


@dataclass(slots=True, eq=False)
class Execution:
    """One run of an op, or an eager call; times in nanoseconds since 1970.

    Attributes:
        name: As TensorFlow named it: an op's name in its function, or the called function.
        op_type: Its type.
        start: When it began.
        duration: How long it took, without the ops that ran inside it on the same thread.
        thread: Number of its thread, from 0.
        step: Its step.
        shapes: Types and shapes of its inputs, as TensorFlow writes them.
        calls_function: An eager call of a function, not of an op.
        eager_index: Its place in ``EagerRecording.ops``, -1 if unknown.
        memory: Its allocations.
        owner: The execution that ran it, through any number of nested runs, if recorded.
    """

    name: str
    op_type: str
    start: int
    duration: int
    thread: int = 0
    step: int = 0
    shapes: str = ""
    calls_function: bool = False
    eager_index: int = _NONE
    memory: list[Memory] = field(default_factory=list)
    owner: Execution | Dataset | None = None


class Kernel(NamedTuple):
    """Work of an accelerator for an op; times as in ``Execution``."""

    device: str
    op_name: str
    start: int
    duration: int
    launcher: Execution | None = None
    step: int = 0


class EventLog(NamedTuple):
    """Runs in the steps of a recording: ops and eager calls in order of start, and kernels."""

    executions: Sequence[Execution] = ()
    kernels: Sequence[Kernel] = ()


def read_events(host: Host) -> EventLog:
    """Read the events of a recording."""
    timeline, forest = host.timeline, host.forest()
    eager = _named(timeline, EAGER_EXECUTE.__eq__)
    calls = eager[timeline.stat("is_func").at(eager) != 0]
    # The op of a function that is compiled as a whole is the call itself.
    called = set(_texts(timeline, "eager_op", calls))
    is_op = [
        op.kind is OpKind.TENSORFLOW and op.type not in _BORDERS and op.name not in called
        for op in timeline.ops
    ]
    ops = np.flatnonzero(timeline.kind_mask(is_op) & timeline.on_threads)
    events = np.union1d(ops, eager)
    rows = np.full(len(timeline), _NONE)
    rows[events] = np.arange(len(events))
    innermost = forest.nesting.nearest(rows)
    marks = _named(timeline, EAGER_MARK.__eq__)
    place = np.searchsorted(eager, marks)  # each follows an op on its thread
    marks, marked = marks[place > 0], eager[place[place > 0] - 1]
    is_own = timeline.lines_of(marks) == timeline.lines_of(marked)
    indexes = np.full(len(events), _NONE)
    indexes[rows[marked[is_own]]] = timeline.stat("index").at(marks[is_own])
    starts_ns = (unix_base_ns(timeline.axis) or 0) + timeline.starts_ps // 1000
    is_in_step, steps = _steps(timeline, events)
    executions = [
        Execution(eager_op or op.name, eager_op or op.type, *facts)
        for eager_op, op, *facts in zip(
            _texts(timeline, "eager_op", events),
            [timeline.ops[kind] for kind in timeline.kinds[events].tolist()],
            starts_ns[events].tolist(),
            _durations_ns(timeline, events, np.isin(events, eager), innermost).tolist(),
            timeline.lines_of(events).tolist(),
            steps.tolist(),
            _texts(timeline, "shape", events),
            np.isin(events, calls).tolist(),
            indexes.tolist(),
            strict=True,
        )
    ]
    callers = _add_owners(forest, events, executions)
    is_done = timeline.named(_ASYNC_DONE.__eq__)[forest.links.targets]
    started = innermost[forest.links.sources[is_done]]
    done_ns = starts_ns[forest.links.targets[is_done]]
    for row, end_ns in zip(started.tolist(), done_ns.tolist(), strict=True):
        if row >= 0 and executions[row] not in callers:  # else the time of its ops counts there
            executions[row].duration = max(executions[row].duration, end_ns - executions[row].start)
    memory = op_memory(forest, events)
    uses = allocator_uses(memory, memory.runs)
    for run, allocator, *sizes in zip(*(column.tolist() for column in uses[:5]), strict=True):
        executions[run].memory.append(Memory(memory.names[allocator], *sizes))
    in_steps = [executions[row] for row in np.flatnonzero(is_in_step).tolist()]
    in_steps.sort(key=attrgetter("start"))
    return EventLog(in_steps, _kernels(forest, starts_ns, innermost, executions))


def _named(timeline: Timeline, wanted: Callable[[str], bool]) -> Int64Array:
    """The events with wanted names on threads, ascending."""
    return np.flatnonzero(timeline.named(wanted) & timeline.on_threads)


def _texts(timeline: Timeline, stat: str, events: IntArray) -> list[str]:
    """A text of each event, empty without one."""
    column = timeline.stat(stat)
    texts = [*column.texts, ""]
    return [texts[number] for number in column.texts_at(events).tolist()]


def _steps(timeline: Timeline, events: IntArray) -> tuple[BoolArray, Int64Array]:
    """Whether each event began in a step, and the number of the step."""
    marks = _named(timeline, STEP_MARK.__eq__)
    if not len(marks):
        return np.zeros(len(events), np.bool_), np.zeros(len(events), np.int64)
    marks = marks[np.argsort(timeline.starts_ps[marks], kind="stable")]
    starts_ps = timeline.starts_ps[events]
    place = np.searchsorted(timeline.starts_ps[marks], starts_ps, side="right") - 1
    is_in_step = (place >= 0) & (starts_ps <= timeline.ends_of(marks)[place])
    return is_in_step, timeline.stat("step_num").at(marks)[place]


def _durations_ns(
    timeline: Timeline, events: Int64Array, is_eager: BoolArray, innermost: IntArray
) -> Int64Array:
    """How long executions took, without those inside them.

    An eager call costs what its kernel costs; dispatch and set-up are not the op.
    """
    took_ps = timeline.durations_ps[events]
    kernels = _named(timeline, "EagerKernelExecute".__eq__)
    kernels = kernels[np.append(is_eager, False)[innermost[kernels]]]
    took_ps[innermost[kernels]] = timeline.durations_ps[kernels]
    first = np.searchsorted(events, timeline.first)
    nesting = nest(first, timeline.starts_ps[events], timeline.ends_of(events))
    own_ps: Int64Array = np.maximum(took_ps - nesting.sums_of_children(took_ps), 0)
    return own_ps // 1000


def _add_owners(
    forest: Forest, events: Int64Array, executions: Sequence[Execution]
) -> set[Execution | Dataset | None]:
    """Set the owner of each execution; returns the executions that started runs of functions."""
    timeline = forest.timeline
    owners: dict[int, Execution | Dataset] = dict(zip(events.tolist(), executions, strict=True))
    for stage in _named(timeline, lambda name: name.startswith("Iterator::")).tolist():
        name = _ITERATOR_INDEX.sub("", iterator_type(timeline.name(stage)))
        if name:
            owners[stage] = Dataset(name)

    def nearest(below: Int64Array) -> list[int]:
        is_owner = np.zeros(len(timeline), np.bool_)
        is_owner[list(owners)] = True
        above: list[int] = forest.nearest_of_each(below, lambda _, at: is_owner[at]).tolist()
        return above

    calls = _named(timeline, TF_DATA_FUNCTIONS.__contains__)
    for call, owner in zip(calls.tolist(), nearest(calls), strict=True):
        if owner < 0:  # on the stage's own thread
            owners[call] = Dataset("")
    for execution, owner in zip(executions, nearest(events), strict=True):
        execution.owner = owners.get(owner)
    return {owners.get(event) for event in nearest(_named(timeline, "FunctionRun".__eq__))}


def _kernels(
    forest: Forest, starts_ns: Int64Array, innermost: IntArray, executions: Sequence[Execution]
) -> list[Kernel]:
    """Kernels that accelerators ran for ops in steps."""
    timeline, links = forest.timeline, forest.links
    is_kernel = timeline.of_lines(lambda line: line.is_device and not line.is_derived)
    is_launch = is_kernel[links.targets] & timeline.on_threads[links.sources]
    launchers = np.full(len(timeline), _NONE)
    launchers[links.targets[is_launch]] = innermost[links.sources[is_launch]]
    is_of_op = (launchers >= 0) | (timeline.stat("tf_op").text_ids(len(timeline)) >= 0)
    events = np.flatnonzero(is_kernel & is_of_op)
    is_in_step, steps = _steps(timeline, events)
    events, steps = events[is_in_step], steps[is_in_step]
    planes = [timeline.space.planes[line.plane].name for line in timeline.lines]
    return [
        Kernel(planes[line], text.partition(":")[0], start, duration_ps // 1000, launcher, step)
        for line, text, start, duration_ps, launcher, step in zip(
            timeline.lines_of(events).tolist(),
            _texts(timeline, "tf_op", events),
            starts_ns[events].tolist(),
            timeline.durations_ps[events].tolist(),
            [executions[row] if row >= 0 else None for row in launchers[events].tolist()],
            steps.tolist(),
            strict=True,
        )
    ]
