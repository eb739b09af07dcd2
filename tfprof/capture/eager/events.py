"""The events of an XSpace → which op ran when, and who called it.

TensorFlow writes one event for each run of an op (``scope/name:Type``) on the thread that ran it.
Which function the op belongs to follows from the events around it: executors carry the id of
their run, and the event that started the run lies inside the eager call, the op or the input
pipeline that asked for it.
"""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from tfprof.capture.eager.event_log import NO_RUN, Dataset, EventLog, Execution, Kernel
from tfprof.capture.eager.recorder import EAGER_MARK, STEP_MARK
from tfprof.captures.events.timeline.names import HOST_PLANE, TASK_PLANE
from tfprof.core.wire import messages as pb
from tfprof.core.wire.parsing import parse

_OP_NAME = re.compile(r"([A-Za-z0-9.][A-Za-z0-9_.\\/>-]*):([A-Z_][A-Za-z0-9_]*)")
_ITERATOR_INDEX = re.compile(r"\[\d+\]$")
_DEVICE_PLANE = "/device:"

_KINDS = {
    "EagerExecute": "eager",
    "EagerKernelExecute": "eager_kernel",
    "FunctionRun": "function_run",
    "ExecutorState::Process": "executor",
    "ExecutorPropagateOutputs": "propagation",
    "ExecutorState::ProcessAsync::Start": "async_start",
    "ExecutorState::ProcessAsync::Done": "async_done",
    "MemoryAllocation": "allocation",
    "MemoryDeallocation": "deallocation",
    STEP_MARK: "step",
    EAGER_MARK: "eager_mark",
}
_BORDERS = ("_Arg", "_Retval")
"""Ops that TensorFlow adds around a function, which are not the program's."""

_RUN_KINDS = ("function_run", "executor", "captured")

_Timed = TypeVar("_Timed", Execution, Kernel)


def read_events(xspace: bytes) -> EventLog:
    """Read the events of a recording.

    Raises:
        MalformedProfileError: These bytes are no XSpace.
    """
    space = parse(pb.XSpace, xspace, source="recorded events")
    log = EventLog()
    clock = _start_nanos(space)
    launches: dict[int, Execution] = {}
    for plane in space.planes:
        if plane.name == HOST_PLANE:
            reader = _HostReader(plane, log, clock, launches)
            for thread, line in enumerate(plane.lines):
                _ThreadReader(reader, thread).read(line)
            reader.extend_async()
    for plane in space.planes:
        if plane.name.startswith(_DEVICE_PLANE):
            log.kernels.extend(_kernels(plane, clock, launches))
    log.steps.sort(key=lambda step: step[1])
    log.executions.sort(key=lambda execution: execution.start)
    log.executions = _in_steps(log.executions, log.steps)
    log.kernels = _in_steps(log.kernels, log.steps)
    return log


def _in_steps(items: list[_Timed], steps: list[tuple[int, int, int]]) -> list[_Timed]:
    """Set the step of each item; leave out those outside of all steps."""
    starts = [start for _, start, _ in steps]
    kept = []
    for item in items:
        place = bisect.bisect_right(starts, item.start) - 1
        if place >= 0 and item.start <= steps[place][2]:
            item.step = steps[place][0]
            kept.append(item)
    return kept


def _start_nanos(space: pb.XSpace) -> int:
    """When the recording started: lines count from there."""
    for plane in space.planes:
        if plane.name == TASK_PLANE:
            return int(_Stats(plane).of(plane).get("profile_start_time", 0))
    return 0


class _Stats:
    def __init__(self, plane: pb.XPlane) -> None:
        self._names = {key: metadata.name for key, metadata in plane.stat_metadata.items()}
        self.has_launches = "correlation_id" in self._names.values()

    def of(self, holder: Any) -> dict[str, Any]:
        """All stats of an event, of its metadata or of a plane."""
        return {self._names.get(stat.metadata_id, ""): self._value(stat) for stat in holder.stats}

    def _value(self, stat: pb.XStat) -> Any:
        which = stat.WhichOneof("value")
        if which == "ref_value":
            return self._names.get(stat.ref_value, "")
        return getattr(stat, which) if which else None


@dataclass(slots=True)
class _Open:
    """An event that is not over yet; picoseconds."""

    end: int
    kind: str
    run_id: int
    execution: Execution | None
    dataset: str
    inner: int = 0


