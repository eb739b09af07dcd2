"""The contents of a profile, and the reasons for missing data: an unknown number is not 0."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from tfprof.core.columns.columns import BoolArray
from tfprof.core.columns.frames import NO_STACK
from tfprof.core.columns.remarks import Notice
from tfprof.core.columns.shapes import is_fully_defined
from tfprof.graphs.model.variable_names import VARIABLE_OPS
from tfprof.profiles.accounting.accounting import only_at_run_time, parameter_count
from tfprof.profiles.accounting.device_time import StepTimes
from tfprof.profiles.model.executions import ACCELERATOR, HOST, MEMORY_FIELDS, StepDetail
from tfprof.profiles.model.ops import OpTable
from tfprof.profiles.model.profile import TRAINABLE_VARIABLES, Profile
from tfprof.profiles.model.steps import MEASURES, StepTable

NO_MEMORY = "no execution has memory statistics: the run was traced without them"

_NO_GRAPH = "there is no graph, only runs"
_UNDECLARED = "the graph uses variables and declares none; tfprof.trace(model) records a model's"
_UNMARKED = "which variables are trained stands in an op log, and there is none"
_OF_VARIABLES = re.compile(
    r"(Read|Assign(Add|Sub)?)VariableOp$|Resource(Sparse)?Apply|Resource(Gather|Scatter)"
)
"""Op types that use a variable."""
_MEMORY = [name for name in MEASURES if name.endswith("_bytes")]


def why_no_memory(steps: StepTable) -> str:
    """Why the memory of ops is unknown, if there are steps."""
    return "" if steps.has_measure(_MEMORY) else NO_MEMORY


def why_no_variables(ops: OpTable) -> str:
    """Why the variables of the program, and their parameters, are unknown."""
    if only_at_run_time(ops).all():
        return _NO_GRAPH
    if declares_variable(ops).any():
        return ""
    types = [ops.strings[type_id] for type_id in np.unique(ops.op_ids.array).tolist()]
    return _UNDECLARED if any(map(_OF_VARIABLES.match, types)) else ""


def why_no_trainable(ops: OpTable) -> str:
    """Why it is unknown which variables are trained."""
    if reason := why_no_variables(ops):
        return reason
    return _UNMARKED if declares_variable(ops).any() and not is_trainable(ops).any() else ""


def declares_variable(ops: OpTable) -> BoolArray:
    """Ops that declare a variable, shape (n,)."""
    wanted = np.array([text in VARIABLE_OPS for text in ops.strings.values], np.bool_)
    declares: BoolArray = wanted[ops.op_ids.array]
    return declares


def is_trainable(ops: OpTable) -> BoolArray:
    """Ops that hold a trainable variable, shape (n,)."""
    type_id = ops.strings.ids.get(TRAINABLE_VARIABLES, -1)
    has_type = np.zeros(len(ops), np.bool_)
    has_type[[row for row, ids in ops.added_types.items() if type_id in ids]] = True
    return declares_variable(ops) & has_type


_REQUESTED = MEMORY_FIELDS.index("requested_bytes")

_REASONS = {
    "wall_micros": "no execution has a start",
    "requested_bytes": NO_MEMORY,
    "peak_bytes": "no execution recorded the memory in use of its allocator",
}
"""Why a number of a step is unknown."""


@dataclass(frozen=True, slots=True)
class OpFigures:
    """The ops of a profile.

    Attributes:
        ops: Number of ops.
        run_time_only: Ops that no graph defines.
        ran: Ops with a record in some step; None without a step.
        types: Number of ops of each op type, the most frequent type first.
        with_stack: Ops with a call stack.
        with_shapes: Ops with fully known output shapes.
        with_float_ops: Ops with float operations.
        float_ops: Float operations of one run of the program.
        added_types: Number of ops of each type that op logs added.
        variables: Ops that declare a variable; None if no graph declares any.
        trainable: Ops that hold a trainable variable; None if unknown.
        parameters: Elements of the variables of known shape; None as for ``variables``.
        trainable_parameters: Elements of the trainable variables of known shape; None as for
            ``trainable``.
    """

    ops: int
    run_time_only: int
    ran: int | None
    types: dict[str, int]
    with_stack: int
    with_shapes: int
    with_float_ops: int
    float_ops: int
    added_types: dict[str, int]
    variables: int | None
    trainable: int | None
    parameters: int | None
    trainable_parameters: int | None


@dataclass(frozen=True, slots=True)
class DeviceFigures:
    """One device, over all steps.

    Attributes:
        device: Lower-case name, as the run gave it.
        counts_as: Kind of its time: ``cpu``, ``accelerator``, or none (``other``), such as for
            single streams and copies, which are in ``stream:all``, too.
        ops: Ops that ran on it.
        executions: Executions on it.
        micros: Sum of their times, including those that belong to no op.
        requested_bytes: Memory that its ops requested; None if it has no memory or none is known.
        peak_bytes: Largest memory in use of one of its allocators; None if unknown.
    """

    device: str
    counts_as: Literal["cpu", "accelerator", "other"]
    ops: int
    executions: int
    micros: int
    requested_bytes: int | None
    peak_bytes: int | None


@dataclass(frozen=True, slots=True)
class StepFigures:
    """One step; None is for what is unknown or does not apply (``ProfileInfo.missing``).

    Attributes:
        step: Its number.
        ops: Ops that ran.
        executions: Executions, copies between devices included.
        wall_micros: From the first start to the last end.
        op_micros: Sum of the times of all ops.
        accelerator_micros: The part of ``op_micros`` on accelerators.
        cpu_micros: The part of ``op_micros`` on CPUs.
        requested_bytes: Memory that ops requested.
        peak_bytes: Largest memory in use of one allocator.
    """

    step: int
    ops: int
    executions: int
    wall_micros: int | None
    op_micros: int
    accelerator_micros: int | None
    cpu_micros: int
    requested_bytes: int | None
    peak_bytes: int | None


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a number is None.

    Attributes:
        name: Name of the number.
        is_unknown: The profile does not record it; otherwise it does not apply.
        reason: Why.
    """

    name: str
    is_unknown: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ProfileInfo:
    """The contents of a profile.
    Attributes:
        ops: Its ops.
        devices: The devices of all steps, by name.
        steps: The steps, by number.
        missing: The numbers that are None, and why.
        notices: Remarks on the numbers.
    """

    ops: OpFigures
    devices: tuple[DeviceFigures, ...]
    steps: tuple[StepFigures, ...]
    missing: tuple[Missing, ...]
    notices: tuple[Notice, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return asdict(self)


def profile_info(profile: Profile) -> ProfileInfo:
    """Summarize a profile, in one pass over its ops and executions."""
    steps = tuple(step_figures(profile, step) for step in profile.steps.steps)
    ops = _ops(profile)
    return ProfileInfo(
        ops,
        tuple(_devices(profile)),
        steps,
        tuple(_missing(profile, ops, steps)),
        profile.notices.as_tuple(),
    )


# Ops


def _ops(profile: Profile) -> OpFigures:
    ops = profile.ops
    names = ops.strings.values
    types = Counter(names[type_id] for type_id in ops.type_ids(classic=False).tolist())
    run_time_only = only_at_run_time(ops)
    declares, trainable = declares_variable(ops), is_trainable(ops)
    has_variables, has_trainable = not why_no_variables(ops), not why_no_trainable(ops)
    sizes = _parameters(ops)
    added = Counter(names[type_id] for ids in ops.added_types.values() for type_id in set(ids))
    float_ops, static_runs = ops.float_ops.array, ops.static_runs.array
    return OpFigures(
        ops=len(ops),
        run_time_only=int(run_time_only.sum()),
        ran=int(profile.steps.recorded(len(ops)).sum()) if profile.steps.steps else None,
        types=dict(sorted(types.items(), key=lambda item: (-item[1], item[0]))),
        with_stack=int((ops.stack_ids.array != NO_STACK).sum()),
        with_shapes=int(_has_shapes(ops).sum()),
        with_float_ops=int((float_ops != 0).sum()),
        float_ops=sum(a * b for a, b in zip(float_ops.tolist(), static_runs.tolist(), strict=True)),
        added_types=dict(sorted(added.items())),
        variables=int(declares.sum()) if has_variables else None,
        trainable=int(trainable.sum()) if has_trainable else None,
        parameters=_total(sizes, declares) if has_variables else None,
        trainable_parameters=_total(sizes, trainable) if has_trainable else None,
    )


def _has_shapes(ops: OpTable) -> BoolArray:
    known = [is_fully_defined(shape) for shape in ops.shapes.shapes.values]
    lists = [all(known[shape] for shape in shapes) for shapes in ops.shapes.lists.values]
    has_shapes: BoolArray = np.array([*lists, False], np.bool_)[ops.output_shapes_ids.array]
    return has_shapes


def _parameters(ops: OpTable) -> list[int]:
    counts = [*(parameter_count(shape) for shape in ops.shapes.shapes.values), 0]
    return [counts[shape] for shape in ops.shape_ids.array.tolist()]


def _total(sizes: list[int], chosen: BoolArray) -> int:
    return sum(sizes[row] for row in np.flatnonzero(chosen).tolist())


# Steps and devices


def step_figures(profile: Profile, step: int) -> StepFigures:
    """The costs of one step."""
    records, detail = profile.steps.records[step], profile.steps.details[step]
    sums = dict(zip(MEASURES, records.values.sum(axis=1).tolist(), strict=True))
    accelerator, cpu = sums["accelerator_exec_micros"], sums["cpu_exec_micros"]
    times = StepTimes.from_executions(detail.executions)
    levels = detail.levels.bytes_in_use
    return StepFigures(
        step=step,
        ops=len(records.rows),
        executions=len(detail.executions),
        wall_micros=round(times.window_nanos / 1000) if len(times) else None,
        op_micros=accelerator + cpu,
        accelerator_micros=accelerator if has_accelerator(profile) else None,
        cpu_micros=cpu,
        requested_bytes=sums["requested_bytes"] if has_memory(detail) else None,
        peak_bytes=int(levels.max()) if levels.any() else None,
    )


def has_accelerator(profile: Profile) -> bool:
    """Whether some time counts as accelerator time."""
    details = profile.steps.details.values()
    return any(bool((detail.executions.kinds == ACCELERATOR).any()) for detail in details)


def has_memory(detail: StepDetail) -> bool:
    """Whether any execution has memory statistics other than 0."""
    return bool(detail.memory.values[1:].any()) or bool(detail.outputs.sizes.any())


def _devices(profile: Profile) -> Iterator[DeviceFigures]:
    steps = profile.steps
    ids = {int(i) for d in steps.details.values() for i in np.unique(d.executions.device_ids)}
    for device_id in sorted(ids, key=steps.strings.values.__getitem__):
        yield _device(profile, device_id)


def _device(profile: Profile, device_id: int) -> DeviceFigures:
    ops, strings = profile.ops, profile.steps.strings
    name = strings[device_id]
    op_device = ops.strings.ids.get(name, -1)
    ran: set[int] = set()
    executions = micros = requested = peak = 0
    kinds: set[int] = set()
    knows_memory = False
    for detail in profile.steps.details.values():
        here = detail.executions.device_ids == device_id
        rows = detail.executions.rows[here]
        ran.update(np.unique(rows[rows >= 0]).tolist())
        timed = here & (detail.executions.start_micros > 0)
        executions += int(here.sum())
        micros += int(detail.executions.duration_micros[timed].sum())
        kinds.update(np.unique(detail.executions.kinds[here]).tolist())
        of_device = ops.device_ids.array[detail.memory.rows] == op_device
        if op_device >= 0 and of_device.any():
            knows_memory |= has_memory(detail)
            requested += int(detail.memory.values[_REQUESTED][of_device].sum())
        levels = detail.levels.bytes_in_use[detail.levels.device_ids == device_id]
        peak = max(peak, int(levels.max(initial=0)))
    return DeviceFigures(
        device=name,
        counts_as="accelerator" if ACCELERATOR in kinds else "cpu" if HOST in kinds else "other",
        ops=len(ran),
        executions=executions,
        micros=micros,
        requested_bytes=requested if knows_memory else None,
        peak_bytes=peak or None,
    )


def _missing(profile: Profile, ops: OpFigures, steps: tuple[StepFigures, ...]) -> Iterator[Missing]:
    if ops.variables is None:
        yield Missing("variables", True, why_no_variables(profile.ops))
    if not steps:
        yield Missing("ran", True, "no step was recorded")
    elif profile.misses_accelerator_stream and not has_accelerator(profile):
        reason = "a GPU ran, but no stream:all device was recorded"
        yield Missing("accelerator_micros", True, reason)
    elif not has_accelerator(profile):
        yield Missing("accelerator_micros", False, "no accelerator took part")
    for name, reason in _REASONS.items():
        if any(getattr(step, name) is None for step in steps):
            yield Missing(name, True, reason)
    if ops.variables is not None and ops.trainable is None:
        yield Missing("trainable", True, why_no_trainable(profile.ops))
