"""When devices worked and when they did not: unions of intervals over the executions of a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.profiles.model.executions import Executions


def covered_nanos(start_nanos: Int64Array, end_nanos: Int64Array) -> int:
    """Time covered by at least one interval.

    Args:
        start_nanos: Start of each interval, shape (n,), any order.
        end_nanos: End of each interval; one that ends before it starts covers nothing.
    """
    if not len(start_nanos):
        return 0
    order = np.argsort(start_nanos, kind="stable")
    start = start_nanos[order]
    reached = np.maximum.accumulate(end_nanos[order])
    before = np.append(start[:1], reached[:-1])
    return int(np.maximum(reached - np.maximum(start, before), 0).sum())


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The executions of one step that have a time, each of shape (n,).

    Attributes:
        rows: Op row, ``NO_OP`` for what belongs to no op.
        name_ids: Name of what belongs to no op, -1 for ops.
        device_ids: Device.
        kinds: ``HOST``, ``ACCELERATOR`` or ``OTHER``.
        start_nanos: Start.
        end_nanos: End.
    """

    rows: Int64Array
    name_ids: Int64Array
    device_ids: Int64Array
    kinds: Int64Array
    start_nanos: Int64Array
    end_nanos: Int64Array

    @classmethod
    def from_executions(cls, executions: Executions) -> StepTimes:
        """Leave out executions that have no start."""
        timed = executions.start_micros > 0
        ends = executions.start_nanos + executions.duration_nanos
        names = ("rows", "name_ids", "device_ids", "kinds", "start_nanos")
        columns = [*(getattr(executions, name) for name in names), ends]
        return cls(*(column[timed] for column in columns))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def window_nanos(self) -> int:
        """From the first start to the last end."""
        return int(self.end_nanos.max() - self.start_nanos.min()) if len(self) else 0

    def busy_nanos(self, chosen: BoolArray) -> int:
        """Time in which at least one of the chosen executions ran."""
        return covered_nanos(self.start_nanos[chosen], self.end_nanos[chosen])

    def alone_nanos(self, chosen: BoolArray, others: BoolArray) -> int:
        """Time in which some chosen execution ran, and none of the others."""
        return self.busy_nanos(chosen | others) - self.busy_nanos(others)
