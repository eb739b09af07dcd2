"""The device of a roofline model, and its roofs."""

from __future__ import annotations

from typing import NamedTuple

from tfprof.captures.events.timeline.device_peaks import Peaks
from tfprof.captures.facts.bound_by import run_peaks
from tfprof.captures.facts.environment import device_planes, environment
from tfprof.captures.run.run import Run

GIB_OF_GB = 1e9 / 2**30

_NO_VENDOR = "GPU"
"""Type of a GPU of an unknown vendor. Old releases wrote no vendor, and supported only NVIDIA's."""


class Device(NamedTuple):
    """The device that the ops ran on.

    Attributes:
        hardware: ``GPU``, ``TPU`` or ``CPU_ONLY``.
        name: Name of the device; empty without one.
        n_cores: Number of devices of all hosts.
        peaks: The roofs.
        megacore: Whether two cores of a TPU act as one.
        merged_vmem: Whether the VMEM of a TPU counts.
    """

    hardware: str
    name: str
    n_cores: int
    peaks: Peaks
    megacore: bool
    merged_vmem: bool

    @property
    def has_cmem(self) -> bool:
        """Whether a TPU has CMEM."""
        return bool(self.peaks.cmem_read_gb or self.peaks.cmem_write_gb)


def device_of(run: Run) -> Device:
    """Describe the devices of a run, which are all of one kind."""
    known, peaks = environment(run), run_peaks(run)
    if run.rules.ignores_vendorless_peaks and known.device_type == _NO_VENDOR:
        peaks = Peaks(hbm_gb=peaks.hbm_gb)
    tpus, _ = device_planes(run.hosts)
    stats = tpus[0].stats if tpus else {}
    merged_vmem = bool(stats.get("has_merged_vmem"))
    if peaks.cmem_read_gb or peaks.cmem_write_gb or not merged_vmem:
        peaks = peaks._replace(vmem_read_gb=0.0, vmem_write_gb=0.0)
    name = "" if known.hardware == "CPU_ONLY" else known.device_type
    megacore = bool(stats.get("has_megacore"))
    return Device(known.hardware, name, known.n_cores, peaks, megacore, merged_vmem)


def roofs_of(peaks: Peaks) -> dict[str, float]:
    """The known limits: ``Compute`` in GFLOP/s, memories in GiB/s."""
    limits = {
        "Compute": peaks.gflops,
        "HBM": peaks.hbm_gb * GIB_OF_GB,
        "CMEM Read": peaks.cmem_read_gb * GIB_OF_GB,
        "CMEM Write": peaks.cmem_write_gb * GIB_OF_GB,
        "VMEM Read": peaks.vmem_read_gb * GIB_OF_GB,
        "VMEM Write": peaks.vmem_write_gb * GIB_OF_GB,
    }
    return {name: limit for name, limit in limits.items() if limit}
