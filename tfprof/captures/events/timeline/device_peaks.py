"""Peak rates of a device: float operations and bytes per second.

Rates of NVIDIA's architectures come from the CUDA programming guide's throughput table (float
operations per clock cycle and multiprocessor) and from the architecture white papers; AMD's from
the CDNA white papers.
"""

from __future__ import annotations

from typing import NamedTuple

from tfprof.captures.events.timeline.names import TENSOR_CORE
from tfprof.captures.model.described_plane import DescribedPlane


class Peaks(NamedTuple):
    """Upper limits of a device; 0 where unknown.

    Attributes:
        gflops: Float operations, 10^9 per second.
        hbm_gb: Bytes of main memory, 10^9 per second.
        sram_read_gb: Bytes read from memory on the chip (shared memory, VMEM), 10^9 per second.
        sram_write_gb: Bytes written there.
        cmem_read_gb: Bytes read from a TPU's CMEM.
        cmem_write_gb: Bytes written there.
        vmem_read_gb: Bytes read from a TPU's VMEM.
        vmem_write_gb: Bytes written there.
    """

    gflops: float = 0.0
    hbm_gb: float = 0.0
    sram_read_gb: float = 0.0
    sram_write_gb: float = 0.0
    cmem_read_gb: float = 0.0
    cmem_write_gb: float = 0.0
    vmem_read_gb: float = 0.0
    vmem_write_gb: float = 0.0


_NVIDIA: tuple[tuple[tuple[int, int], int], ...] = (
    ((10, 0), 8192), ((9, 0), 4096), ((8, 9), 1024), ((8, 6), 1024), ((8, 0), 2048),
    ((7, 5), 1024), ((7, 0), 1024), ((6, 1), 256), ((6, 0), 256), ((5, 0), 256), ((3, 0), 384),
    ((2, 0), 64),
)  # fmt: skip
"""Peak float operations per cycle and multiprocessor, of any type, from each capability on."""

_AMD = {"gfx908": (1024, 128), "gfx90a": (1024, 128), "gfx942": (2048, 128), "gfx950": (4096, 256)}
"""Peak float operations, and bytes of local memory, per cycle and compute unit."""

_AMD_F32 = 256
"""Peak float operations in float32 on the matrix units of AMD's CDNA, per cycle and unit."""

_BANKS, _BANK_BYTES = 32, 8

_LARGEST = 1e24
"""Larger values are impossible, and products of them may not be finite."""


def device_peaks(plane: DescribedPlane, *, amd_model: str = "") -> Peaks:
    """Upper limits of the device of a plane, from its stats.

    Args:
        plane: The plane.
        amd_model: ``gfx942`` for an AMD GPU.
    """
    stats = plane.stats

    def number(name: str) -> float:
        value = stats.get(name)
        if not isinstance(value, (int, float)) or not 0 <= value <= _LARGEST:
            return 0.0
        return float(value)

    gflops = number("peak_teraflops_per_second") * 1000.0
    if TENSOR_CORE.fullmatch(plane.name):
        ways = ("hbm", "sram_rd", "sram_wr", "cmem_rd", "cmem_wr", "vmem_rd", "vmem_wr")
        return Peaks(gflops, *(number(f"peak_{way}_bw_gigabytes_per_second") for way in ways))
    clock_ghz, cores = number("clock_rate") / 1e6, number("core_count")
    hbm = number("memory_bandwidth") / 1e9
    capability = (int(number("compute_cap_major")), int(number("compute_cap_minor")))
    if str(stats.get("device_vendor") or "") == "AMD":
        flops, lds_bytes = _AMD.get(amd_model, (0, 0))
    else:
        flops = next((rate for lowest, rate in _NVIDIA if capability >= lowest), _NVIDIA[-1][1])
        lds_bytes = _BANKS * (_BANK_BYTES if capability[0] > 2 else _BANK_BYTES // 4)
    sram = lds_bytes * clock_ghz * cores
    read = number("peak_sram_rd_bw_gigabytes_per_second") or sram
    written = number("peak_sram_wr_bw_gigabytes_per_second") or sram
    return Peaks(gflops or flops * clock_ghz * cores, hbm, read, written)


class TypedPeak(NamedTuple):
    """The peak rate of a device for products of one element type.

    Attributes:
        gflops: Float operations, 10^9 per second; 0 if unknown.
        precision: The precision of that rate: ``bf16``, ``tf32``.
        source: Where the rate comes from.
    """

    gflops: float
    precision: str
    source: str


def product_peak(plane: DescribedPlane, element_type: str, *, amd_model: str = "") -> TypedPeak:
    """The peak rate for products, such as those of matrices.

    Args:
        plane: The plane of the device.
        element_type: Type of the operands, ``bf16``.
        amd_model: ``gfx942`` for an AMD GPU.
    """
    stats, whole = plane.stats, device_peaks(plane, amd_model=amd_model).gflops
    if stats.get("peak_teraflops_per_second"):
        precision = "bf16" if TENSOR_CORE.fullmatch(plane.name) else "16 bits"
        return TypedPeak(whole, precision, "the device's own statement in the capture")
    if str(stats.get("device_vendor") or "") == "AMD":
        of_16_bits = _AMD.get(amd_model, (0, 0))[0]
        per_cycle, precision = _amd_rate(amd_model, of_16_bits, element_type)
        table = f"AMD's white paper on {amd_model}"
    else:
        major, minor = (stats.get(f"compute_cap_{part}") for part in ("major", "minor"))
        if not isinstance(major, int) or not isinstance(minor, int):
            return TypedPeak(0.0, "", "")
        of_16_bits = next((rate for lowest, rate in _NVIDIA if (major, minor) >= lowest), 0)
        per_cycle, precision = _nvidia_rate((major, minor), of_16_bits, element_type)
        table = f"NVIDIA's tables for compute capability {major}.{minor}"
    clock, cores = (stats.get(name) for name in ("clock_rate", "core_count"))
    if not isinstance(clock, (int, float)) or not isinstance(cores, int):
        return TypedPeak(0.0, "", "")
    if not per_cycle or not of_16_bits or not whole:
        return TypedPeak(0.0, "", "")
    ghz = clock / 1e6
    source = (
        f"{table}: {per_cycle} float operations per cycle and unit, times {cores} units and the "
        f"{ghz:g} GHz in the capture"
    )
    return TypedPeak(whole * per_cycle / of_16_bits, precision, source)


def _nvidia_rate(
    capability: tuple[int, int], of_16_bits: int, element_type: str
) -> tuple[int, str]:
    """Float operations per cycle and multiprocessor, and the precision; (0, "") if unknown."""
    if capability < (7, 0):
        return 0, ""
    if element_type == "f32":  # XLA uses TF32 where the device has it, unless that is off
        return (of_16_bits // 2, "tf32") if capability >= (8, 0) else (128, "f32")
    if element_type == "f16" or (element_type == "bf16" and capability >= (8, 0)):
        return of_16_bits, element_type
    if element_type.startswith("f8") and capability >= (8, 9):
        return 2 * of_16_bits, "fp8"
    if element_type in ("s8", "u8") and capability >= (7, 5):
        return 2 * of_16_bits, "int8"
    return 0, ""


def _amd_rate(model: str, of_16_bits: int, element_type: str) -> tuple[int, str]:
    if element_type == "f32":
        return _AMD_F32, "f32"
    if element_type == "bf16" and model == "gfx908":
        return of_16_bits // 2, "bf16"
    return (of_16_bits, element_type) if element_type in ("f16", "bf16") else (0, "")
