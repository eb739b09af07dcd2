"""How busy the TPUs of a run are."""

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
        device_idle: Time without an op, of the time from the first op of a core to its last.
        host_idle: Time without an op, of the time of host threads.
        duty: How long chips work.
    """

    device_idle: float = 0.0
    host_idle: float = 0.0
    duty: DutyCycle = DutyCycle()


def tpu_use(hosts: Sequence[Host]) -> TpuUse:
    """How busy the TPUs of some hosts are."""
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
