"""Makes run metadata of each step from the events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tfprof.capture.eager.events import EventLog, Execution, Kernel
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
    runs: defaultdict[int, pb.RunMetadata] = defaultdict(pb.RunMetadata)
    blocks: dict[tuple[int, str], pb.DeviceStepStats] = {}
    called: set[int] = set()

    def added(device: str, name: str, ran: Execution | Kernel) -> pb.NodeExecStats:
        block = blocks.get((ran.step, device))
        if block is None:
            block = runs[ran.step].step_stats.dev_stats.add(device=device)
            blocks[ran.step, device] = block
        return block.node_stats.add(
            node_name=name,
            all_start_micros=max(ran.start // 1000, 1),
            op_end_rel_micros=round(ran.duration / 1000),
            all_end_rel_micros=round(ran.duration / 1000),
            all_start_nanos=max(ran.start, 1),
            op_end_rel_nanos=ran.duration,
            all_end_rel_nanos=ran.duration,
        )

    for name, execution in zip(names, log.executions, strict=True):
        if name:
            stats = added(devices.get(name, _CPU), name, execution)
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
            added(f"{kernel.device}/stream:all", name, kernel)
    return {step: runs[step] for step in sorted(called)}
