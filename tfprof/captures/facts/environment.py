"""The hardware of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tfprof.captures.events.timeline.names import GPU_PREFIX, TENSOR_CORE
from tfprof.captures.model.described_plane import DescribedPlane, describe
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host, Run


@fact
def planes(host: Host) -> tuple[DescribedPlane, ...]:
    """The planes of a host, in the order of its file."""
    return tuple(map(describe, host.space.planes))


def device_planes(hosts: Iterable[Host]) -> tuple[list[DescribedPlane], list[DescribedPlane]]:
    """Planes of TensorCores, and planes of GPUs; includes inactive devices."""
    every = [plane for host in hosts for plane in planes(host)]
    tpus = [plane for plane in every if TENSOR_CORE.fullmatch(plane.name)]
    return tpus, [plane for plane in every if plane.name.startswith(GPU_PREFIX)]


@dataclass(frozen=True, slots=True)
class Environment:
    """Hardware of a run, and its size.

    Attributes:
        hardware: ``GPU``, ``TPU`` or ``CPU_ONLY``.
        device_type: Name of the devices: ``Nvidia GPU (Ampere)``.
        n_cores: Number of devices of all hosts, active or not.
        n_tasks: Number of files, one for each worker.
    """

    hardware: str
    device_type: str
    n_cores: int
    n_machines: int
    n_tasks: int


def environment(run: Run) -> Environment:
    """The hardware of a run."""
    tpus, gpus = device_planes(run.hosts)
    devices = tpus or gpus
    hardware = "TPU" if tpus else "GPU" if gpus else "CPU_ONLY"
    is_merged = run.rules.merges_hosts_of_machine
    machines = {(host.machine, "" if is_merged else host.address) for host in run.hosts}
    name = device_type(devices[0]) if devices else "CPU"
    return Environment(hardware, name, len(devices), len(machines), len(run.hosts))


_NVIDIA = (
    ((10, 0), "Blackwell"), ((9, 0), "Hopper"), ((8, 9), "Ada Lovelace"), ((8, 0), "Ampere"),
    ((7, 5), "Turing"), ((7, 0), "Volta"), ((6, 0), "Pascal"), ((5, 0), "Maxwell"),
    ((3, 0), "Kepler"), ((2, 0), "Fermi"),
)  # fmt: skip
"""Architectures by their lowest compute capability."""

_KNOWN_MAJORS = frozenset((2, 3, 5, 6, 7, 8, 9, 10))

_GFX = re.compile(r"gfx\w+")


def device_type(plane: DescribedPlane) -> str:
    """Name of a device (``gpu_model_name`` of the reference)."""
    stats = plane.stats
    if TENSOR_CORE.fullmatch(plane.name):
        return str(stats.get("device_type_string") or "TPU")
    vendor = str(stats.get("device_vendor") or "")
    capability = compute_capability(plane)
    if vendor == "AMD":
        return f"AMD GPU - {_amd_model(str(stats.get('gpu_device_name') or ''), capability)}"
    if vendor == "Nvidia":
        if capability[0] in _KNOWN_MAJORS:
            for lowest, name in _NVIDIA:
                if capability >= lowest:
                    return f"Nvidia GPU ({name})"
        return "Nvidia GPU"
    return "GPU"


def compute_capability(plane: DescribedPlane) -> tuple[int, int]:
    """Major and minor number; zeros if unknown."""
    stats = plane.stats
    major, minor = stats.get("compute_cap_major"), stats.get("compute_cap_minor")
    return (
        major if isinstance(major, int) else 0,
        minor if isinstance(minor, int) else 0,
    )


def _amd_model(name: str, capability: tuple[int, int]) -> str:
    match = _GFX.search(name)
    if match is not None:
        return match[0]
    known = {(9, 4): "gfx942", (9, 5): "gfx950"}
    return known.get(capability, f"gfx-{capability[0]}XX series")
