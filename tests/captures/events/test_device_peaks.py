"""Peak rates of a device, from the stats of its plane."""

import math

import pytest

from tfprof.captures.events.timeline.device_peaks import Peaks, device_peaks
from tfprof.captures.model.described_plane import describe
from tfprof.captures.read.xspace import read_xspace
from tfprof.testing.xspace_builders import gpu, plane, xspace


def peaks(made, **how):
    space = read_xspace(xspace(made).SerializeToString())
    return device_peaks(describe(space.planes[0]), **how)


def nvidia(major, minor, **more):
    return gpu(
        stats={
            "device_vendor": "Nvidia", "compute_cap_major": major, "compute_cap_minor": minor,
            "clock_rate": 1_000_000, "core_count": 10, "memory_bandwidth": 900_000_000_000, **more,
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    "capability, rate",
    [
        ((2, 0), 64), ((2, 1), 64), ((3, 0), 384), ((3, 7), 384), ((5, 2), 256), ((6, 0), 256),
        ((6, 1), 256), ((7, 0), 1024), ((7, 2), 1024), ((7, 5), 1024), ((8, 0), 2048),
        ((8, 6), 1024), ((8, 7), 1024), ((8, 9), 1024), ((9, 0), 4096), ((10, 0), 8192),
        ((12, 0), 8192), ((1, 3), 64),
    ],
)  # fmt: skip
def test_float_operations_of_nvidias_architectures(capability, rate):
    # Operations per cycle and multiprocessor, at 1 GHz on ten multiprocessors.
    assert peaks(nvidia(*capability)).gflops == rate * 10


def test_memory_of_nvidias_architectures():
    found = peaks(nvidia(8, 0))
    assert (found.hbm_gb, found.sram_read_gb, found.sram_write_gb) == (900, 2560, 2560)
    assert peaks(nvidia(2, 0)).sram_read_gb == 640


@pytest.mark.parametrize(
    "model, rate, lds",
    [("gfx908", 1024, 128), ("gfx90a", 1024, 128), ("gfx942", 2048, 128), ("gfx950", 4096, 256)],
)
def test_amds_architectures(model, rate, lds):
    made = gpu(
        stats={
            "device_vendor": "AMD", "clock_rate": 2_100_000, "core_count": 304,
            "memory_bandwidth": 5_300_000_000_000,
        }
    )  # fmt: skip
    found = peaks(made, amd_model=model)
    assert found.gflops == pytest.approx(rate * 2.1 * 304)
    assert found.sram_read_gb == pytest.approx(lds * 2.1 * 304)
    assert found.hbm_gb == 5300
    assert peaks(made, amd_model="gfx1100").gflops == 0


def test_peaks_of_the_plane_itself_win():
    assert peaks(nvidia(8, 0, peak_teraflops_per_second=312.0)).gflops == 312_000


def test_tpus_tell_everything():
    stats = {
        "peak_teraflops_per_second": 918.0, "peak_hbm_bw_gigabytes_per_second": 1640.0,
        "peak_vmem_rd_bw_gigabytes_per_second": 20000.0,
    }  # fmt: skip
    found = peaks(plane("/device:TPU:0", stats=stats))
    assert found == Peaks(918_000.0, 1640.0, vmem_read_gb=20000.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -5, -1.0, "fast", b"x", None])
def test_peaks_that_are_not_numbers_are_unknown(value):
    found = peaks(nvidia(8, 0, memory_bandwidth=value, clock_rate=value))
    assert (found.gflops, found.hbm_gb) == (0, 0)


def test_a_plane_without_peaks():
    assert peaks(gpu()) == Peaks()
