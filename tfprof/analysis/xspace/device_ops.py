"""Time of ops on devices: those of the framework on GPUs, and those of XLA's programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tfprof.analysis.xspace.hlo_events import hlo_keys
from tfprof.analysis.xspace.names import GPU_PREFIX
from tfprof.analysis.xspace.op_names import parse_op_name
from tfprof.analysis.xspace.timeline import Timeline
from tfprof.model.columns import BoolArray, Int64Array


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that ops move, by memory.

    Attributes:
        all_bytes: Everything that is read and written.
        main_bytes: What of it the main memory (HBM) sees.
        by_space: Bytes read and written, by memory space, where the device tells.
    """

    all_bytes: int = 0
    main_bytes: int = 0
    by_space: tuple[tuple[int, int, int], ...] = ()

    @property
    def hbm_bytes(self) -> int:
        """Bytes of the main memory; everything, if nobody tells where it lies."""
        return self.main_bytes if self.by_space or self.main_bytes else self.all_bytes

    def __add__(self, other: Traffic) -> Traffic:
        spaces: dict[int, list[int]] = {}
        for space, read, written in (*self.by_space, *other.by_space):
            known = spaces.setdefault(space, [0, 0])
            known[0] += read
            known[1] += written
        return Traffic(
            self.all_bytes + other.all_bytes,
            self.main_bytes + other.main_bytes,
            tuple((space, *amounts) for space, amounts in sorted(spaces.items())),  # type: ignore[misc]
        )


class OpKey(NamedTuple):
    """What tells ops of devices apart.

    Attributes:
        program_id: The compiled program, unsigned; 0 for ops that are in none.
        name: Name of the instruction; of an op without program, its name and its kernel's.
    """

    program_id: int
    name: str


_OUTSIDE = (":XlaSendToHost", ":XlaRecvFromHost")


@dataclass(frozen=True, slots=True)
class DeviceOp:
    """An op with what all its runs took.

    Attributes:
        key: What it is.
        category: ``convolution fusion``; of an op without program its type.
        provenance: The framework's op behind it, ``scope/name:Type``; empty if unknown.
        expression: The instruction as text.
        deduplicated_name: An equal instruction that stands for it.
        source: File, line and call stack of what made it.
        occurrences: How often it ran.
        time_ps: Time of all runs.
        self_ps: The same without ops inside.
        normalized_ps: The same at the device's nominal clock.
        flops: Float operations of all runs, as the device counts them.
        model_flops: As the model has them.
        traffic: Bytes of all runs.
        is_eager: Whether any ran eagerly.
        is_known: Whether its cost could be counted.
        children: Ops inside a fusion.
    """

    key: OpKey
    category: str = ""
    provenance: str = ""
    expression: str = ""
    deduplicated_name: str = ""
    source: tuple[str, int, str] = ("", 0, "")
    occurrences: int = 0
    time_ps: int = 0
    self_ps: int = 0
    normalized_ps: int = 0
    flops: int = 0
    model_flops: int = 0
    traffic: Traffic = field(default_factory=Traffic)
    is_eager: bool = False
    is_known: bool = True
    children: tuple[DeviceOp, ...] = ()

    @property
    def has_known_cost(self) -> bool:
        """Whether its float operations and bytes are known: those of a kernel alone are not."""
        return bool(self.flops or self.traffic.all_bytes or (self.is_known and self.expression))

    @property
    def is_outside_compilation(self) -> bool:
        """Whether it hands something to the host, or takes it from there, amid a program."""
        sends = "send-done" in self.expression and "is_host_transfer=true" in self.expression
        return self.provenance.endswith(_OUTSIDE) or sends

    def plus(self, other: DeviceOp) -> DeviceOp:
        """The same op on another device or host, together."""
        return replace(
            self,
            occurrences=self.occurrences + other.occurrences,
            time_ps=self.time_ps + other.time_ps,
            self_ps=self.self_ps + other.self_ps,
            normalized_ps=self.normalized_ps + other.normalized_ps,
            flops=self.flops + other.flops,
            model_flops=self.model_flops + other.model_flops,
            traffic=self.traffic + other.traffic,
            is_eager=self.is_eager or other.is_eager,
            is_known=self.is_known and other.is_known,
        )


