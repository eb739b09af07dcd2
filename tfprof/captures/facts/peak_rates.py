"""The peak rate that utilization refers to: of which precision, and who says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tfprof.captures.events.timeline.device_peaks import device_peaks, product_peak
from tfprof.captures.facts.environment import device_planes, device_type
from tfprof.captures.run.run import Host
from tfprof.core.hardware import device_of
from tfprof.files.measured_peaks import identifies, read_peaks

_DATA_TYPES: Final = {
    "f32": 1, "f64": 2, "u8": 4, "s8": 6, "c64": 8, "bf16": 14, "c128": 18, "f16": 19,
    "f8e5m2": 24, "f8e4m3fn": 25, "f8e4m3fnuz": 26, "f8e4m3b11fnuz": 27, "f8e5m2fnuz": 28,
}  # fmt: skip
"""TensorFlow's numbers of HLO's element types."""

_USUAL: Final = "bf16"
"""The type that counts where the capture does not tell it: that of the highest peak rate, so that
utilization is rather too low than too high."""

_GIVE: Final = "--device NAME, or --device FLOPS_PER_SECOND,BYTES_PER_SECOND, gives the peak rate"
_MEASURE: Final = f"tfprof doctor --measure-peaks on that machine measures the peak rate; {_GIVE}"

_CORES: Final = {"tpu-v2": 2, "tpu-v3": 2}
"""Devices of a capture in one device of the table, where these are chips of several cores."""


class Peak(NamedTuple):
    """Peak rates of one device.

    Attributes:
        flops_per_s: Float operations of products per second; 0 if unknown.
        bytes_per_s: Bytes of main memory per second; 0 if unknown.
        precision: The precision that the rate is for.
        kind: ``given``, ``table``, ``device`` or ``measured``; empty if unknown.
        source: Where the rates come from.
        unknown: Why the rate is unknown; empty if it is known.
        remedy: How to make it known.
    """

    flops_per_s: float = 0.0
    bytes_per_s: float = 0.0
    precision: str = ""
    kind: str = ""
    source: str = ""
    unknown: str = ""
    remedy: str = ""


def peak_of(hosts: Sequence[Host], element_type: str, device: str | None = None) -> Peak:
    """The peak rates of the devices of some hosts, which are all of one kind.

    Args:
        hosts: The hosts.
        element_type: Type of the operands of most products, ``bf16``; empty if unknown.
        device: A device's name or rates, as ``tfprof flops --device`` takes them; None for what
            the capture says, or what was measured on the same machine.

    Raises:
        UsageError: There is no such device.
    """
    element_type = element_type or _USUAL
    if device is not None:
        return _given(device, element_type)
    tpus, gpus = device_planes(hosts)
    for plane in tpus or gpus:
        model = device_type(plane).rpartition(" ")[2]
        rate = product_peak(plane, element_type, amd_model=model)
        peaks = device_peaks(plane, amd_model=model)
        if rate.gflops:
            kind = "device" if "own statement" in rate.source else "table"
            return Peak(rate.gflops * 1e9, peaks.hbm_gb * 1e9, rate.precision, kind, rate.source)
        return Peak(
            bytes_per_s=peaks.hbm_gb * 1e9,
            unknown=f"the device's peak rate for {element_type} is not known",
            remedy=_GIVE,
        )
    return _measured(hosts, element_type)


def _given(device: str, element_type: str) -> Peak:
    known = device_of(device)
    dtype = _DATA_TYPES.get(element_type, 0)
    rate = known.rate(dtype, is_product=True)
    if rate is None:
        return Peak(
            bytes_per_s=known.bytes_per_second or 0.0,
            unknown=f"{known.name} has no published rate for {element_type}",
            remedy=_GIVE,
        )
    precision = "as given" if known.any_rate is not None else known.precision(dtype, True)
    about = "" if known.any_rate is not None else f"{known.about}: "
    source = f"{about}{known.source}"
    cores = _CORES.get(known.name, 1)
    source += f", divided by its {cores} cores" if cores > 1 else ""
    return Peak(rate / cores, (known.bytes_per_second or 0.0) / cores, precision, "given", source)


def _measured(hosts: Sequence[Host], element_type: str) -> Peak:
    """The peaks of processors, if they were measured on the machines of the capture."""
    machines = sorted({host.machine for host in hosts})
    nameless = [machine for machine in machines if not identifies(machine)]
    if nameless or not machines:
        return Peak(
            unknown="a processor states no peak rate, and the capture does not name its machine, "
            "so that no measured rate can count",
            remedy=_GIVE,
        )
    found = [read_peaks(machine) for machine in machines]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        lacking = machines[found.index(None)]
        return Peak(
            unknown=f"a processor states no peak rate, and that of {lacking} was not measured",
            remedy=_MEASURE,
        )
    rates = [each.flops_per_s.get(element_type, 0.0) for each in known]
    lowest = min(known, key=lambda each: each.flops_per_s.get(element_type, 0.0))
    if not all(rates):
        return Peak(
            bytes_per_s=lowest.bytes_per_s,
            unknown=f"the peak rate of the processor for {element_type} was not measured",
            remedy=_GIVE,
        )
    mean = sum(rates) / len(rates)
    source = (
        f"measured on {lowest.machine} on {lowest.measured} by {lowest.library} with "
        f"{lowest.n_threads} threads{f', {lowest.processor}' if lowest.processor else ''}"
    )
    bandwidth = sum(each.bytes_per_s for each in known) / len(known)
    return Peak(mean, bandwidth, element_type, "measured", source)
