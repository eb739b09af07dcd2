"""Ops of devices by what the framework calls them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tfprof.captures.events.ops.device_ops import WITHOUT_OP, DeviceOp, Traffic
from tfprof.captures.events.ops.executions import runs_of_parts
from tfprof.captures.events.timeline.op_names import parse_op_name
from tfprof.captures.rules import OURS, Rules


@dataclass(frozen=True, slots=True)
class FrameworkOp:
    """Ops of devices that one op of the framework has made.

    Attributes:
        name: Of the framework's op.
        type: Its type; empty if unknown.
        occurrences: How often it ran: as often as the part that did the most, or as launches of
            its parts tell.
        time_ps: Of all parts.
        self_ps: The same without ops inside.
        flops: As the device counts them.
        model_flops: As the model has them.
        traffic: Bytes.
        is_eager: Whether any ran eagerly.
        program: The compiled program that it is in, ``module(id)``; empty for none.
    """

    name: str
    type: str
    occurrences: int
    time_ps: int
    self_ps: int
    flops: int
    model_flops: int
    traffic: Traffic
    is_eager: bool
    program: str = ""


def framework_ops(ops: Iterable[DeviceOp], *, rules: Rules = OURS) -> list[FrameworkOp]:
    """Ops of devices by what the framework calls them (``op_metrics_db_utils.cc``).

    Args:
        ops: Instructions and kernels.
        rules: Whether ops of different programs are one.
    """
    groups: dict[tuple[str, str, str], list[DeviceOp]] = {}
    for op in ops:
        groups.setdefault(_framework_name(op, rules), []).append(op)
    return [_united(*key, parts, rules) for key, parts in groups.items()]


def _framework_name(op: DeviceOp, rules: Rules) -> tuple[str, str, str]:
    """Name, type and program."""
    program = "" if rules.unites_ops_of_programs else op.key.program
    if op.provenance:
        parsed = parse_op_name(op.provenance)
        return parsed.name, parsed.type, program
    if op.category == WITHOUT_OP:
        return WITHOUT_OP, "", program
    return (f"{program}/{op.key.name}" if program else op.key.name), "", program


def _united(
    name: str, type_: str, program: str, parts: Sequence[DeviceOp], rules: Rules
) -> FrameworkOp:
    if rules.unites_ops_of_programs:
        runs = max(part.occurrences for part in parts)
    elif name == WITHOUT_OP:
        runs = sum(part.occurrences for part in parts)
    else:
        of_parts = runs_of_parts((f"{p.source[0]}:{p.source[1]}", p.occurrences) for p in parts)
        runs = max(of_parts, *(part.op_runs for part in parts))
    return FrameworkOp(
        name,
        type_,
        runs,
        sum(part.time_ps for part in parts),
        sum(part.self_ps for part in parts),
        sum(part.flops for part in parts),
        sum(part.model_flops for part in parts),
        sum((part.traffic for part in parts), Traffic()),
        any(part.is_eager for part in parts),
        program,
    )
