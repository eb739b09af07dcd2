"""Runs of ops by device, with the device names of TensorFlow's run metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.executions import OpOfInstruction
from tfprof.captures.events.ops.op_runs import (
    NamedOp,
    OpRuns,
    devices,
    gpu_op_runs,
    host_op_runs,
    tpu_op_runs,
)
from tfprof.captures.events.timeline.names import GPU_PREFIX
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array


class Block(NamedTuple):
    """Runs on one device of the profile.

    Attributes:
        device: Its name.
        runs: Places in the runs of all.
    """

    device: str
    runs: Int64Array


class RunsByDevice(NamedTuple):
    """Runs of ops on the threads and devices of a host.

    Attributes:
        parts: The runs on threads, then those of each device.
        all: All runs, with one numbering of ops.
        blocks: The runs by device; runs on a device are in several blocks.
    """

    parts: Sequence[OpRuns]
    all: OpRuns
    blocks: Sequence[Block]

    @property
    def n_on_host(self) -> int:
        """Number of runs on threads; they come first."""
        return len(self.parts[0])


def runs_by_device(
    timeline: Timeline,
    eager: BoolArray,
    op_of: OpOfInstruction,
    modules: Mapping[int, str],
    job: str = "",
) -> RunsByDevice:
    """Runs of ops on threads and devices.

    Host events of an op with kernels count on the op's device, as launches.

    Args:
        timeline: The events of a host.
        eager: Whether each event ran eagerly, shape (n events,).
        op_of: Returns the framework's op of an instruction.
        modules: Names of programs by id.
        job: Prefix of the names of devices.
    """
    on_host = host_op_runs(timeline, eager, op_of)
    on_devices = {
        plane: gpu_op_runs(timeline, plane, op_of)
        if timeline.space.planes[plane].name.startswith(GPU_PREFIX)
        else tpu_op_runs(timeline, plane, modules)
        for plane in devices(timeline)
    }
    parts = [on_host, *on_devices.values()]
    return RunsByDevice(parts, _joined(parts), _blocks(job, timeline, on_host, on_devices))


def _joined(parts: Sequence[OpRuns]) -> OpRuns:
    """Runs of several parts with one numbering of ops."""
    numbers: dict[NamedOp, int] = {}
    ops = []
    for part in parts:
        of_part = [numbers.setdefault(op, len(numbers)) for op in part.names]
        ops.append(np.array([*of_part, -1], np.int64)[part.ops])
    return OpRuns(
        np.concatenate([part.events for part in parts]),
        np.concatenate(ops),
        np.concatenate([part.durations_ps for part in parts]),
        np.concatenate([part.is_copy for part in parts]),
        tuple(numbers),
    )


def _blocks(
    job: str, timeline: Timeline, on_host: OpRuns, on_devices: Mapping[int, OpRuns]
) -> list[Block]:
    planes = timeline.space.planes
    by_name = sorted(on_devices, key=lambda plane: (len(planes[plane].name), planes[plane].name))
    device_of = _main_devices({plane: on_devices[plane] for plane in by_name})
    names = [f"{job}/device:CPU:0", *(job + planes[plane].name for plane in on_devices)]
    places = {plane: number for number, plane in enumerate(on_devices, 1)}
    of_op = np.array(
        [places.get(device_of.get(op.name, -1), 0) for op in on_host.names] or [0], np.int64
    )
    device = of_op[on_host.ops] if len(on_host) else on_host.ops
    blocks = [Block(name, np.flatnonzero(device == n)) for n, name in enumerate(names)]
    before = len(on_host)
    for name, runs in zip(names[1:], on_devices.values(), strict=True):
        blocks += _streams(name, timeline, runs, before)
        before += len(runs)
    return blocks


def _main_devices(on_devices: Mapping[int, OpRuns]) -> dict[str, int]:
    """The GPU on which each op spent the most time; of equal times the first one."""
    longest: dict[str, tuple[int, int]] = {}
    for plane, runs in on_devices.items():
        known = runs.ops >= 0
        times = np.zeros(len(runs.names), np.int64)
        np.add.at(times, runs.ops[known], runs.durations_ps[known])
        for op, time in zip(runs.names, times.tolist(), strict=True):
            if time > longest.get(op.name, (-1, -1))[0]:
                longest[op.name] = (time, plane)
    return {name: plane for name, (_, plane) in longest.items()}


def _streams(device: str, timeline: Timeline, runs: OpRuns, before: int) -> list[Block]:
    """Kernels of all streams, copies, and both by stream."""
    blocks = [
        Block(f"{device}/stream:all", before + np.flatnonzero(~runs.is_copy)),
        Block(f"{device}/memcpy", before + np.flatnonzero(runs.is_copy)),
    ]
    line_of = timeline.line_of[runs.events]
    for line in np.unique(line_of).tolist():
        own = np.flatnonzero(line_of == line)
        blocks.append(Block(f"{device}/stream:{timeline.lines[line].id}", before + own))
    return blocks
