"""Steps of which only the sums by op are there, and their executions are read when needed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tfprof.core.columns.columns import Int64Array, no_rows
from tfprof.profiles.model.steps import MEASURES, StepRecords


@dataclass(frozen=True, slots=True)
class SummedRuns:
    """Runs with the same device, op and step, as one; in the order of steps, then of devices.

    Attributes:
        devices: Names of devices.
        names: Name id of each op; -1 for copies, which may be no op.
        unknown: Names of those, by place.
        allocators: Names of allocators.
        device_of: Place in ``devices``, shape (n,).
        op_of: Place in ``names``.
        steps: Step numbers.
        n_runs: How many runs.
        n_negative: How many of them end before they start.
        micros: Their times.
        window: First start and last end, shape (2, n), microseconds.
        sizes: Requested, peak and residual bytes, shape (3, n).
    """

    devices: Sequence[str]
    names: Int64Array
    unknown: Mapping[int, str]
    allocators: Sequence[str]
    device_of: Int64Array
    op_of: Int64Array
    steps: Int64Array
    n_runs: Int64Array
    n_negative: Int64Array
    micros: Int64Array
    window: Int64Array
    sizes: Int64Array

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True)
class SummedSteps:
    """Sums of all steps, by step and op row.

    Attributes:
        steps: Step numbers, ascending, shape (n,).
        rows: Op rows, ascending within a step.
        values: As in ``StepRecords``, shape (len(MEASURES), n).
        window: As there, shape (2, n).
    """

    steps: Int64Array = field(default_factory=no_rows)
    rows: Int64Array = field(default_factory=no_rows)
    values: Int64Array = field(default_factory=lambda: np.zeros((len(MEASURES), 0), np.int64))
    window: Int64Array = field(default_factory=lambda: np.zeros((2, 0), np.int64))

    @classmethod
    def of(
        cls,
        steps: Int64Array,
        rows: Int64Array,
        values: Iterable[Int64Array],
        window: Iterable[Int64Array],
    ) -> SummedSteps:
        """Sum what is of the same step and op; arguments as ``StepRecords.from_stats``."""
        numbers, place = np.unique(steps, return_inverse=True)
        n_rows = int(rows.max(initial=0)) + 1
        sums = StepRecords.from_stats(place * n_rows + rows, values, window)
        return cls(numbers[sums.rows // n_rows], sums.rows % n_rows, sums.values, sums.window)

    def merge(self, other: SummedSteps, rows: Int64Array) -> SummedSteps:
        """The sum of both; ``rows`` is the row here of each op of the other."""
        return SummedSteps.of(
            np.concatenate([self.steps, other.steps]),
            np.concatenate([self.rows, rows[other.rows]]),
            np.concatenate([self.values, other.values], axis=1),
            np.concatenate([self.window, other.window], axis=1),
        )

    def of_steps(self, numbers: Collection[int]) -> dict[int, StepRecords]:
        """The sums of some steps, in their order; empty where a step has none."""
        places = np.searchsorted(self.steps, np.array([[n, n + 1] for n in numbers]).reshape(-1, 2))
        return {
            number: StepRecords(
                self.rows[begin:end], self.values[:, begin:end], self.window[:, begin:end]
            )
            for number, (begin, end) in zip(numbers, places.tolist(), strict=True)
        }
