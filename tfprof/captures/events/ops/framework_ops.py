"""Ops of devices, summed by the framework's ops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tfprof.captures.events.ops.device_ops import WITHOUT_OP, DeviceOp, Traffic
from tfprof.captures.events.ops.executions import runs_of_parts
from tfprof.captures.events.ops.found_by import FoundBy, united
from tfprof.captures.events.timeline.op_names import parse_op_name
from tfprof.captures.rules import OURS, Rules


@dataclass(frozen=True, slots=True)
class FrameworkOp:
    """Sum of the device ops of one op of the framework.

    Attributes:
        name: Name of the framework's op.
        type: Its type; empty if unknown.
        occurrences: Number of its runs: that of the part with the most runs, or that of the
            launches of its parts.
        time_ps: Time of all parts.
        self_ps: Their self time.
        flops: Float operations in the device's count.
        model_flops: Float operations in the model's count.
        traffic: Bytes.
        is_eager: Whether any run was eager.
        program: Its compiled program, ``module(id)``; empty without one.
        found_by: How it was found to be the op of its kernels.
        is_asynchronous: Whether some part only starts its work, or waits for it.
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
    found_by: FoundBy = ()
    is_asynchronous: bool = False


def framework_ops(ops: Iterable[DeviceOp], *, rules: Rules = OURS) -> list[FrameworkOp]:
    """Sum up ops of devices by the framework's ops (``op_metrics_db_utils.cc``).

    Args:
        ops: Instructions and kernels.
        rules: Whether ops of different programs count as one.
    """
    groups: dict[tuple[str, str, str], list[DeviceOp]] = {}
    for op in ops:
        groups.setdefault(_framework_name(op, rules), []).append(op)
    return [_united(*key, parts, rules) for key, parts in groups.items()]


def _framework_name(op: DeviceOp, rules: Rules) -> tuple[str, str, str]:
    """Name, type and program of the framework's op."""
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
        united(part.found_by for part in parts),
        any(part.is_asynchronous for part in parts),
    )
