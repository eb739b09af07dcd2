"""Evidence for practices on instructions of compiled programs: their share, cost and line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tfprof.captures.events.ops.device_ops import DeviceOp
from tfprof.captures.facts.hlo_programs import programs_of
from tfprof.captures.facts.statistics import part
from tfprof.captures.model.hlo import Instruction
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.read.hlo import HloProgram
from tfprof.core.text.claims import Details


def share_of_step(evidence: Evidence, ops: Sequence[DeviceOp]) -> float:
    """The part of the step time that ops take, by their part of the self time of all."""
    computes = "device_compute" if evidence.device_ops else "host_compute"
    whole = sum(op.self_ps for op in evidence.compiled_ops)
    return part(sum(op.self_ps for op in ops), whole) * evidence.steps.share_of(computes)


_LEAST_SHARE: Final = 0.01
"""Shorter programs are not worth being decoded."""


def ran_programs(evidence: Evidence) -> Iterator[tuple[HloProgram, dict[str, DeviceOp]]]:
    """The programs that take time, each with its ops that ran, by name, the longest first."""
    by_program: dict[tuple[int | None, str], dict[str, DeviceOp]] = {}
    for op in evidence.compiled_ops:
        if op.occurrences:
            by_program.setdefault((op.key.program_id, op.key.module), {})[op.key.name] = op
    for ops in by_program.values():
        if share_of_step(evidence, list(ops.values())) >= _LEAST_SHARE:
            program = program_of(evidence, next(iter(ops.values())))
            if program is not None:
                yield program, ops


def program_of(evidence: Evidence, op: DeviceOp) -> HloProgram | None:
    """The program of an op; None if the capture lacks it."""
    every = (program for host in evidence.hosts for program in programs_of(host))
    names = ("", op.key.module)
    return next((p for p in every if p.id == op.key.program_id and p.name in names), None)


def instruction_of(evidence: Evidence, op: DeviceOp) -> Instruction | None:
    """The instruction of an op; None if the capture lacks it."""
    program = program_of(evidence, op)
    return None if program is None else program.module().find(op.key.name)


def details_of(evidence: Evidence, op: DeviceOp) -> Details:
    """The time and bytes of a run of an op, and its line."""
    runs = max(op.occurrences, 1)
    return {
        "op": op.key.name, "run_ms": op.self_ps / runs / 1e9,
        "run_bytes": op.traffic.all_bytes / runs, "run_count": op.occurrences,
        **line_of(evidence, op),
    }  # fmt: skip


def line_of(evidence: Evidence, op: DeviceOp) -> Details:
    """The line of an instruction; of one that the compiler added, that of the first user of its
    result with a line.
    """
    file, line, _ = op.source
    found = None if file else instruction_of(evidence, op)
    program = None if found is None else program_of(evidence, op)
    if found is not None and program is not None:
        module = program.module()
        for user in module.home[found].users()[found]:
            file, line = (file, line) if file else module.source(user)
    return {"line": f"{file}:{line}"} if file else {}


def at_line(evidence: Evidence, op: DeviceOp) -> str:
    """Words for the line of an op, if it is known."""
    return " at {line}" if line_of(evidence, op) else ""
