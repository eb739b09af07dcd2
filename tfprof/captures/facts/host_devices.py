"""The devices of a host, whether they were recorded, and the hosts whose steps count."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.captures.facts.environment import device_planes, device_type
from tfprof.captures.model.described_plane import DescribedPlane
from tfprof.captures.rules import OURS
from tfprof.captures.run.result import Note, Severity
from tfprof.captures.run.run import Host
from tfprof.core.text import how_to_capture


def has_gpu(host: Host) -> bool:
    """Whether a host has GPUs, active or not."""
    return bool(device_planes([host])[1])


def uses_gpu(host: Host) -> bool:
    """Whether a host has GPUs whose steps count."""
    return _are_used(host, device_planes([host])[1])


def has_tpu(host: Host) -> bool:
    """Whether a host has TensorCores, active or not."""
    return bool(device_planes([host])[0])


def has_device(host: Host) -> bool:
    """Whether a host has GPUs or TPUs, active or not."""
    return has_gpu(host) or has_tpu(host)


def uses_tpu(host: Host) -> bool:
    """Whether a host has TensorCores whose steps count."""
    return _are_used(host, device_planes([host])[0])


def _are_used(host: Host, devices: Sequence[DescribedPlane]) -> bool:
    return any(host.rules.counts_silent_devices or plane.n_events > 0 for plane in devices)


def hosts_with_steps(hosts: Sequence[Host]) -> tuple[list[bool], list[Note]]:
    """Which hosts' steps count, with notes on the other hosts.

    If there are TPUs, the steps are those of hosts with TPUs; otherwise those of hosts with GPUs.
    Hosts without a device supply the others with work. Without any device, all hosts count.
    """
    with_tpu, with_gpu = list(map(uses_tpu, hosts)), list(map(uses_gpu, hosts))
    with_device = with_tpu if any(with_tpu) else with_gpu
    counts = with_device if any(with_device) else [True] * len(hosts)
    notes = []
    for host, is_counted in zip(hosts, counts, strict=True):
        new: Severity = "info" if host.rules.omits_notes else "warning"
        own = _silent_devices(host)
        if own:
            steps = "steps are those of the host" if is_counted else "its steps do not count"
            remedy = f". {how_to_capture.DEVICES}, and 'tfprof doctor' says what is in the way"
            notes.append(
                Note("warning" if own == "GPUs" else new,
                     f"has {own}, but nothing was recorded of them: {steps}"
                     f"{remedy if own == 'GPUs' else ''}", host.name)
            )  # fmt: skip
        elif not is_counted and uses_gpu(host):
            notes.append(
                Note(new, "has GPUs, but other hosts have TPUs, so its steps do not count. Give "
                     "its file alone to see them", host.name)
            )  # fmt: skip
        elif not is_counted:
            notes.append(
                Note("info", "has no device, but others have: its steps do not count", host.name)
            )
        elif uses_tpu(host) and uses_gpu(host):
            notes.append(
                Note(new, "has TPUs and GPUs: its steps and device ops are those of the TPUs. "
                     "`tfprof kernel-stats` shows what its GPUs did", host.name)
            )  # fmt: skip
    return counts, notes


def _silent_devices(host: Host) -> str:
    """The kind of a host's devices, if none of them has events; otherwise empty."""
    if uses_gpu(host.by(OURS)) or uses_tpu(host.by(OURS)):
        return ""
    return "TPUs" if has_tpu(host) else "GPUs" if has_gpu(host) else ""


def mixed_devices(hosts: Sequence[Host]) -> list[Note]:
    """A warning about sums and rates if there are several kinds of devices."""
    kinds = device_kinds(hosts)
    if len(kinds) < 2:
        return []
    return [
        Note("warning", f"the devices are of several kinds: {', '.join(kinds)}. Times of their ops "
             "are added up, and the peak rates are those of the first kind; choose one host to see "
             "it alone")
    ]  # fmt: skip


def device_kinds(hosts: Sequence[Host]) -> list[str]:
    """Names of the kinds of devices, TPUs first."""
    tpus, gpus = device_planes(hosts)
    return list(dict.fromkeys(map(device_type, [*tpus, *gpus])))
