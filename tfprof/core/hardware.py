"""Peak rates of devices in float operations and bytes per second, and their sources.

Rates are those of dense matrices: figures "with sparsity" are twice as high. Sums of products run
on matrix units where a device has them, everything else on its ordinary float32 or float64 units.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tfprof.errors import UsageError

_REF = 100
"""TensorFlow's types of references are those of values plus this."""

_T = 10**12
_G = 10**9


@dataclass(frozen=True, slots=True)
class Device:
    """A device's peak rates.

    Attributes:
        name: The name that users type.
        about: The exact model.
        rates: Operations per second by precision: ``fp64``, ``fp32``, ``tf32``, ``bf16``,
            ``fp16``, ``fp8``, ``int8``. ``fp32`` and ``fp64`` are rates without matrix
            units.
        bytes_per_second: To and from device memory; None if unknown.
        source: Source of the figures.
        any_rate: Rate of every precision, if a user gives just one.
    """

    name: str
    about: str
    rates: Mapping[str, float] = field(default_factory=dict)
    bytes_per_second: float | None = None
    source: str = ""
    any_rate: float | None = None

    def rate(self, dtype: int, is_product: bool) -> float | None:
        """Operations per second; None if no figure is published.

        Args:
            dtype: Element type as a ``DataType`` number.
            is_product: They are multiply-adds, which matrix units can do.
        """
        if self.any_rate is not None:
            return self.any_rate
        precision = self.precision(dtype, is_product)
        return self.rates[precision] if precision else None

    def precision(self, dtype: int, is_product: bool) -> str:
        """The precision whose rate counts, such as ``tf32``; empty if no figure is published."""
        dtype %= _REF
        precisions = _OF_PRODUCTS.get(dtype, ()) if is_product else _OF_OTHERS.get(dtype, ("fp32",))
        return next((name for name in precisions if name in self.rates), "")


DeviceLike: TypeAlias = "str | Device | Sequence[float]"
"""A name, a ``Device``, or (operations per second, bytes per second)."""

_OF_PRODUCTS = {
    1: ("tf32", "fp32", "bf16"),  # float32; TensorFlow uses TF32 unless it is disabled
    2: ("fp64",),
    8: ("tf32", "fp32", "bf16"),
    18: ("fp64",),
    14: ("bf16", "fp16", "fp32"),
    19: ("fp16", "bf16", "fp32"),
    **dict.fromkeys(range(24, 29), ("fp8", "bf16")),
    **dict.fromkeys((4, 6, 11, 12), ("int8",)),
}
"""Precisions for products by ``DataType``; the first one that a device has is used."""

_OF_OTHERS = {2: ("fp64",), 18: ("fp64",)}


def _gpu(name: str, about: str, source: str, gb_per_second: float, **teraflops: float) -> Device:
    rates = {precision: rate * _T for precision, rate in teraflops.items()}
    return Device(name, about, rates, gb_per_second * _G, source)


CLOUD_TPU = "Google Cloud TPU documentation, system architecture, 2025"
_TPU_PAPER = "Norrie et al., The Design Process for Google's Training Chips, IEEE Micro 2021"

