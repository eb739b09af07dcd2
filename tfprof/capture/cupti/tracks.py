"""Records as planes of an XSpace, in the layout that TensorFlow's own tracer writes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tfprof.capture.cupti.attribution import Attributed, attributed, lines_of_threads
from tfprof.capture.cupti.host_ops import HostOps
from tfprof.capture.cupti.records import Activity, Api, Copy, Fill, Gpu, Kernel, Records, with_times
from tfprof.capture.cupti.threads import thread_of_line
from tfprof.capture.plane_writer import PlaneWriter
from tfprof.captures.events.timeline.clocks import MOST_NS
from tfprof.captures.events.timeline.names import GPU_PREFIX, HOST_PLANE
from tfprof.core.wire import messages as pb

_OVERHEAD_LINE = "CUPTI overhead"
_OVERHEAD_ID = 1 << 33
"""Line number above those of all threads."""

_DETAILS = {Kernel: "kernel_details", Copy: "memcpy_details", Fill: "Memset_details"}
_STREAM_KINDS = re.compile(r"Memcpy\w+|Memset")


def add_tracks(
    space: pb.XSpace,
    records: Records,
    lines: Mapping[int, HostOps] | None = None,
    begin_ns: int = 0,
) -> None:
    """Add planes of the GPUs, and to the host's threads the calls that they made.

    Calls go onto the line of their thread, as TensorFlow's recorder puts them: tools find the step
    of a kernel by the event around its launch.

    Args:
        space: The framework's capture, which is changed in place.
        records: CUPTI's records.
        lines: Ops of the host by thread.
        begin_ns: Origin of time in the capture: 0 for 1970. Earlier events are left out.
    """
    activities = [one for one in records.timed() if one.start_ns >= begin_ns]
    ops = attributed(records, activities, lines or {})
    by_device: defaultdict[int, list[tuple[Activity, Attributed]]] = defaultdict(list)
    for pair in zip(activities, ops, strict=True):
        by_device[pair[0].device].append(pair)
    for device in sorted({*by_device, *records.gpus}):
        plane = PlaneWriter(space.planes.add(id=device, name=f"{GPU_PREFIX}{device}"), begin_ns)
        gpu = records.gpus.get(device)
        if gpu is not None:
            _describe(plane, gpu)
        _add_streams(plane, by_device[device], gpu)
    known = lines_of_threads(records, activities, lines or {})
    threads = {thread: line.thread for thread, line in known.items()}
    _add_calls(space, records, {one.correlation: one for one in activities}, threads, begin_ns)


def _describe(plane: PlaneWriter, gpu: Gpu) -> None:
    plane.describe(
        clock_rate=gpu.clock_khz, core_count=gpu.n_cores,
        memory_bandwidth=gpu.memory_bytes_per_s, memory_size=gpu.memory_bytes,
        compute_cap_major=gpu.limits.capability, compute_cap_minor=gpu.minor,
        device_vendor="Nvidia", gpu_device_name=gpu.name,
    )  # fmt: skip


def _add_streams(
    plane: PlaneWriter, pairs: Sequence[tuple[Activity, Attributed]], gpu: Gpu | None
) -> None:
    by_stream: defaultdict[int, list[tuple[Activity, Attributed]]] = defaultdict(list)
    for pair in pairs:
        by_stream[pair[0].stream].append(pair)
    for stream, own in sorted(by_stream.items()):
        kinds = sorted({_kind(one) for one, _ in own})
        line = plane.line(stream, f"Stream #{stream}({','.join(kinds)})", own[0][0].start_ns)
        for one, op in own:
            details = one.details
            if gpu is not None and isinstance(one, Kernel):
                details += f" occ_pct:{one.occupancy_percent(gpu):g}"
            plane.add(
                line, one.name, one.start_ns, one.end_ns,
                correlation_id=one.correlation, context_id=f"$${one.context}",
                **{_DETAILS[type(one)]: details},
                tf_op=op.op, op_found_by=op.way if op.op else "",
            )  # fmt: skip


def _kind(one: Activity) -> str:
    found = _STREAM_KINDS.match(one.name)
    return found[0] if found and not isinstance(one, Kernel) else "Compute"


def _add_calls(
    space: pb.XSpace,
    records: Records,
    launched: Mapping[int, Activity],
    threads: Mapping[int, int],
    begin_ns: int,
) -> None:
    calls = [one for one in with_times(records.calls) if one.start_ns >= begin_ns]
    overheads = [one for one in with_times(records.overheads) if one.start_ns >= begin_ns]
    if not calls and not overheads:
        return
    host = next((plane for plane in space.planes if plane.name == HOST_PLANE), None)
    plane = PlaneWriter(space.planes.add(name=HOST_PLANE) if host is None else host, begin_ns)
    lines = {thread_of_line(line.id): line for line in reversed(plane.plane.lines)}
    launches = records.launches()
    changed: dict[int, Any] = {}
    for call in calls:
        thread = threads.get(call.thread, call.thread)
        if thread not in lines:
            lines[thread] = plane.line(thread, f"Host Threads/{thread}", call.start_ns)
        elif thread not in changed:
            _begin_earlier(lines[thread], call.start_ns - begin_ns)
        changed[thread] = lines[thread]
        stats = _stats_of_call(call, launches, launched)
        plane.add(lines[thread], call.name, call.start_ns, call.end_ns, **stats)
    for line in changed.values():
        line.events.sort(key=lambda event: (event.offset_ps, -event.duration_ps))
    if overheads:
        line = plane.line(_OVERHEAD_ID, _OVERHEAD_LINE, overheads[0].start_ns)
        for one in overheads:
            plane.add(line, one.name, one.start_ns, one.end_ns)


def _begin_earlier(line: Any, timestamp_ns: int) -> None:
    """Count the events of a line from an earlier moment, so that none begins before it."""
    earlier_ns = line.timestamp_ns - timestamp_ns
    if 0 < earlier_ns <= MOST_NS:
        for event in line.events:
            event.offset_ps += earlier_ns * 1000
        line.timestamp_ns = timestamp_ns


def _stats_of_call(
    call: Api, launches: Mapping[int, Api], launched: Mapping[int, Activity]
) -> dict[str, str | int]:
    """The number that leads to the kernel, on one of the calls that have it."""
    one = launched.get(call.correlation)
    if one is None or launches.get(call.correlation) != call:
        return {}
    return {
        "correlation_id": call.correlation, "device_id": one.device,
        "context_id": f"$${one.context}",
    }  # fmt: skip
