"""Run metadata of what ran: devices, memory, steps without work."""

from __future__ import annotations

from typing import Any

from tfprof.capture.eager.events import EventLog, Execution, Kernel, Memory
from tfprof.capture.eager.trace import runs_of_steps
from tfprof.core.wire import messages as pb

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"


def ran(name: str, start: int = 5_000, duration: int = 1_500, **facts: Any) -> Execution:
    return Execution(name, "Op", start, duration, thread=3, **{"step": 0, **facts})


def stats(run: pb.RunMetadata) -> dict[str, list[pb.NodeExecStats]]:
    return {block.device: list(block.node_stats) for block in run.step_stats.dev_stats}


def test_an_execution_has_times_a_label_and_a_thread() -> None:
    log = EventLog(executions=[ran("mm", shapes="(float[2,3];float[3,4])")])
    ((device, (stat,)),) = stats(runs_of_steps(log, ["scope/mm"], {})[0]).items()
    assert device == CPU
    assert stat.node_name == "scope/mm"
    assert stat.timeline_label == "scope/mm = Op(float[2,3];float[3,4])"
    assert (stat.all_start_micros, stat.op_end_rel_micros, stat.thread_id) == (5, 2, 3)
    assert (stat.all_start_nanos, stat.op_end_rel_nanos) == (5_000, 1_500)


def test_ops_that_launch_kernels_are_on_the_accelerator() -> None:
    launching, plain = ran("conv"), ran("read")
    log = EventLog(
        executions=[launching, plain],
        kernels=[
            Kernel("/device:GPU:0", "wrong", 6_000, 9_000, launching, step=0),
            Kernel("/device:GPU:0", "by_name", 7_000, 2_000, None, step=0),
        ],
    )
    found = stats(runs_of_steps(log, ["f/conv", "f/read"], {})[0])
    assert {device: [stat.node_name for stat in block] for device, block in found.items()} == {
        GPU: ["f/conv"],
        CPU: ["f/read"],
        "/device:GPU:0/stream:all": ["f/conv", "by_name"],
    }


def test_memory_and_outputs_are_described() -> None:
    memory = [Memory("bfc", 180, 160, 80), Memory("other", 8, 8, 8)]
    log = EventLog(executions=[ran("x", memory=memory)])
    ((stat,),) = stats(runs_of_steps(log, ["x"], {"x": [(0, 64)]})[0]).values()
    assert [
        (used.allocator_name, used.total_bytes, used.peak_bytes, used.live_bytes)
        for used in stat.memory
    ] == [("bfc", 180, 160, 80), ("other", 8, 8, 8)]
    (output,) = stat.output
    assert output.tensor_description.allocation_description.allocated_bytes == 64


def test_a_step_in_which_only_an_input_pipeline_ran_is_none() -> None:
    log = EventLog(executions=[ran("x"), ran("y", step=1), ran("z", step=2)])
    assert list(runs_of_steps(log, ["f/x", "tf.data/Map/y", ""], {})) == [0]
