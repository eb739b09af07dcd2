"""Records as step stats, for ``Profiler.add_step``: the layout of TensorFlow 2's tracer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tfprof.capture.cupti.attribution import Attributed, attributed
from tfprof.capture.cupti.host_ops import HostOps
from tfprof.capture.cupti.records import Activity, Api, Copy, Kernel, Records
from tfprof.core.wire import messages as pb

_UNKNOWN = "unknown"


Span = tuple[int, int]
"""Begin and end in nanoseconds since 1970; the end does not belong to it."""


def step_stats(
    records: Records,
    lines: Mapping[int, HostOps] | None = None,
    within: Sequence[Span] | None = None,
) -> pb.RunMetadata:
    """Activities of the GPUs as run metadata.

    Kernels are on ``/device:GPU:N/stream:all``, which counts as the accelerator's time, and on
    ``stream:ID``; copies on ``memcpy`` and ``stream:ID<MemcpyH2D>``; memory that is set on
    ``stream:``. A node is the op that launched it, or ``unknown`` with the kernel in its label.

    Args:
        records: The records.
        lines: Ops of the host by thread, as for ``attributed``.
        within: Only activities that the host launched in one of these ranges; None for all.
    """
    activities = records.timed()
    ops = attributed(records, activities, lines or {})
    launches = records.launches()
    by_device: defaultdict[str, list[pb.NodeExecStats]] = defaultdict(list)
    for one, op in zip(activities, ops, strict=True):
        launch = launches.get(one.correlation)
        launch_ns = one.start_ns if launch is None else launch.start_ns
        if within is not None and not any(begin <= launch_ns < end for begin, end in within):
            continue
        stats = _stats(one, op, launch)
        for device in _devices(one):
            by_device[device].append(stats)
    made = pb.RunMetadata()
    for device, nodes in sorted(by_device.items()):
        made.step_stats.dev_stats.add(device=device, node_stats=nodes)
    return made


def _devices(one: Activity) -> Sequence[str]:
    gpu = f"/device:GPU:{one.device}"
    if isinstance(one, Kernel):
        return f"{gpu}/stream:all", f"{gpu}/stream:{one.stream}"
    if isinstance(one, Copy):
        return f"{gpu}/memcpy", f"{gpu}/stream:{one.stream}<{one.name}>"
    return (f"{gpu}/stream:",)


def _stats(one: Activity, op: Attributed, launch: Api | None) -> pb.NodeExecStats:
    micros = (one.end_ns - one.start_ns) // 1000
    stats = pb.NodeExecStats(
        node_name=op.op or (_UNKNOWN if isinstance(one, Kernel) else one.name),
        all_start_micros=one.start_ns // 1000,
        op_end_rel_micros=micros,
        all_end_rel_micros=micros,
        timeline_label=f"{one.name} {one.details}",
    )
    if launch is not None:
        stats.scheduled_micros = launch.start_ns // 1000
        stats.thread_id = launch.thread & 0xFFFFFFFF
    return stats
