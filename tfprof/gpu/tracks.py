"""Records as planes of an XSpace, in the layout that TensorFlow's own tracer writes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfprof.captures.events.timeline.op_names import parse_op_name
from tfprof.captures.model.xspace import XSpace
from tfprof.gpu.attribution import Attributed, HostOps, attributed
from tfprof.gpu.records import Activity, Copy, Fill, Kernel, Records
from tfprof.wire import messages as pb

_HOST = "/host:CPU"
_CALLS = "/host:CUPTI"
_OVERHEAD_LINE = "CUPTI overhead"
_GPU_ID, _CALLS_ID = 1 << 10, 1 << 11
_DETAILS = {Kernel: "kernel_details", Copy: "memcpy_details", Fill: "memset_details"}
_STREAM_KINDS = re.compile(r"Memcpy\w+|Memset")


def gpu_planes(records: Records, space: XSpace | None, begin_ns: int = 0) -> pb.XSpace:
    """Planes of the GPUs, and of the calls that the host made.

    Args:
        records: What was recorded.
        space: The capture of the host in the same time, for the ops; None without one.
        begin_ns: What the lines of that capture count from: 0 for 1970.
    """
    activities = records.timed()
    lines = {} if space is None else host_ops(space, begin_ns)
    ops = attributed(records, activities, lines)
    made = pb.XSpace()
    by_device: defaultdict[int, list[tuple[Activity, Attributed]]] = defaultdict(list)
    for pair in zip(activities, ops, strict=True):
        by_device[pair[0].device].append(pair)
    for device, pairs in sorted(by_device.items()):
        plane = _Plane(made.planes.add(id=_GPU_ID + device, name=f"/device:GPU:{device}"), begin_ns)
        _add_streams(plane, pairs)
    _add_calls(made, records, begin_ns)
    return made


def host_ops(space: XSpace, begin_ns: int) -> dict[int, HostOps]:
    """Ops of the threads of a host, by the id of their lines."""
    found = {}
    for plane in space.planes:
        if plane.name != _HOST or not len(plane.events):
            continue
        is_op = np.array(
            [bool(parse_op_name(name).type) for name in plane.event_metadata.names.all] + [False]
        )
        starts = plane.starts_ps(0 if begin_ns else plane_base(plane)) // 1000
        starts += begin_ns or plane_base(plane)
        ends = starts + plane.events.durations_ps // 1000
        names = plane.event_metadata.names.all
        for number, line_id in enumerate(plane.lines.ids.tolist()):
            chosen = plane.events_of(number)
            rows = plane.metadata_rows[chosen]
            own = np.flatnonzero(is_op[rows])
            if len(own):
                own = own[np.argsort(starts[chosen][own], kind="stable")]
                found[line_id] = HostOps(
                    starts[chosen][own], ends[chosen][own], [names[rows[place]] for place in own]
                )
    return found


def plane_base(plane: Any) -> int:
    """A moment near its lines, so that picoseconds since then fit."""
    return int(plane.lines.timestamps_ns.min()) if len(plane.lines) else 0


class _Plane:
    """Adds events with named stats to a plane."""

    def __init__(self, plane: Any, begin_ns: int) -> None:
        self.plane, self._begin_ns = plane, begin_ns
        self._events: dict[str, int] = {}
        self._stats: dict[str, int] = {}

    def line(self, number: int, name: str, first_ns: int) -> Any:
        """A line whose events count from the first."""
        return self.plane.lines.add(
            id=number, name=name, timestamp_ns=max(0, first_ns - self._begin_ns)
        )

    def add(self, line: Any, name: str, start_ns: int, end_ns: int, **stats: str | int) -> None:
        """An event; empty stats are left out."""
        if name not in self._events:
            self._events[name] = len(self._events) + 1
            entry = self.plane.event_metadata[self._events[name]]
            entry.id, entry.name = self._events[name], name
        event = line.events.add(
            metadata_id=self._events[name],
            offset_ps=(start_ns - self._begin_ns - line.timestamp_ns) * 1000,
            duration_ps=max(0, end_ns - start_ns) * 1000,
        )
        for stat, value in stats.items():
            if value != "":
                number = self._stat(stat)
                if isinstance(value, str):
                    event.stats.add(metadata_id=number, str_value=value)
                else:
                    event.stats.add(metadata_id=number, uint64_value=value)

    def _stat(self, name: str) -> int:
        if name not in self._stats:
            self._stats[name] = len(self._stats) + 1
            entry = self.plane.stat_metadata[self._stats[name]]
            entry.id, entry.name = self._stats[name], name
        return self._stats[name]


def _add_streams(plane: _Plane, pairs: Sequence[tuple[Activity, Attributed]]) -> None:
    by_stream: defaultdict[int, list[tuple[Activity, Attributed]]] = defaultdict(list)
    for pair in pairs:
        by_stream[pair[0].stream].append(pair)
    for stream, own in sorted(by_stream.items()):
        kinds = sorted({_kind(one) for one, _ in own})
        line = plane.line(stream, f"Stream #{stream}({','.join(kinds)})", own[0][0].start_ns)
        for one, op in own:
            plane.add(
                line, one.name, one.start_ns, one.end_ns,
                correlation_id=one.correlation, context_id=f"$${one.context}",
                **{_DETAILS[type(one)]: one.details},
                tf_op=op.op, op_found_by=op.way if op.op else "",
            )  # fmt: skip


def _kind(one: Activity) -> str:
    found = _STREAM_KINDS.match(one.name)
    return found[0] if found and not isinstance(one, Kernel) else "Compute"


def _add_calls(made: Any, records: Records, begin_ns: int) -> None:
    calls = [call for call in records.calls if 0 < call.start_ns <= call.end_ns]
    overheads = [one for one in records.overheads if 0 < one.start_ns <= one.end_ns]
    if not calls and not overheads:
        return
    plane = _Plane(made.planes.add(id=_CALLS_ID, name=_CALLS), begin_ns)
    by_thread: defaultdict[int, list[Any]] = defaultdict(list)
    for call in sorted(calls):
        by_thread[call.thread].append(call)
    for thread, own in sorted(by_thread.items()):
        line = plane.line(thread, f"Host Threads/{thread}", own[0].start_ns)
        for call in own:
            plane.add(line, call.name, call.start_ns, call.end_ns, correlation_id=call.correlation)
    if overheads:
        overheads.sort()
        line = plane.line(0, _OVERHEAD_LINE, overheads[0].start_ns)
        for one in overheads:
            plane.add(line, one.name, one.start_ns, one.end_ns)


def ways(ops: Sequence[Attributed]) -> Mapping[str, int]:
    """How many ops were found in which way."""
    counts: defaultdict[str, int] = defaultdict(int)
    for op in ops:
        counts[op.way] += 1
    return dict(counts)
