"""Which op each event of a host's threads and devices ran."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.analysis.xspace.hlo_events import HloKey, hlo_keys
from tfprof.analysis.xspace.names import GPU_PREFIX
from tfprof.analysis.xspace.op_names import OpKind, parse_op_name
from tfprof.analysis.xspace.op_roofline import WITH_INNER_OPS
from tfprof.analysis.xspace.timeline import Timeline
from tfprof.analysis.xspace.tpu_ops import (
    OPS,
    OpMetadata,
    device_spans,
    first_kind,
    tensor_cores,
)
from tfprof.model.columns import BoolArray, Int64Array

NO_OP = -1

WITHOUT_OP = "kernels_without_op"
"""Scope of kernels that no op explains."""

_KERNEL = re.compile(r"(?:void )?(?P<name>[\w:]*\w)")
_COPY = re.compile(r"mem(?:cpy|set)", re.IGNORECASE)
_DIRECTION = re.compile(r"memcpy([hdp])(?:to|2)([hdp])", re.IGNORECASE)


class NamedOp(NamedTuple):
    """An op as a capture names it.

    Attributes:
        name: With its scopes.
        type: ``MatMul``; empty if unknown.
    """

    name: str
    type: str


@dataclass(frozen=True, eq=False)
class OpRuns:
    """Runs of ops, each of shape (n,).

    Attributes:
        events: Places in the timeline.
        ops: Places in ``names``; ``NO_OP`` for copies that no op explains.
        durations_ps: How long each took, ops inside included.
        is_copy: Whether it moves data to, from or within a device.
        names: The ops, no two the same.
    """

    events: Int64Array
    ops: Int64Array
    durations_ps: Int64Array
    is_copy: BoolArray
    names: tuple[NamedOp, ...]

    def __len__(self) -> int:
        return len(self.events)


ProvenanceOf = Callable[[int | None, str, str], str | None]
"""Program id, module and instruction → the framework's op behind it, empty if the program does not
tell; None if the program is not in the capture."""


def host_op_runs(timeline: Timeline) -> OpRuns:
    """Ops on threads of the host: events that are called ``scope/name:Type``.

    Stages of input pipelines are no ops of a graph, and are not among them.
    """
    names = _Names()
    of_kind = np.array(
        [
            names.number(op.name, op.type)
            if op.kind in (OpKind.TENSORFLOW, OpKind.JAX)
            else NO_OP
            for op in timeline.ops
        ],
        np.int64,
    )  # fmt: skip
    events = np.flatnonzero(timeline.of_lines(lambda line: line.is_host and not line.is_derived))
    ops = of_kind[timeline.kinds[events]] if len(of_kind) else np.zeros(0, np.int64)
    return _runs(timeline, events[ops >= 0], ops[ops >= 0], names)


def gpu_op_runs(timeline: Timeline, plane: int, provenance: ProvenanceOf) -> OpRuns:
    """What the streams of a GPU ran.

    Args:
        timeline: The events.
        plane: Place of the GPU's plane.
        provenance: What the framework calls an instruction.
    """
    chosen = timeline.of_lines(lambda line: line.plane == plane and not line.is_derived)
    events = np.flatnonzero(chosen)
    names = _Names()
    keys, place = hlo_keys(timeline, events)
    of_key = [NO_OP if key is None else _of_instruction(names, key, provenance) for key in keys]
    ops = np.array(of_key or [NO_OP], np.int64)[place] if len(events) else place
    told = timeline.stat("tf_op")
    of_text = np.array([names.parsed(text) for text in told.texts] or [NO_OP], np.int64)
    texts = told.text_ids(len(timeline))[events]
    ops = np.where((ops < 0) & (texts >= 0), of_text[texts], ops)
    ops = np.where(ops < 0, _kernels(timeline, events[ops < 0], names)[timeline.kinds[events]], ops)
    return _runs(timeline, events, ops, names)


def _kernels(timeline: Timeline, events: Int64Array, names: _Names) -> Int64Array:
    """Ops that stand for kernels without one, by kind of event; ``NO_OP`` for copies."""
    of_kind = np.full(len(timeline.names) + 1, NO_OP, np.int64)
    for kind in np.unique(timeline.kinds[events]).tolist():
        title = timeline.names[kind]
        found = _KERNEL.match(title)
        name = found["name"].replace("::", ".").replace(":", "") if found else "unnamed"
        if not copy_name(title):
            of_kind[kind] = names.number(f"{WITHOUT_OP}/{name}", "")
    return of_kind


def _of_instruction(names: _Names, key: HloKey, provenance: ProvenanceOf) -> int:
    told = provenance(*key)
    if told is None:
        return NO_OP
    return names.parsed(told) if told else names.number(key[2], "")


def tpu_op_runs(timeline: Timeline, plane: int) -> OpRuns:
    """Instructions that a TensorCore ran; those that hold others (loops, calls) are left out."""
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
            numbers.append(names.number(op.key.name, ""))
    ops = np.array(numbers or [NO_OP], np.int64)[place] if len(place) else place
    kept = ops >= 0
    durations = (spans.end_ps - spans.start_ps)[kept]
    return OpRuns(
        spans.events[kept], ops[kept], durations, np.zeros(len(durations), np.bool_), names.all
    )


def gpus(timeline: Timeline) -> list[int]:
    """Places of the planes of GPUs."""
    planes = enumerate(timeline.space.planes)
    return [number for number, plane in planes if plane.name.startswith(GPU_PREFIX)]


def devices(timeline: Timeline) -> list[int]:
    """Places of the planes of TensorCores, else of GPUs."""
    return tensor_cores(timeline) or gpus(timeline)


def copy_name(event_name: str) -> str:
    """What TensorFlow 1 called a copy: ``MEMCPYHtoD``; empty for what is none."""
    found = _DIRECTION.match(event_name)
    return f"MEMCPY{found[1].upper()}to{found[2].upper()}" if found else ""


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


def first_runs(parts: Iterable[OpRuns]) -> dict[str, int]:
    """The first event of each op by its name; of several parts, of the first that has it."""
    found: dict[str, int] = {}
    for runs in parts:
        known = np.flatnonzero(runs.ops >= 0)
        ops, first = np.unique(runs.ops[known], return_index=True)
        for op, place in zip(ops.tolist(), known[first].tolist(), strict=True):
            found.setdefault(runs.names[op].name, int(runs.events[place]))
    return found
