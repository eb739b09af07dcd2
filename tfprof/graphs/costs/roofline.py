"""Lower bounds of the time of ops on a device, from its peak rates: the roofline model.

An op takes at least the time of its operations at the peak rate, and at least that of its bytes at
the peak bandwidth. Its bytes are those of its inputs, weights included, and of its outputs: it is
taken to read and write each once, which holds for ops that run one by one. A compiler that fuses
ops moves less. (Williams, Waterman & Patterson, Roofline, CACM 52(4), 2009.)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tfprof.core.columns.frames_of_rows import ReadByDataFrames
from tfprof.core.hardware import Device
from tfprof.core.text.units import human_count
from tfprof.graphs.flops.formulas import Cost
from tfprof.graphs.interpreter.analysis import Status, Verdict
from tfprof.graphs.interpreter.phases import STEP
from tfprof.graphs.interpreter.tally import OpRow
from tfprof.graphs.model.run_counts import scaled
from tfprof.graphs.model.symbolic import Number, total
from tfprof.graphs.model.tensors import (
    DT_RESOURCE,
    DT_VARIANT,
    ELEMENT_BYTES,
    REF,
    Handle,
    Tensor,
    known_dims,
)

ASSUMPTION = (
    "a lower bound: at peak rates, with ops one by one, each of which reads its inputs and writes "
    "its outputs once; ops without float operations are left out"
)

_PICOS = 10**12
_UPDATES_ALL = re.compile(r"ResourceApply|Assign(Add|Sub)VariableOp")
"""Ops that read and write the whole variable that a handle refers to."""


class Bound(NamedTuple):
    """The limit of an op on a device.

    Attributes:
        picos: Picoseconds that one run takes at least; None if sizes or rates are unknown.
        by: ``compute``, ``memory``; empty if it is unknown.
        bytes: Bytes that it moves; None if unknown.
    """

    picos: int | None
    by: str
    bytes: Number | None


def bound_of(
    op_type: str,
    cost: Cost,
    inputs: Iterable[Tensor],
    outputs: Iterable[Tensor],
    device: Device,
) -> Bound:
    """The limit of one run of an op, rounded down to picoseconds.

    Where only one of the two limits is known, that one is a lower bound, too.
    """
    inputs, outputs = tuple(inputs), tuple(outputs)
    moved = moved_bytes(op_type, inputs, outputs)
    compute = _compute_picos(cost, _dtype(inputs, outputs), device)
    memory: int | None = None
    if isinstance(moved, int) and device.bytes_per_second is not None:
        memory = _picos_of(moved, device.bytes_per_second)
    known = [(n, by) for n, by in ((compute, "compute"), (memory, "memory")) if n is not None]
    picos, by = max(known, key=lambda limit: limit[0], default=(None, ""))
    return Bound(picos, by, moved)


def _compute_picos(cost: Cost, dtype: int, device: Device) -> int | None:
    """The longer of the known parts: matrix units and other units work at the same time."""
    known = []
    for count, is_product in ((2 * cost.macs, True), (cost.other, False)):
        if count == 0:
            continue
        rate = device.rate(dtype, is_product)
        if rate is not None and isinstance(count, int):
            known.append(_picos_of(count, rate))
    return max(known, default=None)


def _picos_of(count: int, per_second: float) -> int:
    """Picoseconds, rounded down; exact, as counts of odd shapes may be larger than any float."""
    whole, part = per_second.as_integer_ratio()
    return count * _PICOS * part // whole


def _dtype(inputs: Iterable[Tensor], outputs: Iterable[Tensor]) -> int:
    """Element type of the computation: that of the first input that is data, else of the output."""
    for tensor in (*inputs, *outputs):
        if tensor.dtype == DT_RESOURCE and tensor.handle is not None and tensor.handle.dtype:
            return tensor.handle.dtype
        if tensor.dtype not in (0, DT_RESOURCE, DT_VARIANT):
            return tensor.dtype % REF
    return 0


def moved_bytes(op_type: str, inputs: Iterable[Tensor], outputs: Iterable[Tensor]) -> Number | None:
    """Bytes of inputs and outputs; None if a shape or type is unknown."""
    sizes = []
    for tensor in inputs:
        size = tensor_bytes(tensor)
        if tensor.dtype == DT_RESOURCE and _UPDATES_ALL.match(op_type):
            handle = tensor.handle or Handle(None)
            held = tensor_bytes(Tensor(known_dims(handle.shape), handle.dtype))
            size = None if held is None else 2 * held
        sizes.append(size)
    sizes += [tensor_bytes(tensor) for tensor in outputs]
    known = [size for size in sizes if size is not None]
    return total(known) if len(known) == len(sizes) else None


def tensor_bytes(tensor: Tensor) -> Number | None:
    """Bytes that a tensor takes; None if shape or type are unknown, or it is a handle."""
    width = ELEMENT_BYTES.get(tensor.dtype % REF)
    if tensor.shape is None or width is None:
        return None
    return math.prod(tensor.shape) * width


class RooflineRow(NamedTuple):
    """An op on a device, all its runs together.

    Attributes:
        op: The op.
        bound: The limit of one run of it.
    """

    op: OpRow
    bound: Bound

    @property
    def picos(self) -> Number | None:
        """Picoseconds of all runs; None if unknown."""
        return self._all_runs(self.bound.picos)

    @property
    def bytes(self) -> Number | None:
        """Bytes of all runs; None if unknown."""
        return self._all_runs(self.bound.bytes)

    def _all_runs(self, number: Number | None) -> Number | None:
        return None if number is None else scaled(number, self.op.times)

    @property
    def intensity(self) -> float | None:
        """Float operations per byte; None if unknown."""
        flops, moved = self.op.verdict.cost.flops, self.bound.bytes
        if not isinstance(flops, int) or not isinstance(moved, int) or not moved:
            return None
        return flops / moved


@dataclass(frozen=True, slots=True)
class Roofline(ReadByDataFrames):
    """The time that a device needs at least for the ops of a program.

    Attributes:
        device: The device.
        rows: The ops that have float operations, in the program's order.
        unknown: Ops whose sizes are unknown, or for whose type no rate is published.
    """

    device: Device
    rows: tuple[RooflineRow, ...]
    unknown: int

    @property
    def micros(self) -> float | None:
        """Microseconds that the ops take at least; None if numbers of runs are unknown."""
        return self.micros_by("compute", "memory")

    def micros_by(self, *resources: str) -> float | None:
        """Microseconds of the ops that ``compute`` or ``memory`` limits."""
        picos = total(row.picos or 0 for row in self.rows if row.bound.by in resources)
        return picos / 1e6 if isinstance(picos, int) else None

    def to_rows(self) -> list[dict[str, Any]]:
        """The ops as dictionaries; ``micros`` and ``flops`` are those of all runs together."""
        return [
            {
                "name": row.op.name,
                "function": row.op.function,
                "type": row.op.op_type,
                "runs": row.op.times,
                "flops": row.op.flops,
                "bytes": row.bytes,
                "flops_per_byte": row.intensity,
                "bound_by": row.bound.by or None,
                "micros": picos / 1e6 if isinstance(picos := row.picos, int) else None,
            }
            for row in self.rows
        ]

    def __str__(self) -> str:
        lines = [f"{self.device.about} ({self.device.source})"]
        micros = self.micros
        if micros is None or self.unknown == len(self.rows):
            lines.append("At least n/a: sizes are unknown; give batch or input_shapes")
            return "\n".join(lines)
        parts = [
            f"{time_text(part)} limited by {resource}"
            for resource in ("compute", "memory")
            if (part := self.micros_by(resource))
        ]
        lines.append(f"At least {time_text(micros)} per step: {', '.join(parts) or 'no work'}")
        flops = total(row.op.flops for row in self.rows)
        if isinstance(flops, int) and micros and not self.unknown:
            number, _, prefix = human_count(round(flops / micros * 1e6)).partition(" ")
            lines.append(f"At most {number} {prefix}FLOP/s")
        if self.unknown:
            lines.append(f"{self.unknown:,} ops are left out: sizes or rates are unknown")
        lines.append(f"This is {ASSUMPTION}.")
        return "\n".join(lines)


def time_text(micros: float) -> str:
    """A time of any size: ``12.0 ns``, ``87.2 µs``, ``1.78 s``."""
    units = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}
    unit = next((unit for unit, factor in units.items() if micros / factor < 999.5), "s")
    value = micros / units[unit]
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{decimals}f} {unit}"


def roofline(ops: Iterable[OpRow], device: Device) -> Roofline:
    """The roofline of the ops of a step; initializers are left out."""
    rows = tuple(
        RooflineRow(row, bound_of(row.op_type, row.verdict.cost, row.inputs, row.outputs, device))
        for row in ops
        if row.phase in STEP and has_work(row.verdict)
    )
    return Roofline(device, rows, sum(row.picos is None for row in rows))


def has_work(verdict: Verdict) -> bool:
    """Whether an op is known to have float operations."""
    return verdict.status is Status.COUNTED and verdict.cost.flops != 0
