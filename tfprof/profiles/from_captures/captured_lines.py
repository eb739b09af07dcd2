"""Instructions of compiled programs as ops of a profile, with the source lines of their metadata.

For the code view of captures in which no Python call leads to an op: XLA keeps the lines, and with
JAX the whole call stacks, that instructions were made for. Times and costs are those of HLO stats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tfprof.captures.events.ops.device_ops import DeviceOp
from tfprof.captures.events.ops.executions import op_of_instruction
from tfprof.captures.events.ops.op_roofline import WITH_INNER_OPS
from tfprof.captures.events.timeline.op_names import OpKind
from tfprof.captures.facts.hlo_programs import known_instruction
from tfprof.captures.facts.host_devices import has_device
from tfprof.captures.facts.one_step import of_step
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.run.run import Host, Run
from tfprof.captures.tools.op_profile_tree import run_device_ops
from tfprof.core.columns.frames import NO_STACK, Frame, StackTable
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.profiles.model.executions import StepDetail
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import SummedRuns

OF_LINES = "lines-of-instructions"
"""Code of the notice of such a profile."""

EVERY_STEP = -1
"""Stands for all steps in options of views."""


class _NoLine(Frame):
    """Stands for the line of an instruction that has none."""

    __slots__ = ()

    @property
    def label(self) -> str:
        """What it stands for."""
        return self.file

    @property
    def place(self) -> str:
        """What it stands for."""
        return self.file


_NO_LINE = _NoLine("(no recorded line)", "", 0)


def profile_of_lines(run: Run, host: str | None = None, step: int = EVERY_STEP) -> Profile:
    """A profile whose ops are the instructions that ran, all in one step.

    It has call stacks if any instruction has a line; those without get one that says so.

    Args:
        run: The run.
        host: Only this host.
        step: Only this step; by default the whole capture is step 0.

    Raises:
        UsageError: There is no such host or step.
    """
    profile = Profile()
    run = run.in_mode(classic=False)
    number = 0
    if step != EVERY_STEP and run_steps(run).n_steps:
        run, number = of_step(run, step), step
    hosts = run.chosen(host)
    ops = [op for op in run_device_ops(hosts).ops if op.self_ps > 0]
    if not any(op.source[0] for op in ops):
        return profile
    names = [f"{op.key.program or 'unknown'}/{op.key.name}" for op in ops]
    ids = []
    for name, op in zip(names, ops, strict=True):
        if profile.ops.row(name) < 0:
            profile.ops.add_run_time_op(name, op.category or None)
        ids.append(profile.ops.names.find(name))
    summed = profile.sums_of(_runs(ops, ids, number, on_device=any(map(has_device, hosts))))
    profile.steps.add_sums(summed.of_steps([number]), lambda _: StepDetail())
    profile.add_op_log(_op_log(hosts, names, ops))
    profile.notices.add(
        OF_LINES,
        "the lines are those that instructions of compiled programs were made for, and the times "
        f"those of {'the whole capture' if step == EVERY_STEP else 'the step'}, as in HLO stats; "
        "the Python tracer was off or saw no op",
    )
    return profile


def compiled_float_ops(run: Run, host: str | None = None) -> dict[str, int]:
    """Float operations of one run of each op of JAX, on average over the instructions behind it.

    Args:
        run: The run.
        host: Only this host.

    Returns:
        By the name that profiles of captures have for the op. Ops with an instruction of unknown
        cost are left out, as are ops of TensorFlow, which have formulas.
    """
    flops: Counter[str] = Counter()
    runs: Counter[str] = Counter()
    unknown = set()
    for op in run_device_ops(run.in_mode(classic=False).chosen(host)).ops:
        named = op_of_instruction(op.key.instruction, op.provenance, category=op.category)
        if op.key.program_id is None or named.kind is OpKind.TENSORFLOW:
            continue
        name = named.name.partition(":")[0]
        flops[name] += _own_flops(op)
        runs[name] += op.occurrences
        if not op.has_known_cost:
            unknown.add(name)
    return {name: flops[name] // max(runs[name], 1) for name in flops if name not in unknown}


def _own_flops(op: DeviceOp) -> int:
    """Float operations of all runs without those of instructions inside, which ran on their own."""
    return 0 if op.category in WITH_INNER_OPS else op.model_flops


def _runs(ops: Sequence[DeviceOp], ids: Sequence[int], step: int, *, on_device: bool) -> SummedRuns:
    micros = np.rint([op.self_ps / 1e6 for op in ops]).astype(np.int64)
    nothing = np.zeros(len(ops), np.int64)
    device = "/device:GPU:0/stream:all" if on_device else "/device:CPU:0"
    return SummedRuns(
        [f"/job:localhost/replica:0/task:0{device}"],
        np.array(ids, np.int64),
        {},
        [],
        nothing,
        np.arange(len(ops)),
        nothing + step,
        np.array([op.occurrences for op in ops], np.int64),
        nothing,
        micros,
        np.stack([nothing + 1, micros + 1]),
        np.zeros((3, len(ops)), np.int64),
    )


def _op_log(hosts: Sequence[Host], names: list[str], ops: Sequence[DeviceOp]) -> OpLogColumns:
    stacks = StackTable()
    flops = [_own_flops(op) // max(op.occurrences, 1) for op in ops]
    stack_ids = [stacks.intern(list(_frames(hosts, op)) or [_NO_LINE]) for op in ops]
    assert NO_STACK not in stack_ids
    none: list[Sequence[str]] = [()] * len(ops)
    return OpLogColumns(names, flops, none, stack_ids, stacks)


def _frames(hosts: Sequence[Host], op: DeviceOp) -> Iterator[Frame]:
    """The call stack of an instruction, the outermost call first; nothing if none is known."""
    known = known_instruction(hosts, op.key.instruction)
    stack = known.program.module().stack(known.instruction) if known else ()
    for frame in reversed(stack):
        if frame.file:
            yield Frame(frame.file, frame.function, max(frame.line, 0))
    if not stack and op.source[0]:
        yield Frame(op.source[0], "", op.source[1])