@dataclass(frozen=True, slots=True)
class DeviceOps:
    """Ops of the devices of one or more hosts.

    Attributes:
        ops: No two with the same key, in the order in which they were first seen.
        total_ps: Time from the first op of each device to its last.
        idle_ps: What of that no op covers.
    """

    ops: tuple[DeviceOp, ...] = ()
    total_ps: int = 0
    idle_ps: int = 0

    @property
    def busy_ps(self) -> int:
        """Time of the ops themselves."""
        return self.total_ps - self.idle_ps


def merged(parts: Iterable[DeviceOps]) -> DeviceOps:
    """Ops of several devices together."""
    found: dict[OpKey, DeviceOp] = {}
    total = idle = 0
    for part in parts:
        total, idle = total + part.total_ps, idle + part.idle_ps
        for op in part.ops:
            known = found.get(op.key)
            found[op.key] = op if known is None else known.plus(op)
    return DeviceOps(tuple(found.values()), total, idle)


Describe = Callable[[int | None, str, str], DeviceOp | None]
"""Program id, module and instruction of an event → what one run of it costs; None if the program
is not in the capture."""


def gpu_ops(
    timeline: Timeline, eager: BoolArray, describe: Describe, *, classic: bool = False
) -> DeviceOps:
    """Ops of the GPUs of a host (``xplane_to_op_metrics_db.cc``).

    An instruction may be several kernels: it ran as often as the one that ran most. Events
    without a known instruction count for the framework's op that launched them.

    Args:
        timeline: The events.
        eager: Whether each event ran eagerly, shape (n events,).
        describe: What an instruction is.
        classic: Take each kernel for a run, as the reference does, whose float operations are
            too many for it.
    """
    parts = []
    for number, plane in enumerate(timeline.space.planes):
        if not plane.name.startswith(GPU_PREFIX):
            continue
        chosen = timeline.of_lines(
            lambda line, number=number: line.plane == number and not line.is_derived  # type: ignore[misc]
        )
        events = np.flatnonzero(chosen)
        if len(events):
            parts.append(_ops_of_plane(timeline, events, eager, describe, classic))
    return merged(parts)


def _ops_of_plane(
    timeline: Timeline, events: Int64Array, eager: BoolArray, describe: Describe, classic: bool
) -> DeviceOps:
    described = _instructions(timeline, events, describe)
    durations = timeline.durations_ps[events]
    found = _runs_of_instructions(timeline, events, described, durations, eager, classic)
    found += _framework_ops(timeline, events, described.place < 0, durations, eager)
    busy = sum(op.self_ps for op in found)
    span = int(timeline.ends_of(events).max() - timeline.starts_ps[events].min())
    total = max(span, busy)  # streams run side by side
    return DeviceOps(tuple(found), total, total - busy)


class _Described(NamedTuple):
    """Instructions of events: places in ``ops``, -1 without one, shape (n,)."""

    place: Int64Array
    ops: Sequence[DeviceOp]


def _instructions(timeline: Timeline, events: Int64Array, describe: Describe) -> _Described:
    keys, place = hlo_keys(timeline, events)
    ops: dict[OpKey, tuple[int, DeviceOp]] = {}
    numbers = []
    for key in keys:
        op = None if key is None else describe(*key)
        if op is None:
            numbers.append(-1)
            continue
        number, _ = ops.setdefault(op.key, (len(ops), op))
        numbers.append(number)
    return _Described(np.array(numbers, np.int64)[place], [op for _, op in ops.values()])


def _runs_of_instructions(
    timeline: Timeline,
    events: Int64Array,
    described: _Described,
    durations: Int64Array,
    eager: BoolArray,
    classic: bool,
) -> list[DeviceOp]:
    rows = np.flatnonzero(described.place >= 0)
    if not len(rows):
        return []
    place = described.place[rows]
    size = len(described.ops)
    if classic:
        runs = np.bincount(place, minlength=size)
    else:
        pairs = np.stack([place, timeline.kinds[events[rows]].astype(np.int64)], axis=1)
        kernels, counts = np.unique(pairs, axis=0, return_counts=True)
        runs = np.zeros(size, np.int64)
        np.maximum.at(runs, kernels[:, 0], counts)
    times = _sums(place, durations[rows], size)
    ran_eagerly = np.bincount(place, eager[events[rows]], minlength=size) > 0
    return [
        of_runs(
            op, int(runs[number]), times[number], times[number],
            is_eager=bool(ran_eagerly[number]),
        )
        for number, op in enumerate(described.ops)
    ]  # fmt: skip


