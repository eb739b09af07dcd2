"""When devices worked, and which outputs were alive: intervals over the executions of a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.profiles.model.executions import Executions, StepDetail
from tfprof.profiles.model.ops import OpTable
from tfprof.profiles.model.steps import StepRecords


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


@dataclass(frozen=True, slots=True)
class PeakHolders:
    """The buffers that are alive at the peak.

    Attributes:
        peak_bytes: Sum of their sizes.
        rows: Op that made each buffer, shape (n,), the largest buffer first.
        sizes: Bytes of each.
    """

    peak_bytes: int
    rows: Int64Array
    sizes: Int64Array


@dataclass(frozen=True, slots=True)
class LiveBuffers:
    """The buffers that outputs of one device were written to, with their times.

    Attributes:
        rows: Op that made each buffer, shape (n,).
        sizes: Bytes of each.
        born: When each begins to live, in microseconds.
        dies: When each ends.
    """

    rows: Int64Array
    sizes: Int64Array
    born: Int64Array
    dies: Int64Array

    def level(self) -> tuple[Int64Array, Int64Array]:
        """The live bytes after every change: times, ascending, and bytes.

        At equal times, ends come before starts.
        """
        times = np.concatenate([self.born, self.dies])
        changes = np.concatenate([self.sizes, -self.sizes])
        order = np.lexsort((changes, times))
        levels: Int64Array = np.cumsum(changes[order])
        return times[order], levels

    def alive(self, moment: int) -> BoolArray:
        """Which live at a moment, shape (n,)."""
        return np.asarray((self.born <= moment) & (self.dies > moment), np.bool_)


def live_buffers(
    ops: OpTable, records: StepRecords, detail: StepDetail, device_id: int
) -> LiveBuffers:
    """The buffers of one device.

    A buffer lives from the start of the op that made it to the end of the last op that reads
    it. Outputs with the same address at the same time are one buffer: an op may return its
    input, or work in place. Other allocations of ops do not count.

    Args:
        ops: The ops.
        records: Sums of the step, with the time of each op.
        detail: The executions of the step.
        device_id: Id of the device in ``ops.strings``.
    """
    outputs = detail.outputs
    rows = detail.memory.rows[outputs.uses]
    chosen = (outputs.sizes > 0) & (ops.device_ids.array[rows] == device_id)
    rows, sizes, addresses = rows[chosen], outputs.sizes[chosen], outputs.addresses[chosen]
    if not len(rows):
        return LiveBuffers(rows, sizes, rows, rows)
    made, released = _lifetimes(ops, records)
    first, born, dies, sizes = _joined(addresses, made[rows], released[rows], sizes)
    return LiveBuffers(rows[first], sizes, born, dies)


def peak_holders(
    ops: OpTable, records: StepRecords, detail: StepDetail, device_id: int
) -> PeakHolders:
    """The buffers that are alive at the peak of one device, as ``live_buffers`` has them."""
    buffers = live_buffers(ops, records, detail, device_id)
    rows, sizes = buffers.rows, buffers.sizes
    if not len(rows):
        return PeakHolders(0, rows, sizes)
    times, level = buffers.level()
    alive = buffers.alive(int(times[int(level.argmax())]))
    rows, sizes = rows[alive], sizes[alive]
    largest = np.lexsort((rows, -sizes))
    return PeakHolders(int(level.max()), rows[largest], sizes[largest])


def _lifetimes(ops: OpTable, records: StepRecords) -> tuple[Int64Array, Int64Array]:
    """When each op started, and when the last reader of its outputs ended, in microseconds."""
    made = np.zeros(len(ops), np.int64)
    ended = np.zeros(len(ops), np.int64)
    made[records.rows], ended[records.rows] = records.window
    released = ended.copy()
    readers = np.repeat(np.arange(len(ops)), np.diff(ops.input_offsets()))
    producers = ops.input_rows()
    reads = (producers >= 0) & (ops.input_ports >= 0)
    np.maximum.at(released, producers[reads], ended[readers[reads]])
    return made, np.maximum(released, made + 1)


def _joined(
    addresses: Int64Array, born: Int64Array, dies: Int64Array, sizes: Int64Array
) -> tuple[Int64Array, Int64Array, Int64Array, Int64Array]:
    """Outputs that overlap in time at the same address, as one buffer each.

    Returns:
        Place of the first output of each buffer, and the buffer's start, end and size.
    """
    # Outputs without an address share no memory.
    unique = np.where(addresses == 0, np.arange(len(addresses)), -1)
    order = np.lexsort((born, addresses, unique))
    born, dies, sizes = born[order], dies[order], sizes[order]
    same = np.zeros(len(order), np.bool_)
    same[1:] = (np.diff(addresses[order]) == 0) & (np.diff(unique[order]) == 0)
    same[1:] &= unique[order][1:] < 0
    group = np.cumsum(~same)
    # One running maximum for all groups, over ranks of times: each group lies above all before.
    ranks = np.unique(np.concatenate([born, dies]), return_inverse=True)[1].reshape(2, -1)
    lift = group * int(ranks.max() + 1)
    reached = np.maximum.accumulate(ranks[1] + lift) - lift
    same[1:] &= ranks[0][1:] < reached[:-1]
    starts = np.flatnonzero(~same)
    return (
        order[starts],
        born[starts],
        np.maximum.reduceat(dies, starts),
        np.maximum.reduceat(sizes, starts),
    )
