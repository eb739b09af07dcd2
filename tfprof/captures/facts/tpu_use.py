"""Idle time and duty cycle of the TPUs of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfprof.captures.events.tpu.duty import DutyCycle, duty_cycle
from tfprof.captures.facts.device_op_db import device_ops
from tfprof.captures.facts.host_devices import uses_tpu
from tfprof.captures.facts.host_op_db import host_ops
from tfprof.captures.facts.statistics import part
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host


class TpuUse(NamedTuple):
    """Idle time, as fractions; zeros without TPUs.

    Attributes:
        device_idle: Time without an op, as a part of the time from a core's first op to its last.
        host_idle: Time without an op, as a part of the time of host threads.
        duty: Working time of the chips.
    """

    device_idle: float = 0.0
    host_idle: float = 0.0
    duty: DutyCycle = DutyCycle()


def tpu_use(hosts: Sequence[Host]) -> TpuUse:
    """Idle time and duty cycle of the TPUs of some hosts."""
    if not any(map(uses_tpu, hosts)):
        return TpuUse()
    ops = device_ops.together(hosts)
    threads = host_ops.together(hosts)
    duty = DutyCycle()
    for host in hosts:
        duty = duty.plus(_duty(host))
    host_idle = part(threads.idle_ps, threads.total_ps)
    return TpuUse(part(ops.idle_ps, ops.total_ps), host_idle, duty)


@fact
def _duty(host: Host) -> DutyCycle:
    return duty_cycle(host.timeline)
