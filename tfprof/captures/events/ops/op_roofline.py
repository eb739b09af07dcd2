"""Rates of ops of devices, compared with the limits of the device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from tfprof.captures.events.ops.device_ops import DeviceOp, OpKey, Traffic
from tfprof.captures.events.timeline.device_peaks import Peaks
from tfprof.captures.hlo.memory_breakdown import CMEM, VMEM

PROGRAM = "Program"
"""Name of the sum of all ops."""

UNKNOWN = "Unknown"

WITH_INNER_OPS = frozenset(("while", "call", "conditional", "megacore fusion"))
"""Categories of ops whose cost their inner ops include, too."""

_GIBI = 1 << 30


class Rates(NamedTuple):
    """A value for each resource of a device.

    Attributes:
        memory: All bytes, of any memory.
        hbm: Bytes of the main memory.
        cmem_read: Bytes read from a TPU's CMEM.
        cmem_write: Bytes written there.
        vmem_read: Bytes read from a TPU's VMEM.
        vmem_write: Bytes written there.
    """

    memory: float = 0.0
    hbm: float = 0.0
    cmem_read: float = 0.0
    cmem_write: float = 0.0
    vmem_read: float = 0.0
    vmem_write: float = 0.0


class OpRoofline(NamedTuple):
    """The position of an op in the roofline of its device.

    Attributes:
        gflops: Float operations at the device's nominal clock, 10^9 per second.
        model_gflops: Float operations of the model, 10^9 per second.
        gib: 2^30 bytes per second, by memory.
        intensity: Float operations per byte, by memory.
        bound_by: The resource of which it uses the largest share, ``Unknown`` without any and for
            asynchronous work.
        bottleneck_intensity: Float operations per byte of that resource.
        compute_share: Its share of the device's peak float operations.
        memory_share: Its largest share of the bandwidth of a memory.
    """

    gflops: float
    model_gflops: float
    gib: Rates
    intensity: Rates
    bound_by: str
    bottleneck_intensity: float
    compute_share: float
    memory_share: float

    @property
    def efficiency(self) -> float:
        """Share of the roof that the op reaches; more than 1 if its cost includes other ops."""
        return max(self.compute_share, self.memory_share)

    @property
    def optimal_gflops(self) -> float:
        """The rate at which it would reach the roof; 0 if unknown."""
        return self.gflops / self.efficiency if self.efficiency else 0.0


def op_roofline(op: DeviceOp, peaks: Peaks) -> OpRoofline:
    """Rates of an op, and their shares of the known limits.

    Args:
        op: The op, with the time and cost of all its runs.
        peaks: Upper limits; 0 for memories that must not count.
    """
    if op.is_asynchronous:
        op = replace(op, time_ps=0, normalized_ps=0)  # its time is not that of its work
    moved = _moved(op.traffic)
    gib = Rates(*(_per_second(amount, op.time_ps) / _GIBI for amount in moved))
    intensity = Rates(*(op.flops / amount if amount else 0.0 for amount in moved))
    gflops = _per_second(op.flops, op.normalized_ps) / 1e9
    limits = Rates(
        0.0, peaks.hbm_gb, peaks.cmem_read_gb, peaks.cmem_write_gb, peaks.vmem_read_gb,
        peaks.vmem_write_gb,
    )  # fmt: skip
    shares = Rates(*(_part(rate, limit) for rate, limit in zip(gib, limits, strict=True)))
    compute = gflops / peaks.gflops if peaks.gflops else 0.0
    candidates = (
        (compute, "Compute", intensity.memory),
        (shares.hbm, "HBM", intensity.hbm),
        (shares.cmem_read, "CMEM Read", intensity.cmem_read),
        (shares.cmem_write, "CMEM Write", intensity.cmem_write),
        (shares.vmem_read, "VMEM Read", intensity.vmem_read),
        (shares.vmem_write, "VMEM Write", intensity.vmem_write),
    )
    most, bound_by, bottleneck = max(candidates, key=lambda candidate: candidate[0])
    if not most:
        bound_by, bottleneck = UNKNOWN, 0.0
    model = _per_second(op.model_flops, op.time_ps) / 1e9
    return OpRoofline(gflops, model, gib, intensity, bound_by, bottleneck, compute, max(shares))


def _moved(traffic: Traffic) -> tuple[int, ...]:
    """Bytes by memory, in the order of ``Rates``."""
    spaces = {space: (read, written) for space, read, written in traffic.by_space}
    cmem, vmem = spaces.get(CMEM, (0, 0)), spaces.get(VMEM, (0, 0))
    return (traffic.all_bytes, traffic.hbm_bytes, *cmem, *vmem)


def _per_second(amount: int, time_ps: int) -> float:
    return amount / (time_ps / 1e12) if time_ps else 0.0


def _part(gib: float, limit_gb: float) -> float:
    return gib / (limit_gb * 1e9 / _GIBI) if limit_gb else 0.0


def is_transfer(category: str) -> bool:
    """Whether ops of a category wait for the host: infeed or outfeed."""
    return "infeed" in category or "outfeed" in category


def whole_program(
    ops: Iterable[DeviceOp], total_ps: int, *, with_transfers: bool = True
) -> DeviceOp:
    """The sum of all ops as one op that takes a given time.

    Ops that hold others (loops, calls) are left out: their cost is that of the inner ops.

    Args:
        ops: The ops.
        total_ps: Their time, including pauses.
        with_transfers: Count infeeds and outfeeds, too; otherwise their time is subtracted.
    """
    whole = DeviceOp(OpKey(None, PROGRAM), PROGRAM)
    for op in ops:
        if op.category in WITH_INNER_OPS:
            continue
        if is_transfer(op.category) and not with_transfers:
            total_ps -= op.time_ps
            continue
        whole = whole.plus(op)
    return as_program(whole, total_ps)


def as_program(sums: DeviceOp, total_ps: int) -> DeviceOp:
    """Sums over ops as one run of a program that takes a given time."""
    scale = sums.normalized_ps / sums.time_ps if sums.time_ps else 1.0
    return replace(
        sums, occurrences=1, time_ps=total_ps, self_ps=0, normalized_ps=round(total_ps * scale)
    )
