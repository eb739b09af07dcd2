"""Element types and shapes of the outputs of ops, where the capture holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from tfprof.captures.events.ops.memory import dtype_name
from tfprof.captures.facts.hlo_programs import programs_of
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host, Run

_PLAIN: Final = {"float": "float32", "double": "float64", "half": "float16"}
_XLA: Final = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "s8": "int8",
    "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "pred": "bool",
}  # fmt: skip


def dtype_of(number: int) -> str:
    """Name of a ``DataType`` in programs: ``float32``, ``bfloat16``."""
    name = dtype_name(number)
    return _PLAIN.get(name, name)


class Output(NamedTuple):
    """Output of an op.

    Attributes:
        dtype: ``float32``; empty if unknown.
        shape: ``32×100``; empty if unknown.
    """

    dtype: str
    shape: str


def outputs_of(run: Run) -> Mapping[str, Output]:
    """Outputs by the names of ops; of several, the first allocated, or the largest compiled."""
    found: dict[str, Output] = {}
    for host in run.hosts:
        for name, told in outputs_of_host(host).items():
            found.setdefault(name, Output(*told))
    return found


@fact
def outputs_of_host(host: Host) -> dict[str, tuple[str, str]]:
    """Element type and shape by the name of the op, from allocations, else from compiled code."""
    return _compiled(host) | _allocated(host)


def _allocated(host: Host) -> dict[str, tuple[str, str]]:
    """Output of each op by its first allocation."""
    timeline = host.timeline
    dtype, shape, op = (timeline.stat(name) for name in ("data_type", "shape", "tf_op"))
    said = op.only(op.is_text())
    said = said.only(shape.mask(len(timeline))[said.events])
    said = said.only(dtype.mask(len(timeline))[said.events])
    first = np.full(len(said.texts), -1, np.int64)
    first[said.values[::-1]] = said.events[::-1]
    named = np.flatnonzero(first >= 0)
    events = first[named]
    shapes = shape.texts_at(events)
    columns = zip(named.tolist(), dtype.at(events).tolist(), shapes.tolist(), strict=True)
    return {
        op.texts[name].partition(":")[0]: (
            dtype_of(number),
            _sizes(shape.texts[text]) if text >= 0 else "",
        )
        for name, number, text in columns
        if number > 0
    }


def _compiled(host: Host) -> dict[str, tuple[str, str]]:
    """Output of each op of a compiled program by its largest instruction."""
    largest: dict[str, tuple[int, str]] = {}
    for program in programs_of(host):
        for instruction in program.module().instructions:
            said = instruction.shape.n_bytes, instruction.shape.text()
            op = instruction.tf_op.rpartition(":")[0] or instruction.tf_op
            for name in (f"{program.title}/{instruction.name}", op):
                if instruction.shape.is_array and said > largest.get(name, (-1, "")):
                    largest[name] = said
    return {name: _of_text(text) for name, (_, text) in largest.items()}


def _of_text(text: str) -> tuple[str, str]:
    """``f32[300,300]``, as XLA writes it."""
    dtype = text.partition("[")[0]
    return _XLA.get(dtype, dtype), _sizes(text)


def _sizes(text: str) -> str:
    """``…[32,100]`` as ``32×100``."""
    sizes = text.partition("[")[2].partition("]")[0]
    return sizes.replace(",", "×") or "scalar"
