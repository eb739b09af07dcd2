"""Runs of ops on the threads of all hosts, computed once for all tools."""

from __future__ import annotations

from tfprof.captures.events.ops.executions import ExecutedOp, OpOfInstruction, op_of_instruction
from tfprof.captures.events.ops.host_ops import OpTimes, host_op_times, merged_op_times
from tfprof.captures.events.timeline.programs import HloKey
from tfprof.captures.facts.hlo_programs import annotated, known_programs
from tfprof.captures.hlo.opcodes import category_of
from tfprof.captures.run.fact import summed_fact
from tfprof.captures.run.run import Host


def ops_of_programs(host: Host) -> OpOfInstruction:
    """A function that finds the op of an instruction in the programs of a host."""
    programs, told_by_key = known_programs(host), annotated(host)

    def find(key: HloKey) -> ExecutedOp | None:
        known = programs.instruction(key)
        if known is None:
            told = told_by_key.get(key)
            return told and op_of_instruction(key, told.tf_op, place=told.place)
        program, instruction = known
        return op_of_instruction(
            HloKey(program.id, program.name, instruction.name),
            instruction.tf_op,
            category=category_of(instruction),
            place=program.module().place(instruction),
        )

    return find


@summed_fact(merged_op_times, has_rules=True)
def host_ops(host: Host) -> OpTimes:
    """The ops on the threads of a host."""
    op_of = ops_of_programs(host)
    return host_op_times(host.timeline, host.eager(), op_of, rules=host.rules)
