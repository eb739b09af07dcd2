"""Runs of ops on a host's threads and devices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.device_ops import WITHOUT_OP
from tfprof.captures.events.ops.executions import (
    UNKNOWN_MODULE,
    ExecutedOp,
    OpOfInstruction,
    host_executions,
    op_of_instruction,
)
from tfprof.captures.events.ops.op_roofline import WITH_INNER_OPS
from tfprof.captures.events.ops.tpu_ops import (
    OPS,
    OpMetadata,
    device_spans,
    first_kind,
    tensor_cores,
)
from tfprof.captures.events.timeline.op_names import OpKind, parse_op_name
from tfprof.captures.events.timeline.programs import HloKey, hlo_keys
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array

NO_OP = -1

_KERNEL = re.compile(r"(?:void )?(?P<name>[\w:]*\w)")
_COPY = re.compile(r"mem(?:cpy|set)", re.IGNORECASE)
_DIRECTION = re.compile(r"memcpy([hdp])(?:to|2)([hdp])", re.IGNORECASE)


class NamedOp(NamedTuple):
    """An op with its name in a capture.

    Attributes:
        name: Name with scopes.
        type: ``MatMul``; empty if unknown.
    """

    name: str
    type: str


@dataclass(frozen=True, eq=False)
class OpRuns:
    """Runs of ops, each of shape (n,).

    Attributes:
        events: Places in the timeline.
        ops: Places in ``names``; ``NO_OP`` for copies without an op.
        durations_ps: Duration of each, including nested ops.
        is_copy: Whether it moves data to, from or within a device.
        names: The ops, all distinct.
    """

    events: Int64Array
    ops: Int64Array
    durations_ps: Int64Array
    is_copy: BoolArray
    names: tuple[NamedOp, ...]

    def __len__(self) -> int:
        return len(self.events)


def host_op_runs(
    timeline: Timeline, eager: BoolArray | None = None, op_of: OpOfInstruction | None = None
) -> OpRuns:
    """Ops on threads of the host (``executions``).

    Stages of input pipelines are left out: they are not ops of a graph.

    Args:
        timeline: The events.
        eager: Whether each event ran eagerly, shape (n events,); by default none did.
        op_of: Returns the framework's op of an instruction.
    """
    executions = host_executions(timeline, eager, op_of)
    names = _Names()
    numbers = np.array(
        [
            names.number(op.name, op.type)
            if op.part or op.kind in (OpKind.TENSORFLOW, OpKind.JAX)
            else NO_OP
            for op in executions.names
        ]
        or [NO_OP],
        np.int64,
    )
    ops = numbers[executions.ops]
    return _runs(timeline, executions.events[ops >= 0], ops[ops >= 0], names)


def gpu_op_runs(timeline: Timeline, plane: int, op_of: OpOfInstruction) -> OpRuns:
    """Runs of ops on the streams of a GPU.

    Args:
        timeline: The events.
        plane: Place of the GPU's plane.
        op_of: Returns the framework's op of an instruction; if unknown, ``tf_op`` counts.
    """
    events = timeline.events_of_plane(plane)
    names = _Names()
    keys, place = hlo_keys(timeline, events)
    known = [None if key is None else op_of(key) for key in keys]
    ops = _of_keys(names, known, place)
    tf_op = timeline.stat("tf_op")
    of_text = [NO_OP if text == UNKNOWN_MODULE else names.parsed(text) for text in tf_op.texts]
    texts = tf_op.texts_at(events)
    by_text = np.array([*of_text, NO_OP], np.int64)[texts]
    ops = np.where(ops < 0, by_text, ops)
    if (ops < 0).any():
        unknown = [None if key is None else op_of_instruction(key) for key in keys]
        ops = np.where(ops < 0, _of_keys(names, unknown, place), ops)
    ops = np.where(ops < 0, _kernels(timeline, events[ops < 0], names)[timeline.kinds[events]], ops)
    return _runs(timeline, events, ops, names)


def _of_keys(names: _Names, ops: Sequence[ExecutedOp | None], place: Int64Array) -> Int64Array:
    numbers = [NO_OP if op is None else names.number(op.name, op.type) for op in ops]
    op_of_key: Int64Array = np.array([*numbers, NO_OP], np.int64)[place]
    return op_of_key


def _kernels(timeline: Timeline, events: Int64Array, names: _Names) -> Int64Array:
    """Placeholder ops for kernels without an op, by kind of event; ``NO_OP`` for copies."""
    of_kind = np.full(len(timeline.names) + 1, NO_OP, np.int64)
    for kind in np.unique(timeline.kinds[events]).tolist():
        title = timeline.names[kind]
        match = _KERNEL.match(title)
        name = match["name"].replace("::", ".").replace(":", "") if match else "unnamed"
        if not copy_name(title):
            of_kind[kind] = names.number(f"{WITHOUT_OP}/{name}", "")
    return of_kind


def tpu_op_runs(timeline: Timeline, plane: int, modules: Mapping[int, str] | None = None) -> OpRuns:
    """Instructions that a TensorCore ran; those that hold others (loops, calls) are left out.

    Args:
        timeline: The events.
        plane: Place of the core's plane.
        modules: Names of programs by id.
    """
    spans = device_spans(timeline, plane, OPS)
    metadata, before = OpMetadata(timeline.space.planes[plane]), first_kind(timeline, plane)
    names = _Names()
    kinds, place = np.unique(timeline.kinds[spans.events], return_inverse=True)
    numbers = []
    for kind in kinds.tolist():
        op = metadata.op(kind - before - 1)
        if op is None or op.category in WITH_INNER_OPS:
            numbers.append(NO_OP)
        elif op.provenance:
            numbers.append(names.parsed(op.provenance))
        else:
            module = (modules or {}).get(op.key.program_id or 0, "")
            key = HloKey(op.key.program_id, module, op.key.name)
            numbers.append(names.number(op_of_instruction(key).name, ""))
    ops = np.array(numbers or [NO_OP], np.int64)[place] if len(place) else place
    kept = ops >= 0
    durations = (spans.end_ps - spans.start_ps)[kept]
    return OpRuns(
        spans.events[kept], ops[kept], durations, np.zeros(len(durations), np.bool_), names.all
    )


def devices(timeline: Timeline) -> list[int]:
    """Places of the planes of TensorCores, else of GPUs."""
    return tensor_cores(timeline) or timeline.planes_of_gpus()


def copy_name(event_name: str) -> str:
    """TensorFlow 1's name of a copy: ``MEMCPYHtoD``; empty for other events."""
    direction = _DIRECTION.match(event_name)
    return f"MEMCPY{direction[1].upper()}to{direction[2].upper()}" if direction else ""


