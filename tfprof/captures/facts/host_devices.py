"""Which devices a host has, which of them the capture tells something of, and whose steps count."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.captures.events.timeline.names import GPU_PREFIX, TENSOR_CORE
from tfprof.captures.facts.environment import device_type
from tfprof.captures.run.result import Note, Severity
from tfprof.captures.run.run import Host


def has_gpu(host: Host) -> bool:
    """Whether a host has GPUs, active or not."""
    return any(plane.name.startswith(GPU_PREFIX) for plane in host.space.planes)


def uses_gpu(host: Host, *, classic: bool) -> bool:
    """Whether steps are those of GPUs: there are some, and unless classic, one has events."""
    return any(
        plane.name.startswith(GPU_PREFIX) and (classic or len(plane.events) > 0)
        for plane in host.space.planes
    )


def has_tpu(host: Host) -> bool:
    """Whether a host has TensorCores, active or not."""
    return any(TENSOR_CORE.fullmatch(plane.name) for plane in host.space.planes)


def has_device(host: Host) -> bool:
    """Whether a host has GPUs or TPUs, active or not."""
    return has_gpu(host) or has_tpu(host)


def uses_tpu(host: Host, *, classic: bool) -> bool:
    """Whether steps are those of TPUs: there are some, and unless classic, one has events."""
    return any(
        TENSOR_CORE.fullmatch(plane.name) and (classic or len(plane.events) > 0)
        for plane in host.space.planes
    )


def hosts_with_steps(hosts: Sequence[Host], *, classic: bool) -> tuple[list[bool], list[Note]]:
    """Whose steps count, and what is said of the others.

    Where there are TPUs, they are the devices; else GPUs are. Hosts without one give work to those
    that have some, and their steps are not the steps of the run. Without any device all count.

    Args:
        hosts: The hosts of a run.
        classic: Devices of which nothing was recorded are devices, too.

    Returns:
        For each host whether its steps count; and notes on those that lack something.
    """
    with_tpu = [uses_tpu(host, classic=classic) for host in hosts]
    with_gpu = [uses_gpu(host, classic=classic) for host in hosts]
    with_device = with_tpu if any(with_tpu) else with_gpu
    counts = with_device if any(with_device) else [True] * len(hosts)
    notes = []
    new: Severity = "info" if classic else "warning"  # the reference says nothing of these
    for host, is_counted in zip(hosts, counts, strict=True):
        own = _silent_devices(host)
        if own:
            steps = "steps are those of the host" if is_counted else "its steps do not count"
            level = ". Capture with device_tracer_level=1, and see `tfprof doctor`"
            notes.append(
                Note("warning" if own == "GPUs" else new,
                     f"has {own}, but nothing was recorded of them: {steps}"
                     f"{level if own == 'GPUs' else ''}", host.name)
            )  # fmt: skip
        elif not is_counted and uses_gpu(host, classic=classic):
            notes.append(
                Note(new, "has GPUs, but other hosts have TPUs, and these are the devices of "
                     "the run: its steps do not count. Give its file alone to see them", host.name)
            )  # fmt: skip
        elif not is_counted:
            notes.append(
                Note("info", "has no device, but others have: its steps do not count", host.name)
            )
        elif uses_tpu(host, classic=classic) and uses_gpu(host, classic=classic):
            notes.append(
                Note(new, "has TPUs and GPUs: its steps and the ops of its devices are those "
                     "of the TPUs. `tfprof kernel-stats` shows what its GPUs did", host.name)
            )  # fmt: skip
    return counts, notes


def _silent_devices(host: Host) -> str:
    """Devices of which a capture has no event, of a host that has no others."""
    if uses_gpu(host, classic=False) or uses_tpu(host, classic=False):
        return ""
    return "TPUs" if has_tpu(host) else "GPUs" if has_gpu(host) else ""


def mixed_devices(hosts: Sequence[Host]) -> list[Note]:
    """What readers of rates and sums should know where devices are not all of one kind."""
    kinds = device_kinds(hosts)
    if len(kinds) < 2:
        return []
    return [
        Note("warning", f"the devices are of several kinds: {', '.join(kinds)}. Times of their ops "
             "are added up, and what a device can do is that of the first kind; --host shows one "
             "host alone")
    ]  # fmt: skip


def device_kinds(hosts: Sequence[Host]) -> list[str]:
    """What the devices of hosts are called, each once, TPUs first."""
    tpus = [p for host in hosts for p in host.space.planes if TENSOR_CORE.fullmatch(p.name)]
    gpus = [p for host in hosts for p in host.space.planes if p.name.startswith(GPU_PREFIX)]
    return list(dict.fromkeys(map(device_type, [*tpus, *gpus])))
