"""How large the tensors are that flow along edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.shapes import Shape, is_fully_defined
from tfprof.profiles.model.profile import Profile

UNKNOWN: Final = -1

_LARGEST: Final = 1 << 62
"""More elements than any tensor has; hostile shapes have more."""

_PORTS: Final = 1 << 20
"""More outputs than any op has."""


@dataclass(frozen=True, slots=True)
class TensorSizes:
    """Sizes of outputs.

    Attributes:
        keys: Op row × ``_PORTS`` + output index, ascending, shape (n,).
        values: Size of each, shape (n,).
    """

    keys: Int64Array
    values: Int64Array

    def find(self, rows: Int64Array, ports: Int64Array) -> Int64Array:
        """Size of each output, ``UNKNOWN`` where there is none."""
        if not len(self.keys):
            return np.full(len(rows), UNKNOWN, np.int64)
        wanted = rows * _PORTS + np.minimum(ports, _PORTS - 1)
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[places] == wanted, self.values[places], UNKNOWN)

    def largest_of(self, rows: Int64Array) -> int:
        """The largest output of some ops, 0 without any."""
        chosen = self.values[np.isin(self.keys // _PORTS, rows)]
        return int(chosen.max(initial=0))


def recorded_bytes(profile: Profile, step: int) -> TensorSizes:
    """Bytes of the outputs as the run recorded them, all executions of a step together.

    A negative step averages each output over the steps that recorded it.
    """
    details = profile.steps.details
    chosen = [details[step]] if step in details else list(details.values()) if step < 0 else []
    keys: list[Int64Array] = []
    sums: list[Int64Array] = []
    for detail in chosen:
        outputs = detail.outputs
        slots = np.clip(outputs.slots, 0, _PORTS - 1)
        step_keys, place = np.unique(
            detail.memory.rows[outputs.uses] * _PORTS + slots, return_inverse=True
        )
        total = np.zeros(len(step_keys), np.int64)
        np.add.at(total, place, np.maximum(outputs.sizes, 0))
        keys.append(step_keys)
        sums.append(total)
    if not keys:
        return TensorSizes(np.zeros(0, np.int64), np.zeros(0, np.int64))
    merged, place, n_steps = np.unique(
        np.concatenate(keys), return_inverse=True, return_counts=True
    )
    values = np.zeros(len(merged), np.int64)
    np.add.at(values, place, np.concatenate(sums))
    return TensorSizes(merged, values // n_steps)


def output_shape(profile: Profile, row: int, port: int) -> Shape:
    """Shape of an output; None if its rank or the whole shape is unknown."""
    shapes = profile.ops.shapes.list_of(int(profile.ops.output_shapes_ids.array[row]))
    return shapes[port] if 0 <= port < len(shapes) else None


def shape_text(shape: Shape) -> str:
    """``8×112×112×64``; ``scalar``; ``?`` for an unknown dimension; empty for unknown rank."""
    if shape is None:
        return ""
    return "×".join("?" if dim < 0 else str(dim) for dim in shape) or "scalar"


def elements(shape: Shape) -> int:
    """Number of elements, ``UNKNOWN`` if the shape is not fully known."""
    if shape is None or not is_fully_defined(shape):
        return UNKNOWN
    count = 1
    for dim in shape:
        count *= dim
    return min(count, _LARGEST)
