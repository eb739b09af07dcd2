"""A step in plain lists: op times to show, lanes, labels, tensors, and the memory they take.

All names are escaped as in JSON, but without quotes. Escaping keeps the marks at which labels and
names are split, and keeps different texts different.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.core.text.trace_json import escaped, unescaped
from tfprof.files.open import open_message
from tfprof.files.sniff import Format

if TYPE_CHECKING:
    from tfprof.files.open import Source


_STREAM_MARKS: Final = ("/stream:", "/memcpy")
"""In the names of devices whose stats are kernels and copies that the GPU tracer saw."""

_ALL_STREAMS: Final = "/stream:all"

_UNKNOWN: Final = "unknown"

Output = tuple[int, str, str]
"""Requested bytes, allocator, and the text form of the tensor description."""


@dataclass(slots=True)
class DeviceStats:
    """One block of StepStats: a list for each field, in message order.

    Attributes:
        device: Name of the device.
        names: Node names.
        labels: Timeline labels.
        starts: Start of each execution, µs.
        durations: From there to the end, µs.
        n_outputs: Outputs of each execution.
        outputs: All outputs, execution by execution; none if not requested.
    """

    device: str
    names: list[str]
    labels: list[str]
    starts: list[int]
    durations: list[int]
    n_outputs: list[int]
    outputs: list[Output]

    @property
    def is_stream(self) -> bool:
        """Whether these are kernels and copies, not ops."""
        return any(mark in self.device for mark in _STREAM_MARKS)


def find_step_stats(source: Source) -> Any:
    """The StepStats message in a source; a message of the caller is not copied.

    Args:
        source: StepStats or RunMetadata as a message of any class, or RunMetadata as bytes or
            file.

    Raises:
        UsageError: The source is of no type that could be opened.
        InputError: The file cannot be read.
        UnknownFormatError: It is something else.
        MalformedProfileError: It is broken.
    """
    name = getattr(getattr(source, "DESCRIPTOR", None), "full_name", None)
    if name == "tensorflow.StepStats":
        return source
    if name == "tensorflow.RunMetadata":
        return source.step_stats  # type: ignore[union-attr]
    return open_message(source, (Format.RUN_METADATA,), argument="step_stats").message.step_stats


def read_devices(step_stats: Any, *, with_outputs: bool) -> list[DeviceStats]:
    """Copy what the timeline needs; reading outputs takes longer than all the rest."""
    return [_read_device(block, with_outputs=with_outputs) for block in step_stats.dev_stats]


def _read_device(block: Any, *, with_outputs: bool) -> DeviceStats:
    read = DeviceStats(block.device, [], [], [], [], [], [])
    # One pass over the stats: each lies elsewhere in memory, so five passes miss five times.
    add_name, add_label = read.names.append, read.labels.append
    add_start, add_duration = read.starts.append, read.durations.append
    add_n_outputs = read.n_outputs.append
    for stat in block.node_stats:
        add_name(stat.node_name)
        add_label(stat.timeline_label)
        add_start(stat.all_start_micros)
        add_duration(stat.all_end_rel_micros)
        outputs = stat.output
        add_n_outputs(len(outputs))
        if with_outputs:
            read.outputs += [_read_output(output.tensor_description) for output in outputs]
    return read


def _read_output(tensor: Any) -> Output:
    allocation = tensor.allocation_description
    return allocation.requested_bytes, allocation.allocator_name, str(tensor).replace('"', "")


def stretch_to_kernels(devices: Sequence[DeviceStats], *, move_starts: bool) -> None:
    """Let ops last until their last kernel has ended.

    Only streams called ``/stream:all`` count; they hold every kernel once. Ops are found by
    name, on devices whose name has a job.

    Args:
        devices: Changed in place.
        move_starts: Whether ops also start with their first kernel.
    """
    windows: dict[str, tuple[int, int]] = {}
    for stats in devices:
        if _ALL_STREAMS not in stats.device:
            continue
        rows = zip(stats.names, stats.labels, stats.starts, stats.durations, strict=True)
        for node_name, label, start, duration in rows:
            name, _ = parse_kernel_label(label, node_name)
            first, last = windows.get(name, (start, start + duration))
            windows[name] = min(first, start), max(last, start + duration)
    for stats in devices:
        if _ALL_STREAMS in stats.device or "/job" not in stats.device:
            continue
        for place, name in enumerate(stats.names):
            if name not in windows:
                continue
            first, last = windows[name]
            end = max(last, stats.starts[place] + stats.durations[place])
            if move_starts:
                stats.starts[place] = first
            stats.durations[place] = end - stats.starts[place]


def assign_lanes(starts: Sequence[int], durations: Sequence[int]) -> list[int]:
    """The row in which each interval is drawn, so that none overlaps another.

    Intervals are placed in the given order, each in the first lane whose last interval ended
    before it starts. One that comes out of order may open a new lane; times at or before 0 never
    fit lane 0.
    """
    lanes = []
    left = [0]
    for start, duration in zip(starts, durations, strict=True):
        for lane, end in enumerate(left):  # noqa: B007 - read below
            if end < start:
                break
        else:
            lane = len(left)
            left.append(0)
        left[lane] = start + duration
        lanes.append(lane)
    return lanes


def parse_op_label(label: str) -> tuple[str, str]:
    """Op type and inputs of ``name = op(inputs)``; ``unknown`` and none for any other label.

    The last possible `` = ``, ``(`` and ``)`` of the first line count.
    """
    if "\n" in label:
        label = label.partition("\n")[0]
    before, close, _ = label.rpartition(")")
    before, opened, inputs = before.rpartition("(")
    _, equals, op = before.rpartition(" = ")
    return (op, inputs) if equals and opened and close else (_UNKNOWN, "")


def parse_kernel_label(label: str, node_name: str) -> tuple[str, str]:
    """Node and op type behind a kernel: the ``node:op`` of ``… @@node:op#…``.

    Without such a mark the node name is read as ``node:op``; without an op, it is ``unknown``.
    """
    at = label.find("@@")
    end = label.find("#")
    annotation = label[at + 2 : end] if at >= 0 and at + 2 < end else node_name
    name, *rest = annotation.split(":")
    return name, rest[0] if rest else _UNKNOWN


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


_Change = tuple[int, int, str]
"""Time, bytes more or (negative) less, and the tensor."""


class AllocationMaximum(NamedTuple):
    """The most that an allocator held at one time.

    Attributes:
        timestamp: When, µs; 0 if it never held anything.
        num_bytes: How much.
        tensors: Names of the tensors that it held.
    """

    timestamp: int
    num_bytes: int
    tensors: set[str]


@dataclass(slots=True)
class MemoryUse:
    """The memory of a step.

    Attributes:
        numbers: Number of each output of the step: how many distinct names came before it. After
            a repeated name, two outputs have the same number, as in TensorFlow.
        last_uses: When each output was used last, µs.
        totals: Time and bytes held of each allocator, at each change.
        maximums: The most that each allocator held.
    """

    numbers: list[int]
    last_uses: list[int]
    totals: dict[str, list[tuple[int, int]]]
    maximums: dict[str, AllocationMaximum]


def memory_of(step: Step) -> MemoryUse:
    """Follow the memory of a step, for which its outputs must have been read."""
    last_uses = _last_uses(step)
    changes: dict[str, list[_Change]] = {}
    for name, output in step.tensors.items():
        num_bytes, allocator, _ = step.outputs[output]
        start = step.starts[step.makers[output]]
        if (of_allocator := changes.get(allocator)) is None:
            of_allocator = changes[allocator] = []
        of_allocator.append((start, num_bytes, name))
        of_allocator.append((last_uses[output], -num_bytes, name))
    use = MemoryUse(_numbers(step), last_uses, {}, {})
    for allocator, several in changes.items():
        several.sort()
        use.totals[allocator], use.maximums[allocator] = _followed(several)
    return use


def _numbers(step: Step) -> list[int]:
    if len(step.tensors) == len(step.tensor_names):
        return list(range(len(step.tensors)))
    seen: set[str] = set()
    numbers = []
    for name in step.tensor_names:
        numbers.append(len(seen))
        seen.add(name)
    return numbers


def _last_uses(step: Step) -> list[int]:
    """An output is used until its op ends, and until 1 µs before the end of each consumer."""
    find = step.tensors.get
    last_uses = [step.ends[maker] for maker in step.makers]
    for track in step.tracks:
        for _, inputs, _, _, start, duration in track.rows():
            if inputs:
                time = start + duration - 1
                for name in inputs.split(", "):
                    output = find(name)
                    if output is None:
                        output = find(step.name_before_partition(name))
                    if output is not None and last_uses[output] < time:
                        last_uses[output] = time
    return last_uses


def _followed(changes: Sequence[_Change]) -> tuple[list[tuple[int, int]], AllocationMaximum]:
    """The total after each change, and the highest, at its first time."""
    total = highest = timestamp = n_until = 0
    totals = []
    for place, (time, num_bytes, _) in enumerate(changes):
        total += num_bytes
        totals.append((time, total))
        if total > highest:
            highest, timestamp, n_until = total, time, place + 1
    return totals, AllocationMaximum(timestamp, highest, _held(changes[:n_until]))


def _held(changes: Sequence[_Change]) -> set[str]:
    """Tensors in memory after these changes; those of no size stay, as in TensorFlow."""
    held: set[str] = set()
    for _, num_bytes, name in changes:
        (held.discard if num_bytes < 0 else held.add)(name)
    return set(unescaped(sorted(held)))
