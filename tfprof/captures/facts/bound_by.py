"""The limit of a device that an op comes closest to."""

from __future__ import annotations

from tfprof.captures.events.ops.device_ops import Traffic
from tfprof.captures.events.timeline.device_peaks import Peaks, device_peaks
from tfprof.captures.facts.environment import device_planes, device_type
from tfprof.captures.hlo.memory_breakdown import CMEM, VMEM
from tfprof.captures.run.run import Run


def run_peaks(run: Run) -> Peaks:
    """Upper limits of the devices of a run; zeros without devices."""
    tpus, gpus = device_planes(run.hosts)
    for plane in tpus or gpus:
        return device_peaks(plane, amd_model=device_type(plane).rpartition(" ")[2])
    return Peaks()


def bound_by(flops: int, traffic: Traffic, time_ps: int, peaks: Peaks) -> str:
    """The resource that an op uses most: ``Compute``, ``HBM``, …; or ``Unknown``."""
    if not time_ps:
        return "Unknown"
    seconds = time_ps / 1e12
    spaces = {space: (read, written) for space, read, written in traffic.by_space}
    cmem, vmem = spaces.get(CMEM, (0, 0)), spaces.get(VMEM, (0, 0))
    used = (
        ("Compute", flops, peaks.gflops),
        ("HBM", traffic.hbm_bytes, peaks.hbm_gb),
        ("CMEM Read", cmem[0], peaks.cmem_read_gb),
        ("CMEM Write", cmem[1], peaks.cmem_write_gb),
        ("VMEM Read", vmem[0], peaks.vmem_read_gb),
        ("VMEM Write", vmem[1], peaks.vmem_write_gb),
    )
    best, most = "Unknown", 0.0
    for name, amount, peak in used:
        part = amount / seconds / 1e9 / peak if peak else 0.0
        if part > most:
            best, most = name, part
    return best
