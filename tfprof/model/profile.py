"""A profile: the op table, the step table, call stacks, and the rules for what gets into them.

The rules are those of ``tensorflow/core/profiler/internal/tfprof_stats.cc`` and
``tfprof_node.cc``. Nothing here is shared between profiles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress

import numpy as np

from tfprof.model.columns import BoolArray, Int64Array, Int64Column
from tfprof.model.devices import Device
from tfprof.model.frames import NO_STACK, StackTable
from tfprof.model.notices import Notices
from tfprof.model.ops import GraphColumns, OpTable
from tfprof.model.steps import RunColumns, StepRecords, StepTable

TRAINABLE_VARIABLES = "_trainable_variables"
"""Type of the ops that hold trainable variables."""

_LABEL_OP = re.compile(r"[^=]* = ([A-Za-z_][A-Za-z0-9_>.]*)\(")


@dataclass(slots=True)
class OpLogColumns:
    """What a reader takes out of an op log, one entry per log entry.

    Attributes:
        names: Node names.
        float_ops: Float operations; 0 means "not said".
        types: Types to add to the node.
        stack_ids: Call stack in ``stacks``, ``NO_STACK`` if the entry has none.
        stacks: Table of the stack ids.
        unknown_strings: String ids of call stacks that the op log does not explain.
    """

    names: list[str] = field(default_factory=list)
    float_ops: list[int] = field(default_factory=list)
    types: list[Sequence[str]] = field(default_factory=list)
    stack_ids: list[int] = field(default_factory=list)
    stacks: StackTable = field(default_factory=StackTable)
    unknown_strings: int = 0

    def select(self, wanted: Sequence[bool]) -> OpLogColumns:
        """The wanted entries, with the same table of stacks."""
        return OpLogColumns(
            list(compress(self.names, wanted)),
            list(compress(self.float_ops, wanted)),
            list(compress(self.types, wanted)),
            list(compress(self.stack_ids, wanted)),
            self.stacks,
            self.unknown_strings if all(wanted) else 0,
        )


class Profile:
    """Everything one profiler knows.

    Args:
        classic: Keep what the original gets wrong while reading (negative durations).

    Attributes:
        ops: The op table.
        steps: The (op × step) table.
        stacks: Call stacks of the ops.
        notices: What a reader of any result should know.
        has_traces: Some op log held call stacks for known ops.
        misses_accelerator_stream: A GPU ran, but no ``stream:all`` device was recorded.
        graph_version: Changes when a graph adds ops.
        trace_version: Changes when an op log adds call stacks.
        version: Changes with every addition.
    """

    def __init__(self, *, classic: bool = False) -> None:
        self.classic = classic
        self.ops = OpTable()
        self.steps = StepTable()
        self.stacks = StackTable()
        self.notices = Notices()
        self.has_traces = False
        self.misses_accelerator_stream = False
        self.graph_version = 0
        self.trace_version = 0
        self.version = 0
        self._covered = Int64Column()

    @property
    def coverage(self) -> float:
        """Share of the ops that some step has shown to run, 0 to 1."""
        return float(self._covered.array.sum()) / (len(self.ops) + 1e-10)

    def add_graph(self, graph: GraphColumns) -> int:
        """Add the ops of a graph that are new; returns how many those are."""
        added = self.ops.add_graph(graph)
        self._covered.resize(len(self.ops))
        if added:
            self.graph_version += 1
            self.version += 1
        return added

    def add_trainable_variables(self, names: Sequence[str]) -> None:
        """Mark ops as holders of trainable variables."""
        types = [(TRAINABLE_VARIABLES,)] * len(names)
        none = [NO_STACK] * len(names)
        self.add_op_log(OpLogColumns(list(names), [0] * len(names), list(types), none))

    def add_op_log(self, log: OpLogColumns) -> None:
        """Add types, float operations and call stacks to known ops; others are passed over."""
        ops = self.ops
        if log.unknown_strings:
            self.notices.add(
                "unknown-trace-string",
                "the op log's call stacks name strings that its id_to_string does not hold; "
                "they show as unknown#<id>",
                log.unknown_strings,
            )
        frame_ids = [self.stacks.frames.intern(frame) for frame in log.stacks.frames.values]
        stack_ids = [0]
        for parent, frame in log.stacks.rows.values[1:]:
            stack_ids.append(self.stacks.rows.intern((stack_ids[parent], frame_ids[frame])))

        float_ops = ops.float_ops.array
        stacks = ops.stack_ids.array
        for name, flops, types, stack in zip(
            log.names, log.float_ops, log.types, log.stack_ids, strict=True
        ):
            row = ops.row(name)
            if row < 0:
                continue
            if types:
                ops.added_types.setdefault(row, []).extend(map(ops.strings.intern, types))
            if flops:
                float_ops[row] = flops
            if stack != NO_STACK:
                self.has_traces = True
                if stacks[row] == NO_STACK:
                    stacks[row] = stack_ids[stack]
                    self.trace_version += 1
        self.version += 1

    def add_run(self, step: int, run: RunColumns) -> None:
        """Add the node stats of one run to a step. Costs only what the run holds."""
        devices = [Device.from_name(name) for name, _ in run.devices]
        if any("gpu" in device.name for device in devices) and not any(
            "gpu" in device.name and "stream:all" in device.name for device in devices
        ):
            self.misses_accelerator_stream = True

        rows = self._rows_of(run)
        records = StepRecords.from_stats(*self._measured_stats(run, devices, rows))
        self.steps.add(step, records)
        self.version += 1

    def _rows_of(self, run: RunColumns) -> Int64Array:
        """Op row of each stat, -1 to leave it out; names that no graph has become ops."""
        ops = self.ops
        # The last entry is for unknown names, id -1.
        rows = np.append(ops.row_of_name.array, -1)[run.name_ids]
        if ops.names_with_colon:  # a stat's name ends before the colon
            rows[np.isin(run.name_ids, ops.names_with_colon)] = -1
        covering = np.ones(len(rows), np.bool_)
        unknown = {place: (name, label) for place, name, label in run.unknown}
        for place in np.flatnonzero(rows < 0).tolist():
            name, label = unknown.get(place) or (ops.names[int(run.name_ids[place])], "")
            name = name.partition(":")[0]
            row = ops.row(name)
            if row < 0:
                if name in {"RecvTensor", "_SOURCE"} or "MEMCPY" in name:
                    continue
                row = ops.add_run_time_op(name, label_op(label))
                covering[place] = False  # as in the original: seen, but not yet covered
            rows[place] = row
        self._covered.resize(len(ops))
        self._covered.array[rows[covering & (rows >= 0)]] = 1
        return rows

    def _measured_stats(
        self, run: RunColumns, devices: list[Device], rows: Int64Array
    ) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Rows, measures and time windows of the stats that count, by device class.

        The first canonical device of an op wins for ever: what other canonical devices report
        about it is dropped (and noted).
        """
        device_ids = self.ops.device_ids.array
        keep = rows >= 0
        on_canonical = np.zeros(len(rows), np.bool_)
        on_accelerator = np.zeros(len(rows), np.bool_)
        holds_memory = np.zeros(len(rows), np.bool_)
        first = 0
        dropped = 0
        for device, (_, count) in zip(devices, run.devices, strict=True):
            block = slice(first, first + count)
            first += count
            block_rows = rows[block][keep[block]]
            if device.is_canonical:
                device_id = self.ops.strings.intern(device.name)
                claimed = device_ids[block_rows]
                device_ids[block_rows[claimed < 0]] = device_id
                elsewhere = (claimed >= 0) & (claimed != device_id)
                dropped += int(elsewhere.sum())
                kept = np.flatnonzero(keep[block])
                keep[block][kept[elsewhere]] = False
                on_canonical[block] = True
                holds_memory[block] = True
            elif not device.name:
                kept = np.flatnonzero(keep[block])
                holds_memory[block][kept[device_ids[block_rows] < 0]] = True
            on_accelerator[block] = device.is_accelerator_stream
        # A device name can be both: the original then takes it as an accelerator's.
        timed = run.start_micros > 0
        duration = self._durations(run.duration_micros, timed & keep)
        on_host = timed & on_canonical & ~on_accelerator
        sized = timed & holds_memory
        self.notices.add(
            "other-device",
            "node stats were dropped: the op already belongs to another device",
            dropped,
        )
        values = np.stack(
            [
                on_host.astype(np.int64),
                np.where(timed & on_accelerator, duration, 0),
                np.where(on_host, duration, 0),
                np.where(sized, run.requested_bytes, 0),
                np.where(sized, run.peak_bytes, 0),
                np.where(sized, run.residual_bytes, 0),
                np.where(sized, run.output_bytes, 0),
            ]
        )
        start = np.where(timed, run.start_micros, 0)
        window = np.stack([start, np.where(timed, start + duration, 0)])
        return rows[keep], values[:, keep], window[:, keep]

    def _durations(self, micros: Int64Array, counted: BoolArray) -> Int64Array:
        """Durations with 0 taken as 1 µs; negative ones count as 0 unless classic."""
        rounded: Int64Array = np.where(micros == 0, 1, micros)
        if self.classic:
            return rounded
        negative = rounded < 0
        self.notices.add(
            "negative-duration",
            "node stats end before they start (clock skew); their time counts as 0",
            int((negative & counted).sum()),
        )
        rounded[negative] = 0
        return rounded


def label_op(label: str) -> str | None:
    """Op type in a timeline label (``y = MatMul(x, w)`` → ``MatMul``), if it says one."""
    match = _LABEL_OP.match(label)
    return match[1] if match else None
