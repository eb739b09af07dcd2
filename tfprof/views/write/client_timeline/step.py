"""A step in plain lists: rows to draw, and which op made which tensor.

All names are escaped as in JSON, but without quotes. Escaping keeps the marks at which labels and
names are split, and keeps different texts different.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tfprof.views.write.client_timeline.step_stats import (
    DeviceStats,
    Output,
    assign_lanes,
    parse_kernel_label,
    parse_op_label,
)
from tfprof.views.write.trace_json import escaped

_RECV_TENSOR: Final = "RecvTensor"

OpRow = tuple[str, str, str, int, int, int]
"""Op type, inputs with ``, `` between them, name, lane, start and duration."""


@dataclass(slots=True)
class Track:
    """One block of stats.

    Attributes:
        device: Its device, not escaped.
        pid: The process that shows its ops; the next one shows its tensors.
        ops: Op types.
        inputs: Inputs, with ``, `` between them.
        names: Names of the ops.
        lanes: Lanes, from 0.
        starts: Starts, µs.
        durations: Durations, µs.
    """

    device: str
    pid: int
    ops: list[str]
    inputs: list[str]
    names: list[str]
    lanes: list[int]
    starts: list[int]
    durations: list[int]

    def rows(self) -> Iterator[OpRow]:
        """All columns, row by row."""
        return zip(
            *(self.ops, self.inputs, self.names, self.lanes, self.starts, self.durations),
            strict=True,
        )


@dataclass(slots=True)
class Step:
    """All blocks of a step, and its tensors.

    Attributes:
        tracks: The blocks.
        pids: Process of each execution of all blocks, one block after the other.
        lanes: Their lanes.
        starts: Their starts, µs.
        ends: Their ends, µs.
        tensor_names: Name of each output of all executions, in order.
        makers: The execution that made it.
        outputs: Its memory; empty if that was not read.
        tensors: The last output of each name, in order of the first.
    """

    tracks: list[Track] = field(default_factory=list)
    pids: list[int] = field(default_factory=list)
    lanes: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    tensor_names: list[str] = field(default_factory=list)
    makers: list[int] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    tensors: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def name_before_partition(name: str) -> str:
        """The tensor for an input of unknown name.

        Nodes that the partitioner puts between an op and its consumer have the name of the op
        and a number.
        """
        cut = name.rfind("/_")
        return name[:cut] if cut > 0 else name


def make_step(devices: Sequence[DeviceStats]) -> Step:
    """Assign processes and lanes, and split labels."""
    step = Step()
    # Several blocks of one device share the processes of the last one.
    pids = {stats.device: 2 * place + 1 for place, stats in enumerate(devices)}
    for stats in devices:
        track = _make_track(stats, pids[stats.device])
        _add_tensor_names(step, escaped(stats.names) if stats.is_stream else track.names, stats)
        step.tracks.append(track)
        step.pids += [track.pid] * len(track.names)
        step.lanes += track.lanes
        step.starts += track.starts
        step.ends += map(int.__add__, track.starts, track.durations)
        step.outputs += stats.outputs
    step.tensors = dict(zip(step.tensor_names, range(len(step.tensor_names)), strict=True))
    return step


def _make_track(stats: DeviceStats, pid: int) -> Track:
    names = stats.names.copy()
    ops, inputs = [""] * len(names), [""] * len(names)
    if stats.is_stream:
        for place, label in enumerate(stats.labels):
            names[place], ops[place] = parse_kernel_label(label, names[place])
    else:
        for place, label in enumerate(stats.labels):
            ops[place], inputs[place] = parse_op_label(label)
        for place, name in enumerate(names):
            if name == _RECV_TENSOR:
                ops[place], inputs[place] = _RECV_TENSOR, ""
    return Track(
        stats.device,
        pid,
        escaped(ops),
        escaped(inputs),
        escaped(names),
        assign_lanes(stats.starts, stats.durations),
        stats.starts,
        stats.durations,
    )


def _add_tensor_names(step: Step, names: Sequence[str], stats: DeviceStats) -> None:
    """The first output of an op has the op's name, the others a number behind it."""
    add_name, add_maker = step.tensor_names.append, step.makers.append
    for maker, (name, n_outputs) in enumerate(
        zip(names, stats.n_outputs, strict=True), start=len(step.pids)
    ):
        if n_outputs:
            add_name(name)
            add_maker(maker)
            for slot in range(1, n_outputs):
                add_name(f"{name}:{slot}")
                add_maker(maker)
