"""Collectives that the devices of a host join; computed once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tfprof.captures.events.steps.account import Account
from tfprof.captures.events.steps.collectives import (
    CollectiveKind,
    DeviceSpans,
    DeviceWork,
    gpu_work,
    thread_work,
)
from tfprof.captures.events.timeline.collective_names import is_collective_instruction
from tfprof.captures.events.timeline.programs import HloKey
from tfprof.captures.events.tpu.collectives import core_work, together
from tfprof.captures.events.tpu.cores import tpu_cores
from tfprof.captures.facts.hlo_programs import known_programs
from tfprof.captures.facts.host_devices import uses_gpu, uses_tpu
from tfprof.captures.facts.periods import periods_of
from tfprof.captures.hlo.collectives import exchange_of
from tfprof.captures.run.run import Host


def device_work(host: Host) -> DeviceWork:
    """Collectives of the devices of a host, and their computations meanwhile.

    The devices are the TensorCores if the host has TPUs, else its GPUs, else its CPU.
    """
    return host.memo.once("device work", lambda: _device_work(host))


def _device_work(host: Host) -> DeviceWork:
    timeline, groups = host.timeline, host.groups()
    if uses_tpu(host):
        cores = [core for core in tpu_cores(timeline) if not core.is_sparse]
        return together([core_work(timeline, groups, core) for core in cores])

    def kind_of(key: HloKey) -> CollectiveKind | None:
        known = known_programs(host).instruction(key)
        if known is None:
            is_collective = is_collective_instruction(key.name)
            return CollectiveKind(key.name, module=key.module) if is_collective else None
        exchange = exchange_of(known.instruction)
        if exchange is None:
            return None
        return CollectiveKind(key.name, -1, exchange.is_joint, known.program.name)

    if uses_gpu(host):
        return gpu_work(timeline, groups, kind_of)
    work = thread_work(timeline, groups, kind_of)
    if not (work.together.group < 0).any():
        return work
    # On threads of their own, workers agree whether there is a next batch: nothing links these runs
    # to a step. Ops without a group prepare the next step meanwhile; devices do not compute them.
    return replace(
        work,
        together=_by_time(work.together, periods_of(host).steps),
        alone=work.alone.only(work.alone.group >= 0),
    )


def _by_time(spans: DeviceSpans, steps: Account) -> DeviceSpans:
    """Put runs without a group into the period in which they begin."""
    order = np.argsort(steps.start_ps, kind="stable")
    place = np.searchsorted(steps.start_ps[order], spans.start_ps, side="right") - 1
    at = order[np.maximum(place, 0)] if len(order) else place
    is_open = (spans.group < 0) & (place >= 0)
    is_open[is_open] = spans.start_ps[is_open] < steps.end_ps[at[is_open]]
    group = spans.group.copy()
    group[is_open] = steps.groups[at[is_open]]
    return replace(spans, group=group)
