"""The (op × step) table: what each op cost in each step that was added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tfprof.model.columns import BoolArray, Int64Array

MEASURES = (
    "run_count",
    "accelerator_exec_micros",
    "cpu_exec_micros",
    "requested_bytes",
    "peak_bytes",
    "residual_bytes",
    "output_bytes",
)
"""Rows of ``StepRecords.values``, in order."""

_NEVER = np.iinfo(np.int64).max


class KnownNames(NamedTuple):
    """What a reader of run metadata has to know of the ops so far.

    Attributes:
        ids: Id of each name.
        is_op: Whether a name is that of an op, by name id; other names are only mentioned as
            somebody's input. The last element stands for unknown names, id -1.
        shapes_wanted: Whether the run-time output shapes of the op are wanted, likewise.
    """

    ids: Mapping[str, int]
    is_op: BoolArray
    shapes_wanted: BoolArray


@dataclass(slots=True)
class RunColumns:
    """What a reader takes out of one RunMetadata: one entry per node stat, in message order.

    Attributes:
        devices: Device name and number of node stats of each device block.
        name_ids: Name id of each stat's node, -1 for a name that was not known.
        unknown: Place, node name and timeline label (``y = MatMul(x)``) of the stats whose name
            was not that of an op.
        start_micros: ``all_start_micros``; 0 or less means that the stat has no time.
        duration_micros: ``op_end_rel_micros``, as written (0 and negative values included).
        requested_bytes: Allocated in all, temporary and persistent memory included.
        peak_bytes: Highest sum while the op ran.
        residual_bytes: Still held when the op ended.
        output_bytes: Size of the outputs.
        output_shapes: Run-time shapes by name id, for the names that were asked for; an output
            without a tensor description is None.
    """

    devices: list[tuple[str, int]] = field(default_factory=list)
    name_ids: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    unknown: list[tuple[int, str, str]] = field(default_factory=list)
    start_micros: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    duration_micros: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    requested_bytes: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    peak_bytes: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    residual_bytes: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    output_bytes: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    output_shapes: dict[int, list[tuple[int, ...] | None]] = field(default_factory=dict)

    @classmethod
    def concatenate(cls, parts: Sequence[RunColumns]) -> RunColumns:
        """Stats one part after the other; devices are not taken over."""
        whole = cls()
        first = 0
        for part in parts:
            whole.unknown += [(first + place, name, label) for place, name, label in part.unknown]
            whole.output_shapes |= part.output_shapes
            first += len(part.name_ids)
        for name in (
            "name_ids",
            "start_micros",
            "duration_micros",
            "requested_bytes",
            "peak_bytes",
            "residual_bytes",
            "output_bytes",
        ):
            columns = [getattr(whole, name), *(getattr(part, name) for part in parts)]
            setattr(whole, name, np.concatenate(columns))
        return whole


@dataclass(frozen=True, slots=True)
class StepRecords:
    """Sums of one step over the ops that have a record in it.

    Attributes:
        rows: Op rows, ascending, shape (k,).
        values: Sums, shape (len(MEASURES), k); times in microseconds, sizes in bytes.
        window: First start (0 if no stat has a time) and last end, shape (2, k), microseconds.
    """

    rows: Int64Array
    values: Int64Array
    window: Int64Array

    @classmethod
    def from_stats(cls, rows: Int64Array, values: Int64Array, window: Int64Array) -> StepRecords:
        """Sum stats per op.

        Args:
            rows: Op row of each stat, shape (m,), any order, repeats allowed.
            values: Measures of each stat, shape (len(MEASURES), m).
            window: Start (0 without a time) and end of each stat, shape (2, m).
        """
        distinct, place = np.unique(rows, return_inverse=True)
        sums = np.zeros((len(MEASURES), len(distinct)), np.int64)
        for measure in range(len(MEASURES)):
            np.add.at(sums[measure], place, values[measure])
        start = np.full(len(distinct), _NEVER, np.int64)
        np.minimum.at(start, place, np.where(window[0] > 0, window[0], _NEVER))
        end = np.zeros(len(distinct), np.int64)
        np.maximum.at(end, place, window[1])
        return cls(distinct, sums, np.stack([np.where(start == _NEVER, 0, start), end]))

    def merge(self, other: StepRecords) -> StepRecords:
        """Sum of two parts of the same step."""
        return StepRecords.from_stats(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.values, other.values], axis=1),
            np.concatenate([self.window, other.window], axis=1),
        )


@dataclass(frozen=True, slots=True)
class OpMeasures:
    """Measures of every op, for one step or averaged.

    Attributes:
        values: Shape (len(MEASURES), n ops).
        exec_micros: Accelerator plus CPU time, shape (n,).
        recorded: Ops with a record in any step, shape (n,).
    """

    values: Int64Array
    exec_micros: Int64Array
    recorded: BoolArray


class StepTable:
    """Records by step number."""

    __slots__ = ("records",)

    def __init__(self) -> None:
        self.records: dict[int, StepRecords] = {}

    @property
    def steps(self) -> list[int]:
        """Step numbers that were added, ascending."""
        return sorted(self.records)

    def add(self, step: int, records: StepRecords) -> None:
        """Add records of a step; a step that is there already grows."""
        old = self.records.get(step)
        self.records[step] = records if old is None else old.merge(records)

    def measures(self, step: int, n_ops: int) -> OpMeasures:
        """Measures of ``n_ops`` ops.

        Args:
            step: A step number, or negative for the average. The average of an op is over the
                steps *it* has a record in, truncated, each measure by itself; the division is
                unsigned 64 bit, as in the original (``ExecStep`` averages in ``tfprof_node.h``).
            n_ops: Number of ops.
        """
        recorded = np.zeros(n_ops, np.bool_)
        sums: Int64Array = np.zeros((len(MEASURES) + 1, n_ops), np.int64)
        seen = np.zeros(n_ops, np.int64)
        for number, records in self.records.items():
            recorded[records.rows] = True
            if step < 0 or number == step:
                sums[:-1, records.rows] += records.values
                sums[-1, records.rows] += records.values[1] + records.values[2]
                seen[records.rows] += 1
        if step < 0 and len(self.records) > 1:
            divisor = np.maximum(seen, 1).astype(np.uint64)
            sums = (sums.view(np.uint64) // divisor).view(np.int64)
        return OpMeasures(sums[:-1], sums[-1], recorded)
