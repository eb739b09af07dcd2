"""Events of an XSpace, built by hand: whose an op is, how long it took, in which step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tfprof.capture.eager.events import Dataset, EventLog, Execution, Memory, read_events
from tfprof.capture.eager.recorder import EAGER_MARK, STEP_MARK
from tfprof.captures.run.run import open_run
from tfprof.core.wire import messages as pb

Event = tuple[str, int, int, dict[str, Any]]
STARTED = 1_000_000_000
"""When the recordings below began, nanoseconds since 1970."""

WHOLE = (STEP_MARK, 0, 1_000_000, {"step_num": 0})


def at(name: str, start: int, duration: int, /, **stats: Any) -> Event:
    """An event; times in nanoseconds since the recording began."""
    return name, start, duration, stats


def function_run(start: int, duration: int, run: int) -> Event:
    """What starts a run of a function."""
    return at("FunctionRun", start, duration, id=run, _pt=2, _p=run)


def executor(start: int, duration: int, run: int) -> Event:
    """What a thread does for a run of a function."""
    return at("ExecutorState::Process", start, duration, id=run, _ct=2, _c=run)


class Space:
    """An XSpace that grows line by line."""

    def __init__(self) -> None:
        self.message = pb.XSpace()
        clock = self.message.planes.add(name="Task Environment")
        clock.stat_metadata[1].name = "profile_start_time"
        clock.stats.add(metadata_id=1, uint64_value=STARTED)
        self._planes: dict[str, pb.XPlane] = {}
        self._ids: dict[tuple[str, str, str], int] = {}

    def line(self, *events: Event, plane: str = "/host:CPU", timestamp: int = 0) -> Space:
        if plane not in self._planes:
            self._planes[plane] = self.message.planes.add(name=plane)
        target = self._planes[plane]
        line = target.lines.add(timestamp_ns=timestamp)
        for name, start, duration, stats in events:
            key = self._id(plane, "event", name)
            target.event_metadata[key].name = name
            event = line.events.add(
                metadata_id=key, offset_ps=(start - timestamp) * 1000, duration_ps=duration * 1000
            )
            for stat, value in stats.items():
                stat_id = self._id(plane, "stat", stat)
                target.stat_metadata[stat_id].name = stat
                added = event.stats.add(metadata_id=stat_id)
                if isinstance(value, str):
                    added.str_value = value
                else:
                    added.int64_value = value
        return self

    def _id(self, plane: str, kind: str, name: str) -> int:
        return self._ids.setdefault((plane, kind, name), len(self._ids) + 1)

    def read(self) -> EventLog:
        return read_events(open_run(self.message).hosts[0])


def named(log: EventLog, name: str) -> Execution:
    (found,) = [execution for execution in log.executions if execution.name == name]
    return found


def facts(executions: Sequence[Execution]) -> list[tuple[str, int, int]]:
    return [(e.name, e.start - STARTED, e.duration) for e in executions]


def test_ops_have_absolute_times_and_a_thread() -> None:
    log = (
        Space()
        .line(WHOLE)
        .line(at("a/b:MatMul", 100, 40), at("c:Relu", 150, 5), timestamp=50)
        .read()
    )
    assert facts(log.executions) == [("a/b", 100, 40), ("c", 150, 5)]
    assert [(e.op_type, e.thread) for e in log.executions] == [("MatMul", 1), ("Relu", 1)]


@pytest.mark.parametrize(
    "name",
    ["_Arg", "x:_Arg", "y:_Retval", "Thread::Run", "two words:Op", "end: copy.2", "copy.2", "a:b"],
)
def test_other_events_are_not_ops(name: str) -> None:
    assert Space().line(WHOLE, at(name, 1, 1)).read().executions == []


def test_an_op_does_not_take_the_time_of_ops_inside_it() -> None:
    log = Space().line(WHOLE, at("f:While", 0, 100), at("a:Add", 10, 20), at("b:Add", 40, 5)).read()
    assert facts(log.executions) == [("f", 0, 75), ("a", 10, 20), ("b", 40, 5)]


def test_an_op_on_another_thread_belongs_to_the_call_that_started_its_run() -> None:
    log = (
        Space()
        .line(
            WHOLE,
            at("EagerExecute", 10, 500, eager_op="__inference_f_1", is_func=1),
            function_run(20, 30, -7),
        )
        .line(executor(60, 100, -7), at("x:Mul", 70, 9))
        .read()
    )
    call = named(log, "__inference_f_1")
    assert call.calls_function
    assert named(log, "x").owner is call
    assert call.owner is None


def test_a_run_that_an_op_starts_belongs_to_the_op() -> None:
    log = (
        Space()
        .line(WHOLE, at("call:PartitionedCall", 10, 50), function_run(20, 30, 5))
        .line(executor(60, 100, 5), at("x:Mul", 70, 9))
        .read()
    )
    assert named(log, "x").owner is named(log, "call")


def test_an_executor_that_was_not_over_in_time_is_identified_by_the_origin_of_its_work() -> None:
    log = (
        Space()
        .line(
            WHOLE,
            at("EagerExecute", 10, 500, eager_op="__inference_f_1", is_func=1),
            function_run(20, 30, 9),
            at("ThreadpoolListener::Record", 25, 0, _pt=15, _p=1),
        )
        .line(at("ThreadpoolListener::StartRegion", 60, 0, _ct=15, _c=1), at("x:Mul", 70, 9))
        .line(at("y:Mul", 70, 9))
        .line(
            at("ThreadpoolListener::StartRegion", 1, 0, _ct=15, _c=2),
            at("ThreadpoolListener::StopRegion", 2, 0),
        )
        .read()
    )
    assert named(log, "x").owner is named(log, "__inference_f_1")
    assert named(log, "y").owner is None


def test_dataset_functions_belong_to_their_stage() -> None:
    log = (
        Space()
        .line(
            WHOLE,
            at("Iterator::Root::Map[0]", 10, 500, id=1),
            at("InstantiatedCapturedFunction::Run", 20, 400, id=3),
            function_run(30, 30, 3),
        )
        .line(executor(60, 100, 3), at("x:Mul", 70, 9))
        .line(
            at("InstantiatedCapturedFunction::RunAsync", 20, 400, id=4),
            executor(60, 100, 4),
            at("y:Mul", 70, 9),
        )
        .read()
    )
    assert [named(log, name).owner for name in "xy"] == [Dataset("Map"), Dataset("")]


def test_an_eager_op_costs_what_its_kernel_costs() -> None:
    log = (
        Space()
        .line(
            WHOLE,
            at("EagerExecute", 10, 500, eager_op="MatMul", is_func=0),
            at("EagerKernelExecute", 400, 60),
            at(EAGER_MARK, 520, 1, index=4),
            at("EagerExecute", 600, 50, eager_op="_EagerConst", is_func=0),
        )
        .read()
    )
    assert facts(log.executions) == [("MatMul", 10, 60), ("_EagerConst", 600, 50)]
    assert [e.eager_index for e in log.executions] == [4, -1]


def test_a_function_compiled_as_a_whole_is_its_call() -> None:
    name = "__inference_f_1"
    log = (
        Space()
        .line(
            WHOLE,
            at("EagerExecute", 10, 500, eager_op=name, is_func=1),
            at("EagerKernelExecute", 100, 300),
            at(f"{name}:{name}", 110, 200),
        )
        .read()
    )
    assert facts(log.executions) == [(name, 10, 300)]


def test_asynchronous_ops_last_until_they_are_done() -> None:
    log = (
        Space()
        .line(
            WHOLE,
            executor(0, 50, 2),
            at("next:IteratorGetNext", 10, 5),
            at("ExecutorState::ProcessAsync::Start", 11, 3, name="next", _pt=2, _p=64),
        )
        .line(at("ExecutorState::ProcessAsync::Done", 400, 9, name="next", _ct=2, _c=64))
        .read()
    )
    assert facts(log.executions) == [("next", 10, 390)]


def test_an_asynchronous_call_does_not_take_the_time_of_what_it_calls() -> None:
    log = (
        Space()
        .line(
            WHOLE,
            at("call:StatefulPartitionedCall", 10, 5),
            at("ExecutorState::ProcessAsync::Start", 11, 3, name="call", _pt=2, _p=64),
            function_run(12, 1, 3),
        )
        .line(at("ExecutorState::ProcessAsync::Done", 400, 9, name="call", _ct=2, _c=64))
        .read()
    )
    assert facts(log.executions) == [("call", 10, 5)]


def test_what_runs_between_steps_is_left_out() -> None:
    log = (
        Space()
        .line(at(STEP_MARK, 100, 100, step_num=7), at(STEP_MARK, 300, 100, step_num=8))
        .line(*(at(f"op{start}:Add", start, 1) for start in (50, 100, 200, 250, 399, 401)))
        .read()
    )
    assert [(e.name, e.step) for e in log.executions] == [("op100", 7), ("op200", 7), ("op399", 8)]


def test_memory_is_the_innermost_ops() -> None:
    allocated = {"allocator_name": "bfc", "allocation_bytes": 256, "requested_bytes": 200}
    log = (
        Space()
        .line(
            WHOLE,
            at("MemoryAllocation", 5, 0, **allocated),
            at("x:Mul", 10, 50),
            at("MemoryAllocation", 20, 0, **allocated),
            at("MemoryDeallocation", 30, 0, **allocated),
        )
        .read()
    )
    assert named(log, "x").memory == [Memory("bfc", total=256, peak=256, live=0)]


def test_memory_is_summed_up_by_allocator() -> None:
    def of(allocator: str, address: int, size: int = 0) -> dict[str, Any]:
        return {"allocator_name": allocator, "addr": address, "allocation_bytes": size}

    log = (
        Space()
        .line(
            WHOLE,
            at("x:Mul", 10, 50),
            at("MemoryAllocation", 20, 0, **of("bfc", 1, 100)),
            at("MemoryAllocation", 21, 0, **of("bfc", 2, 60)),
            at("MemoryAllocation", 22, 0, **of("other", 1, 8)),
            at("MemoryDeallocation", 23, 0, **of("bfc", 1)),
            at("MemoryAllocation", 24, 0, **of("bfc", 3, 20)),
        )
        .read()
    )
    assert named(log, "x").memory == [Memory("bfc", 180, 160, 80), Memory("other", 8, 8, 8)]


def test_kernels_belong_to_the_op_that_launched_them() -> None:
    log = (
        Space()
        .line(WHOLE, at("x:Mul", 10, 50), at("cuLaunchKernel", 20, 5, correlation_id=77))
        .line(
            at("sgemm", 100, 30, correlation_id=77, tf_op="other:MatMul"),
            at("copy", 140, 3, tf_op="scope/y:Add"),
            at("unknown", 150, 3),
            plane="/device:GPU:0",
        )
        .read()
    )
    kernels = [(k.device, k.op_name, k.start - STARTED, k.duration) for k in log.kernels]
    assert kernels == [("/device:GPU:0", "other", 100, 30), ("/device:GPU:0", "scope/y", 140, 3)]
    assert [kernel.launcher for kernel in log.kernels] == [named(log, "x"), None]
