"""The events of a recording → which op ran when, and who called it.

TensorFlow writes one event for each run of an op (``scope/name:Type``) on the thread that ran it.
Which function the op belongs to follows from the events around it: executors carry the id of
their run, and the event that started the run lies inside the eager call, the op or the input
pipeline that asked for it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from tfprof.capture.eager.recorder import EAGER_MARK, STEP_MARK
from tfprof.captures.events.ops.op_memory import allocator_uses, op_memory
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.timeline.clocks import unix_base_ns
from tfprof.captures.events.timeline.names import EAGER_EXECUTE, EXECUTOR, TF_DATA_FUNCTIONS
from tfprof.captures.events.timeline.nesting import Nesting
from tfprof.captures.events.timeline.op_names import OpKind, iterator_type
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import BoolArray, Int64Array, sums_by

_ITERATOR_INDEX = re.compile(r"\[\d+\]$")
_BORDERS = ("_Arg", "_Retval")
"""Ops that TensorFlow adds around a function, which are not the program's."""

_RUNS = {"FunctionRun", EXECUTOR, *TF_DATA_FUNCTIONS}
_NONE = -1


@dataclass(frozen=True, slots=True)
class Dataset:
    """A stage of an input pipeline that calls a function; its name is ``""`` if unknown."""

    name: str


class Memory(NamedTuple):
    """What an op took of an allocator, in bytes: in all, at most, and when it ended."""

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
        thread: Which thread ran it, counted from 0.
        step: The step that it was part of.
        shapes: Types and shapes of its inputs, as TensorFlow writes them.
        calls_function: An eager call of a function, not of an op.
        eager_index: Its place in ``EagerRecording.ops``, -1 if unknown.
        memory: What it allocated.
        owner: What ran it, through any number of nested runs, if the events say so.
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
    """What ran in the steps of a recording: ops and eager calls as they began, and kernels."""

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
    marks, marked = _following(timeline, EAGER_MARK, eager)
    indexes = np.full(len(events), _NONE)
    indexes[rows[marked]] = timeline.stat("index").at(marks)
    starts_ns = (unix_base_ns(timeline.axis) or 0) + timeline.starts_ps // 1000
    is_in_step, steps = _steps(timeline, events)
    executions = [
        Execution(eager_op or op.name, eager_op or op.type, *facts)
        for eager_op, op, *facts in zip(
            _texts(timeline, "eager_op", events),
            [timeline.ops[kind] for kind in timeline.kinds[events].tolist()],
            starts_ns[events].tolist(),
            _durations_ns(forest, events, eager, rows).tolist(),
            timeline.lines_of(events).tolist(),
            steps.tolist(),
            _texts(timeline, "shape", events),
            np.isin(events, calls).tolist(),
            indexes.tolist(),
            strict=True,
        )
    ]
    callers = _add_owners(forest, ops, events, executions)
    innermost = forest.nesting.nearest(rows)
    _extend_async(timeline, starts_ns, innermost, executions, callers)
    memory = op_memory(forest, events)
    uses = allocator_uses(memory, memory.runs)
    for run, allocator, *sizes in zip(*(column.tolist() for column in uses[:5]), strict=True):
        executions[run].memory.append(Memory(memory.names[allocator], *sizes))
    in_steps = [executions[row] for row in np.flatnonzero(is_in_step).tolist()]
    in_steps.sort(key=attrgetter("start"))
    return EventLog(in_steps, _kernels(forest, starts_ns, innermost, executions))


def _named(timeline: Timeline, wanted: Callable[[str], bool]) -> Int64Array:
    """The events of threads whose names are wanted, ascending."""
    return np.flatnonzero(timeline.named(wanted) & timeline.on_threads)


def _texts(timeline: Timeline, stat: str, events: IntArray) -> list[str]:
    """A text of each event, empty without one."""
    column = timeline.stat(stat)
    texts = [*column.texts, ""]
    return [texts[number] for number in column.texts_at(events).tolist()]


