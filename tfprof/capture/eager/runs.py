"""Makes run metadata of each step from the events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfprof.capture.eager.event_log import EventLog, Execution
from tfprof.capture.eager.graph import DATASET_SCOPE
from tfprof.core.wire import messages as pb

_TASK = "/job:localhost/replica:0/task:0"
_CPU = f"{_TASK}/device:CPU:0"


def runs_of_steps(
    log: EventLog, names: Sequence[str], output_bytes: Mapping[str, Sequence[tuple[int, int]]]
) -> dict[int, pb.RunMetadata]:
    """Run metadata of each step in which the program ran ops.

    Input pipelines run ahead of the program; a step in which only they ran is left out.

    Args:
        log: The events.
        names: Name of the node of each execution; ``""`` leaves the execution out.
        output_bytes: Slot and bytes of the outputs of nodes.
    """
    by_execution = {id(e): name for e, name in zip(log.executions, names, strict=True)}
    devices = _devices(log, by_execution)
    runs: dict[int, _Run] = {}
    called: set[int] = set()
    for name, execution in zip(names, log.executions, strict=True):
        if name:
            run = runs.setdefault(execution.step, _Run())
            stats = run.add(devices.get(name, _CPU), name, execution.start, execution.duration)
            _describe(stats, name, execution)
            _add_outputs(stats, output_bytes.get(name, ()))
            if not name.startswith(f"{DATASET_SCOPE}/"):
                called.add(execution.step)
    for kernel in log.kernels:
        name = by_execution.get(id(kernel.launcher), kernel.op_name)
        if name:
            run = runs.setdefault(kernel.step, _Run())
            run.add(f"{kernel.device}/stream:all", name, kernel.start, kernel.duration)
    return {step: runs[step].message for step in sorted(called)}


class _Run:
    def __init__(self) -> None:
        self.message = pb.RunMetadata()
        self._blocks: dict[str, pb.DeviceStepStats] = {}

    def add(self, device: str, name: str, start: int, duration: int) -> pb.NodeExecStats:
        block = self._blocks.get(device)
        if block is None:
            block = self._blocks[device] = self.message.step_stats.dev_stats.add(device=device)
        return block.node_stats.add(
            node_name=name,
            all_start_micros=max(start // 1000, 1),
            op_end_rel_micros=round(duration / 1000),
            all_end_rel_micros=round(duration / 1000),
            all_start_nanos=max(start, 1),
            op_end_rel_nanos=duration,
            all_end_rel_nanos=duration,
        )


def _describe(stats: pb.NodeExecStats, name: str, execution: Execution) -> None:
    stats.timeline_label = f"{name} = {execution.op_type}{execution.shapes or '()'}"
    stats.thread_id = execution.thread
    for allocator in dict.fromkeys(allocator for allocator, _ in execution.memory):
        live = peak = total = 0
        for _, size in (entry for entry in execution.memory if entry[0] == allocator):
            live += size
            peak = max(peak, live)
            total += max(size, 0)
        stats.memory.add(
            allocator_name=allocator, total_bytes=total, peak_bytes=peak, live_bytes=max(live, 0)
        )


def _add_outputs(stats: pb.NodeExecStats, outputs: Sequence[tuple[int, int]]) -> None:
    for slot, size in outputs:
        described = stats.output.add(slot=slot).tensor_description.allocation_description
        described.requested_bytes = described.allocated_bytes = size


def _devices(log: EventLog, by_execution: Mapping[int, str]) -> dict[str, str]:
    """Devices of the nodes that launched kernels; all other nodes ran on the CPU."""
    return {
        by_execution[id(kernel.launcher)]: f"{_TASK}{kernel.device}"
        for kernel in log.kernels
        if kernel.launcher is not None
    }