class _HostReader:
    """Reads the threads of a host; attributes are what all threads share."""

    def __init__(
        self, plane: pb.XPlane, log: EventLog, clock: int, launches: dict[int, Execution]
    ) -> None:
        self.log = log
        self.clock = clock
        self.launches = launches
        self.stats = _Stats(plane)
        self.names = {key: metadata.name for key, metadata in plane.event_metadata.items()}
        self.kinds = {key: self._kind(name) for key, name in self.names.items()}
        self.waiting: list[tuple[tuple[int, str], Execution]] = []
        self.done: dict[tuple[int, str], list[int]] = defaultdict(list)

    def _kind(self, name: str) -> str:
        if name in _KINDS:
            return _KINDS[name]
        if name.startswith("Iterator::"):
            return "iterator"
        if name.startswith("InstantiatedCapturedFunction::"):
            return "captured"
        match = _OP_NAME.fullmatch(name)
        if match is not None and match[2] not in _BORDERS:
            return "op"
        return "launch" if self.stats.has_launches else ""

    def extend_async(self) -> None:
        """Let asynchronous ops last until they are done, not only until they are started.

        Ops that called a function do not change: the time of its ops counts there.
        """
        callers = {id(owner) for owner in self.log.run_owners.values()}
        for moments in self.done.values():
            moments.sort(reverse=True)
        self.waiting.sort(key=lambda pair: pair[1].start)
        for key, execution in self.waiting:
            moments = self.done.get(key, [])
            if moments and id(execution) not in callers:
                elapsed = moments.pop() // 1000 - execution.start
                execution.duration = max(execution.duration, elapsed)


