"""Rows of the tables that ``tables`` declares, made from a profile's columns block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from itertools import repeat
from typing import NamedTuple

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.frames import NO_STACK
from tfprof.core.columns.shapes import Shape, is_fully_defined
from tfprof.profiles.accounting.accounting import only_at_run_time, parameter_count
from tfprof.profiles.accounting.library_frames import innermost_frames, innermost_user_frames
from tfprof.profiles.accounting.profile_info import (
    DeviceFigures,
    StepFigures,
    has_accelerator,
    has_memory,
    profile_info,
    step_figures,
)
from tfprof.profiles.model.executions import (
    ACCELERATOR,
    HOST,
    OTHER,
    Allocations,
    AllocatorLevels,
    Executions,
    StepDetail,
)
from tfprof.profiles.model.ops import OpTable
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import MEASURES

Value = str | int | bool | None | Sequence[object]
Row = Sequence[Value]

_BLOCK = 4096
"""Rows that are taken out of columns at a time."""

_COUNTS_AS = {OTHER: "other", HOST: "cpu", ACCELERATOR: "accelerator"}


def _names(ops: OpTable) -> list[str | None]:
    """Name of each op; the last entry is for ``NO_OP``."""
    names = ops.names.values
    return [*(names[name_id] for name_id in ops.name_ids.array.tolist()), None]


def _blocks(size: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, size, _BLOCK))


def op_rows(profile: Profile) -> Iterator[Row]:
    """Ops."""
    ops, strings = profile.ops, [*profile.ops.strings.values, None]
    names = _names(ops)
    types = [strings[type_id] for type_id in ops.type_ids(classic=False).tolist()]
    devices = [strings[device_id] for device_id in ops.device_ids.array.tolist()]
    run_time_only = only_at_run_time(ops).tolist()
    parameters = [_parameters(shape) for shape in ops.shapes.shapes.values]
    outputs = [_outputs(ops.shapes.list_of(place)) for place in range(len(ops.shapes.lists))]
    frames = _blamed_frames(profile)
    inputs, offsets = _inputs(ops, names), ops.input_offsets().tolist()
    static = zip(
        ops.shape_ids.array.tolist(), ops.output_shapes_ids.array.tolist(),
        ops.float_ops.array.tolist(), ops.static_runs.array.tolist(), strict=True,
    )  # fmt: skip
    averages = _averages(profile)
    for row, (shape, shapes, float_ops, static_runs) in enumerate(static):
        name = names[row] or ""
        yield (
            name,
            types[row],
            name.rpartition("/")[0],
            devices[row],
            run_time_only[row],
            [strings[type_id] for type_id in ops.added_types.get(row, ())],
            inputs[offsets[row] : offsets[row + 1]],
            outputs[shapes] if shapes >= 0 else None,
            parameters[shape] if shape >= 0 else None,
            float_ops or None,
            static_runs,
            *frames[row],
            *averages[row],
        )


def _parameters(shape: Shape) -> int | None:
    return parameter_count(shape) if is_fully_defined(shape) else None


def _outputs(shapes: Sequence[Shape]) -> list[object]:
    """Shapes with None for an unknown dimension or shape."""
    return [
        None if shape is None else [dim if dim >= 0 else None for dim in shape] for shape in shapes
    ]


def _inputs(ops: OpTable, names: Sequence[str | None]) -> list[str | None]:
    """Inputs of all ops as a GraphDef writes them: ``a``, ``a:1`` or ``^a``."""
    texts: list[str | None] = []
    for row, port in zip(ops.input_rows().tolist(), ops.input_ports.tolist(), strict=True):
        name = names[row]
        if name is not None:
            name = f"^{name}" if port < 0 else f"{name}:{port}" if port else name
        texts.append(name)
    return texts


def _blamed_frames(profile: Profile) -> list[Row]:
    """File, line and function of each op, outside of libraries if possible."""
    own, any_ = innermost_user_frames(profile.stacks), innermost_frames(profile.stacks)
    frame_ids = np.where(own >= 0, own, any_).tolist()
    values = profile.stacks.frames.values
    rows: list[Row] = [(each.file, each.line_number, each.function) for each in values]
    rows.append((None, None, None))  # for -1: no stack, or an empty one
    stacks = profile.ops.stack_ids.array.tolist()
    return [rows[-1 if stack == NO_STACK else frame_ids[stack]] for stack in stacks]


class _Recorded(NamedTuple):
    """Whether steps recorded memory and accelerator time; if not, zeros become None."""

    memory: bool
    accelerator: bool

    @classmethod
    def by(cls, profile: Profile, steps: Sequence[int]) -> _Recorded:
        details = [profile.steps.details[step] for step in steps]
        return cls(any(map(has_memory, details)), has_accelerator(profile))

    def costs(self, exec_micros: int, measures: Sequence[int], timed: bool) -> Row:
        """Times and memory of an op, which count only with a time (``ExecStep::AddTimeStats``).

        Args:
            exec_micros: Its time.
            measures: Those of ``MEASURES`` after the runs.
            timed: Some execution of it has a start.
        """
        accelerator, cpu, *memory = measures
        return (
            exec_micros if timed else None,
            accelerator if timed and self.accelerator else None,
            cpu if timed else None,
            *(memory if timed and self.memory else [None] * len(memory)),
        )


def _averages(profile: Profile) -> list[Row]:
    """Number of steps, runs, times and memory of each op; None for ops that were not seen."""
    n_ops = len(profile.ops)
    nothing: list[Value] = [None] * (len(MEASURES) + 1)
    if not profile.steps.steps:
        return [[None, *nothing]] * n_ops
    n_steps, timed = np.zeros(n_ops, np.int64), np.zeros(n_ops, np.bool_)
    for records in profile.steps.records.values():
        n_steps[records.rows] += 1
        timed[records.rows] |= records.window[0] > 0
    measures = profile.steps.measures(-1, n_ops)
    recorded = _Recorded.by(profile, profile.steps.steps)
    columns = (n_steps, timed, measures.exec_micros)
    return [
        [steps, runs, *recorded.costs(exec_micros, costs, is_timed)] if steps else [0, *nothing]
        for (steps, is_timed, exec_micros), (runs, *costs) in zip(
            zip(*(column.tolist() for column in columns), strict=True),
            measures.values.T.tolist(),
            strict=True,
        )
    ]


def op_step_rows(profile: Profile) -> Iterator[Row]:
    """Ops by step."""
    names = _names(profile.ops)
    for step in profile.steps.steps:
        records = profile.steps.records[step]
        recorded = _Recorded.by(profile, [step])
        for block in _blocks(len(records.rows)):
            rows, values = records.rows[block].tolist(), records.values[:, block].T.tolist()
            windows = records.window[:, block].T.tolist()
            for row, (runs, *costs), (start, end) in zip(rows, values, windows, strict=True):
                window = (start, end) if start else (None, None)
                spent = recorded.costs(costs[0] + costs[1], costs, start > 0)
                yield (step, names[row], runs, *spent, *window)


def step_rows(profile: Profile) -> Iterator[Row]:
    """Steps."""
    for step in profile.steps.steps:
        figures = step_figures(profile, step)
        yield [getattr(figures, name) for name in StepFigures.__slots__]


def device_rows(profile: Profile) -> Iterator[Row]:
    """Devices."""
    for device in profile_info(profile).devices:
        yield [getattr(device, name) for name in DeviceFigures.__slots__]


def _entries(
    profile: Profile, columns_of: Callable[[StepDetail], Sequence[Int64Array]]
) -> Iterator[tuple[int, ...]]:
    """The step and the numbers of each entry of a table that every step has."""
    for step in profile.steps.steps:
        columns = columns_of(profile.steps.details[step])
        for block in _blocks(len(columns[0])):
            yield from zip(repeat(step), *(column[block].tolist() for column in columns))


def _columns(table: Executions | Allocations | AllocatorLevels) -> list[Int64Array]:
    return [getattr(table, column.name) for column in fields(table)]


def execution_rows(profile: Profile) -> Iterator[Row]:
    """Executions, in order of arrival."""
    names, strings = _names(profile.ops), [*profile.steps.strings.values, None]
    for step, row, other, device, kind, timed, micros, start, nanos in _entries(
        profile, lambda detail: _columns(detail.executions)
    ):
        times = (start, nanos, micros) if timed > 0 else (None, None, None)
        yield (step, names[row], strings[other], strings[device], _COUNTS_AS[kind], *times)


def memory_rows(profile: Profile) -> Iterator[Row]:
    """Memory of executions."""
    names = _names(profile.ops)
    for step in profile.steps.steps:
        detail = profile.steps.details[step]
        if not has_memory(detail):
            continue
        for block in _blocks(len(detail.memory)):
            rows = detail.memory.rows[block].tolist()
            values = detail.memory.values[:, block].T.tolist()
            yield from ((step, names[row], *each) for row, each in zip(rows, values, strict=True))


def output_buffer_rows(profile: Profile) -> Iterator[Row]:
    """Outputs of executions."""
    names = _names(profile.ops)

    def columns(detail: StepDetail) -> Sequence[Int64Array]:
        outputs = detail.outputs
        return detail.memory.rows[outputs.uses], outputs.slots, outputs.sizes, outputs.addresses

    for step, row, slot, size, address in _entries(profile, columns):
        yield (step, names[row], slot, size, address % (1 << 64) or None)


def named_rows(profile: Profile, part: str) -> Iterator[Row]:
    """Allocations and deallocations, or levels of allocators: the part of steps of this name."""
    ops, strings = _names(profile.ops), [*profile.steps.strings.values, None]
    for step, row, *ids, micros, size in _entries(
        profile, lambda detail: _columns(getattr(detail, part))
    ):
        yield (step, ops[row], *(strings[each] for each in ids), micros, size)


def edge_rows(profile: Profile) -> Iterator[Row]:
    """Inputs of ops."""
    ops = profile.ops
    names, counts = _names(ops), np.diff(ops.input_offsets())
    targets = np.repeat(np.arange(len(ops)), counts)
    places = np.arange(len(targets)) - np.repeat(ops.input_offsets()[:-1], counts)
    sources, ports = ops.input_rows(), ops.input_ports
    for block in _blocks(len(targets)):
        for source, target, port, place in zip(
            *(column[block].tolist() for column in (sources, targets, ports, places)), strict=True
        ):
            yield (names[source], names[target], port if port >= 0 else None, place, port < 0)


def call_stack_rows(profile: Profile) -> Iterator[Row]:
    """Lines of call stacks."""
    names, stacks = _names(profile.ops), profile.stacks
    for row, stack in enumerate(profile.ops.stack_ids.array.tolist()):
        for level, frame_id in enumerate(stacks.frame_ids(stack)):
            frame = stacks.frames[frame_id]
            yield (
                names[row], level, frame.file, frame.line_number, frame.function,
                frame.line_text or None,
                frame.function_start_line if frame.function_start_line > 0 else None,
            )  # fmt: skip
