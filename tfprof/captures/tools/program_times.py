"""The compiled programs that ran in a capture, and the times of them and their instructions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from tfprof.captures.events.ops.device_ops import DeviceOp
from tfprof.captures.facts.hlo_programs import HostProgram
from tfprof.captures.run.run import Host
from tfprof.captures.tools.op_profile_tree import run_device_ops

ProgramTimes = Callable[[HostProgram], int | None]


def program_times(hosts: Sequence[Host]) -> ProgramTimes:
    """Look up the self time of the instructions of each program, in ps.

    Args:
        hosts: The hosts whose runs count.

    Returns:
        A function of a program. It returns None for all programs if no instruction in the capture
        names its program.
    """
    times_ps: Counter[tuple[int | None, str]] = Counter()
    for op in run_device_ops(hosts).ops:
        if op.key.program_id is not None:
            times_ps[op.key.program_id, op.key.module] += op.self_ps
    by_id: Counter[int | None] = Counter()
    for (program, _), time_ps in times_ps.items():
        by_id[program] += time_ps

    def time_of(each: HostProgram) -> int | None:
        if not times_ps:
            return None
        key = (each.program.id, each.program.name)
        return times_ps[key] if key in times_ps else by_id[each.program.id]

    return time_of


def instruction_ops(hosts: Sequence[Host], each: HostProgram) -> dict[str, DeviceOp]:
    """The instructions of a program that ran, by name, with the time of all their runs.

    Args:
        hosts: The hosts whose runs count.
        each: The program.
    """
    found: dict[str, DeviceOp] = {}
    for op in run_device_ops(hosts).ops:
        if op.key.program_id == each.program.id and op.key.module in ("", each.program.name):
            known = found.get(op.key.name)
            found[op.key.name] = op if known is None else known.plus(op)
    return found
