"""What the devices of a host do together with others, worked out once."""

from __future__ import annotations

from tfprof.captures.events.steps.collectives import (
    CollectiveKind,
    DeviceWork,
    gpu_work,
    thread_work,
)
from tfprof.captures.events.timeline.collective_names import (
    is_collective_instruction,
    is_collective_opcode,
    n_replica_groups,
)
from tfprof.captures.events.timeline.programs import HloKey
from tfprof.captures.events.tpu.collectives import core_work, together
from tfprof.captures.events.tpu.cores import tpu_cores
from tfprof.captures.facts.hlo_programs import known_programs
from tfprof.captures.facts.host_devices import uses_gpu, uses_tpu
from tfprof.captures.run.run import Host


def device_work(host: Host) -> DeviceWork:
    """What the devices of a host do together with others, and what they compute meanwhile.

    Those of a host with TPUs are its TensorCores, else its GPUs, else its CPU.
    """
    return host.memo.once("device work", lambda: _device_work(host))


def _device_work(host: Host) -> DeviceWork:
    timeline, groups = host.timeline, host.groups()
    if uses_tpu(host, classic=False):
        cores = [core for core in tpu_cores(timeline) if not core.is_sparse]
        return together([core_work(timeline, groups, core) for core in cores])

    def kind_of(key: HloKey) -> CollectiveKind | None:
        known = known_programs(host).instruction(key)
        if known is None:
            return CollectiveKind(key.name) if is_collective_instruction(key.name) else None
        if not is_collective_opcode(known.instruction.opcode):
            return None
        n_groups = n_replica_groups(known.instruction.attributes.replica_groups)
        return CollectiveKind(key.name, is_joint=n_groups == 1)

    work = gpu_work if uses_gpu(host, classic=False) else thread_work
    return work(timeline, groups, kind_of)
