"""A profile: the op table, the step table, call stacks, and the rules for what gets into them.

The rules are those of ``tensorflow/core/profiler/internal/tfprof_stats.cc`` and
``tfprof_node.cc``. Nothing here is shared between profiles.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array, Int64Column
from tfprof.core.columns.frames import NO_STACK, StackTable
from tfprof.core.columns.remarks import Notices
from tfprof.files.checkpoint.variable_values import VariableValues
from tfprof.graphs.model.graph_columns import GraphColumns
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.profiles.model.executions import ACCELERATOR, HOST, NO_OP, Device
from tfprof.profiles.model.ops import OpTable
from tfprof.profiles.model.runs import DeviceBlocks, PlacedRun, RunColumns, StatColumns
from tfprof.profiles.model.steps import StepTable, SummedRuns, SummedSteps

TRAINABLE_VARIABLES = "_trainable_variables"
"""Type of the ops that hold trainable variables."""

_LABEL_OP = re.compile(r"[^=]* = ([A-Za-z_][A-Za-z0-9_>.]*)\(")


class Profile:
    """All data of one profiler.

    Args:
        classic: Keep what the original gets wrong while reading (negative durations).

    Attributes:
        ops: The op table.
        steps: The (op × step) table.
        stacks: Call stacks of the ops.
        notices: Remarks on the results.
        has_traces: Some op log held call stacks for known ops.
        misses_accelerator_stream: A GPU ran, but no ``stream:all`` device was recorded.
        variable_values: Values of its variables, if there is a checkpoint.
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
        self.variable_values: VariableValues | None = None
        self.graph_version = 0
        self.trace_version = 0
        self.version = 0
        self._covered = Int64Column()

    @property
    def coverage(self) -> float:
        """Share of the ops that ran in some step, 0 to 1."""
        return float(self._covered.array.sum()) / (len(self.ops) + 1e-10)

    def add_graph(self, graph: GraphColumns) -> int:
        """Add the ops of a graph that are new; returns how many those are."""
        added = self.ops.add_graph(graph)
        self._covered.resize(len(self.ops))
        if added:
            self.graph_version += 1
            self.version += 1
        return added

    def mark_loaded(self) -> None:
        """Finish a profile whose tables a reader has filled directly.

        The ops that ran count as covered, as before the profile was saved; an op seen only at run
        time counts from its second run. The original starts with no op covered.
        """
        ops = self.ops
        self._covered.resize(len(ops))
        if not self.classic:
            runs = np.zeros(len(ops), np.int64)
            for detail in self.steps.details.values():
                rows = detail.executions.rows
                np.add.at(runs, rows[rows >= 0], 1)
            self._covered.array[runs > ops.is_own_type()] = 1
        self._changed_everywhere()

    def add_profile(self, other: Profile) -> None:
        """Add another profile of the same program: other steps, workers or parts of a graph.

        Ops of the same name are one, as in ``OpTable.add_table``; the first call stack wins. Steps
        of the same number add up, even if the profiles disagree about an op's device.
        """
        rows = self.add_ops(other)
        self.steps.add_table(other.steps, rows)

    def add_ops(self, other: Profile) -> Int64Array:
        """Add all of another profile but its steps; returns the row of each of its ops."""
        rows = self.ops.add_table(other.ops)
        stacks = np.array([*self.stacks.add_table(other.stacks), NO_STACK], np.int64)
        mine = self.ops.stack_ids.array
        missing = mine[rows] == NO_STACK
        mine[rows[missing]] = stacks[other.ops.stack_ids.array[missing]]
        self._covered.resize(len(self.ops))
        self._covered.array[rows[other._covered.array > 0]] = 1
        self.has_traces |= other.has_traces
        self.misses_accelerator_stream |= other.misses_accelerator_stream
        self.variable_values = self.variable_values or other.variable_values
        for notice in other.notices.as_tuple():
            self.notices.add(notice.code, notice.text, notice.count)
        self._changed_everywhere()
        return rows

    def _changed_everywhere(self) -> None:
        self.graph_version += 1
        self.trace_version += 1
        self.version += 1

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
        stack_ids = np.array(self.stacks.add_table(log.stacks), np.int64)
        rows = ops.rows(log.names)
        for place, types in enumerate(log.types):
            if types and rows[place] >= 0:
                row = int(rows[place])
                ops.added_types.setdefault(row, []).extend(map(ops.strings.intern, types))
        flops = np.array(log.float_ops, np.int64)
        counted = (rows >= 0) & (flops != 0)
        ops.float_ops.array[rows[counted]] = flops[counted]
        traced = (rows >= 0) & (np.array(log.stack_ids, np.int64) != NO_STACK)
        if traced.any():
            self.has_traces = True
            rows, added = rows[traced], stack_ids[np.array(log.stack_ids, np.int64)[traced]]
            stacks = ops.stack_ids.array
            # Of several stacks for a row, the first counts.
            missing = np.flatnonzero(stacks[rows] == NO_STACK)[::-1]
            stacks[rows[missing]] = added[missing]
            self.trace_version += bool(len(missing))
        self.version += 1

    def add_run(self, step: int, run: RunColumns) -> None:
        """Add the node stats of one run to a step. Costs only what the run holds."""
        devices = [Device.from_name(name) for name, _ in run.devices]
        if any("gpu" in device.name for device in devices) and not any(
            "gpu" in device.name and "stream:all" in device.name for device in devices
        ):
            self.misses_accelerator_stream = True

        rows, without_op = self._rows_of(run)
        intern = self.steps.strings.intern
        counts = np.array([count for _, count in run.devices], np.int64)
        blocks = DeviceBlocks(
            counts,
            np.array([intern(device.name) for device in devices], np.int64),
            np.array([device.kind for device in devices], np.int64),
            np.array(["cpu" in device.name for device in devices], np.bool_),
        )
        kept, holds_memory = self._claim_devices(devices, counts, rows)
        self._note_dropped(int(np.count_nonzero((rows >= 0) & ~kept)))
        self._note_negative(run.stats, kept)
        placed = PlacedRun(
            run.stats,
            rows.astype(np.int32),
            kept,
            holds_memory,
            blocks,
            {place: intern(name) for place, name in without_op.items()},
            run.allocator_names,
            np.array([*map(intern, run.allocator_names), -1], np.int64),
            self.classic,
        )
        self.steps.add_run(step, placed.records, placed.detail)
        self.version += 1

    def sums_of(self, runs: SummedRuns) -> SummedSteps:
        """Sums by op of several steps; their ops and devices get into this profile, they do not.

        The rules are those of ``add_run`` for one step after the other.
        """
        devices = [Device.from_name(name) for name in runs.devices]
        is_gpu = np.array(["gpu" in device.name for device in devices], np.bool_)
        is_stream = np.array([device.is_accelerator_stream for device in devices], np.bool_)
        on_gpu, on_stream = (
            np.unique(runs.steps[chosen[runs.device_of]]) for chosen in (is_gpu, is_gpu & is_stream)
        )
        self.misses_accelerator_stream |= len(on_gpu) > len(on_stream)
        of_ops, without_op = self._rows_of_ops(runs)
        rows = of_ops[runs.op_of]
        # Register the names that executions will refer to now, before they are sorted.
        used = [devices[place].name for place in np.unique(runs.device_of).tolist()]
        self.steps.intern([*used, *without_op, *runs.allocators])
        kept, holds_memory = self._claim_summed(devices, runs.device_of, rows)
        self._note_dropped(int(runs.n_runs[(rows >= 0) & ~kept].sum()))
        if not self.classic:
            self._note_n_negative(int(runs.n_negative[kept].sum()))
        self.version += 1
        kinds = np.array([device.kind for device in devices], np.int64)[runs.device_of]
        values = [
            np.where(kinds == HOST, runs.n_runs, 0),
            np.where(kinds == ACCELERATOR, runs.micros, 0),
            np.where(kinds == HOST, runs.micros, 0),
            *np.where(holds_memory, runs.sizes, 0),
            np.zeros(len(runs), np.int64),  # captures do not separate outputs
        ]
        return SummedSteps.of(
            runs.steps[kept], rows[kept], [one[kept] for one in values], runs.window[:, kept]
        )

    def _rows_of_ops(self, runs: SummedRuns) -> tuple[Int64Array, Collection[str]]:
        """Op row of each name of summed runs, else ``NO_OP``, and the names that are of no op."""
        rows = np.full(len(runs.names), NO_OP, np.int64)
        used = np.unique(runs.op_of)
        unknown = [
            (place, runs.unknown[op], "") for place, op in enumerate(used.tolist())
            if op in runs.unknown
        ]  # fmt: skip
        one_of_each = RunColumns(name_ids=runs.names[used], unknown=unknown)
        rows[used], without_op = self._rows_of(one_of_each)
        return rows, without_op.values()

    def _claim_summed(
        self, devices: Sequence[Device], device_of: Int64Array, rows: Int64Array
    ) -> tuple[BoolArray, BoolArray]:
        """``_claim_devices`` for summed runs: the first device of an op counts."""
        keys = device_of * (len(self.ops) + 1) + rows + 1
        _, first, pair_of = np.unique(keys, return_index=True, return_inverse=True)
        in_order = np.argsort(first)
        pairs = first[in_order]
        begins = np.flatnonzero(np.diff(device_of[pairs], prepend=-1))
        of_block = [devices[place] for place in device_of[pairs[begins]].tolist()]
        counts = np.diff(np.append(begins, len(pairs)))
        claimed = np.zeros((2, len(pairs)), np.bool_)
        claimed[:, in_order] = self._claim_devices(of_block, counts, rows[pairs])
        kept, holds_memory = claimed[:, pair_of]
        return kept, holds_memory

    def _rows_of(self, run: RunColumns) -> tuple[Int64Array, dict[int, str]]:
        """Op row of each stat; and by place the name of each stat without an op, whose row is -1.

        A name that no graph has becomes an op.
        """
        ops = self.ops
        rows = np.full(len(run.name_ids), NO_OP, np.int64)
        known = run.name_ids >= 0
        rows[known] = ops.row_of_name.array[run.name_ids[known]]
        if ops.names_with_colon:  # a stat's name ends before the colon
            rows[np.isin(run.name_ids, ops.names_with_colon)] = NO_OP
        covering = np.ones(len(rows), np.bool_)
        unknown = {place: (name, label) for place, name, label in run.unknown}
        without_op: dict[int, str] = {}
        for place in np.flatnonzero(rows < 0).tolist():
            full_name, label = unknown.get(place) or (ops.names[int(run.name_ids[place])], "")
            name = full_name.partition(":")[0]
            row = ops.row(name)
            if row < 0:
                if name in {"RecvTensor", "_SOURCE"} or "MEMCPY" in name:
                    without_op[place] = full_name
                    continue
                row = ops.add_run_time_op(name, label_op(label))
                covering[place] = False  # as in the original: seen, but not yet covered
            rows[place] = row
        self._covered.resize(len(ops))
        self._covered.array[rows[covering & (rows >= 0)]] = 1
        return rows, without_op

    def _claim_devices(
        self, devices: Sequence[Device], counts: Int64Array, rows: Int64Array
    ) -> tuple[BoolArray, BoolArray]:
        """Which stats belong to their op's device, and whose memory counts.

        The first canonical device of an op wins for ever: what other canonical devices report
        about it is dropped.
        """
        device_ids = self.ops.device_ids.array
        kept = rows >= 0
        holds_memory = np.zeros(len(rows), np.bool_)
        first = 0
        for device, count in zip(devices, counts.tolist(), strict=True):
            of_block = first + np.flatnonzero(kept[first : first + count])
            first += count
            claimed = device_ids[rows[of_block]]
            if device.is_canonical:
                device_id = self.ops.strings.intern(device.name)
                device_ids[rows[of_block[claimed < 0]]] = device_id
                elsewhere = (claimed >= 0) & (claimed != device_id)
                kept[of_block[elsewhere]] = False
                holds_memory[of_block[~elsewhere]] = True
            elif not device.name:
                holds_memory[of_block[claimed < 0]] = True
        return kept, holds_memory

    def _note_dropped(self, n_dropped: int) -> None:
        self.notices.add(
            "other-device",
            "node stats were dropped: the op already belongs to another device",
            n_dropped,
        )

    def _note_negative(self, stats: StatColumns, kept: BoolArray) -> None:
        if self.classic or not stats.duration_micros.may_be_negative():
            return
        negative = stats.duration_micros.array() < 0
        n_negative = np.count_nonzero(negative & kept & (stats.start_micros.array() > 0))
        self._note_n_negative(int(n_negative))

    def _note_n_negative(self, n_negative: int) -> None:
        self.notices.add(
            "negative-duration",
            "node stats end before they start (clock skew); their time counts as 0",
            n_negative,
        )


def label_op(label: str) -> str | None:
    """Op type in a timeline label (``y = MatMul(x, w)`` → ``MatMul``), if it says one."""
    match = _LABEL_OP.match(label)
    return match[1] if match else None