def _following(timeline: Timeline, name: str, events: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Events of a name, and the last of some events before each on its thread."""
    marks = _named(timeline, name.__eq__)
    place = np.searchsorted(events, marks)
    marks, before = marks[place > 0], events[place[place > 0] - 1]
    is_same = timeline.lines_of(marks) == timeline.lines_of(before)
    return marks[is_same], before[is_same]


def _around(nesting: Nesting, values: IntArray) -> IntArray:
    """The value of the nearest event around each that has one, negative without."""
    around: IntArray = np.append(nesting.nearest(values), _NONE)[nesting.parents]
    return around


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
    forest: Forest, events: Int64Array, eager: Int64Array, rows: Int64Array
) -> Int64Array:
    """How long executions took, without those inside them.

    An eager call costs what its kernel costs; dispatch and set-up are not the op.
    """
    timeline = forest.timeline
    outer = _around(forest.nesting, rows)
    took_ps = timeline.durations_ps[events]
    kernels = _named(timeline, "EagerKernelExecute".__eq__)
    kernels = kernels[np.isin(outer[kernels], rows[eager])]
    took_ps[outer[kernels]] = timeline.durations_ps[kernels]
    is_inner = outer[events] >= 0
    inside_ps = sums_by(outer[events[is_inner]], took_ps[is_inner], len(events))
    own_ps: Int64Array = np.maximum(took_ps - inside_ps, 0)
    return own_ps // 1000


def _add_owners(
    forest: Forest, ops: Int64Array, events: Int64Array, executions: Sequence[Execution]
) -> set[Execution | Dataset | None]:
    """Set the owner of each execution; returns what started runs of functions.

    Args:
        forest: All events.
        ops: Those of runs of ops, ascending.
        events: Those of executions.
        executions: The executions.
    """
    timeline = forest.timeline
    known: dict[int, Execution | Dataset] = dict(zip(events.tolist(), executions, strict=True))
    for stage in _named(timeline, lambda name: name.startswith("Iterator::")).tolist():
        name = _ITERATOR_INDEX.sub("", iterator_type(timeline.name(stage)))
        if name:
            known[stage] = Dataset(name)
    runs = _named(timeline, _RUNS.__contains__)
    ids = timeline.stat("id").at(runs, _NONE)
    runs, ids = runs[ids != _NONE], ids[ids != _NONE]
    context = np.full(len(timeline), _NONE)
    context[runs], context[list(known)] = runs, list(known)
    around = _around(forest.nesting, context)
    run_of = dict(zip(runs.tolist(), ids.tolist(), strict=True))
    started_by: dict[int, int] = {}
    for run, number in run_of.items():
        name = timeline.name(run)
        if name in TF_DATA_FUNCTIONS and around[run] < 0:  # on the stage's own thread
            known[run] = Dataset("")
            started_by.setdefault(number, run)
        elif name != EXECUTOR:
            started_by.setdefault(number, int(around[run]))
    # What follows an op gives its run, even if the executor's own event was lost.
    marks, before = _following(timeline, "ExecutorPropagateOutputs", ops)
    marks, before = marks[around[before] < 0], before[around[before] < 0]
    ids = timeline.stat("id").at(marks, _NONE).tolist()
    names = _texts(timeline, "kernel_name", marks)
    for mark, op, number, name in zip(marks.tolist(), before.tolist(), ids, names, strict=True):
        if name == timeline.ops[timeline.kinds[op]].name:
            around[op], run_of[mark] = mark, number

    def owner_of(event: int) -> Execution | Dataset | None:
        above, seen = int(around[event]), set[int]()
        while above in run_of and above not in known and above not in seen:
            seen.add(above)
            above = started_by.get(run_of[above], _NONE)
        return known.get(above)

    for execution, event in zip(executions, events.tolist(), strict=True):
        execution.owner = owner_of(event)
    return {known.get(above) for above in started_by.values()}


def _extend_async(
    timeline: Timeline,
    starts_ns: Int64Array,
    innermost: IntArray,
    executions: Sequence[Execution],
    callers: set[Execution | Dataset | None],
) -> None:
    """Let asynchronous ops last until they are done, not only until they are started.

    Ops that called a function do not change: the time of its ops counts there.
    """

    def keyed(name: str) -> list[tuple[tuple[int, str], int]]:
        events = _named(timeline, f"ExecutorState::ProcessAsync::{name}".__eq__)
        ids = timeline.stat("step_id").at(events, _NONE).tolist()
        keys = zip(ids, _texts(timeline, "name", events), strict=True)
        return list(zip(keys, events.tolist(), strict=True))

    done = defaultdict(list)
    for key, event in keyed("Done"):
        done[key].append(int(starts_ns[event]))
    for moments in done.values():
        moments.sort(reverse=True)
    waiting = [
        (executions[innermost[event]], key)
        for key, event in keyed("Start")
        if innermost[event] >= 0
    ]
    for execution, key in sorted(waiting, key=lambda pair: pair[0].start):
        if done[key] and execution not in callers:
            execution.duration = max(execution.duration, done[key].pop() - execution.start)


def _kernels(
    forest: Forest, starts_ns: Int64Array, innermost: IntArray, executions: Sequence[Execution]
) -> list[Kernel]:
    """What accelerators ran in steps for ops."""
    timeline, links = forest.timeline, forest.links
    is_kernel = timeline.of_lines(lambda line: line.is_device and not line.is_derived)
    is_launch = is_kernel[links.targets] & timeline.on_threads[links.sources]
    launchers = np.full(len(timeline), _NONE)
    launchers[links.targets[is_launch]] = innermost[links.sources[is_launch]]
    is_in_step, steps = _steps(timeline, np.arange(len(timeline)))
    is_of_op = (launchers >= 0) | (timeline.stat("tf_op").text_ids(len(timeline)) >= 0)
    events = np.flatnonzero(is_kernel & is_in_step & is_of_op)
    planes = [timeline.space.planes[line.plane].name for line in timeline.lines]
    return [
        Kernel(planes[line], text.partition(":")[0], start, duration_ps // 1000, launcher, step)
        for line, text, start, duration_ps, launcher, step in zip(
            timeline.lines_of(events).tolist(),
            _texts(timeline, "tf_op", events),
            starts_ns[events].tolist(),
            timeline.durations_ps[events].tolist(),
            [executions[row] if row >= 0 else None for row in launchers[events].tolist()],
            steps[events].tolist(),
            strict=True,
        )
    ]
