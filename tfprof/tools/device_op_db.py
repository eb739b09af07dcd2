"""Ops of the devices of all hosts, worked out once for all tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfprof.analysis.hlo.cost import Cost, costs_of
from tfprof.analysis.hlo.opcodes import category_of
from tfprof.analysis.hlo.reference_cost import reference_costs_of
from tfprof.analysis.hlo.text import expression
from tfprof.analysis.xspace.cpu_ops import cpu_ops
from tfprof.analysis.xspace.device_ops import (
    DeviceOp,
    DeviceOps,
    OpKey,
    Traffic,
    gpu_ops,
)
from tfprof.analysis.xspace.tpu_ops import tpu_ops
from tfprof.model.hlo import HloModule, Instruction
from tfprof.readers.hlo import HloProgram, find_program
from tfprof.tools.hlo_programs import programs_of
from tfprof.tools.host_devices import has_device, has_gpu, mixed_devices, uses_tpu
from tfprof.tools.result import Note
from tfprof.tools.run import Host


class Programs:
    """Describes instructions of the programs that a host's capture brought along."""

    def __init__(self, programs: list[HloProgram], *, classic: bool) -> None:
        self._programs, self._classic = programs, classic
        self._costs: dict[int, Mapping[Instruction, Cost]] = {}

    def describe(self, program_id: int | None, module: str, name: str) -> DeviceOp | None:
        """What one run of an instruction costs; None if the capture does not have it."""
        program = find_program(self._programs, program_id, module)
        if program is None:
            return None
        known = program.module()
        instruction = known.find(name)
        if instruction is None:
            return None
        costs = self._costs.get(program.id)
        if costs is None:
            make = reference_costs_of if self._classic else costs_of
            costs = self._costs[program.id] = make(known)
        return _described(program, known, instruction, costs[instruction])

    def with_fused(self, op: DeviceOp) -> DeviceOp:
        """A fusion with what it computes, if its program tells it and the op itself does not."""
        program = find_program(self._programs, op.key.program_id)
        if op.children or program is None:
            return op
        instruction = program.module().find(op.key.name)
        if instruction is None or instruction.opcode != "fusion":
            return op
        fused = [inner for call in instruction.calls for inner in call.instructions]
        return replace(op, children=tuple(
            DeviceOp(
                OpKey(0, inner.name), category_of(inner), f"{inner.op_name}:{inner.op_type}",
                expression(inner), occurrences=1,
            )
            for inner in fused
            if inner.opcode != "parameter"
        ))  # fmt: skip


def _described(
    program: HloProgram, module: HloModule, instruction: Instruction, cost: Cost
) -> DeviceOp:
    file, line = module.source(instruction)
    stack = "".join(f"{f.file}:{f.line}:{f.column}\n" for f in module.stack(instruction))
    main = cost.main_read_bytes + cost.main_write_bytes
    return DeviceOp(
        OpKey(program.id, instruction.name),
        category_of(instruction),
        instruction.tf_op,
        expression(instruction),
        instruction.deduplicated_name,
        (file, line, stack),
        flops=cost.device_flops,
        model_flops=cost.flops,
        traffic=Traffic(cost.bytes_accessed, main),
        is_known=cost.is_known,
    )


NO_OPS = Note(
    "warning",
    "no ops of devices in this capture: it has no device, or the device was not recorded; and no "
    "program of XLA (jit_compile=True) ran on the CPU, or it does not count (classic mode)",
)

CPU_ONLY = Note(
    "info",
    "no device in this capture: these are the ops of XLA's programs on threads of the host, whose "
    "times add up. What the CPU can do is not known, so rates have no utilization",
)


def device_notes(hosts: Sequence[Host], ops: DeviceOps) -> list[Note]:
    """What readers of the ops of devices should know."""
    if not ops.ops:
        return [NO_OPS]
    return mixed_devices(hosts) if any(map(has_device, hosts)) else [CPU_ONLY]


def device_ops(host: Host, *, classic: bool = False) -> DeviceOps:
    """The ops of the devices of a host."""

    def make() -> DeviceOps:
        programs = Programs(programs_of(host), classic=classic)
        if uses_tpu(host, classic=classic):
            found = tpu_ops(host.timeline)
            return replace(found, ops=tuple(map(programs.with_fused, found.ops)))
        if not has_gpu(host):
            return DeviceOps()
        eager = host.eager(classic=classic)
        return gpu_ops(host.timeline, eager, programs.describe, classic=classic)

    return host.memo.once(("device_ops", classic), make)


def compiled_ops(host: Host, *, classic: bool = False) -> DeviceOps:
    """The ops of the devices of a host; without any, those of XLA's programs on its threads.

    Args:
        host: The host.
        classic: The reference's numbers: on a CPU it has none.
    """
    if classic or has_device(host):
        return device_ops(host, classic=classic)

    def make() -> DeviceOps:
        programs = Programs(programs_of(host), classic=False)
        found = cpu_ops(host.timeline, host.eager(), programs.describe)
        return replace(found, ops=tuple(map(programs.with_fused, found.ops)))

    return host.memo.once("cpu_ops", make)
