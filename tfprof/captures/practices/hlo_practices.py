"""Practices for instructions of compiled programs: layouts, loops of updates, callbacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tfprof.captures.events.ops.device_ops import DeviceOp
from tfprof.captures.events.steps.step_events import PYTHON_CALLBACK, Spent
from tfprof.captures.facts.hlo_programs import programs_of
from tfprof.captures.facts.statistics import part
from tfprof.captures.model.hlo import Computation, Instruction
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.read.hlo import HloProgram
from tfprof.captures.run.result import Advice
from tfprof.core.columns.findings import WORTH
from tfprof.core.text.claims import Details

_LEAST_BYTES: Final = 1 << 16
"""Smaller arrays lie in caches, and what takes time is the call."""

_MANY_ROUNDS: Final = 64
_SHORT_ROUND_PS: Final = 200_000_000
"""A round that takes no longer than 0.2 ms costs more for its calls than for its update."""

_MOVES: Final = frozenset(
    ("bitcast", "copy", "get-tuple-element", "parameter", "reshape", "transpose", "tuple")
)
"""Opcodes of instructions that keep all values of an array."""

_SCATTERS: Final = re.compile(r".*/while/body/.*\bscatter[\w-]*(:.*)?")


def layout_changes(evidence: Evidence) -> Iterator[Advice]:
    """Instructions that only bring an array into another order of its dimensions."""
    found = [
        op for op in evidence.compiled_ops if op.occurrences and _only_changes_layout(evidence, op)
    ]
    share = _share_of_step(evidence, found)
    if share < WORTH:
        return
    top = found[0]
    yield Advice(
        "xla/layout",
        "{layout_share} of the step time only brings arrays into another order of their "
        f"dimensions; the longest is {{op:folded}}{_at(evidence, top)}, {{run_ms}} and "
        "{run_bytes} each time. Keep the array in that order from the start, or name its "
        "dimensions in the order in which the product (einsum, dot_general) before or after it "
        "has them.",
        {"layout_share": share, "op_count": len(found), **_details(evidence, top)},
        share,
        share,
    )  # fmt: skip


def loops_of_updates(evidence: Evidence) -> Iterator[Advice]:
    """Loops of many short rounds, each of which changes a part of one array."""
    for loop in evidence.compiled_ops:
        if loop.category != "while" or not loop.occurrences:
            continue
        inside = _ops_inside(evidence, loop)
        rounds = max((op.occurrences for op in inside), default=0) / loop.occurrences
        updates = [op for op in inside if _SCATTERS.fullmatch(op.provenance)]
        share = _share_of_step(evidence, [loop, *inside])
        is_short = loop.time_ps < _SHORT_ROUND_PS * rounds * loop.occurrences
        if not updates or rounds < _MANY_ROUNDS or not is_short or share < WORTH:
            continue
        yield Advice(
            "xla/loop-of-updates",
            f"{{loop_share}} of the step time goes to {{op:folded}}{_at(evidence, loop)}, a loop "
            "of {round_count:round} that change a part of an array each, {round_ms} a round. If "
            "no round needs the result of the one before, change all parts at once: "
            "array.at[indices].add(values) takes arrays of indices and values.",
            {"loop_share": share, "round_count": round(rounds), "op": loop.key.name,
             "round_ms": loop.time_ps / loop.occurrences / rounds / 1e9, **_line(evidence, loop)},
            None,
            share,
        )  # fmt: skip
        return


def callbacks(evidence: Evidence) -> Iterator[Advice]:
    """Compiled programs that call Python in a step."""
    share = evidence.spent_share(Spent.HOST_CALLBACK)
    found = [op for op in evidence.compiled_ops if PYTHON_CALLBACK.match(op.key.name)]
    if share < WORTH or not found:
        return
    top = found[0]
    yield Advice(
        "xla/callback",
        "{callback_share} of the step time goes to Python that a compiled program calls: "
        f"{{op:folded}}{_at(evidence, top)}, {{run_ms}} each time. Compute it with jax.numpy in "
        "the program, call it only every few steps, or call it outside of the step.",
        {"callback_share": share, **_details(evidence, top)},
        share,
        share,
    )


def _share_of_step(evidence: Evidence, ops: Sequence[DeviceOp]) -> float:
    """The part of the step time that ops take, by their part of the self time of all."""
    computes = "device_compute" if evidence.device_ops else "host_compute"
    whole = sum(op.self_ps for op in evidence.compiled_ops)
    return part(sum(op.self_ps for op in ops), whole) * evidence.steps.share_of(computes)


def _only_changes_layout(evidence: Evidence, op: DeviceOp) -> bool:
    """Whether an instruction, or a fusion of such, keeps all values of a large array, and brings
    them into another order.
    """
    if op.traffic.all_bytes < _LEAST_BYTES * op.occurrences:
        return False
    found = _instruction(evidence, op)
    if found is None:
        return False
    parts = found.calls[0].instructions if found.opcode == "fusion" and found.calls else (found,)
    return all(one.opcode in _MOVES for one in parts) and any(map(_has_another_order, parts))


def _has_another_order(one: Instruction) -> bool:
    if one.opcode == "transpose":
        return list(one.attributes.dimensions) != sorted(one.attributes.dimensions)
    if one.opcode != "copy" or not one.operands:
        return False
    before, after = one.operands[0].shape.layout, one.shape.layout
    return (
        before is not None and after is not None and before.minor_to_major != after.minor_to_major
    )


def _program(evidence: Evidence, op: DeviceOp) -> HloProgram | None:
    every = (program for host in evidence.hosts for program in programs_of(host))
    names = ("", op.key.module)
    return next((p for p in every if p.id == op.key.program_id and p.name in names), None)


def _instruction(evidence: Evidence, op: DeviceOp) -> Instruction | None:
    program = _program(evidence, op)
    return None if program is None else program.module().find(op.key.name)


def _ops_inside(evidence: Evidence, loop: DeviceOp) -> list[DeviceOp]:
    """The ops of the body and the condition of a loop, with what these call."""
    found = _instruction(evidence, loop)
    names = _names_below(found.calls) if found is not None else set()
    return [
        op for op in evidence.compiled_ops
        if op.key.program_id == loop.key.program_id and op.key.name in names
    ]  # fmt: skip


def _names_below(computations: Sequence[Computation]) -> set[str]:
    names: set[str] = set()
    waiting = list(computations)
    while waiting:
        for instruction in waiting.pop().instructions:
            names.add(instruction.name)
            waiting += instruction.calls
    return names


def _details(evidence: Evidence, op: DeviceOp) -> Details:
    runs = max(op.occurrences, 1)
    return {
        "op": op.key.name, "run_ms": op.self_ps / runs / 1e9,
        "run_bytes": op.traffic.all_bytes / runs, "run_count": op.occurrences,
        **_line(evidence, op),
    }  # fmt: skip


def _line(evidence: Evidence, op: DeviceOp) -> Details:
    """The line of an instruction; of one that the compiler added, that of the first user of its
    result with a line.
    """
    file, line, _ = op.source
    found = None if file else _instruction(evidence, op)
    program = None if found is None else _program(evidence, op)
    if found is not None and program is not None:
        module = program.module()
        for user in module.home[found].users()[found]:
            file, line = (file, line) if file else module.source(user)
    return {"line": f"{file}:{line}"} if file else {}


def _at(evidence: Evidence, op: DeviceOp) -> str:
    return " at {line}" if _line(evidence, op) else ""