class _Names:
    """Numbers of ops."""

    def __init__(self) -> None:
        self._numbers: dict[NamedOp, int] = {}

    def number(self, name: str, type_: str) -> int:
        return self._numbers.setdefault(NamedOp(name, type_), len(self._numbers))

    def parsed(self, text: str) -> int:
        """The number of ``scope/name:Type``; ``NO_OP`` for an empty text."""
        if not text:
            return NO_OP
        op = parse_op_name(text)
        return self.number(op.name, op.type)

    @property
    def all(self) -> tuple[NamedOp, ...]:
        return tuple(self._numbers)


def _runs(timeline: Timeline, events: Int64Array, ops: Int64Array, names: _Names) -> OpRuns:
    is_copy = np.array([_COPY.match(name) is not None for name in timeline.names] or [False])
    copies = is_copy[timeline.kinds[events]] if len(events) else np.zeros(0, np.bool_)
    return OpRuns(events, ops, timeline.durations_ps[events], copies, names.all)


def first_runs(parts: Iterable[OpRuns], starts_ps: Int64Array) -> dict[str, int]:
    """The earliest event of each op by name, from the first of the parts that has the op.

    Args:
        parts: The runs.
        starts_ps: Starts of all events of the timeline.
    """
    first_ps: dict[str, int] = {}
    for runs in parts:
        known = np.flatnonzero(runs.ops >= 0)
        known = known[np.argsort(starts_ps[runs.events[known]], kind="stable")]
        ops, first = np.unique(runs.ops[known], return_index=True)
        for op, place in zip(ops.tolist(), known[first].tolist(), strict=True):
            first_ps.setdefault(runs.names[op].name, int(runs.events[place]))
    return first_ps