def of_runs(op: DeviceOp, runs: int, time_ps: int, self_ps: int, *, is_eager: bool) -> DeviceOp:
    """An op with the cost of one run → the op with that of all its runs, and their time."""
    traffic = op.traffic
    return replace(
        op,
        occurrences=runs,
        time_ps=time_ps,
        self_ps=self_ps,
        normalized_ps=time_ps,
        flops=op.flops * runs,
        model_flops=op.model_flops * runs,
        traffic=Traffic(
            traffic.all_bytes * runs,
            traffic.main_bytes * runs,
            tuple(
                (space, read * runs, written * runs) for space, read, written in traffic.by_space
            ),
        ),
        is_eager=is_eager,
    )


def _framework_ops(
    timeline: Timeline,
    events: Int64Array,
    is_free: BoolArray,
    durations: Int64Array,
    eager: BoolArray,
) -> list[DeviceOp]:
    """Ops of events that no known program explains: one for each op and kernel."""
    told = timeline.stat("tf_op")
    ops = told.text_ids(len(timeline))[events].astype(np.int64)
    has_text = np.array([bool(text) for text in told.texts] or [False], np.bool_)
    rows = np.flatnonzero(is_free & (ops >= 0) & has_text[ops])
    if not len(rows):
        return []
    columns = np.stack([ops[rows], timeline.kinds[events[rows]].astype(np.int64)], axis=1)
    distinct, first, place = np.unique(columns, axis=0, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    size = len(distinct)
    counts = np.bincount(place, minlength=size).tolist()
    times = _sums(place, durations[rows], size)
    ran_eagerly = np.bincount(place, eager[events[rows]], minlength=size) > 0
    found: dict[OpKey, DeviceOp] = {}
    for number in np.argsort(first).tolist():
        text, kind = distinct[number].tolist()
        provenance = told.texts[text]
        parsed = parse_op_name(provenance)
        key = OpKey(0, f"{parsed.name}/{timeline.names[kind]}")
        op = DeviceOp(
            key, parsed.type or "unknown", provenance, occurrences=counts[number],
            time_ps=times[number], self_ps=times[number], normalized_ps=times[number],
            is_eager=bool(ran_eagerly[number]),
        )  # fmt: skip
        found[key] = found[key].plus(op) if key in found else op
    return list(found.values())


def _sums(place: Int64Array, values: Int64Array, size: int) -> list[int]:
    sums = np.zeros(size, np.int64)
    np.add.at(sums, place, values)
    return sums.tolist()


@dataclass(frozen=True, slots=True)
class FrameworkOp:
    """Ops of devices that one op of the framework has made.

    Attributes:
        name: Of the framework's op.
        type: Its type; empty if unknown.
        occurrences: Of the part that ran the most often.
        time_ps: Of all parts.
        self_ps: The same without ops inside.
        flops: As the device counts them.
        model_flops: As the model has them.
        traffic: Bytes.
        is_eager: Whether any ran eagerly.
    """

    name: str
    type: str
    occurrences: int
    time_ps: int
    self_ps: int
    flops: int
    model_flops: int
    traffic: Traffic
    is_eager: bool


def framework_ops(ops: Iterable[DeviceOp]) -> list[FrameworkOp]:
    """Ops of devices by what the framework calls them (``op_metrics_db_utils.cc``)."""
    found: dict[tuple[str, str], FrameworkOp] = {}
    for op in ops:
        parsed = parse_op_name(op.provenance) if op.provenance else None
        name, type_ = (parsed.name, parsed.type) if parsed else (op.key.name, "")
        more = FrameworkOp(
            name, type_, op.occurrences, op.time_ps, op.self_ps, op.flops, op.model_flops,
            op.traffic, op.is_eager,
        )  # fmt: skip
        known = found.get((name, type_))
        found[name, type_] = more if known is None else _together(known, more)
    return list(found.values())


def _together(one: FrameworkOp, other: FrameworkOp) -> FrameworkOp:
    return FrameworkOp(
        one.name,
        one.type,
        max(one.occurrences, other.occurrences),
        one.time_ps + other.time_ps,
        one.self_ps + other.self_ps,
        one.flops + other.flops,
        one.model_flops + other.model_flops,
        one.traffic + other.traffic,
        one.is_eager or other.is_eager,
    )