_TABLE = (
    _gpu("v100", "NVIDIA V100 SXM2", "NVIDIA V100 datasheet, 2020", 900,
         fp64=7.8, fp32=15.7, fp16=125),
    _gpu("t4", "NVIDIA T4", "NVIDIA T4 product brief, 2019", 320,
         fp32=8.1, fp16=65, int8=130),
    _gpu("a100", "NVIDIA A100 SXM 40 GB", "NVIDIA A100 datasheet, 2021", 1555,
         fp64=9.7, fp32=19.5, tf32=156, bf16=312, fp16=312, int8=624),
    _gpu("a100-80gb", "NVIDIA A100 SXM 80 GB", "NVIDIA A100 datasheet, 2021", 2039,
         fp64=9.7, fp32=19.5, tf32=156, bf16=312, fp16=312, int8=624),
    _gpu("a10", "NVIDIA A10", "NVIDIA A10 datasheet, 2021", 600,
         fp32=31.2, tf32=62.5, bf16=125, fp16=125, int8=250),
    _gpu("rtx4090", "NVIDIA GeForce RTX 4090, float16 sums in float32",
         "NVIDIA Ada GPU architecture whitepaper, 2022", 1008,
         fp32=82.6, tf32=82.6, bf16=165.2, fp16=165.2, fp8=330.3, int8=660.6),
    _gpu("l4", "NVIDIA L4", "NVIDIA L4 datasheet, 2023", 300,
         fp32=30.3, tf32=60, bf16=121, fp16=121, fp8=242.5, int8=242.5),
    _gpu("h100", "NVIDIA H100 SXM", "NVIDIA H100 GPU architecture whitepaper, 2023", 3350,
         fp64=33.5, fp32=66.9, tf32=494.7, bf16=989.4, fp16=989.4, fp8=1978.9, int8=1978.9),
    _gpu("h100-pcie", "NVIDIA H100 PCIe", "NVIDIA H100 GPU architecture whitepaper, 2023", 2000,
         fp64=25.6, fp32=51.2, tf32=378, bf16=756, fp16=756, fp8=1513, int8=1513),
    _gpu("h200", "NVIDIA H200 SXM", "NVIDIA H200 datasheet, 2024", 4800,
         fp64=33.5, fp32=66.9, tf32=494.7, bf16=989.4, fp16=989.4, fp8=1978.9, int8=1978.9),
    _gpu("b200", "NVIDIA B200 in HGX B200, 1,000 W",
         "NVIDIA Blackwell architecture technical brief, 2024", 8000,
         fp64=40, fp32=80, tf32=1100, bf16=2250, fp16=2250, fp8=4500, int8=4500),
    _gpu("tpu-v2", "Google TPU v2, one chip", _TPU_PAPER, 700, bf16=46),
    _gpu("tpu-v3", "Google TPU v3, one chip", _TPU_PAPER, 900, bf16=123),
    _gpu("tpu-v4", "Google TPU v4, one chip", CLOUD_TPU, 1228, bf16=275, int8=275),
    _gpu("tpu-v5e", "Google TPU v5e, one chip", CLOUD_TPU, 819, bf16=197, int8=393),
    _gpu("tpu-v5p", "Google TPU v5p, one chip", CLOUD_TPU, 2765, bf16=459, int8=918),
    _gpu("tpu-v6e", "Google TPU v6e, one chip", CLOUD_TPU, 1640, bf16=918, int8=1836),
)  # fmt: skip

DEVICES: Mapping[str, Device] = {device.name: device for device in _TABLE}
"""Devices by name."""

_CPU = re.compile(
    r"cpu:(?P<cores>\d+)x(?P<ghz>\d+(?:\.\d+)?)x(?P<flops>\d+)(?::(?P<bandwidth>\d+(?:\.\d+)?))?"
)
CPU_FORM = "cpu:<cores>x<GHz>x<float32 operations per core and cycle>[:<GB/s of memory>]"


def device_of(given: DeviceLike) -> Device:
    """The device for a user's description.

    Args:
        given: A name of ``DEVICES`` (upper case, blanks and underscores do not matter), a CPU such
            as ``cpu:16x2.5x32:100``, or a pair (operations per second, bytes per second), as text
            ``312e12,1.5e12``.

    Raises:
        UsageError: There is no such device.
    """
    if isinstance(given, Device):
        return given
    if not isinstance(given, str):
        return _own(given, given)
    text = re.sub(r"[\s_]+", "-", given.strip().lower().removeprefix("nvidia").strip())
    if text in DEVICES:
        return DEVICES[text]
    cpu = _CPU.fullmatch(text)
    if cpu is not None:
        return _cpu(cpu)
    parts = text.split(",")
    if len(parts) == 2:
        return _own(parts, given)
    raise UsageError(
        f"device {given!r} is unknown. Known: {', '.join(DEVICES)}. Others: {CPU_FORM}, "
        "or its peak rates as <operations per second>,<bytes per second>"
    )


def _cpu(processor: re.Match[str]) -> Device:
    cores, per_cycle = int(processor["cores"]), int(processor["flops"])
    rate = cores * float(processor["ghz"]) * _G * per_cycle
    bandwidth = processor["bandwidth"]
    return Device(
        processor[0],
        f"CPU of {cores} cores at {processor['ghz']} GHz, {per_cycle} float32 operations per cycle",
        {"fp64": rate / 2, "fp32": rate},
        None if bandwidth is None else float(bandwidth) * _G,
        "computed from the numbers given",
    )


def _own(rates: Sequence[str | float], given: object) -> Device:
    try:
        peak, bandwidth = map(float, rates)
    except (TypeError, ValueError):
        peak = bandwidth = 0.0
    if not 0 < peak < float("inf") or not 0 < bandwidth < float("inf"):
        raise UsageError(
            f"device {given!r}: give a name, or two positive numbers: operations per second and "
            "bytes per second"
        )
    return Device(
        "custom",
        f"{peak:.4g} operations and {bandwidth:.4g} bytes per second",
        bytes_per_second=bandwidth,
        source="given by the caller",
        any_rate=peak,
    )
