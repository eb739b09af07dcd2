"""Rates of ops relative to the peak rates of a device."""

import pytest

from tfprof.captures.events.ops.device_ops import DeviceOp, OpKey, Traffic
from tfprof.captures.events.ops.op_roofline import op_roofline, whole_program
from tfprof.captures.events.timeline.device_peaks import Peaks
from tfprof.captures.hlo.memory_breakdown import CMEM, HBM

SECOND = 10**12
PEAKS = Peaks(gflops=100.0, hbm_gb=10.0)


def op(name="a", category="fusion", time_ps=SECOND, **fields):
    fields = {"self_ps": time_ps, "normalized_ps": time_ps, "occurrences": 1, **fields}
    return DeviceOp(OpKey(1, name), category, time_ps=time_ps, **fields)


def test_memory_limits_an_op_below_the_ridge():
    found = op_roofline(op(flops=20 * 10**9, traffic=Traffic(8 * 10**9)), PEAKS)
    assert found.gflops == 20.0
    assert found.intensity.memory == found.intensity.hbm == 2.5
    assert found.gib.hbm == pytest.approx(8e9 / 2**30)
    assert (found.compute_share, found.memory_share) == (0.2, pytest.approx(0.8))
    assert (found.bound_by, found.bottleneck_intensity) == ("HBM", 2.5)
    assert found.efficiency == pytest.approx(0.8)
    assert found.optimal_gflops == pytest.approx(25.0)  # 2.5 FLOP/byte x 10 GB/s


def test_computation_limits_an_op_above_the_ridge():
    found = op_roofline(op(flops=50 * 10**9, traffic=Traffic(10**9)), PEAKS)
    assert (found.bound_by, found.bottleneck_intensity) == ("Compute", 50.0)
    assert found.efficiency == 0.5
    assert found.optimal_gflops == 100.0


def test_each_memory_has_its_roof():
    traffic = Traffic(6 * 10**9, 10**9, ((HBM, 10**9, 0), (CMEM, 4 * 10**9, 10**9)))
    found = op_roofline(op(flops=8 * 10**9, traffic=traffic), PEAKS._replace(cmem_read_gb=5.0))
    assert (found.bound_by, found.bottleneck_intensity) == ("CMEM Read", 2.0)
    assert found.efficiency == pytest.approx(0.8)
    assert found.intensity.cmem_write == 8.0


def test_the_nominal_clock_counts_for_computation():
    found = op_roofline(op(flops=50 * 10**9, model_flops=40 * 10**9, normalized_ps=SECOND // 2),
                        PEAKS)  # fmt: skip
    assert (found.gflops, found.model_gflops) == (100.0, 40.0)


@pytest.mark.parametrize(
    ("peaks", "fields"),
    [(PEAKS, {}), (Peaks(), {"flops": 5, "traffic": Traffic(7)}), (PEAKS, {"time_ps": 0})],
)
def test_nothing_known_is_bound_by_nothing(peaks, fields):
    found = op_roofline(op(**fields), peaks)
    assert (found.bound_by, found.bottleneck_intensity) == ("Unknown", 0.0)
    assert found.efficiency == found.optimal_gflops == 0.0


def test_a_program_is_its_ops_without_those_that_hold_others():
    ops = [
        op("w", "while", flops=100, traffic=Traffic(100)),
        op("a", flops=3, model_flops=2, traffic=Traffic(10, 4, ((HBM, 4, 0),))),
        op("b", flops=4, normalized_ps=3 * SECOND, traffic=Traffic(20)),
        op("c", "infeed", time_ps=2 * SECOND, traffic=Traffic(5)),
    ]
    whole = whole_program(ops, 10 * SECOND)
    assert (whole.flops, whole.model_flops, whole.traffic.all_bytes) == (7, 2, 35)
    assert whole.traffic.main_bytes == 4
    assert (whole.time_ps, whole.self_ps, whole.occurrences) == (10 * SECOND, 0, 1)
    assert whole.normalized_ps == 15 * SECOND  # 6 s at the nominal clock for 4 s
    without = whole_program(ops, 10 * SECOND, with_transfers=False)
    assert (without.time_ps, without.traffic.all_bytes) == (8 * SECOND, 30)


def test_a_program_without_ops_takes_its_time():
    whole = whole_program([], 5)
    assert (whole.time_ps, whole.normalized_ps, whole.flops) == (5, 5, 0)
