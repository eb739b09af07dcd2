"""Makes run metadata of each step from the events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tfprof.capture.eager.events import EventLog, Execution
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
    name_of: dict[Execution | None, str] = dict(zip(log.executions, names, strict=True))
    # Nodes that launched no kernels ran on the CPU.
    devices = {
        name_of.get(kernel.launcher, ""): f"{_TASK}{kernel.device}" for kernel in log.kernels
    }
    runs: dict[int, _Run] = defaultdict(_Run)
    called: set[int] = set()
    for name, execution in zip(names, log.executions, strict=True):
        if name:
            device = devices.get(name, _CPU)
            stats = runs[execution.step].add(device, name, execution.start, execution.duration)
            stats.timeline_label = f"{name} = {execution.op_type}{execution.shapes or '()'}"
            stats.thread_id = execution.thread
            for allocator, total, peak, live in execution.memory:
                stats.memory.add(
                    allocator_name=allocator, total_bytes=total, peak_bytes=peak, live_bytes=live
                )
            for slot, size in output_bytes.get(name, ()):
                described = stats.output.add(slot=slot).tensor_description.allocation_description
                described.requested_bytes = described.allocated_bytes = size
            if not name.startswith(f"{DATASET_SCOPE}/"):
                called.add(execution.step)
    for kernel in log.kernels:
        name = name_of.get(kernel.launcher, kernel.op_name)
        if name:
            device = f"{kernel.device}/stream:all"
            runs[kernel.step].add(device, name, kernel.start, kernel.duration)
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