class _ThreadReader:
    """Reads one thread: its events nest, so a stack holds the open ones."""

    def __init__(self, host: _HostReader, thread: int) -> None:
        self._host = host
        self._thread = thread
        self._stack: list[_Open] = []
        self._last_op: Execution | None = None
        self._last_eager: Execution | None = None
        self._marks: dict[str, Callable[[int, int, dict[str, Any]], None]] = {
            "step": self._step,
            "eager_mark": self._eager_mark,
            "eager_kernel": self._eager_kernel,
            "propagation": self._propagation,
            "async_start": self._async_start,
            "async_done": self._async_done,
            "allocation": partial(self._memory, 1),
            "deallocation": partial(self._memory, -1),
            "launch": self._launch,
        }

    def read(self, line: pb.XLine) -> None:
        """Read the thread's events."""
        host = self._host
        base = (host.clock + line.timestamp_ns) * 1000
        events = [event for event in line.events if host.kinds.get(event.metadata_id)]
        events.sort(key=lambda event: (event.offset_ps, -event.duration_ps))
        for event in events:
            start = base + event.offset_ps
            end = start + event.duration_ps
            self._close(start)
            kind = host.kinds[event.metadata_id]
            stats = host.stats.of(event)
            mark = self._marks.get(kind)
            if mark is not None:
                mark(start, end, stats)
            else:
                self._open(kind, host.names[event.metadata_id], start, end, stats)
        self._close(None)

    def _close(self, now: int | None) -> None:
        """Close the events that are over; an op's time is without the ops inside it."""
        stack = self._stack
        while stack and (now is None or stack[-1].end <= now):
            closed = stack.pop()
            execution = closed.execution
            total = closed.inner
            if execution is not None:
                total = execution.duration
                execution.duration = max(total - closed.inner, 0) // 1000
            if stack:
                stack[-1].inner += total

    def _open(self, kind: str, name: str, start: int, end: int, stats: dict[str, Any]) -> None:
        opened = _Open(end, kind, NO_RUN, None, "")
        if kind == "iterator":
            opened.dataset = _ITERATOR_INDEX.sub("", name.rpartition("::")[2])
        elif kind in _RUN_KINDS:
            opened.run_id = _run_id(stats, "id")
            if kind != "executor":
                self._note_owner(kind, opened.run_id)
        else:
            opened.execution = self._execution(name, start, end, stats)
            if kind == "eager":
                self._last_eager = opened.execution
            else:
                self._last_op = opened.execution
        self._stack.append(opened)

    def _note_owner(self, kind: str, run_id: int) -> None:
        caller = self._caller()
        if kind == "captured" and caller == NO_RUN:  # on the stage's own thread
            caller = Dataset("")
        self._host.log.run_owners.setdefault(run_id, caller)

    def _execution(
        self, name: str, start: int, end: int, stats: dict[str, Any]
    ) -> Execution | None:
        caller = self._caller()
        match = _OP_NAME.fullmatch(name)
        if match is None:
            op_name = op_type = str(stats.get("eager_op", ""))
        else:
            op_name, op_type = match.groups()
        if isinstance(caller, Execution) and caller.calls_function and caller.name == op_name:
            return None  # a function that is compiled as a whole: the call itself
        execution = Execution(
            op_name,
            op_type,
            start // 1000,
            end - start,
            self._thread,
            str(stats.get("shape", "")),
            None if isinstance(caller, int) else caller,
            caller if isinstance(caller, int) else NO_RUN,
            calls_function=match is None and bool(int(stats.get("is_func", 0))),
        )
        self._host.log.executions.append(execution)
        return execution

    def _caller(self) -> Execution | Dataset | int:
        """The innermost open op, eager call, pipeline stage or run of a function."""
        for opened in reversed(self._stack):
            if opened.execution is not None:
                return opened.execution
            if opened.dataset:
                return Dataset(opened.dataset)
            if opened.run_id != NO_RUN:
                return opened.run_id
        return NO_RUN

    def _innermost(self) -> Execution | None:
        return next((open_.execution for open_ in reversed(self._stack) if open_.execution), None)

    def _step(self, start: int, end: int, stats: dict[str, Any]) -> None:
        self._host.log.steps.append((int(stats["step_num"]), start // 1000, end // 1000))

    def _eager_mark(self, start: int, end: int, stats: dict[str, Any]) -> None:
        if self._last_eager is not None:
            self._last_eager.eager_index = int(stats["index"])

    def _eager_kernel(self, start: int, end: int, stats: dict[str, Any]) -> None:
        """An eager call costs what its kernel costs; dispatch and set-up are not the op."""
        if self._stack and self._stack[-1].kind == "eager":
            execution = self._stack[-1].execution
            if execution is not None:
                execution.duration = end - start

    def _propagation(self, start: int, end: int, stats: dict[str, Any]) -> None:
        """Follows an op and gives its run, even if the executor's own event was lost."""
        op = self._last_op
        if op is None or op.parent is not None or op.run_id != NO_RUN:
            return
        if stats.get("kernel_name") == op.name:
            op.run_id = _run_id(stats, "id")

    def _async_start(self, start: int, end: int, stats: dict[str, Any]) -> None:
        execution = self._innermost()
        if execution is not None:
            key = _run_id(stats, "step_id"), str(stats.get("name"))
            self._host.waiting.append((key, execution))

    def _async_done(self, start: int, end: int, stats: dict[str, Any]) -> None:
        self._host.done[_run_id(stats, "step_id"), str(stats.get("name"))].append(start)

    def _memory(self, sign: int, start: int, end: int, stats: dict[str, Any]) -> None:
        execution = self._innermost()
        if execution is not None:
            size = int(stats.get("allocation_bytes", 0) or stats.get("requested_bytes", 0))
            execution.memory.append((str(stats.get("allocator_name", "")), sign * size))

    def _launch(self, start: int, end: int, stats: dict[str, Any]) -> None:
        execution = self._innermost()
        if execution is not None and "correlation_id" in stats:
            self._host.launches[int(stats["correlation_id"])] = execution


def _run_id(stats: dict[str, Any], name: str) -> int:
    """A run id as an unsigned number; some events write it signed."""
    run_id = int(stats.get(name, NO_RUN))
    return NO_RUN if run_id in (NO_RUN, 2**64 - 1) else run_id % 2**64


def _kernels(plane: pb.XPlane, clock: int, launches: dict[int, Execution]) -> Iterator[Kernel]:
    stats = _Stats(plane)
    inherited = {key: stats.of(metadata) for key, metadata in plane.event_metadata.items()}
    for line in plane.lines:
        base = clock * 1000 + line.timestamp_ns * 1000
        for event in line.events:
            facts = {**inherited.get(event.metadata_id, {}), **stats.of(event)}
            launcher = launches.get(int(facts.get("correlation_id", -1)))
            op_name = str(facts.get("tf_op", "")).partition(":")[0]
            if launcher is None and not op_name:
                continue
            start = (base + event.offset_ps) // 1000
            yield Kernel(plane.name, op_name, start, event.duration_ps // 1000, launcher)
