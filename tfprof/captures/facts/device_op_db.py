"""Ops of the devices of all hosts, computed once for all tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfprof.captures.events.ops.cpu_ops import cpu_ops
from tfprof.captures.events.ops.device_ops import (
    UNKNOWN,
    DeviceOp,
    DeviceOps,
    OpKey,
    Traffic,
    merged,
)
from tfprof.captures.events.ops.gpu_ops import gpu_ops
from tfprof.captures.events.ops.tpu_ops import tpu_ops
from tfprof.captures.events.timeline.annotated import Annotated
from tfprof.captures.events.timeline.programs import HloKey, KnownInstruction, KnownPrograms
from tfprof.captures.facts.hlo_programs import annotated, known_programs, module_names
from tfprof.captures.facts.host_devices import has_device, has_gpu, mixed_devices, uses_tpu
from tfprof.captures.hlo.cost import Cost, costs_of
from tfprof.captures.hlo.opcodes import category_of
from tfprof.captures.hlo.reference_cost import reference_costs_of
from tfprof.captures.hlo.text import expression
from tfprof.captures.model.hlo import Instruction
from tfprof.captures.read.hlo import HloProgram
from tfprof.captures.rules import OURS, Rules
from tfprof.captures.run.fact import summed_fact
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Host
from tfprof.core.text.wording import plural


class Programs:
    """Describes instructions of the programs in a host's capture.

    Args:
        programs: The programs.
        rules: The rules of costs.
        annotated: Instructions of other programs, as annotations describe them.
    """

    def __init__(
        self,
        programs: KnownPrograms,
        rules: Rules = OURS,
        annotated: Mapping[HloKey, Annotated] | None = None,
    ) -> None:
        self._programs, self._rules, self._annotated = programs, rules, annotated or {}
        self._costs: dict[HloProgram, Mapping[Instruction, Cost]] = {}

    def describe(self, key: HloKey) -> DeviceOp | None:
        """Cost of one run of an instruction; None if nothing in the capture describes it."""
        known = self._programs.instruction(key)
        if known is None:
            told = self._annotated.get(key)
            return None if told is None else _told(key, told)
        described = _described(known, self.costs(known.program)[known.instruction])
        if self._rules.unites_ops_of_programs:
            return replace(described, key=described.key._replace(module=""))
        return described

    def costs(self, program: HloProgram) -> Mapping[Instruction, Cost]:
        """The cost of every instruction of a program."""
        if program not in self._costs:
            make = reference_costs_of if self._rules.counts_cycles else costs_of
            self._costs[program] = make(program.module())
        return self._costs[program]

    def with_fused(self, op: DeviceOp) -> DeviceOp:
        """A fusion with the instructions inside it, from its program if the op lacks them."""
        if op.children or op.key.program_id is None:
            return op
        known = self._programs.instruction(op.key.instruction)
        if known is None or known.instruction.opcode != "fusion":
            return op
        fused = [inner for call in known.instruction.calls for inner in call.instructions]
        return replace(op, children=tuple(
            DeviceOp(
                OpKey(None, inner.name), category_of(inner), f"{inner.op_name}:{inner.op_type}",
                expression(inner), occurrences=1,
            )
            for inner in fused
            if inner.opcode != "parameter"
        ))  # fmt: skip


def _told(key: HloKey, told: Annotated) -> DeviceOp:
    """An instruction as its annotation describes it; its cost is unknown."""
    return DeviceOp(
        OpKey(key.program_id, key.name, key.module),
        UNKNOWN,
        told.tf_op,
        f"%{key.name} = {told.shape}" if told.shape else "",
        source=(told.source_file, told.source_line, ""),
        is_known=False,
    )


def _described(known: KnownInstruction, cost: Cost) -> DeviceOp:
    program, instruction = known
    module = program.module()
    file, line = module.source(instruction)
    stack = "".join(f"{f.file}:{f.line}:{f.column}\n" for f in module.stack(instruction))
    main = cost.main_read_bytes + cost.main_write_bytes
    return DeviceOp(
        OpKey(program.id, instruction.name, program.name),
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
    "no device ops in this capture: it has no device, or the device was not recorded; and no XLA "
    "program (jit_compile=True) ran on the CPU, or it does not count (classic mode)",
)

CPU_ONLY = Note(
    "info",
    "no device in this capture: these are ops of XLA programs on host threads, whose times add up. "
    "The CPU's peak rates are unknown, so there is no utilization",
)


def device_notes(hosts: Sequence[Host], ops: DeviceOps) -> list[Note]:
    """Notes on device ops: no ops, only CPU ops, several kinds of devices, asynchronous work."""
    if not ops.ops:
        return [NO_OPS]
    of_devices = mixed_devices(hosts) if any(map(has_device, hosts)) else [CPU_ONLY]
    return [*of_devices, *asynchronous_work(ops)]


def asynchronous_work(ops: DeviceOps) -> list[Note]:
    """A note on ops without rates: they only start their work, or wait for it."""
    beside = [op for op in ops.ops if op.is_asynchronous]
    if not beside:
        return []
    share = sum(op.self_ps for op in beside) / max(ops.self_ps, 1)
    kinds = ", ".join(sorted({op.category for op in beside}))
    return [
        Note("info", f"{plural(len(beside), 'op')} ({share:.1%} of the time of all) only start "
             f"work that goes on beside them, or wait for it ({kinds}): as their time is not that "
             "of the work, its rates and its limit are unknown")
    ]  # fmt: skip


@summed_fact(merged, has_rules=True)
def device_ops(host: Host) -> DeviceOps:
    """Ops on the devices of a host."""
    rules = host.rules
    programs = Programs(known_programs(host), rules)
    if uses_tpu(host):
        counted = tpu_ops(host.timeline)
        named = counted.ops
        if rules.rates_asynchronous_ops:
            named = tuple(replace(op, is_asynchronous=False) for op in named)
        if not rules.unites_ops_of_programs:
            named = tuple(_with_module(op, host) for op in named)
        return replace(counted, ops=tuple(map(programs.with_fused, named)))
    if not has_gpu(host):
        return DeviceOps()
    programs = Programs(known_programs(host), rules, annotated(host))
    return gpu_ops(host.forest(), host.eager(), programs.describe, rules=rules)


def _with_module(op: DeviceOp, host: Host) -> DeviceOp:
    if op.key.program_id is None:
        return op
    module = module_names(host).get(op.key.program_id, "")
    return replace(op, key=op.key._replace(module=module))


@summed_fact(merged, has_rules=True)
def compiled_ops(host: Host) -> DeviceOps:
    """Ops on the devices of a host; without a device, those of XLA programs on its threads.

    The rules of the reference give no ops without a device.
    """
    if host.rules.needs_device or has_device(host):
        return device_ops(host)
    programs = Programs(known_programs(host))
    ops = cpu_ops(host.timeline, host.eager(), programs.describe)
    return replace(ops, ops=tuple(map(programs.with_fused, ops.ops)))
